"""Other coefficients of a kernel's function: the smallest, or small ones beside large ones.

    f = Σ_j k(·, x_j) u_j

Where K is singular, or nearly so, many u say the same f, and float64 are finest near zero.  Rows
are put into groups, each of which alone can say f: the first is given coefficients of any size, the
next ones far smaller, whose last digits make up for what rounding of the first has lost, as the low
words of a long number do.  Of all u those are taken that solve

    min over u   ‖A (u − u*)‖² + ε Σ k_jj (u_j/σ_j)²,        σ_j the size of a group

with ε as large as the gap asked for allows, and are rounded together (``rows/lattice.py``).  A says
what a gap makes of them: √S K and √α Lᵀ, K = LLᵀ, for kernel ridge; scores and Lᵀ for a machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, getcontext
from typing import Any, NamedTuple

import numpy as np

from ..rows.decimals import ONE, decimals, factor, floats
from ..rows.lattice import nearest

Numbers = Any  # arrays of Decimals

# Bits by which coefficients of a group are smaller than those of the one before, and groups.
GROUP_BITS, MAX_GROUPS = 44, 4
# Of the gap asked for: what small coefficients may cost; and of sums, what rounding may do to any.
SMALL_SHARE, ROUNDED_SHARE = Decimal("0.1"), Decimal("0.3")
# How far a coefficient may be moved, relative to itself: its last digit stays what it is.
MOVED_SHARE = Decimal("0.5")
# How often coefficients that were moved further are rounded again.
MAX_WIDENED = 3


class Column(NamedTuple):
    """Sums A (m, N) of coefficients, in units of what may be missing of them, and the answer (N,):
    a coefficient for every row, and a bias where there is one more."""

    sums: Numbers
    answer: Numbers


def small_coefficients(
    K: Numbers, columns: list[Column], least: Decimal, go_on: Callable[[], bool]
) -> Iterator[np.ndarray]:
    """Float64 (N, columns) whose sums are nearly right, one way after the other.

    ``least``: a squared distance of functions that does not count.
    """
    length = roots(K.diagonal() + (K.diagonal() == 0))
    for group in _groupings(K, least):
        size = np.array([Decimal(2) ** -(GROUP_BITS * int(g)) for g in group], dtype=object)
        found = [_near(column, *_smallest(column, size, length), go_on) for column in columns]
        some = [each for each in found if each is not None]
        if len(some) < len(columns):
            return
        yield np.column_stack(some)


def roots(values: Numbers) -> Numbers:
    return np.array([each.sqrt() for each in values], dtype=object)


def _groupings(K: Numbers, least: Decimal) -> Iterator[np.ndarray]:
    """Of every row its group: pivots of K, then those of the rows that are left; one for all; each
    row that is left on its own."""
    group, left = np.full(len(K), MAX_GROUPS - 1), list(range(len(K)))
    for number in range(MAX_GROUPS - 1):
        chosen = [left[i] for i in _pivots(K[np.ix_(left, left)], least)]
        group[chosen] = number
        left = [i for i in left if i not in chosen]
        if not left:
            break
    yield group
    spare = np.flatnonzero(group)
    if len(spare):
        yield np.zeros_like(group)
        group[spare] = np.minimum(1 + np.arange(len(spare)), MAX_GROUPS - 1)
        yield group


def _pivots(K: Numbers, least: Decimal) -> list[int]:
    """Rows in whose span all others are but for a squared distance of ``least``."""
    rest, chosen = K.copy(), []
    for _ in range(len(K)):
        j = int(np.argmax(rest.diagonal()))
        if rest[j, j] <= least:
            break
        chosen.append(j)
        rest = rest - np.multiply.outer(rest[:, j], rest[j]) / rest[j, j]
    return chosen


def _smallest(column: Column, size: Numbers, length: Numbers) -> tuple[Numbers, Numbers]:
    """With ε by bisection, the largest power of ten that is good, or that digits can tell from
    zero; and how far each may be."""
    A, answer = column
    unit = np.concatenate([size / length, [ONE] * (len(answer) - len(size))])
    scaled = A * unit
    H = scaled.T.dot(scaled)
    most, every, right = max(H.diagonal()) or ONE, np.arange(len(H)), H.dot(answer / unit)
    low, high = 20 - getcontext().prec, 0
    best: Numbers = None
    while low <= high:
        middle = (low + high) // 2 if best is not None else low
        ridged = H / most
        ridged[every, every] += Decimal(10) ** middle
        tried = definite_solution(ridged, right[:, None] / most)[:, 0] * unit
        missing = A.dot(tried - answer)
        if best is None or missing.dot(missing) <= SMALL_SHARE:
            best, low = tried, middle + 1
        else:
            high = middle - 1
    n = len(size)
    reach = np.concatenate([np.maximum(abs(best[:n]), max(abs(best[:n])) * size), [ONE]])
    return best, np.maximum(abs(best), reach[: len(best)])


def definite_solution(M: Numbers, B: Numbers) -> Numbers:
    """M⁻¹B, M positive definite."""
    L = factor(M)
    X = B.copy()
    for j in range(len(M)):
        X[j] = X[j] / L[j, j]
        X[j + 1 :] -= np.multiply.outer(L[j + 1 :, j], X[j])
    for j in range(len(M) - 1, -1, -1):
        X[j] = X[j] / L[j, j]
        X[:j] -= np.multiply.outer(L[j, :j], X[j])
    return X


def _near(column: Column, u: Numbers, reach: Numbers, go_on) -> np.ndarray | None:
    """Float64 near u with sums that are off by little; what is moved further than float64 of its
    size reach is taken for larger."""
    sums = column.sums * (len(u) / ROUNDED_SHARE)
    for _ in range(MAX_WIDENED):
        units = decimals(np.spacing(floats(reach)))
        begin = np.array([(a / b).to_integral_value() * b for a, b in zip(u, units, strict=True)])
        moves = np.diag(units / (MOVED_SHARE * reach))
        z = nearest(units[:, None] * sums.T, moves, sums.dot(begin - u), go_on)
        if z is None:
            return None
        exact = begin + z * units
        found = floats(exact)
        if (decimals(found) == exact).all():
            return found
        reach = np.maximum(reach, abs(exact))
    return found
