"""Two classes with the hinge: which rows matter, and their paths, attempt by attempt.

Rows that are there many times are one row with their costs added up: to leave one of them out
lowers its cap.  If its multiplier is below the new cap nothing changes; else it falls to it.  If it
is just there the weights stay, but not the bias, if no other row is free.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...problem.problem import Problem
from ...rows.rows import AnyRows, DenseRows, as_csr, take
from ..contract import Point
from ..threads import one_blas_thread
from .answer import LeftOutScores
from .gram import KernelGram, LinearGram
from .path import NO_ROWS, Paths, snapped
from .tableau import Optimum

# How often a lost path is followed again, with more rows and other lots.
PATH_ATTEMPTS = 3
# A multiplier above its new cap by less than this share is below it.
AT_CAP_TOL = 1e-9
# Polishing ends at a gap of this share of the objective, or after so many rounds.
POLISHED_GAP, MAX_POLISHING = 1e-15, 3


class Joined(NamedTuple):
    """Equal rows as one, and which of them each row is."""

    problem: Problem
    which: np.ndarray


def join_equal_rows(problem: Problem) -> Joined:
    """Rows equal in values and label, by two random projections, which tell all others apart."""
    lots = np.random.default_rng(0).standard_normal((problem.shape[1], 2))
    seen = np.column_stack([_projections(problem.rows, lots), problem.y])
    order = np.lexsort(seen.T)
    new = np.ones(len(order), dtype=bool)
    new[1:] = (seen[order[1:]] != seen[order[:-1]]).any(axis=1)
    which = np.empty(len(order), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    if new.all():
        return Joined(problem, np.arange(len(order)))
    first = order[new]
    c = np.bincount(which, problem.c)
    rows = take(problem.rows, first)
    return Joined(replace(problem, rows=rows, y=problem.y[first], c=c), which)


def _projections(rows: AnyRows, lots: np.ndarray) -> np.ndarray:
    """X · lots, every row added up in the same order."""
    if isinstance(rows, DenseRows):
        return np.stack([np.einsum("ij,j->i", rows.X, each) for each in lots.T], axis=1)
    return np.asarray(as_csr(rows) @ lots)  # type: ignore[arg-type]


def leave_out_by_paths(problem: Problem, point: Point) -> tuple[LeftOutScores, np.ndarray] | None:
    """Scores of all rows, and which of them are not settled; None where there are no paths."""
    joined = join_equal_rows(problem)
    gram = LinearGram(joined.problem)
    alpha = np.bincount(joined.which, point.alpha, len(joined.problem.y))
    b = point.b + float(gram.mu @ point.w)
    with one_blas_thread():
        return follow_paths(gram, problem, joined, alpha, b)


def leave_out_by_kernel_paths(problem: Problem, K, alpha, b: float):
    """The same from a kernel matrix."""
    whole = Joined(problem, np.arange(len(problem.y)))
    with one_blas_thread():
        return follow_paths(KernelGram(problem, K), problem, whole, alpha, b)


def follow_paths(gram, problem: Problem, joined: Joined, alpha, b: float):
    """Settle what can be settled by the paths of the joined rows."""
    paths = _polished(gram, joined.problem, alpha, b)
    if paths is None:
        return None
    here = paths.here
    f = (here.problem.y * (1.0 - here.z))[joined.which]
    tolerance = paths.base_tolerance()[joined.which]
    if not np.isfinite(tolerance).all():  # nothing ties the bias
        return None
    out = LeftOutScores.unchanged(f, tolerance)
    left = here.problem.c[joined.which] - problem.c
    pull = here.alpha[joined.which] - left
    matter = (problem.c > 0.0) & (pull > AT_CAP_TOL * problem.c)
    rows = np.flatnonzero(matter)
    each, first, same = np.unique(
        np.column_stack([joined.which[rows], problem.c[rows]]),
        axis=0, return_index=True, return_inverse=True,
    )  # fmt: skip
    lost, lacked = np.arange(len(each)), NO_ROWS
    for attempt in range(PATH_ATTEMPTS):
        if not len(lost):
            break
        paths = Paths(gram, here, attempt, lacked) if attempt else paths
        found = paths.leave_out(joined.which[rows[first[lost]]], pull[rows[first[lost]]])
        settled = np.full(len(each), -1)
        settled[lost[found.good]] = np.flatnonzero(found.good)
        mine = settled[same.ravel()]
        some = mine >= 0
        out.settle(rows[some], found.scores[mine[some]], found.tolerance[mine[some]], "path")
        lost, lacked = lost[~found.good], np.union1d(lacked, found.crossed)
    unsettled = np.isin(same.ravel(), lost)
    edge = (problem.c > 0.0) & (left > 0.0) & (np.abs(pull) <= AT_CAP_TOL * problem.c)
    if np.count_nonzero(here.free) > 1:  # another row ties the bias
        edge[:] = False
    return out, np.union1d(rows[unsettled], np.flatnonzero(edge))


def _polished(gram, problem: Problem, alpha, b: float) -> Paths | None:
    """Paths from the optimum to rounding; None where its free rows do not tell it."""
    paths = Paths(gram, snapped(gram, problem, alpha, b))
    for _ in range(MAX_POLISHING):
        if paths.table is None:
            return None
        here = paths.here
        if _gap(here) <= POLISHED_GAP * float(problem.c @ np.maximum(here.z, 0.0)):
            break
        moved = paths.polished()
        if not _gap(moved) < 0.5 * _gap(here):
            break
        paths = Paths(gram, moved)
    return paths if paths.table is not None else None


def _gap(here: Optimum) -> float:
    return float((here.problem.c * np.maximum(here.z, 0.0) - here.alpha * here.z).sum())
