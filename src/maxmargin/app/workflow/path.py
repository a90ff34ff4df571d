"""Models along increasing C."""

from __future__ import annotations

import maxmargin

from ...models.tune.methods import METHODS


def follow(method: str, X, y) -> maxmargin.CPath:
    """The path of a method's estimator."""
    return maxmargin.c_path(METHODS[method].estimator_class()(), X, y)
