"""What a notebook shows below scikit-learn's diagram of a fitted model: its proof, its weights."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

# Strongest weights that are drawn, and the sizes of their bars in pixels.
MAX_WEIGHTS = 8
BAR_WIDTH, BAR_HEIGHT, NAME_WIDTH = 120, 14, 130
# Letters of a name that fit beside its bar.
MAX_NAME_LETTERS = 18


def proof_html(model: Any) -> str:
    """The certificate in one line and a small picture of the weights; "" if not fitted."""
    proof = vars(model).get("certificate_")
    if proof is None:
        return ""
    told = f'<p style="margin:.4em 0;font-family:sans-serif">{html.escape(str(proof))}</p>'
    return f'<div class="maxmargin-proof">{told}{weights_svg(model)}</div>'


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
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11" fill="currentColor">'
        f"<title>strongest weights</title>{''.join(bars)}</svg>"
    )


def _bar(row: int, name: str, weight: float, largest: float) -> str:
    y, size = row * BAR_HEIGHT, BAR_WIDTH * abs(weight) / largest
    name = name if len(name) <= MAX_NAME_LETTERS else name[: MAX_NAME_LETTERS - 1] + "…"
    paint = "#0072b2" if weight >= 0 else "#d55e00"
    return (
        f'<text x="{NAME_WIDTH - 6}" y="{y + 11}" text-anchor="end">{html.escape(name)}</text>'
        f'<rect x="{NAME_WIDTH}" y="{y + 2}" width="{size:.1f}" height="{BAR_HEIGHT - 4}" '
        f'fill="{paint}"/><text x="{NAME_WIDTH + size + 4:.1f}" y="{y + 11}">{weight:.3g}</text>'
    )
