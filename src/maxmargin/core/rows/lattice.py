"""Numbers rounded together, so that what they add up to is not lost.

Float64 multipliers of data far from the origin are off by 10⁻¹⁶ of themselves, and sums in which
they cancel by all that is left.  But there are many float64 near to each, and some of them add up
well: the steps between them are the vectors of a lattice, and asked for is the point of it that is
nearest to what should be.  The basis is reduced, a point found by rounding along it, and the
nearest by enumeration (``closest_vector.py``).  [Lenstra, Lenstra, Lovász 1982; Babai 1986]

Basis vectors are Decimals and exact; only what decides about their order and multiples is float64.
For that to be enough, demands on sums are raised by a few digits at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np

from .closest_vector import closest
from .decimals import decimals, factor, floats

# By how much demands are raised at a time; the share of the squared length that a swap must gain.
RAISED_BITS, LOVASZ = 24, 0.75
# Vectors in a basis, and steps of its reduction: about ten seconds.
MAX_LATTICE, MAX_REDUCTION_STEPS = 40, 40_000
# Of these so many take no time.
FEW_STEPS = 4_000
# Sums from which on float64 cannot say which vector is longer.
MAX_SUM = Decimal("1e140")
# A squared distance that is more than √2, squared, for certain; one up to which points are looked
# at, and how many: a second; and of what is left, what float64 can tell from zero.
SURE_SQUARE, LOOKED_AT_SQUARE, MAX_PROOF_NODES, SURE_SHARE = 2.5, 2.6, 400_000, 1e-18
# Rounding of multiples too large for float64 is mended by doing it again.
MAX_PASSES = 8


def nearest(
    sums: np.ndarray, moves: np.ndarray, missing: np.ndarray, go_on: Callable[[], bool]
) -> np.ndarray | None:
    """Integers z for which  missing + z·sums  and  z·moves  are small, together; None: no time,
    or sums too large.

    ``sums`` (N, m): what a step of every variable changes, in units of what may be missing;
    ``moves`` (N, N): how far it goes, in units of how far it may.  All of Decimals.
    """
    found = _reduced(sums, moves, missing, go_on)
    if found is None:
        return None
    rest, z, vectors = found
    m = len(rest)
    better = closest(floats(vectors[:, :m]), floats(rest)).steps
    return z - decimals(better).dot(vectors[:, m:]) if better.any() else z


def _reduced(sums, moves, missing, go_on) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """What rounding along a reduced basis leaves, the integers for it, and the basis."""
    n, m = sums.shape
    if max(abs(sums).max(), abs(missing).max()) > MAX_SUM:
        return None
    raised = float(max(abs(sums).max() / max(abs(moves).max(axis=1)), Decimal(1)).log10())
    bits = int(np.ceil(max(raised, 1.0) * 3.33))
    vectors = np.concatenate([sums, moves, decimals(np.eye(n))], axis=1)
    budget = MAX_REDUCTION_STEPS
    for soft in [*range(bits, 0, -RAISED_BITS), 0]:
        scale = np.array([Decimal(2) ** -soft] * m + [Decimal(1)] * n, dtype=object)
        budget = _reduce(vectors, scale, budget, go_on)
        if budget <= 0:
            return None
    rest = np.concatenate([missing, decimals(np.zeros(n))])
    return *_rounded(vectors, rest, m + n), vectors


def nearest_floats(
    answer: np.ndarray, H: np.ndarray, reach: np.ndarray, go_on: Callable[[], bool] = lambda: True
) -> np.ndarray:
    """Float64 x near the answer for which  (x − answer)ᵀ H (x − answer) + Σ ((x − answer)/reach)²
    is about as small as it can be; zeros stay.  H is positive semidefinite, of Decimals.

    Rounding each number alone is best only if H is diagonal: else what one loses the last digits of
    others can make up for.
    """
    out = floats(answer)
    some = np.flatnonzero(out)
    if not 1 < len(some) <= MAX_LATTICE:
        return out
    begin, units = decimals(out[some]), decimals(np.spacing(np.abs(out[some])))
    L = factor(H[np.ix_(some, some)])
    missing, moves = (begin - answer[some]).dot(L), np.diag(units / reach[some])
    z = nearest(units[:, None] * L, moves, missing, go_on)
    if z is not None:
        out[some] = floats(begin + z * units)
    return out


def none_within(
    answer: np.ndarray, H: np.ndarray, free: np.ndarray, go_on: Callable[[], bool] = lambda: True
) -> bool:
    """Whether it is proved that no float64 x has  (x − answer)ᵀ H (x − answer) ≤ 1.

    All such x are within ``reach`` of the answer, which says how fine float64 are there: they are
    points of a lattice, and all that are within are within √2 in the metric with moves, too.
    Numbers that may be zero, which have no finest digit, and those that are ``free``, may be any.
    """
    L = factor(H)
    if not 0 < len(H) <= MAX_LATTICE or not all(L.diagonal()):
        return False
    reach = np.array([each.sqrt() for each in (_inverse(L) ** 2).sum(axis=0)], dtype=object)
    least = np.where(free, 0.0, np.nextafter(floats(abs(answer) - reach), 0.0))
    kept = least >= np.finfo(np.float64).tiny
    if not (n := int(kept.sum())):
        return False
    first = np.concatenate([np.flatnonzero(~kept), np.flatnonzero(kept)])
    L = factor(H[np.ix_(first, first)])[-n:, -n:]  # what is left of H at the best of the others
    x, units, reach = answer[kept], decimals(np.spacing(least[kept])), reach[kept]
    begin = np.array([(a / u).to_integral_value() * u for a, u in zip(x, units, strict=True)])
    moves = np.diag(units / (reach * Decimal(n).sqrt()))
    found = _reduced(units[:, None] * L, moves, (begin - x).dot(L), go_on)
    if found is None:
        return False
    rest, _, vectors = found
    left = floats(rest)
    given = floats(vectors[:, : len(rest)]), left, MAX_PROOF_NODES, LOOKED_AT_SQUARE
    bound = closest(*given).bound
    return bound > SURE_SQUARE and bound > SURE_SHARE * float(left @ left)


def _inverse(L: np.ndarray) -> np.ndarray:
    """Of a lower triangle."""
    X = decimals(np.eye(len(L)))
    for j in range(len(L)):
        X[j] = X[j] / L[j, j]
        X[j + 1 :] -= np.multiply.outer(L[j + 1 :, j], X[j])
    return X


def _reduce(vectors: np.ndarray, scale: np.ndarray, budget: int, go_on) -> int:
    """Reduce the basis, in place, by lengths of its scaled entries; the steps that are left."""
    n, m = len(vectors), len(scale)
    B = floats(vectors[:, :m] * scale)
    Q, size = np.zeros_like(B), np.zeros(n)  # orthogonal vectors and their squared lengths
    k = 0
    while k < n and budget > 0:
        budget -= 1
        late = budget % 256 == 0 and budget < MAX_REDUCTION_STEPS - FEW_STEPS
        if late and not go_on():
            return 0
        _shorten(vectors, B, Q, size, k, scale)
        Q[k], along = _orthogonal(B, Q, size, k)
        size[k] = Q[k] @ Q[k]
        if k and size[k] < (LOVASZ - along**2) * size[k - 1]:
            for each in (vectors, B):
                each[[k - 1, k]] = each[[k, k - 1]]
            Q[k - 1], along = _orthogonal(B, Q, size, k - 1)
            size[k - 1] = Q[k - 1] @ Q[k - 1]
            k -= 1
        else:
            k += 1
    return budget


def _orthogonal(B, Q, size, k: int) -> tuple[np.ndarray, float]:
    """What of a vector is orthogonal to those before it, and its share of the last of them."""
    rest, along = B[k].copy(), 0.0
    for _ in range(2):  # once more for what rounding leaves
        for j in range(k):
            share = rest @ Q[j] / size[j] if size[j] > 0.0 else 0.0
            rest -= share * Q[j]
            along += share if j == k - 1 else 0.0
    return rest, along


def _shorten(vectors, B, Q, size, k: int, scale) -> None:
    """Take multiples of the vectors before it off a vector."""
    for _ in range(MAX_PASSES):
        changed = False
        for j in range(k - 1, -1, -1):
            share = B[k] @ Q[j] / size[j] if size[j] > 0.0 else 0.0
            if abs(share) > 0.51:
                times = Decimal(int(np.rint(share)))
                vectors[k] -= times * vectors[j]
                B[k] = floats(vectors[k, : len(scale)] * scale)
                changed = True
        if not changed:
            return


def _rounded(vectors: np.ndarray, rest: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """What is left of ``rest`` when multiples of the basis are taken off, and these, in all."""
    n = len(vectors)
    B, total = floats(vectors[:, :m]), decimals(np.zeros(n))
    Q, size = np.zeros_like(B), np.zeros(n)
    for k in range(n):
        Q[k] = _orthogonal(B, Q, size, k)[0]
        size[k] = Q[k] @ Q[k]
    for _ in range(MAX_PASSES):
        changed = False
        for k in range(n - 1, -1, -1):
            share = floats(rest) @ Q[k] / size[k] if size[k] > 0.0 else 0.0
            if abs(share) > 0.51:
                times = Decimal(int(np.rint(share)))
                rest = rest - times * vectors[k, :m]
                total = total - times * vectors[k, m:]
                changed = True
        if not changed:
            break
    return rest, total
