"""The report of a fit: what data, what was done, how good, how sure, what counts, and why."""

from __future__ import annotations

import numpy as np

from ...core.solve.threads import one_blas_thread
from ...models.calibration.verdict import BETTER, NO_BETTER, UNKNOWN, advice
from ...parts.files.columns import Text
from ..workflow.fit import Fitted
from ..workflow.judge import HELD_OUT
from ..workflow.tuning import Tuning
from . import pictures
from .data import MAX_LISTED_CLASSES, fitted_data
from .effects import effects
from .figures import figures
from .page import (
    Html,
    Section,
    beside,
    bullets,
    cards,
    code,
    heading,
    joined,
    name,
    page,
    paragraph,
    table,
    tag,
)
from .reproduce import reproduce
from .rows import worth_a_look
from .words import count, how_sure, in_short, objective, percent, support

MAX_SHOWN_COEFFICIENTS = 30
# With more rows of weights than this, fewer coefficients of each are shown.
MAX_LONG_TABLES = 3
MAX_WEIGHT_TABLES = 20
SHORT_TABLE_COEFFICIENTS = 10
MAX_VERDICT_LENGTH = 600


def fit_report(fitted: Fitted, command: str | None = None, model: str = "MODEL") -> str:
    """The whole page; ``command`` made it, and ``model`` is the file of the model."""
    with one_blas_thread():  # many small products: threads would only wait for one another
        sections = [
            Section("How good", _good(fitted)),
            Section("How sure", _sure(fitted), printed=False),
            Section("What counts", _counts(fitted)),
            Section("One column at a time", figures(pictures.partials(fitted)), printed=False),
            Section("What it looks like", figures(pictures.shapes(fitted), large=True), False),
            Section("How likely", _likely(fitted), printed=False),
            Section("Rows worth a look", worth_a_look(fitted), printed=False),
            Section("What data", fitted_data(fitted), printed=False),
            Section("What was done", _done(fitted), printed=False),
            Section("How to reproduce", _reproduce(fitted, command, model), printed=False),
        ]
    return page(f"maxmargin: {fitted.data.name}", _lead(fitted), sections)


def _lead(fitted: Fitted) -> Html:
    """Whether it is any good, then which classes it finds, then that the optimum is proved."""
    summary, model, verdict = fitted.model.summary, fitted.model.model, fitted.verdict
    tone = {BETTER: "good", NO_BETTER: "bad"}.get(verdict.status)
    proof = ("good" if fitted.proved else "bad") if verdict.status != NO_BETTER else "quiet"
    return joined(
        heading(fitted.data.name),
        paragraph(
            "Predicting ", name(fitted.model.target), " from ", count(summary["rows"], "row"),
            f" with {type(model).__name__}", class_="sub",
        ),
        tag("p", name(verdict.first(), MAX_VERDICT_LENGTH), class_=_badge(tone)),
        _finds(fitted),
        paragraph(tag("span", in_short(model.certificate_, fitted.proved), class_=_badge(proof))),
        cards(_cards(fitted)),
    )  # fmt: skip


def _badge(tone: str | None) -> str:
    return "badge" if tone is None else f"badge {tone}"


def _finds(fitted: Fitted) -> list:
    """Classes found and missed, and what to try where the model is not better."""
    found = fitted.verdict.finds()
    parameters = fitted.model.model.get_params(deep=False)
    tries = advice(fitted.verdict, parameters, fitted.model.summary["classes"])
    return [
        paragraph(name(found, MAX_VERDICT_LENGTH), ".") if found else None,
        joined(paragraph("What to try:"), bullets([name(text) for text in tries]))
        if tries
        else None,
    ]


def _cards(fitted: Fitted):
    summary, verdict = fitted.model.summary, fitted.verdict
    for title, share, (low, high), way in _on_new_rows(fitted):
        note = f"95 % interval {percent(low)} to {percent(high)}; {way}"
        yield title, percent(share), note
    if verdict.balanced is not None and verdict.status != UNKNOWN:
        yield "balanced accuracy", percent(verdict.balanced), "mean share found of each class"
    if summary["C"] is not None:
        note = "chosen by cross-validation" if fitted.tuning else "as given"
        yield "C", f"{summary['C']:.4g}", note
    if "margin" in summary:
        none = not np.isfinite(summary["margin"])
        note = "all weights are zero" if none else "from the boundary, in the model's units"
        yield "margin", "none" if none else f"{summary['margin']:.4g}", note
    if "support" in summary:
        total = sum(summary["support"].values())
        yield "support vectors", f"{total:,}", f"of {summary['rows']:,} rows"
    seen = fitted.training
    yield "training error", percent(seen.share), f"{seen.wrong:,} of {seen.rows:,}"


def _on_new_rows(fitted: Fitted):
    """What to expect on new rows: by rows held out, and by the training rows themselves."""
    if fitted.test is not None:
        test = fitted.test
        way = f"{HELD_OUT}, {test.wrong:,} of {test.rows:,} wrong"
        yield "test error", test.share, test.interval, way
    if (e := fitted.expected) is not None:
        yield "error on new rows", e.error, (e.low, e.high), e.way


def _done(fitted: Fitted) -> list:
    summary, model = fitted.model.summary, fitted.model.model
    weighted = fitted.data.weight is not None or "weights" in summary
    sentence, formula = objective(model, weighted)
    parts = [paragraph(sentence), tag("div", formula, class_="formula") if formula else None]
    reason = getattr(model, "solver_reason_", None)
    if fitted.tuning is not None:
        t = fitted.tuning
        parts.append(
            paragraph(
                f"C was chosen among {len(t.Cs)} values from {t.Cs[0]:g} to {t.Cs[-1]:g}: for each "
                f"of {len(t.errors)} folds the model was fitted to the others and judged on it. "
                f"C = {t.C:.4g} has {_chosen_by(t)} ± "
                f"{percent(t.standard_error[t.best])} (one standard error over the folds); of "
                "equals the smallest C is taken."
            )
        )
    elif summary["C"] is not None:
        parts.append(paragraph(f"C = {summary['C']:g}, as given."))
    if reason:
        parts.append(paragraph(f"Solver: {model.solver_}, because {reason}."))
    return [beside(parts, figures(pictures.choice(fitted)))]


def _chosen_by(tuning: Tuning) -> str:
    if tuning.score == "accuracy":
        return f"the fewest errors, {percent(tuning.mean[tuning.best])}"
    best = 1.0 - tuning.mean[tuning.best]
    return f"the best {tuning.score.replace('_', ' ')}, {percent(best)}"


def _good(fitted: Fitted) -> list:
    verdict, rows = fitted.verdict, []
    for title, error, (low, high), way in _on_new_rows(fitted):
        on = "test rows" if title == "test error" else "new rows"
        rows.append([on, percent(error), f"{percent(low)} to {percent(high)}", way])
    always = joined("always ", name(verdict.constant))
    rows.append([always, percent(verdict.constant_error), "–", "the commonest answer"])
    seen = fitted.training
    rows.append(
        ["training rows", percent(seen.share), "–", f"{seen.wrong:,} of {seen.rows:,} wrong"]
    )
    judged = table(["on", "error", "95 % interval", "how it is known"], rows, "Errors", (0, 2, 3))
    drawn = pictures.judgement(fitted)
    advised = joined(paragraph(_on_which_rows(fitted)), _without_weights(fitted))
    if len(drawn) == 1:
        return [advised, beside([judged, *_by_class(fitted)], figures(drawn))]
    return [advised, beside([judged], _by_class(fitted)), *figures(drawn)]


def _without_weights(fitted: Fitted) -> Html | None:
    if np.isfinite(fitted.model.summary.get("margin", 0.0)):
        return None
    text = "All weights are zero: rows have no distances, and every one gets the same answer."
    return paragraph(text, class_="bad")


def _on_which_rows(fitted: Fitted) -> str:
    others = "--test FILE" if fitted.streamed else "--holdout 0.2 or --test FILE"
    if fitted.test is not None:
        known = "The test rows were not used for anything but this judgement."
    elif fitted.expected is not None:
        known = (
            f"For new rows expect what {fitted.expected.way} says; {others} would judge on rows "
            "never used."
        )
    else:
        known = f"To know about new rows, judge on others: {others}."
    return f"{known} Training rows flatter: the model has seen them."


def _likely(fitted: Fitted) -> list:
    """Probabilities and prediction sets, where the model has them."""
    drawn = pictures.chances(fitted)
    if not drawn:
        return []
    known = fitted.model.model.calibration_
    text = (
        f"Probabilities and prediction sets rest on {known.rows:,} training rows, each judged by "
        f"{known.way}, so by a model that had not seen it. The most probable label is always the "
        "one predicted. Sets for a share α of misses hold the true label about as often as they "
        "say: that was measured, and conformal_sets has it proved."
    )
    return [paragraph(text), *figures(drawn)]


def _by_class(fitted: Fitted) -> list:
    """How many rows of each class were found, and how often its name was right."""
    which, counts = fitted.unseen or ("training", fitted.training.table)
    classes = fitted.model.model.classes_
    if counts is None:
        return []
    right, own, said = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    order = np.argsort((right + 1) / (own + 2), kind="stable")[:MAX_LISTED_CLASSES]
    rows = [
        [name(classes[c]), f"{own[c]:,}", _share(right[c], own[c]), _share(right[c], said[c])]
        for c in order.tolist()
    ]
    worst = ", hardest first" if len(classes) > 2 else ""
    cut = f"; {len(order)} of {len(classes)} are shown" if len(order) < len(classes) else ""
    head = ["class", "rows", "found", "right when named"]
    return [table(head, rows, f"By class, {which} rows{worst}{cut}")]


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "–"


def _sure(fitted: Fitted) -> list:
    text = f"The fit with its proof took {fitted.seconds['fit']:.2f} s."
    if fitted.tuning is not None:  # whose last step is the fit
        whole = fitted.seconds["tune"] + fitted.seconds["fit"]
        text = f"Choosing C, and the final fit with its proof, took {whole:.2f} s."
    time = paragraph(text, class_="sub") if fitted.seconds["total"] > 0 else None
    return [
        *how_sure(fitted.model.model, fitted.proved),
        beside([support(fitted.model.summary), time], figures(pictures.proof(fitted))),
    ]


def _counts(fitted: Fitted) -> list:
    """Coefficients, strongest first, each table below its picture."""
    model = fitted.model
    if not hasattr(model.model, "coef_"):
        return []
    found = list(model.coefficients())
    most = MAX_SHOWN_COEFFICIENTS if len(found) <= MAX_LONG_TABLES else SHORT_TABLE_COEFFICIENTS
    units = model.basis is None and any(
        row["per_unit"] != row["per_deviation"] for _, rows in found for row in rows[:most]
    )
    drawn = pictures.weights(fitted)
    parts = [
        [figures(drawn[place : place + 1]), *_weights(title, rows[:most], len(rows), units)]
        for place, (title, rows) in enumerate(found[:MAX_WEIGHT_TABLES])
    ]
    words = any(isinstance(c, Text) for c in getattr(model.preparation, "columns", ()))
    meaning = (
        "How much the score moves when a feature grows by one "
        + ("standard deviation, and by one unit of its column" if units else "unit")
        + (" (words of a text: by one unit in both)" if units and words else "")
        + ". Positive speaks for the class named. Features that go together share their weight; "
        "a coefficient is no proof of a cause. "
    )
    if len(found) > MAX_WEIGHT_TABLES:
        meaning += f"{MAX_WEIGHT_TABLES} of {len(found):,} rows of weights are shown. "
    meant = paragraph(meaning, "All of them: ", tag("code", "maxmargin inspect --top N"), ".")
    said = effects(fitted)
    if len(parts) == 1:
        return [meant, *said, beside(parts[0][:1], parts[0][1:])]
    return [meant, *said, tag("div", *(tag("div", *part) for part in parts), class_="tables")]


def _weights(title: str, rows: list[dict], total: int, units: bool) -> list:
    """One table of coefficients, and how many more there are."""
    head = ["feature", "per deviation", "per unit"] if units else ["feature", "per unit"]
    body = [
        [name(row["feature"]), _signed(row["per_deviation"]), _signed(row["per_unit"])][: len(head)]
        for row in rows
        if row["per_deviation"] != 0
    ]
    caption = joined("For ", name(title))
    if not body:
        return [paragraph(caption, f": all {total:,} are zero.", class_="sub")]
    more = total - len(body)
    cut = paragraph(f"and {more:,} more, weaker or zero", class_="sub") if more > 0 else None
    return [table(head, body, caption), cut]


def _signed(value: float) -> str:
    return f"{value:+.4g}".replace("-", "−")


def _reproduce(fitted: Fitted, command: str | None, model: str) -> list:
    parameters = fitted.model.model.get_params(deep=False)
    shown = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return [
        *reproduce(command, (type(fitted.model.model).__name__, shown)),
        paragraph("To check the proof against the data, and to use the model:"),
        code(
            f"maxmargin verify {model} DATA",
            f"maxmargin predict {model} NEW_DATA",
            f"maxmargin inspect {model}",
        ),
    ]
