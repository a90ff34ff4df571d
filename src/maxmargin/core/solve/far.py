"""Rows far from the origin, and rows that are very large: solved where numbers are of size one.

    w·x + b  =  w·(x − a) + (w·a + b)

With a free bias it is the same problem; but sums of large numbers that cancel have no digits left,
and here none are large.  What is solved there is carried back: the weights stay, and the score at a
becomes the bias, for which weights are chosen that do not lose it (``float_weights.py``).

Rows a power of two σ times smaller have weights σ times longer, and costs σ² times larger:

    σ² (½‖w‖² + Σ c ℓ(w·x + b))  =  ½‖σw‖² + Σ σ²c ℓ(σw·(x/σ) + b)

For very large rows these are beyond all multipliers, and the hard margin is the answer if there is
one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..certify.separability import NotSeparableError
from ..rows.rows import DenseRows, PairRows, anchor, dense, shape, size_of
from .contract import Ending, Monitor, Proved, Solution, settled
from .float_weights import MOST_UNITS, aligned

# Values up to which rows are copied, and solved again, where the proof falls short.
MAX_MOVED_VALUES = 1_000_000
# Said where the moved rows are solved and proved, and only the way back loses too much.
FLOAT_LIMIT = "this far from the origin float64 weights and multipliers can prove no more"
# Said where the exact multipliers of a kernel machine were found.
MULTIPLIER_LIMIT = "the exact multipliers are known, but no float64 found near them prove more"
# A place is far if it is this many times as far from the origin as rows are from it.
FAR = 30.0
# Costs of rows of size one that no multiplier of a hard margin reaches, but on data that hardly
# have one.
BEYOND_MULTIPLIERS = 1e16
# By which a hard margin is made longer, so that rounding leaves no slack.
LONGER = 1.0 + 1e-13
TINY = float(np.finfo(float).tiny)


def about_the_rows(
    problem: Any, monitor: Monitor, found: Solution, solve: Callable, prove: Callable
) -> Solution:
    """``found``, or what is proved better about a place among the rows, carried back.

    ``solve(problem, monitor)`` solves the moved problem; ``prove(problem, *point, tol)`` proves a
    point of this one.
    """
    if found.certificate.holds(monitor.tol) or found.ending is not Ending.STALLED:
        return found
    best = Proved(found.point, found.certificate, found.scores, found.slacks)
    solution, why = found, found.why
    with np.errstate(all="ignore"):
        if (moved := _moved(problem)) is not None:
            there, place = moved
            solution = solve(there, monitor)
            best = _best_carried(problem, solution.point, place, prove, monitor.tol, best)
            why = f"{solution.why}; about a place among the rows, which are far from the origin"
            if solution.ending is Ending.REACHED and best.gap > monitor.tol:
                why = f"{why}: {FLOAT_LIMIT}"
        elif len(found.point) == 3 and (large := _scaled(problem)) is not None:
            solution, best = _at_unit_scale(problem, monitor, best, *large, solve, prove)
            why = "rows made smaller, whose hard margin it is"
    if best.certificate is found.certificate:
        return found._replace(why=why) if why.endswith(FLOAT_LIMIT) else found
    ending = settled(found.ending, best.certificate, monitor.tol)
    return Solution(*best, ending, solution.solver, why, max(1, monitor.n_iter), monitor.history)


def _scaled(problem: Any) -> tuple[Any, float] | None:
    """The hard margin of rows of size one, and by how much these are larger; None if they are not.

    Only where costs are beyond what multipliers of such rows can be, and there are multipliers:
    logistic losses have no hard margin.
    """
    if not hasattr(problem, "hard") or problem.hard or size_of(problem.rows) > MAX_MOVED_VALUES:
        return None
    pairs = isinstance(problem.rows, PairRows)
    rows = problem.rows.items if pairs else problem.rows
    X = dense(rows, np.arange(shape(rows)[0])).astype(np.float64)
    sigma = 2.0 ** np.round(np.log2(max(float(np.abs(X).max(initial=0.0)), TINY)))
    if not float(problem.c.max()) * sigma * sigma > BEYOND_MULTIPLIERS:
        return None
    small: Any = DenseRows(X / sigma)
    if pairs:
        small = problem.rows._replace(items=small)
    return replace(problem, rows=small, c=np.where(problem.c > 0.0, np.inf, 0.0)), float(sigma)


def _at_unit_scale(problem, monitor, best: Proved, hard, sigma: float, solve, prove):
    """The hard margin of smaller rows as a point of the problem, if it is proved better."""
    try:
        solution = solve(hard, monitor)
    except NotSeparableError:
        return None, best
    W, b, alpha = solution.point
    longer = LONGER * W / sigma, LONGER * b  # slack costs more than any length
    tried = prove(problem, *longer, alpha / sigma / sigma, monitor.tol)
    return solution, tried if tried.gap < best.gap else best


def _best_carried(problem, point, place, prove: Callable, tol: float, best: Proved) -> Proved:
    for units in MOST_UNITS:
        tried = _carried(problem, point, place, units, prove, tol)
        best = tried if tried.gap < best.gap else best
        if best.gap <= tol or place is None:
            break
    return best


def _moved(problem: Any) -> tuple[Any, np.ndarray | None] | None:
    """The problem about a place among its rows, and the place; None if that is no help.

    Of pairs the items move, which leaves all differences, and weights that need no bias.
    """
    pairs = isinstance(problem.rows, PairRows)
    rows = problem.rows.items if pairs else problem.rows
    n, d = shape(rows)
    if not (problem.bias or pairs) or n * d > MAX_MOVED_VALUES:
        return None
    place = anchor(rows)
    X = dense(rows, np.arange(n)).astype(np.float64) - place
    if not np.abs(place).max(initial=0.0) > FAR * np.abs(X).max(initial=0.0) / np.sqrt(max(1, d)):
        return None
    if pairs:
        return replace(problem, rows=problem.rows._replace(items=DenseRows(X))), None
    return replace(problem, rows=DenseRows(X)), place


def _carried(problem, point, place, units: int, prove: Callable, tol: float) -> Proved:
    """The point of the moved problem as one of this, proved."""
    W, b, *others = point
    if place is None:
        return prove(problem, W, b, *others, tol)
    found = [
        aligned(w, place, Fraction(float(score)), units)
        for w, score in zip(np.atleast_2d(W), np.atleast_1d(b), strict=True)
    ]
    weights = np.array([each.w for each in found])
    biases = np.array([each.b for each in found])
    if np.ndim(b) == 0:
        return prove(problem, weights[0], float(biases[0]), *others, tol)
    return prove(problem, weights, biases, *others, tol)
