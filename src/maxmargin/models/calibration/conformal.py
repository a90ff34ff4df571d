"""Prediction sets: all labels that are not too strange, by ranks among calibration rows.

The strangeness of label c at x is 1 − p_c(x); its p-value the share of calibration rows, the row
itself counted, that were at least as strange under their own label:

    π_c(x) = (1 + #{i : 1 − p_yᵢ(xᵢ) ≥ 1 − p_c(x)}) / (n + 1)       the set is {c : π_c(x) > α}

``per_class`` counts the rows of class c only, so that every class is covered alike (Mondrian).
"""

from __future__ import annotations

from numbers import Real

import numpy as np


def check_alpha(alpha) -> float:
    """A share of rows that may be missed."""
    number = isinstance(alpha, Real) and not isinstance(alpha, bool)
    if not number or not 0.0 < alpha < 1.0:
        raise ValueError(
            "alpha, the share of rows whose label the set may miss, must lie between 0 and 1, got "
            f"alpha={alpha!r}."
        )
    return float(alpha)


def p_values(P: np.ndarray, own: np.ndarray, codes: np.ndarray, per_class: bool) -> np.ndarray:
    """(rows, k) from probabilities P (rows, k) and those of the calibration rows' own labels."""
    out = np.empty_like(P)
    everything = np.sort(own)
    for c in range(P.shape[1]):
        known = np.sort(own[codes == c]) if per_class else everything
        stranger = np.searchsorted(known, P[:, c], side="right")
        out[:, c] = (1.0 + stranger) / (len(known) + 1.0)
    return out
