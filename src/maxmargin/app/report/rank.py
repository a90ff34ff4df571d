"""The report of a ranking: how well it foretells comparisons, the items in order, and why."""

from __future__ import annotations

from ..workflow.ranking import Ranked
from .page import Html, Section, cards, heading, joined, name, page, paragraph, table, tag
from .reproduce import reproduce
from .words import count, how_sure, in_short, objective, percent

MAX_LISTED_ITEMS, MAX_WORDED_FEATURES = 200, 3


def rank_report(ranked: Ranked, title: str, command: str | None = None) -> str:
    """The whole page."""
    return page(
        f"maxmargin: {title}",
        _lead(ranked, title),
        [
            Section("The order", _order(ranked)),
            Section("What counts", _counts(ranked)),
            Section("How sure", how_sure(ranked.ranker, ranked.proved), printed=False),
            Section("What was done", _done(ranked), printed=False),
            Section("How to reproduce", reproduce(command), printed=False),
        ],
    )


def _lead(ranked: Ranked, title: str) -> Html:
    best, new = ranked.items[0], ranked.expected
    tone = {True: "badge good", False: "badge bad", None: "badge"}[ranked.better]
    proof = "badge good" if ranked.proved and ranked.better is not False else "badge quiet"
    shown = [
        ("best", name(best["item"]), f"score {best['score']:.3g}"),
        ("comparisons", f"{ranked.comparisons:,}", f"{ranked.ties:,} ties left out"),
        ("agrees with", percent(ranked.agreement), "of the comparisons it learned from"),
    ]
    if new is not None:
        low, high = 1.0 - new.high, 1.0 - new.low
        note = f"95 % interval {percent(low)} to {percent(high)}; {new.way}"
        shown.insert(0, ("foretells", percent(1.0 - new.error), f"of new comparisons; {note}"))
    return joined(
        heading(title),
        paragraph(
            f"{count(len(ranked.items), 'item')} ranked by {ranked.comparisons:,} comparisons",
            class_="sub",
        ),
        tag("p", ranked.first(), class_=tone),
        paragraph(tag("span", in_short(ranked.ranker.certificate_, ranked.proved), class_=proof)),
        cards(shown),
    )


def _order(ranked: Ranked) -> list:
    rows = [
        [row["rank"], name(row["item"]), f"{row['score']:.3f}", row["won"], row["lost"]]
        for row in ranked.items[:MAX_LISTED_ITEMS]
    ]
    more = len(ranked.items) - len(rows)
    return [
        table(["rank", "item", "score", "won", "lost"], rows, words=(1,)),
        paragraph(f"and {more:,} more", class_="sub") if more > 0 else None,
        *(paragraph(name(note, 400), class_="sub") for note in ranked.notes),
    ]


def _counts(ranked: Ranked) -> list:
    order = sorted(ranked.weights.items(), key=lambda pair: -abs(pair[1]["per_spread"]))
    rows = [
        [name(feature), _signed(w["per_spread"]), _signed(w["per_unit"])] for feature, w in order
    ]
    said = [
        tag(
            "li", "One more of ", name(feature),
            f" moves an item {'up' if w['per_unit'] > 0 else 'down'} by {abs(w['per_unit']):.3g}",
        )
        for feature, w in order[:MAX_WORDED_FEATURES]
        if w["per_unit"]
    ]  # fmt: skip
    return [
        paragraph("In words, other features staying as they are:") if said else None,
        tag("ul", *said) if said else None,
        table(["feature", "per deviation", "per unit"], rows, "What counts, strongest first"),
    ]


def _done(ranked: Ranked) -> list:
    sentence, formula = objective(ranked.ranker, weighted=False)
    return [
        paragraph(sentence),
        tag("div", formula, class_="formula") if formula else None,
        paragraph(f"C = {ranked.C:g}."),
    ]


def _signed(value: float) -> str:
    return f"{value:+.4g}".replace("-", "−")
