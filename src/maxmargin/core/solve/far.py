"""Rows far from the origin, solved about a place among them.

    w·x + b  =  w·(x − a) + (w·a + b)

With a free bias it is the same problem; but sums of large numbers that cancel have no digits left,
and here none are large.  What is solved there is carried back: the weights stay, and the score at a
becomes the bias, for which weights are chosen that do not lose it (``float_weights.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..rows.rows import DenseRows, PairRows, anchor, dense
from .contract import Ending, Monitor, Proved, Solution, settled
from .float_weights import MOST_UNITS, aligned

# Values up to which rows are copied, and solved again, where the proof falls short.
MAX_MOVED_VALUES = 1_000_000
# A place is far if it is this many times as far from the origin as rows are from it.
FAR = 30.0


def about_the_rows(
    problem: Any, monitor: Monitor, found: Solution, solve: Callable, prove: Callable
) -> Solution:
    """``found``, or what is proved better about a place among the rows, carried back.

    ``solve(problem, monitor)`` solves the moved problem; ``prove(problem, *point, tol)`` proves a
    point of this one.
    """
    if found.certificate.holds(monitor.tol) or found.ending is not Ending.STALLED:
        return found
    moved = _moved(problem)
    if moved is None:
        return found
    there, place = moved
    solution = solve(there, monitor)
    best = Proved(found.point, found.certificate, found.scores, found.slacks)
    with np.errstate(all="ignore"):
        for units in MOST_UNITS:
            tried = _carried(problem, solution.point, place, units, prove, monitor.tol)
            best = tried if tried.gap < best.gap else best
            if best.gap <= monitor.tol:
                break
    if best.certificate is found.certificate:
        return found
    ending = settled(found.ending, best.certificate, monitor.tol)
    why = f"{solution.why}; about a place among the rows, which are far from the origin"
    return Solution(*best, ending, solution.solver, why, max(1, monitor.n_iter), monitor.history)


def _moved(problem: Any) -> tuple[Any, np.ndarray] | None:
    """The problem about a place among its rows, and the place; None if that is no help."""
    n, d = problem.shape
    if not problem.bias or isinstance(problem.rows, PairRows) or n * d > MAX_MOVED_VALUES:
        return None
    place = anchor(problem.rows)
    X = dense(problem.rows, np.arange(n)).astype(np.float64) - place
    if not np.abs(place).max(initial=0.0) > FAR * np.abs(X).max(initial=0.0) / np.sqrt(max(1, d)):
        return None
    return replace(problem, rows=DenseRows(X)), place


def _carried(problem, point, place, units: int, prove: Callable, tol: float) -> Proved:
    """The point of the moved problem as one of this, proved."""
    W, b, *others = point
    found = [
        aligned(w, place, Fraction(float(score)), units)
        for w, score in zip(np.atleast_2d(W), np.atleast_1d(b), strict=True)
    ]
    weights = np.array([each.w for each in found])
    biases = np.array([each.b for each in found])
    if np.ndim(b) == 0:
        return prove(problem, weights[0], float(biases[0]), *others, tol)
    return prove(problem, weights, biases, *others, tol)
