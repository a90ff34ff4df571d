"""Other coefficients of a kernel's function: the smallest, or small ones beside large ones.

    f = Σ_j k(·, x_j) u_j,      P(f) = ½ Σ s_i (f(x_i) − y_i)² + ½ α‖f‖²

Where K is singular, or nearly so, many u say the same f, and float64 are finest near zero.  Rows
are put into groups, each of which alone can say f: the first is given coefficients of any size, the
next ones far smaller, whose last digits make up for what rounding of the first has lost, as the low
words of a long number do.  Of all u those are taken that solve

    min over u   P(f) + ½ ε Σ k_jj (u_j/σ_j)²,        σ_j the size of a group

with ε as large as the gap asked for allows, and are rounded together (``rows/lattice.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, getcontext
from typing import Any

import numpy as np

from ...rows.decimals import ONE, decimals, factor, floats
from ...rows.lattice import nearest

Numbers = Any  # arrays of Decimals

# Bits by which coefficients of a group are smaller than those of the one before, and groups.
GROUP_BITS, MAX_GROUPS = 44, 4
# Of the residual asked for, squared: what small coefficients may cost; and of itself, what rounding
# may do to any sum.
SMALL_SHARE, ROUNDED_SHARE = Decimal("0.1"), Decimal("0.3")
# How far a coefficient may be moved, relative to itself: its last digit stays what it is.
MOVED_SHARE = Decimal("0.5")


def small_coefficients(
    K: Numbers, s: Numbers, y: Numbers, alpha: Decimal, residual: Decimal,
    gap: Callable[[Numbers], Decimal], go_on: Callable[[], bool],
) -> Iterator[np.ndarray]:  # fmt: skip
    """Float64 u (n, targets) with a gap of about ½ residual², one way after the other.

    ``gap(u)`` bounds P(f) less its minimum.
    """
    sums = np.vstack([roots(s)[:, None] * K, alpha.sqrt() * factor(K).T])
    asked = ROUNDED_SHARE * residual / len(K)
    for group in _groupings(K, alpha * residual * residual):
        size = np.array([Decimal(2) ** -(GROUP_BITS * int(g)) for g in group], dtype=object)
        u = _smallest(K, s, y, alpha, size, lambda u: gap(u) <= SMALL_SHARE * residual**2 / 2)
        columns = [_near(column, size, sums / asked, go_on) for column in u.T]
        found = [each for each in columns if each is not None]
        if len(found) < len(columns):
            return
        yield np.column_stack(found)


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


def _smallest(K, s, y, alpha: Decimal, size, good: Callable[[Numbers], bool]) -> Numbers:
    """ε by bisection: the largest power of ten that is good, or that digits can tell from zero."""
    unit = size / roots(K.diagonal() + (K.diagonal() == 0))
    H = ((K * s).dot(K) + alpha * K) * unit * unit[:, None]
    right = (K * s).dot(y) * unit[:, None]
    most, every = max(H.diagonal()) or ONE, np.arange(len(H))
    low, high = 20 - getcontext().prec, 0
    best: Numbers = None
    while low <= high:
        middle = (low + high) // 2 if best is not None else low
        ridged = H / most
        ridged[every, every] += Decimal(10) ** middle
        tried = definite_solution(ridged, right / most) * unit[:, None]
        if best is None or good(tried):
            best, low = tried, middle + 1
        else:
            high = middle - 1
    return best


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


def _near(u: Numbers, size: Numbers, sums: Numbers, go_on) -> np.ndarray | None:
    """Float64 near u with ``sums`` times them within one of what they should be, or nearly so."""
    most = max(abs(u))
    reach = np.array([max(abs(a), most * b) for a, b in zip(u, size, strict=True)], dtype=object)
    units = decimals(np.spacing(floats(reach)))
    begin = np.array([(a / b).to_integral_value() * b for a, b in zip(u, units, strict=True)])
    z = nearest(
        units[:, None] * sums.T, np.diag(units / (MOVED_SHARE * reach)), sums.dot(begin - u), go_on
    )
    return None if z is None else floats(begin + z * units)
