"""The path of a hinge's optimum along a line, by exchanges: piecewise linear, event by event.

    z = 1 − Qα − yb,    α_j = 0 where z_j < 0,   α_j = c_j where z_j > 0,   yᵀα constant

Rows on their margin, z_j = 0 and 0 < α_j < c_j, are free.  From a point where the free rows F are
known, each other row's slack z and each free row's multiplier α answer linearly, v = −A u, to

    u_j = the change of α_j for a row outside F,      u_j = the change of z_j for one in F.

With u = 0 no row changes its kind.  When one does, it enters a set E and its answer is held still:
A_EE u_E = −g_E, where g is what the line alone asks for.  The inverse of A_EE is kept, so that an
event costs K|E| operations for K rows, however many rows there are.  At the end the exchanges are
made once more, all together, which leaves no rounding of the way.
[Cauwenberghs & Poggio 2001; Hastie et al. 2004]
"""

from __future__ import annotations

import numpy as np
from numba import njit

# A rate below this share of what it is made of is rounding: the row is in the free rows' hull.
RATE_ROUNDING = 1e-9
# A pivot below this share of the largest of its row means that E's rows are dependent.
PIVOT_ROUNDING = 1e-10
# Events of one path, and rows exchanged at once, at most.
MAX_EVENTS, MAX_EXCHANGED = 3000, 200
# Loops run to whole vectors of so many numbers, with room behind the last: what is left over would
# be done one by one, and of fifty rows that is a third of the work.
LANES = 8
# A system is solved if what is left is this share of its largest term; tried so often.
SOLVED_ROUNDING, MAX_REFINEMENTS = 1e-14, 3
REORDER = {"reassoc", "contract", "nnan", "ninf"}


@njit(cache=True, nogil=True, error_model="numpy")
def follow_all(A, G, free, cap, alpha, z, edge, skip, pin, pull, slow, rank):
    """Paths of many lines from one point, α and z of K rows; the multipliers (lines, K) at their
    ends, and the events of each: negative where a path was lost.

    ``A``: row j has the answers of all rows to u_j, with their sign turned.  ``G``: those to each
    line.  ``skip``: a row without events; ``pin``: a free row whose multiplier is to change by
    ``pull``; −1 for none.  ``edge``: what is added to the slacks on the way, so that no two rows
    meet their margins at once.  ``slow``: rates of slacks, of multipliers that are rounding.
    ``rank``: with so many free rows, which come first, w and b stand still, and so do all slacks.
    """
    out, events = np.empty(G.shape), np.empty(len(G), np.int64)
    wide = np.zeros((len(A), _padded(len(A))))
    for j in range(len(A)):
        for i in range(len(A)):
            wide[j, i] = A[j, i]
    for i in range(len(G)):
        events[i] = _follow(
            wide, G[i], free, cap, alpha, z, edge, skip[i], pin[i], pull[i], slow[i], rank, out[i]
        )
    return out, events


@njit(cache=True, nogil=True, error_model="numpy")
def _padded(count):
    """The next multiple of ``LANES``."""
    return (count + LANES - 1) // LANES * LANES


@njit(cache=True, nogil=True, error_model="numpy")
def _follow(A, g, free, cap, alpha, z, edge, skip, pin, pull, slow, rank, out):
    """One path from t = 0 to 1; ``out``: the multipliers there."""
    K, m, events, rest, few = len(g), 0, 0, 1.0, np.count_nonzero(free)
    now_free = few
    W, M = _padded(K), _padded(MAX_EXCHANGED)
    E, where = np.empty(MAX_EXCHANGED, np.int64), np.full(K, -1)
    inverse = np.empty((MAX_EXCHANGED, M))
    u, rate, steps = np.empty(MAX_EXCHANGED), np.empty(W), np.empty(W)
    work = np.empty((3, M))
    x, low, high, least = np.zeros(W), np.zeros(W), np.zeros(W), np.full(W, np.inf)
    asked = np.zeros(W)
    for j in range(K):
        asked[j] = g[j]
        out[j] = alpha[j]
        _watch(j, free[j], out, z[j] + edge[j], cap, slow, x, low, high, least)
    if pin >= 0:
        m = _enter(A, free, E, m, where, inverse, pin, -g[pin] - pull, u, work)
        now_free -= 1
    if skip >= 0:
        low[skip], high[skip] = -np.inf, np.inf
    while m >= 0:
        top = few if now_free >= rank else K
        _rates(A, asked, E, u, m, top, rate)
        if pin >= 0:
            rate[pin] = 0.0
        step, hit = _first_event(rate, x, low, high, least, rest, E, m, top, steps)
        if hit < 0:
            break
        _move(x, rate, step, E, m, top)
        rest -= step
        events += 1
        if events == MAX_EVENTS or m == MAX_EXCHANGED - 1:
            return -events
        if free[hit] == (where[hit] < 0):  # a multiplier has met its bound
            out[hit] = cap[hit] if rate[hit] > 0.0 else 0.0
        if where[hit] < 0:
            m = _enter(A, free, E, m, where, inverse, hit, rate[hit], u, work)
        else:
            m = _leave(E, m, where, inverse, hit, u)
        moves = free[hit] == (where[hit] < 0)
        now_free += 1 if moves else -1
        _watch(hit, moves, out, 0.0, cap, slow, x, low, high, least)
    if m < 0:
        return -1 - events
    if pin >= 0:
        out[pin] = alpha[pin] + pull
    good = _together(A, g, free, alpha, z, E, m, where, inverse, pin, skip, out)
    return events if good else -1 - events


@njit(cache=True, nogil=True, error_model="numpy")
def _watch(j, multiplier, alpha, z, cap, slow, x, low, high, least):
    """What of row j moves now, and between which bounds."""
    if multiplier:
        x[j], low[j], high[j], least[j] = alpha[j], 0.0, cap[j], slow[1]
    else:
        x[j], least[j] = z, slow[0]
        low[j], high[j] = (-np.inf, 0.0) if alpha[j] == 0.0 else (0.0, np.inf)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def _rates(A, g, E, u, m, top, rate):
    """v = −g − Σ u_e A_e of the first ``top`` rows, of rows in E u itself; four of A at a time."""
    wide = _padded(top)
    for j in range(wide):
        rate[j] = -g[j]
    e = 0
    while e + 4 <= m:
        one, two, three, four = A[E[e]], A[E[e + 1]], A[E[e + 2]], A[E[e + 3]]
        a, b, c, d = u[e], u[e + 1], u[e + 2], u[e + 3]
        for j in range(wide):
            rate[j] -= (a * one[j] + b * two[j]) + (c * three[j] + d * four[j])
        e += 4
    while e < m:
        one, a = A[E[e]], u[e]
        for j in range(wide):
            rate[j] -= a * one[j]
        e += 1
    for e in range(m):
        rate[E[e]] = u[e]


@njit(cache=True, nogil=True, error_model="numpy")
def _first_event(rate, x, low, high, least, rest, E, m, top, steps):
    """The step to the first bound met, and by which row; −1 where none is met before the end."""
    for j in range(_padded(top)):  # without branches, many rows at a time
        steps[j] = _step(rate[j], x[j], low[j], high[j], least[j])
    first, hit = _least(steps, top, rest), -1
    if first < rest:
        hit = 0
        while hit < top - 1 and steps[hit] != first:
            hit += 1
    for e in range(m):
        j = E[e]
        if j >= top:
            step = _step(rate[j], x[j], low[j], high[j], least[j])
            if step < first:
                first, hit = step, j
    return max(first, 0.0), hit


@njit(cache=True, nogil=True, error_model="numpy")
def _least(steps, top, least):
    """The least of the first ``top``; four at a time, for a minimum waits for the one before."""
    a = b = c = d = least
    j = 0
    while j + 4 <= top:
        a = steps[j] if steps[j] < a else a
        b = steps[j + 1] if steps[j + 1] < b else b
        c = steps[j + 2] if steps[j + 2] < c else c
        d = steps[j + 3] if steps[j + 3] < d else d
        j += 4
    while j < top:
        a = steps[j] if steps[j] < a else a
        j += 1
    return min(min(a, b), min(c, d))


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _step(r, x, low, high, least):
    step = ((high if r > 0.0 else low) - x) / r
    return step if abs(r) > least else np.inf


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def _move(x, rate, step, E, m, top):
    for j in range(top):
        x[j] += step * rate[j]
    for e in range(m):
        if E[e] >= top:
            x[E[e]] += step * rate[E[e]]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def _enter(A, free, E, m, where, inverse, j, rate, u, work):
    """One row more in E, and in the inverse of A_EE; −1 where it is dependent.

    ``rate``: what the row answers now, and then no more: u follows.  Answers between a free row and
    one that is not have opposite signs, A = JAᵀJ, and so has the inverse: what it makes of the row
    is, but for signs, what it makes of the column.
    """
    x, y, wide = work[1], work[2], _padded(m)
    pivot, size = A[j, j], abs(A[j, j])
    answers, mine = A[j], free[j]
    y[:wide] = 0.0
    for c in range(m):
        line, factor = inverse[c], answers[E[c]]
        factor = factor if free[E[c]] == mine else -factor
        for a in range(wide):
            y[a] += factor * line[a]
    for a in range(m):
        each = answers[E[a]]
        size = max(size, abs(each))
        x[a] = y[a] if free[E[a]] == mine else -y[a]
        pivot -= each * y[a]
    if not abs(pivot) > PIVOT_ROUNDING * size:
        return -1
    u[m] = rate / pivot
    for a in range(m):
        line, factor = inverse[a], x[a] / pivot
        for c in range(wide):
            line[c] += factor * y[c]
        line[m], inverse[m, a] = -factor, -y[a] / pivot
        u[a] -= x[a] * u[m]
    inverse[m, m] = 1.0 / pivot
    E[m], where[j] = j, m
    return m + 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def _leave(E, m, where, inverse, j, u):
    """One row less in E, whose u is then zero; the last takes its place."""
    p, last = where[j], m - 1
    wide = _padded(m)
    pivot, pulled, row = inverse[p, p], u[p], inverse[p, :wide].copy()
    for a in range(m):
        line = inverse[a]
        factor = line[p] / pivot
        u[a] -= factor * pulled
        for c in range(wide):
            line[c] -= factor * row[c]
        line[p] = line[last]
    for c in range(last):
        inverse[p, c] = inverse[last, c]
    E[p], u[p] = E[last], u[last]
    where[E[p]] = p
    where[j] = -1
    return last if pivot != 0.0 else -1


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def _together(A, g, free, alpha, z, E, m, where, inverse, pin, skip, out):
    """All exchanges at once: multipliers between their bounds computed afresh, in place."""
    K = len(g)
    total = g.copy()
    for j in range(K):
        if not free[j] and where[j] < 0 and j != skip and out[j] != alpha[j]:
            row, change = A[j], out[j] - alpha[j]
            for k in range(K):
                total[k] += change * row[k]
    B, u = np.empty((m, m)), np.empty(m)
    for a in range(m):
        j = E[a]
        u[a] = -total[j] - (out[j] - alpha[j] if free[j] else -z[j])
        for c in range(m):
            B[a, c] = A[E[c], j]
    if m and not (_refine(B, inverse, u) or _solve(B, u)):
        return False
    for e in range(m):
        row = A[E[e]]
        for k in range(K):
            total[k] += u[e] * row[k]
    for j in range(K):
        if free[j] and where[j] < 0:
            out[j] = alpha[j] - total[j]
    for e in range(m):
        if not free[E[e]]:
            out[E[e]] = alpha[E[e]] + u[e]
    return True


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def _refine(B, inverse, u):
    """B x = u in place with an inverse that has been updated many times, and what that leaves;
    whether what is left is rounding."""
    m = len(u)
    asked, left, size = u.copy(), u.copy(), 0.0
    u[:] = 0.0
    for e in range(m):
        size = max(size, abs(asked[e]))
    for _ in range(MAX_REFINEMENTS):
        for a in range(m):
            total, line = 0.0, inverse[a]
            for c in range(m):
                total += line[c] * left[c]
            u[a] += total
        worst = 0.0
        for a in range(m):
            total, line, most = 0.0, B[a], 0.0
            for c in range(m):
                part = line[c] * u[c]
                total += part
                most = max(most, abs(part))
            left[a] = asked[a] - total
            worst = max(worst, abs(left[a]) - SOLVED_ROUNDING * most)
        if worst <= SOLVED_ROUNDING * size:
            return True
    for e in range(m):
        u[e] = asked[e]
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(B, u):
    """B x = u in place, by elimination with pivots; whether B is regular."""
    m = len(u)
    for k in range(m):
        best = k
        for a in range(k + 1, m):
            if abs(B[a, k]) > abs(B[best, k]):
                best = a
        if B[best, k] == 0.0:
            return False
        if best != k:
            for c in range(k, m):
                B[k, c], B[best, c] = B[best, c], B[k, c]
            u[k], u[best] = u[best], u[k]
        for a in range(k + 1, m):
            factor = B[a, k] / B[k, k]
            for c in range(k + 1, m):
                B[a, c] -= factor * B[k, c]
            u[a] -= factor * u[k]
    for k in range(m - 1, -1, -1):
        for c in range(k + 1, m):
            u[k] -= B[k, c] * u[c]
        u[k] /= B[k, k]
    return True
