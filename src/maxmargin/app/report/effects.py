"""Coefficients in words: what one more of a column does to the score, and to the probability."""

from __future__ import annotations

import numpy as np

from ...parts.files.columns import Category, Number, Text
from ..workflow.fit import Fitted
from .page import Html, bullets, joined, name, paragraph

# Sentences for each row of weights, and rows of weights that have any.
MAX_EFFECTS, MAX_EFFECT_ROWS = 3, 4


def effects(fitted: Fitted) -> list[Html]:
    """The strongest columns in a sentence each; nothing where features are no columns."""
    model = fitted.model
    if not model.is_table or model.basis is not None:
        return []
    W = np.atleast_2d(model.model.coef_)
    if len(W) > MAX_EFFECT_ROWS or not np.isfinite(fitted.model.summary.get("margin", 0.0)):
        return []
    found = [said for row in range(len(W)) for said in _of_row(fitted, W[row], row)]
    if not found:
        return []
    return [paragraph("In words, other columns staying as they are:"), joined(bullets(found))]


def _of_row(fitted: Fitted, w: np.ndarray, row: int):
    model = fitted.model
    per_unit, per_deviation = model.preparation.units()
    strength = np.abs(w * per_deviation)
    owner = [(c, place) for c in model.preparation.columns for place in range(c.width)]
    for j in np.argsort(-strength, kind="stable")[:MAX_EFFECTS].tolist():
        column, place = owner[j]
        if strength[j] > 0 and not isinstance(column, Text):
            yield _sentence(fitted, row, column, place, float(w[j] * per_unit[j]))


def _sentence(fitted: Fitted, row: int, column, place: int, effect: float) -> Html:
    what, times = _change(column, place)
    towards, sign = _towards(fitted, row, effect)
    moved = abs(effect) * times
    return joined(
        what, f" moves the score {sign} ", name(towards), f" by {moved:.3g}",
        _in_percent(fitted, moved),
    )  # fmt: skip


def _change(column, place: int) -> tuple[Html, float]:
    """What changes, and by how many of the column's units: a round number below its deviation."""
    if isinstance(column, Category):
        return joined(name(column.name), " = ", name(column.levels[place])), 1.0
    assert isinstance(column, Number)
    if column.read_as == "truth":
        return joined(name(column.name), " true instead of false"), 1.0
    step = 10.0 ** np.floor(np.log10(column.deviation)) if column.deviation > 0 else 1.0
    unit = "day" if column.read_as == "day" else ""
    many = "One more" if step == 1 else f"{step:,.6g} more"
    plural = f" {unit}{'' if step == 1 else 's'}" if unit else ""
    return joined(f"{many}{plural} of ", name(column.name)), float(step)


def _towards(fitted: Fitted, row: int, effect: float) -> tuple[str, str]:
    """The class that gains, and whether the score moves towards it or away from it."""
    labels = [str(label) for label in fitted.model.model.classes_]
    if len(labels) == 2:
        return labels[int(effect > 0)], "towards"
    titles = [title for title, _ in fitted.model.coefficients()]
    return titles[row], "towards" if effect > 0 else "away from"


def _in_percent(fitted: Fitted, moved: float) -> str:
    """Of two classes: by how much that changes a probability of one half."""
    known = getattr(fitted.model.model, "calibration_", None)
    if known is None or known.classes != 2 or known.slope <= 0:
        return ""
    points = 100.0 / (1.0 + np.exp(-known.slope * moved)) - 50.0
    return f"; where both classes are equally likely, that is +{points:.1f} percentage points"
