"""What is told of the rows that are left when some are gone, in one loop over all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...problem.problem import Problem

# A slack below this is rounding: the point lies on its margin.
ON_MARGIN_SLACK = 1e-7


class LeftRows(NamedTuple):
    """Of the rows that are left, and those with a multiplier, of which ``kind`` says 0 on the
    margin, 1 inside, 2 on the wrong side."""

    alpha: np.ndarray
    z: np.ndarray  # in six digits
    slack: np.ndarray
    codes: np.ndarray
    support: np.ndarray
    kind: np.ndarray


class RowsSeen(NamedTuple):
    """Slacks of all rows, and the rows that have a multiplier, in order."""

    z: np.ndarray
    support: np.ndarray


def left_rows(problem: Problem, alpha, seen: RowsSeen, codes, gone) -> LeftRows:
    """``gone``: rows in order.  Multipliers of a hinge."""
    left, count = len(alpha) - len(gone), len(seen.support)
    found = LeftRows(
        np.empty(left), np.empty(left, np.float32), np.empty(left), np.empty(left, codes.dtype),
        np.empty(count, np.int64), np.empty(count, np.int8),
    )  # fmt: skip
    _copy(alpha, seen.z, problem.c, codes, gone, found)
    _kinds(alpha, seen.z, problem.c, seen.support, gone, found)
    return found


@njit(cache=True, nogil=True)
def _copy(alpha, z, c, codes, gone, left):
    start = 0
    alpha_left, z_left, slack_left, codes_left = left.alpha, left.z, left.slack, left.codes
    for k in range(gone.shape[0] + 1):  # the rows before the k-th that is gone move up by k
        stop = gone[k] if k < gone.shape[0] else alpha.shape[0]
        for i in range(start, stop):
            alpha_left[i - k], z_left[i - k], codes_left[i - k] = alpha[i], z[i], codes[i]
            slack_left[i - k] = max(0.0, z[i]) if c[i] > 0.0 else 0.0
        start = stop + 1


@njit(cache=True, nogil=True)
def _kinds(alpha, z, c, support, gone, left):
    passed, places, kind = 0, left.support, left.kind
    for k in range(support.shape[0]):
        i = support[k]
        while passed < gone.shape[0] and gone[passed] < i:
            passed += 1
        places[k] = i - passed
        kind[k] = 0 if (z[i] <= ON_MARGIN_SLACK) | (alpha[i] < c[i]) else 1 + (z[i] > 1.0)
