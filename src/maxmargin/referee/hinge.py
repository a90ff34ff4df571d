"""Support vector machines of every kind, in exact arithmetic.

    primal(W, b) = ½‖W‖² + Σ_g c_g ℓ(max_{p in g} z_p),       z_p = 1 − (s_win − s_lose)
    dual(γ)      = Σ γ_p − ½‖W_γ‖² − [squares: Σ_g (Σ_{p in g} γ_p)²/4c_g]

with scores s_c = W_c·x + b_c, W_γ = Σ γ_p (e_win − e_lose) xᵀ, and ℓ(z) = max(0, z) or its square.
A *demand* p asks that one class beat another by 1 on one row, and belongs to a group g of cost c_g;
C = ∞ is the hard margin, where no z_p may be above zero.

    two classes        one demand per row; class 0 has no weights, so that s_1 = w·x + b is all
    "max" rule         the k − 1 demands of a row are one group
    "sum" rule, label pairs      every demand is a group
    pairs of objects   the rows are differences x_u − x_v

dual(γ) ≤ optimum ≤ primal(W, b) for γ ≥ 0 with Σ_{p in g} γ_p ≤ c_g (squares: no cap) if, where
biases are free, as much flows into every class as out of it: Σ γ_p (e_win − e_lose) = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from .intervals import Number, high, larger, low, rounded, square

ZERO, HALF = Fraction(0), Fraction(1, 2)


class Demand(NamedTuple):
    row: int
    win: int
    lose: int
    group: int


@dataclass
class HingeProblem:
    """Rows as rationals, or their Gram matrix; demands on them; a cost per group, None for ∞."""

    k: int
    demands: list[Demand]
    cost: list[Any]
    rows: Any = None
    gram: Any = None
    squared: bool = False
    free_bias: bool = True
    members: list[list[int]] = field(init=False)

    def __post_init__(self):
        self.members = [[] for _ in self.cost]
        for p, demand in enumerate(self.demands):
            self.members[demand.group].append(p)

    @property
    def n(self) -> int:
        return len(self.rows if self.rows is not None else self.gram)

    @property
    def blocks(self) -> range:
        """The classes that have weights: of two, only the second."""
        return range(1, 2) if self.k == 2 else range(self.k)

    @property
    def hard(self) -> bool:
        return any(c is None for c in self.cost)


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), ZERO)


def combined(problem: HingeProblem, gamma) -> dict[int, list[Fraction]]:
    """v with W_c = Σ_i v_ci x_i: what the multipliers make of every row, class by class."""
    v = {c: [ZERO] * problem.n for c in problem.blocks}
    for demand, g in zip(problem.demands, gamma, strict=True):
        if g:
            for c, sign in ((demand.win, 1), (demand.lose, -1)):
                if c in v:
                    v[c][demand.row] += sign * g
    return v


def weights_of(problem: HingeProblem, v: dict[int, list[Fraction]]) -> dict[int, list[Fraction]]:
    """W_c = Σ_i v_ci x_i, where there are rows."""
    columns = list(zip(*problem.rows, strict=True))
    return {c: [dot(v[c], column) for column in columns] for c in v}


class Weights(NamedTuple):
    """Scores of every row and ‖W‖²: all that the primal asks of weights, however they are given."""

    scores: dict[int, list[Number]]
    squared_norm: Number


def explicit(problem: HingeProblem, W: dict[int, list[Fraction]]) -> Weights:
    scores = {c: [dot(W[c], x) for x in problem.rows] for c in W}
    return Weights(scores, sum((dot(w, w) for w in W.values()), ZERO))


def expanded(problem: HingeProblem, v: dict[int, list[Fraction]]) -> Weights:
    """Of W_c = Σ_i v_ci φ(x_i): s = Kv and ‖W‖² = Σ_c v_cᵀKv_c."""
    if problem.gram is None:
        return explicit(problem, weights_of(problem, v))
    scores = {c: [rounded(dot(v[c], row)) for row in problem.gram] for c in v}
    return Weights(scores, sum((dot(v[c], scores[c]) for c in v), ZERO))


def slacks(problem: HingeProblem, scores, b: list[Fraction]) -> list[Number]:
    """z_p = 1 − (s_win − s_lose)."""

    def score(c: int, i: int) -> Number:
        return scores[c][i] + b[c] if c in scores else b[c]

    return [1 - (score(p.win, p.row) - score(p.lose, p.row)) for p in problem.demands]


def primal(problem: HingeProblem, weights: Weights, b: list[Fraction]) -> Number | None:
    """The objective of (W, b); None where it is infinite.

    A hard margin that falls short of 1 is lengthened until it does not: the same planes.
    """
    z = slacks(problem, weights.scores, b)
    if problem.hard:
        closest = 1 - max(high(z[p]) for g, c in enumerate(problem.cost) if c is None
                          for p in problem.members[g])  # fmt: skip
        if closest <= 0:
            return None
        return HALF * weights.squared_norm / min(closest, Fraction(1)) ** 2
    total = HALF * weights.squared_norm
    for c, members in zip(problem.cost, problem.members, strict=True):
        if c == 0 or not members:
            continue
        worst: Number = ZERO
        for p in members:
            worst = larger(worst, z[p])
        total += c * (square(worst) if problem.squared else worst)
    return total


def dual(problem: HingeProblem, gamma) -> Number:
    """The bound that feasible multipliers amount to."""
    total: Number = sum(gamma, ZERO)
    total -= HALF * expanded(problem, combined(problem, gamma)).squared_norm
    if problem.squared:
        for c, members in zip(problem.cost, problem.members, strict=True):
            mass = sum((gamma[p] for p in members), ZERO)
            if mass:
                total -= mass * mass / (4 * c)
    return total


# --- multipliers made feasible, exactly ---------------------------------------------------


def into_box(problem: HingeProblem, gamma) -> list[Fraction]:
    """γ ≥ 0 with every group within its cost; a group above it is scaled down."""
    gamma = [max(ZERO, g) for g in gamma]
    for c, members in zip(problem.cost, problem.members, strict=True):
        if c is None or (problem.squared and c > 0):
            continue
        mass = sum((gamma[p] for p in members), ZERO)
        if mass > c:
            for p in members:
                gamma[p] *= c / mass
    return gamma


def outflow(problem: HingeProblem, gamma) -> list[Fraction]:
    r = [ZERO] * problem.k
    for p, g in zip(problem.demands, gamma, strict=True):
        r[p.win] += g
        r[p.lose] -= g
    return r


def feasible(problem: HingeProblem, gamma, scaled: bool = False) -> list[Fraction]:
    """Multipliers near γ that make ``dual`` a bound.

    What flows out of a class in excess is led along a path to a class that lacks it.  Demands
    strictly inside their limits move first, where that costs least; then any give what they have,
    which always suffices.  ``scaled`` takes from all alike, which may cost less where none is free.
    """
    gamma = into_box(problem, gamma)
    if not problem.free_bias:
        return gamma
    for _ in range(0 if scaled else 4 * problem.k):
        if not _lead(problem, gamma, _free_moves, scaled):
            break
    while _lead(problem, gamma, _gifts, scaled):
        pass
    return gamma


def _lead(problem, gamma, moves, scaled: bool) -> bool:
    """Lead as much as possible along one path; False where there is none, or nothing to lead."""
    r = outflow(problem, gamma)
    for start in (c for c in range(problem.k) if r[c] > 0):
        path = _path(problem.k, r, start, lambda a, z: moves(problem, gamma, a, z))
        if path:
            break
    else:
        return False
    along = [moves(problem, gamma, *edge) for edge in path]
    amount = min(r[path[0][0]], -r[path[-1][1]], *(sum(m.room for m in edge) for edge in along))
    for edge in along:
        _shift(gamma, edge, amount, scaled)
    return True


class Move(NamedTuple):
    demand: int
    sign: int
    room: Fraction


def _gifts(problem, gamma, a: int, z: int) -> list[Move]:
    """All that the demands "a beats z" have."""
    return [
        Move(p, -1, gamma[p])
        for p, demand in enumerate(problem.demands)
        if (demand.win, demand.lose) == (a, z) and gamma[p] > 0
    ]


def _free_moves(problem, gamma, a: int, z: int) -> list[Move]:
    """Half of the way to their limits, for "a beats z" downwards and "z beats a" upwards."""
    found = []
    for p, demand in enumerate(problem.demands):
        edge = demand.win, demand.lose
        if edge not in ((a, z), (z, a)) or not gamma[p] > 0:
            continue
        c, members = problem.cost[demand.group], problem.members[demand.group]
        above = gamma[p]
        if c is not None and not problem.squared:
            above = (c - sum((gamma[q] for q in members), ZERO)) / len(members)
        room = min(gamma[p], above) / 2
        if room > 0:
            found.append(Move(p, -1 if edge == (a, z) else 1, room))
    return found


def _shift(gamma, moves: list[Move], amount: Fraction, scaled: bool) -> None:
    total = sum(move.room for move in moves)
    for move in sorted(moves, key=lambda move: -move.room):
        step = move.room * amount / total if scaled else min(move.room, amount)
        gamma[move.demand] += move.sign * step
        if not scaled:
            amount -= step


def _path(k: int, r, start: int, moves) -> list[tuple[int, int]] | None:
    """Edges from a class with excess to one that lacks: breadth first."""
    paths: dict[int, list[tuple[int, int]]] = {start: []}
    queue = [start]
    for c in queue:
        if r[c] < 0:
            return paths[c]
        for z in range(k):
            if z not in paths and moves(c, z):
                paths[z] = [*paths[c], (c, z)]
                queue.append(z)
    return None


def bound(problem: HingeProblem, gamma) -> Fraction:
    """The best lower bound of the optimum that γ is seen to prove; zero needs no multipliers."""
    found = [low(dual(problem, feasible(problem, gamma, scaled))) for scaled in (False, True)]
    return max(ZERO, *found)
