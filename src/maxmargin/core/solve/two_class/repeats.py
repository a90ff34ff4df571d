"""Rows that are there many times: solved once, with their costs added up.

A row that occurs m times costs what one row of m times the cost does, so tables of categories
or counts with many rows and few different ones shrink before they are solved.  Multipliers are
shared among equals in proportion to their costs, which changes neither w nor the dual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...problem.problem import Problem
from ...rows.rows import DenseRows, take
from ..contract import Point

# Below this many rows a fit takes milliseconds anyhow.
MIN_GROUPED_ROWS = 10_000
# Rows drawn by lot to see whether there are repeats at all, before all rows are sorted.
REPEAT_SAMPLE_ROWS = 512
# The first so many of them are looked at alone: few enough kinds of rows for half the sample to
# be repeats leave these without one in 2 of 1000 cases at most.
FIRST_LOOK_ROWS = 64
# Different rows, as a share of all, below which solving them alone pays for finding them.
MAX_DISTINCT_SHARE = 0.25


@dataclass(frozen=True)
class Repeats:
    """The problem of the different rows, and for each row of the whole which of them it is."""

    problem: Problem
    which: np.ndarray
    share: np.ndarray  # of a row in the cost of all its equals

    def shrink(self, point: Point) -> Point:
        alpha = np.bincount(self.which, point.alpha, minlength=len(self.problem.y))
        return point._replace(alpha=alpha)

    def expand(self, point: Point) -> Point:
        return point._replace(alpha=point.alpha[self.which] * self.share)


def find_repeats(problem: Problem) -> Repeats | None:
    """The same problem with equal rows joined, if that makes it much smaller."""
    rows, n = problem.rows, len(problem.y)
    if n < MIN_GROUPED_ROWS or problem.hard or not isinstance(rows, DenseRows):
        return None
    some = np.random.default_rng(0).integers(n, size=REPEAT_SAMPLE_ROWS)
    if (
        _kinds(rows.X[some[:FIRST_LOOK_ROWS]]) == FIRST_LOOK_ROWS
        or _kinds(rows.X[some]) > REPEAT_SAMPLE_ROWS / 2
    ):
        return None
    first, which = _group(rows.X, problem.y)
    if len(first) > MAX_DISTINCT_SHARE * n:
        return None
    c = np.bincount(which, problem.c, minlength=len(first))
    whole = c[which]
    share = np.divide(problem.c, whole, out=np.zeros(n), where=whole > 0)
    joined = replace(problem, rows=take(rows, first), y=problem.y[first], c=c)
    return Repeats(joined, which, share)


def _kinds(X: np.ndarray) -> int:
    """How many different rows there are."""
    # Adding 0 turns −0 into 0, which is the same number in other bits.
    return len({row.tobytes() for row in X + X.dtype.type(0)})


def _group(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One row of each kind, and the kind of each row.  Rows are equal in values and label."""
    bits = np.dtype(f"u{X.itemsize}")
    key = (y > 0).astype(np.uint64)
    # Multiplicative hashing with random odd numbers, column by column: no copy of X is made.
    rng = np.random.default_rng(0)
    for j in range(X.shape[1]):
        # As above for −0.
        word = (X[:, j] + X.dtype.type(0)).view(bits).astype(np.uint64)
        key = (key ^ word) * np.uint64(int(rng.integers(2**63)) * 2 + 1)
        key ^= key >> np.uint64(31)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    same = y[first][which] == y
    for column in X.T:
        same &= column[first][which] == column
    if not same.all():  # two rows share a key by accident: keep all rows apart
        return np.arange(len(y)), np.arange(len(y))
    return first, which
