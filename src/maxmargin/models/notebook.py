"""What notebooks show of a fitted model below scikit-learn's diagram: the first lines of its report
(is it better than one answer for all, which classes it finds, what is proved) and its weights; and
of paths and comparisons the same, a sentence and a small picture above the table."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from .calibration.verdict import by_table

# Strongest weights that are drawn, and the sizes of their bars in pixels.
MAX_WEIGHTS = 8
BAR_WIDTH, BAR_HEIGHT, NAME_WIDTH = 120, 14, 130
CURVE_HEIGHT = 60
FOR_PAINT, AGAINST_PAINT = "#0072b2", "#d55e00"
# Letters of a name that fit beside its bar.
MAX_NAME_LETTERS = 18


def proof_html(model: Any) -> str:
    """The certificate in one line and a small picture of the weights; "" if not fitted."""
    proof = vars(model).get("certificate_")
    if proof is None:
        return ""
    told = "".join(paragraph(line) for line in (*first_lines(model), str(proof)))
    return f'<div class="maxmargin-proof">{told}{weights_svg(model)}</div>'


def first_lines(model: Any) -> list[str]:
    """As the report begins, where rows that the model had not seen tell of it."""
    known = vars(model).get("calibration_")
    if known is None or not known.rows:
        return []
    labels, counts = [str(label) for label in model.classes_], np.bincount(known.codes)
    verdict = by_table(labels, counts, known.counts(), known.error)
    return [verdict.first(), *filter(None, [verdict.finds()])]


def paragraph(line: str) -> str:
    return f'<p style="margin:.4em 0;font-family:sans-serif">{html.escape(line)}</p>'


def weights_svg(model: Any) -> str:
    """Bars of the weights with the largest size over all classes, by name; "" without weights."""
    coef = vars(model).get("coef_")
    if coef is None or not np.size(coef) or not np.isfinite(coef).all():
        return ""
    W = np.atleast_2d(np.asarray(coef, dtype=float))
    signed = W[np.abs(W).argmax(axis=0), np.arange(W.shape[1])]
    strongest = np.argsort(-np.abs(signed), kind="stable")[:MAX_WEIGHTS]
    names = vars(model).get("feature_names_in_")
    names = [f"x{i}" for i in range(W.shape[1])] if names is None else list(names)
    largest = float(np.abs(signed).max()) or 1.0
    bars = [_bar(row, str(names[i]), float(signed[i]), largest) for row, i in enumerate(strongest)]
    width, height = NAME_WIDTH + BAR_WIDTH + 70, BAR_HEIGHT * len(bars)
    return _svg("strongest weights", width, height, "".join(bars))


def _svg(title: str, width: float, height: float, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11" fill="currentColor">'
        f"<title>{html.escape(title)}</title>{inside}</svg>"
    )


def _bar(row: int, name: str, weight: float, largest: float) -> str:
    y, size = row * BAR_HEIGHT, BAR_WIDTH * abs(weight) / largest
    paint = FOR_PAINT if weight >= 0 else AGAINST_PAINT
    return (
        f'{_label(name, row)}<rect x="{NAME_WIDTH}" y="{y + 2}" width="{size:.1f}" '
        f'height="{BAR_HEIGHT - 4}" fill="{paint}"/>'
        f'<text x="{NAME_WIDTH + size + 4:.1f}" y="{y + 11}">{weight:.3g}</text>'
    )


def scores_svg(names: Sequence[str], scores: np.ndarray, errors: np.ndarray, title: str) -> str:
    """A dot for every name, with its standard error, between the worst and the best of all."""
    low, high = float((scores - errors).min()), float((scores + errors).max())
    per_unit = BAR_WIDTH / ((high - low) or 1.0)
    lines = []
    for row, (name, score, error) in enumerate(zip(names, scores, errors, strict=True)):
        x, y, reach = NAME_WIDTH + per_unit * (score - low), row * BAR_HEIGHT + 7, per_unit * error
        lines.append(
            f'{_label(name, row)}<path d="M{x - reach:.1f} {y}h{2 * reach:.1f}" '
            f'stroke="{FOR_PAINT}"/><circle cx="{x:.1f}" cy="{y}" r="3.5" fill="{FOR_PAINT}"/>'
            f'<text x="{NAME_WIDTH + BAR_WIDTH + 8}" y="{y + 4}">{score:.3f}</text>'
        )
    return _svg(title, NAME_WIDTH + BAR_WIDTH + 70, BAR_HEIGHT * len(lines), "".join(lines))


def curve_svg(x: np.ndarray, y: np.ndarray, title: str, words: tuple[str, str]) -> str:
    """A line over a logarithmic x, with what its first and its last point are."""
    known = np.isfinite(y) & (x > 0)
    if known.sum() < 2:
        return ""
    place, height = np.log(x[known]), y[known]
    across = BAR_WIDTH * 2 * (place - place.min()) / (float(np.ptp(place)) or 1.0)
    down = CURVE_HEIGHT * (1.0 - (height - height.min()) / (float(np.ptp(height)) or 1.0))
    points = " ".join(f"{a + 4:.1f},{b + 16:.1f}" for a, b in zip(across, down, strict=True))
    first, last = words
    return _svg(
        title, 2 * BAR_WIDTH + 20, CURVE_HEIGHT + 36,
        f'<text x="4" y="11">{html.escape(title)}</text>'
        f'<polyline points="{points}" fill="none" stroke="{FOR_PAINT}" stroke-width="1.5"/>'
        f'<text x="4" y="{CURVE_HEIGHT + 31}">{html.escape(first)}</text>'
        f'<text x="{2 * BAR_WIDTH + 4}" y="{CURVE_HEIGHT + 31}" text-anchor="end">'
        f"{html.escape(last)}</text>",
    )  # fmt: skip


def _label(name: str, row: int) -> str:
    name = name if len(name) <= MAX_NAME_LETTERS else name[: MAX_NAME_LETTERS - 1] + "…"
    y = row * BAR_HEIGHT + 11
    return f'<text x="{NAME_WIDTH - 6}" y="{y}" text-anchor="end">{html.escape(name)}</text>'
