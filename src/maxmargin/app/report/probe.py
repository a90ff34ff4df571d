"""The report of a probe: how good on rows that chose nothing, the curve over C, and every proof."""

from __future__ import annotations

import numpy as np

from ...models.probe import ProbeResult
from . import pictures
from .figures import figures
from .page import Html, Section, cards, heading, joined, page, paragraph, table, tag
from .reproduce import reproduce
from .words import count, how_sure, in_short, objective, percent

PROTOCOL_WORDS = {
    "dino": "A tenth of the rows chose among the values of C, each fitted to the others; the best "
    "of them was fitted to all rows. (DINOv2's protocol.)",
    "clip": "A tenth of the rows chose C: the best of a coarse grid, then of ever finer ones "
    "around it, each fitted to the others; the best was fitted to all rows. (CLIP's protocol.)",
    "mteb": "C is 1. Ten times eight rows of every class were drawn, fitted and judged; the last "
    "of these models is the one kept. (MTEB's protocol.)",
}


def probe_report(found: ProbeResult, title: str = "probe", command: str | None = None) -> str:
    """The whole page."""
    return page(
        f"maxmargin: {title}",
        _lead(found, title),
        [
            Section("The choice of C", _choice(found)),
            Section("The experiments", _experiments(found)),
            Section("How sure", how_sure(found.model, found.proved)),
            Section("What was done", _done(found)),
            Section("How to reproduce", reproduce(command)),
        ],
    )


def _lead(found: ProbeResult, title: str) -> Html:
    low, high = found.interval
    proof = "badge good" if found.proved else "badge bad"
    classes, columns = len(found.model.classes_), found.model.n_features_in_
    return joined(
        heading(title),
        paragraph(
            f"A linear probe on {count(columns, 'column')} for {classes:,} classes, by the "
            f"protocol {found.protocol}",
            class_="sub",
        ),
        paragraph(tag("span", in_short(found.certificate, found.proved), class_=proof)),
        cards(
            [
                ("accuracy", percent(found.accuracy), f"{percent(low)} to {percent(high)}: 95 %"),
                ("mean per class", percent(found.class_accuracy), "every class counts alike"),
                ("judged on", f"{found.test_rows:,}", "rows that chose nothing"),
                ("C", f"{found.C:.4g}", _chosen(found)),
            ]
        ),
    )


def _chosen(found: ProbeResult) -> str:
    return f"the best of {len(found.Cs)}" if len(found.Cs) > 1 else "by the protocol"


def _choice(found: ProbeResult) -> list:
    if len(found.Cs) < 2:
        return []
    rows = [
        [f"{C:.3g}", percent(share), f"{gap:.1e}"]
        for C, share, gap in zip(found.Cs, found.choice_accuracy, found.gaps, strict=True)
    ]
    at = int(np.argmin(np.abs(np.log(found.Cs / found.C))))
    edge = at in (0, len(found.Cs) - 1)
    return [
        *figures(pictures.probe_choice(found, at)),
        paragraph(
            "The C chosen is at the end of the grid: a value beyond it may be better."
        ) if edge else None,
        table(["C", "accuracy of the choice", "relative gap"], rows, words=()),
    ]  # fmt: skip


def _experiments(found: ProbeResult) -> list:
    if not len(found.experiments):
        return []
    rows = [[i + 1, percent(share)] for i, share in enumerate(found.experiments)]
    return [table(["experiment", "accuracy"], rows, words=())]


def _done(found: ProbeResult) -> list:
    sentence, formula = objective(found.model, False)
    return [
        paragraph(sentence),
        tag("div", formula, class_="formula") if formula else None,
        paragraph(PROTOCOL_WORDS[found.protocol]),
        paragraph(f"All of it took {found.seconds:.3g} s."),
    ]
