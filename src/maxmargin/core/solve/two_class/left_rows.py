"""What is told of the rows that are left when some are gone, in one loop over all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...problem.problem import Problem


class LeftRows(NamedTuple):
    """Of the rows that are left, and those with a multiplier, of which ``kind`` says 0 on the
    margin, 1 inside, 2 on the wrong side."""

    alpha: np.ndarray
    z: np.ndarray  # in six digits
    slack: np.ndarray
    codes: np.ndarray
    support: np.ndarray
    kind: np.ndarray


class Before(NamedTuple):
    """What was told of all rows."""

    alpha: np.ndarray
    z: np.ndarray
    c: np.ndarray
    codes: np.ndarray


class SeenSlacks(NamedTuple):
    """Slacks of all rows, and the rows that have a multiplier, in order."""

    z: np.ndarray
    support: np.ndarray


def left_rows(problem: Problem, alpha, seen: SeenSlacks, codes, gone, on_margin: float) -> LeftRows:
    """``gone``: rows in order; a slack up to ``on_margin`` is none.  Multipliers of a hinge."""
    left, count = len(alpha) - len(gone), len(seen.support)
    found = LeftRows(
        np.empty(left), np.empty(left, np.float32), np.empty(left), np.empty(left, codes.dtype),
        np.empty(count, np.int64), np.empty(count, np.int8),
    )  # fmt: skip
    before = Before(alpha, seen.z, problem.c, codes)
    _copy(before, gone, found)
    _kinds(before, seen.support, gone, on_margin, found)
    return found


@njit(cache=True, nogil=True)
def _copy(before, gone, found):
    start = 0
    for k in range(gone.shape[0] + 1):  # the rows before the k-th that is gone move up by k
        stop = gone[k] if k < gone.shape[0] else before.alpha.shape[0]
        for i in range(start, stop):
            z = before.z[i]
            found.alpha[i - k], found.z[i - k] = before.alpha[i], z
            found.codes[i - k] = before.codes[i]
            found.slack[i - k] = max(0.0, z) if before.c[i] > 0.0 else 0.0
        start = stop + 1


@njit(cache=True, nogil=True)
def _kinds(before, support, gone, on_margin, found):
    passed = 0
    for k in range(support.shape[0]):
        i = support[k]
        while passed < gone.shape[0] and gone[passed] < i:
            passed += 1
        z, free = before.z[i], before.alpha[i] < before.c[i]
        found.support[k] = i - passed
        found.kind[k] = 0 if (z <= on_margin) | free else 1 + (z > 1.0)
