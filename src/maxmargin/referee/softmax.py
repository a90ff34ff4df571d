"""Logistic regression of two classes or k, between bounds that are certain.

    primal(W, b) = ½‖W‖² + Σ c_i (log Σ_c exp s_ic − s_iy),      s_ic = W_c·x_i + b_c
    dual(p)      = −½‖W_p‖² − Σ c_i Σ_c p_ic log p_ic,           W_p = Σ c_i (e_y − p_i) x_iᵀ

dual(p) ≤ optimum ≤ primal(W, b) for probabilities p that, where biases are free, give every class
its due: Σ c_i p_i = Σ c_i e_y.  Of two classes the first has no weights, s_0 = 0, and the loss is
log(1 + exp(−y(w·x + b))).  c_i p_ic are multipliers of demands "y beats c", as in ``hinge``.

A model keeps no multipliers: Newton's method in many digits, from the model's own weights, finds
p, and what it finds is made feasible and summed up afresh.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from .hinge import HALF, ZERO, Demand, HingeProblem, combined, dot, explicit, feasible, weights_of
from .intervals import Interval, entropy, exp, interval, log, rounded
from .optimum import CONTEXT, decimal, product, solve

DIGITS = 60
MOST_STEPS, MIN_STEP = 200, Decimal("1e-12")
# The decrease that a step promises, relative to the objective, at which the method stops.
ENOUGH_DECREASE = Decimal("1e-38")
FAINT = Decimal("1e-150")


def pose(rows, codes, k: int, cost: list[Fraction], free_bias: bool) -> HingeProblem:
    """The demands of the "sum" rule: a multiplier for every row and wrong class."""
    demands = [
        Demand(i, y, c, i) for i, y in enumerate(codes) if cost[i] for c in range(k) if c != y
    ]
    return HingeProblem(k, demands, cost, rows=rows, free_bias=free_bias)


def primal(problem: HingeProblem, codes, W: dict[int, list[Fraction]], b) -> Interval:
    weights = explicit(problem, W)
    total = interval(HALF * weights.squared_norm)
    for i, (y, c) in enumerate(zip(codes, problem.cost, strict=True)):
        if not c:
            continue
        s = [(weights.scores[j][i] if j in W else ZERO) + b[j] for j in range(problem.k)]
        top = max(s)
        mass = sum((exp(each - top) for each in s if each != top), interval(s.count(top)))
        total += rounded((log(mass) + (top - s[y])) * c)
    return total


def dual(problem: HingeProblem, codes, gamma) -> Interval:
    """Of feasible multipliers γ_p = c_i p_ic."""
    W = weights_of(problem, combined(problem, gamma))
    total = interval(-HALF * sum((dot(w, w) for w in W.values()), ZERO))
    for c, members in zip(problem.cost, problem.members, strict=True):
        shares = [gamma[p] / c for p in members] if c else []
        for share in [*shares, 1 - sum(shares, ZERO)]:
            total -= rounded(entropy(share) * c) if share else ZERO
    return total


def enclose(problem: HingeProblem, codes, W, b) -> tuple[Fraction, Fraction]:
    """Lower and upper bound of the optimum, from a guess (W, b)."""
    with localcontext(CONTEXT) as context:
        context.prec = DIGITS
        W, b, p = _newton(problem, codes, W, b)
    gamma = [problem.cost[q.row] * _share(p[q.row][q.lose]) for q in problem.demands]
    lower = dual(problem, codes, feasible(problem, gamma)).lo
    return max(ZERO, lower), primal(problem, codes, W, b).hi


def _share(p: Decimal) -> Fraction:
    """A probability as a rational; what is next to nothing is nothing: any p will do."""
    return Fraction(p) if p > FAINT else ZERO


def _newton(problem: HingeProblem, codes, W, b):
    """Damped Newton steps on (W, b), biases of class 0 at zero; and the probabilities there."""
    rows = [[decimal(each) for each in row] for row in problem.rows]
    blocks, d, k = list(problem.blocks), len(rows[0]), problem.k
    weights = d * len(blocks)
    cost = [decimal(c) for c in problem.cost]
    x = [decimal(each) for c in blocks for each in W[c]]
    if problem.free_bias:
        x += [decimal(each - b[0]) for each in b[1:]]

    def scores(x, i):
        s = [Decimal(0)] * k
        for at, c in enumerate(blocks):
            s[c] = product(x[at * d : (at + 1) * d], rows[i])
        if problem.free_bias:
            s = [s[0], *map(Decimal.__add__, s[1:], x[weights:])]
        return s

    def look(x):
        value, p = product(x[:weights], x[:weights]) / 2, []
        for i, y in enumerate(codes):
            s = scores(x, i)
            top = max(s)
            e = [(each - top).exp() for each in s]
            total = sum(e)
            p.append([each / total for each in e])
            value += cost[i] * (total.ln() + top - s[y])
        return value, p

    value, p = look(x)
    for _ in range(MOST_STEPS):
        n = len(x)
        g = [-each for each in x[:weights]] + [Decimal(0)] * (n - weights)
        H = [[Decimal(0)] * n for _ in range(n)]
        for i in range(weights):
            H[i][i] = Decimal(1)
        for i, y in enumerate(codes):
            parts = [(at * d, c, rows[i]) for at, c in enumerate(blocks)]
            if problem.free_bias:
                parts += [(weights + c - 1, c, [Decimal(1)]) for c in range(1, k)]
            for at, c, v in parts:
                left = cost[i] * ((c == y) - p[i][c])
                for j, each in enumerate(v):
                    g[at + j] += left * each
                for to, e, u in parts:
                    if to > at:
                        continue
                    curve = cost[i] * p[i][c] * ((c == e) - p[i][e])
                    for j, each in enumerate(v):
                        scaled = curve * each
                        for m, other in enumerate(u):
                            H[at + j][to + m] += scaled * other
        step = solve(H, g)
        promise = product(g, step) / 2
        if promise <= ENOUGH_DECREASE * value:
            break
        t = Decimal(1)
        while t > MIN_STEP:
            trial = [a + t * s for a, s in zip(x, step, strict=True)]
            after, q = look(trial)
            if after <= value - t * promise / 4:
                break
            t /= 2
        else:
            break
        x, value, p = trial, after, q
    found = [Fraction(each) for each in x]
    W = {c: found[at * d : (at + 1) * d] for at, c in enumerate(blocks)}
    return W, [Fraction(0), *found[weights:]] if problem.free_bias else [Fraction(0)] * k, p
