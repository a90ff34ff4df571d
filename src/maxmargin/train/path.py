"""Models along increasing C."""

from __future__ import annotations

import maxmargin

from ..select.methods import METHODS


def follow(method: str, X, y) -> tuple[list[dict], str]:
    """One dictionary for every C, and why the path ends."""
    path = maxmargin.c_path(METHODS[method].estimator_class()(), X, y)
    return list(path.rows), path.ending
