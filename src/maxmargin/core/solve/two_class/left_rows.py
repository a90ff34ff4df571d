"""What is told of the rows that are left when some are gone, in one loop over all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...problem.problem import Problem


class LeftRows(NamedTuple):
    """Of the rows that are left; ``kind`` of those with a multiplier: 0 on the margin, 1 inside, 2
    on the wrong side."""

    alpha: np.ndarray
    z: np.ndarray  # in six digits
    slack: np.ndarray
    codes: np.ndarray
    support: np.ndarray
    kind: np.ndarray


def left_rows(problem: Problem, alpha, z, codes, gone, on_margin: float) -> LeftRows:
    """``gone``: rows in order; a slack up to ``on_margin`` is none.  Multipliers of a hinge."""
    left = len(alpha) - len(gone)
    found = LeftRows(
        np.empty(left), np.empty(left, np.float32), np.empty(left), np.empty(left, codes.dtype),
        np.empty(left, np.int64), np.empty(left, np.int8),
    )  # fmt: skip
    count = _fill(alpha, z, problem.c, codes, gone, on_margin, found)
    return found._replace(support=found.support[:count].copy(), kind=found.kind[:count].copy())


@njit(cache=True, nogil=True)
def _fill(alpha, z, c, codes, gone, on_margin, found):
    place, left, count = 0, 0, 0
    for i in range(alpha.shape[0]):
        if place < gone.shape[0] and gone[place] == i:
            place += 1
            continue
        a, slack = alpha[i], max(0.0, z[i]) if c[i] > 0.0 else 0.0
        found.alpha[left], found.z[left], found.slack[left] = a, z[i], slack
        found.codes[left] = codes[i]
        # Written whether it counts or not: nobody could foresee the branch.
        found.support[count] = left
        found.kind[count] = 0 if (slack <= on_margin) | (a < c[i]) else 1 + (slack > 1.0)
        count += a > 0.0
        left += 1
    return count
