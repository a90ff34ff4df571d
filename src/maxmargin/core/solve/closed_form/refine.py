"""Iterative refinement: a rough factor, exact residuals, and an answer as good as the data.

    X += (M + αI)⁻¹ (B − (M + αI) X)

The residual is computed from the data in float64, so the factor's precision decides how many
steps are needed and not how good the answer is.  [Wilkinson 1963; for the normal equations
Björck 1987]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

# Content with this relative residual; gives up after so many steps, or where a step leaves more
# than this share of the residual.
RESIDUAL_TOL, MAX_REFINEMENTS, MAX_RESIDUAL_RATIO = 1e-12, 12, 0.3
# What a factor must reach for its answer to be kept, and the worst condition it may have.
ACCEPTED_RESIDUAL, MAX_CONDITION = 1e-11, 1e11


class Refined(NamedTuple):
    """The answer, its residual and its size, the steps taken and what else was seen on the way."""

    X: np.ndarray
    left: np.ndarray
    size: float
    steps: int
    seen: Any = None


def refined(factor, left: np.ndarray, look: Callable) -> Refined:
    """Start from zero with residual ``left``; ``look(X)`` gives residual, size and more."""
    best, X = None, np.zeros_like(left)
    while best is None or best.steps < MAX_REFINEMENTS:
        with np.errstate(over="ignore", invalid="ignore"):  # of a poor factor: the size tells
            X = X + factor.solve(left)
            left, size, seen = look(X)
        if not np.isfinite(size):
            return best or Refined(X, left, np.inf, 0, seen)
        if best is None:
            best, before = Refined(X, left, size, 0, seen), np.inf
        elif size < best.size:
            before, best = best.size, Refined(X, left, size, best.steps + 1, seen)
        else:
            break
        if size <= RESIDUAL_TOL or size > MAX_RESIDUAL_RATIO * before:
            break
    return best


def best_of(factors: Iterable, attempt: Callable) -> tuple[Any, Any]:
    """The first factor whose answer is good, or else the best of all, and that answer."""
    best: tuple[Any, Any] | None = None
    for factor in factors:
        answer = attempt(factor)
        if best is None or answer.size < best[1].size:
            best = factor, answer
        if answer.size <= ACCEPTED_RESIDUAL and factor.condition <= MAX_CONDITION:
            return factor, answer
    assert best is not None  # the last factor always answers
    return best
