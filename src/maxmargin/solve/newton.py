"""Newton's method for data with many rows and up to a few thousand columns.

Hinge: a small random part of the rows is solved first (recursively), which tells which
rows matter: those near their margin.  Then, in rounds, only these are given to the
augmented Lagrangian of ``lagrangian.py``, all others staying frozen at multiplier 0 or c.
Near the present point the reduced objective equals the full one, so its minimiser lies
downhill; an exact line search on the full objective makes every round a descent, and one
pass over all rows tells how large the gap still is.

Squared hinge: every row with slack matters, so Newton steps run on all rows.
"""

from __future__ import annotations

import numpy as np

from ..problem.losses import Hinge
from ..problem.problem import Bias, Problem
from ..represent.rows import Rows, combine, combine_some, scores, shape, take
from .contract import Ending, OutOfBudget, Point, Watch, origin
from .lagrangian import GROWTH, Block, State, Terms, block_slack, exact_step, minimise

# Rows that are solved at once rather than in rounds.
FEW_ROWS = 1500
ROWS_PER_COLUMN = 16
SHRINK = 8
# A random part need only be solved as well as it resembles the whole.
PART_TOL = 3e-3
ROUNDS = 100
OUTER_STEPS = 40


def newton(problem: Problem, watch: Watch, start: Point | None = None) -> tuple[Point, Ending]:
    """Solve ``problem``; the multipliers returned are not yet repaired."""
    mu = _means(problem)
    best = Best(problem, mu)
    try:
        if isinstance(problem.loss, Hinge):
            ending = _solve_hinge(problem, mu, watch, start, best)
        else:
            ending = _solve_squared(problem, mu, watch, start, best)
    except OutOfBudget as stop:
        ending = stop.ending
    except KeyboardInterrupt:
        ending = Ending.INTERRUPTED
    return best.point(), ending


class Best:
    """The lowest primal and the highest dual seen, and the points they belong to."""

    def __init__(self, problem: Problem, mu: np.ndarray):
        self.mu = mu
        w, _, alpha = origin(problem)
        self.primal, self.w, self.b = np.inf, w, 0.0
        self.dual, self.alpha = -np.inf, alpha

    def offer_primal(self, primal: float, w: np.ndarray, b: float) -> None:
        if primal < self.primal:
            self.primal, self.w, self.b = primal, w, b

    def offer_dual(self, dual: float, alpha: np.ndarray) -> None:
        if dual > self.dual:
            self.dual, self.alpha = dual, alpha

    def point(self) -> Point:
        return Point(self.w, self.b - float(self.mu @ self.w), self.alpha)


def _means(problem: Problem) -> np.ndarray:
    """Column means: a free bias makes the problem blind to them, and Newton more accurate."""
    n, d = problem.shape
    if problem.bias is not Bias.FREE:
        return np.zeros(d)
    return combine(problem.rows, np.full(n, 1.0 / n))


# --- hinge ----------------------------------------------------------------------------


def _solve_hinge(problem, mu, watch, start, best) -> Ending:
    n, d = problem.shape
    few = max(FEW_ROWS, ROWS_PER_COLUMN * (d + 1))
    if n <= few:
        return _solve_at_once(problem, mu, watch, start, best)
    if start is None:
        w, b = _from_a_part(problem, mu, watch)
    else:
        w, b = start.w, start.b + float(mu @ start.w)
    return _solve_in_rounds(problem, mu, watch, best, w, b, start, few)


def _solve_at_once(problem, mu, watch, start, best) -> Ending:
    """The augmented Lagrangian on all rows."""
    _, d = problem.shape
    block = Block(problem.rows, problem.y, problem.c, mu, problem.bias, np.zeros(d))
    if start is None:
        state = State(np.zeros(d), 0.0, np.zeros(len(problem.y)), np.ones(len(problem.y)))
    else:
        b = start.b + float(mu @ start.w)
        alpha = np.clip(start.alpha, 0.0, problem.cap)
        state = State(start.w, b, alpha, block_slack(block, start.w, b))

    def done(terms: Terms) -> bool:
        best.offer_primal(terms.primal, state.w, state.b)
        best.offer_dual(terms.primal - terms.gap, state.a)
        return watch.record(best.primal, best.dual) or terms.gap <= 0.1 * watch.tol * terms.primal

    reached, _ = augment(block, state, 0.5, watch, 0.1 * watch.tol, done)
    return Ending.REACHED if reached else Ending.STALLED


def augment(
    block: Block, state: State, kappa: float, watch: Watch, tol: float, done, floor: float = -np.inf
) -> tuple[bool, float]:
    """Outer steps with σ = κ c, κ growing, until ``done(terms)``; whether so, and the last κ.

    Gives up when the objective falls below ``floor``.
    """
    small = tol * 0.1

    def enough(t: Terms) -> bool:
        precise = t.stationarity <= max(0.05 * t.complementarity, small * abs(t.primal))
        return precise or t.primal < floor

    for _ in range(OUTER_STEPS):
        terms, finished = minimise(block, state, kappa * block.cap, watch, enough)
        if terms.primal < floor or (finished and done(terms)):
            return terms.primal >= floor, kappa
        kappa = kappa * GROWTH if finished else kappa / GROWTH**1.5
    return False, kappa


def _from_a_part(problem: Problem, mu, watch: Watch) -> tuple[np.ndarray, float]:
    """Weights and (centred) bias that are optimal for a random part of the rows."""
    n, _ = problem.shape
    rng = np.random.default_rng(watch.seed)
    index = np.sort(
        np.concatenate(
            [
                rng.choice(mine, size=min(len(mine), 1 + len(mine) // SHRINK), replace=False)
                for mine in (np.flatnonzero(problem.y > 0), np.flatnonzero(problem.y < 0))
            ]
        )
    )
    part = Problem(
        take(problem.rows, index),
        problem.y[index],
        problem.c[index] * (n / len(index)),
        problem.loss,
        problem.bias,
    )
    inner = Watch(
        tol=max(PART_TOL, watch.tol),
        max_iter=watch.max_iter,
        max_seconds=watch.max_seconds - watch.seconds,
        seed=watch.seed,
    )
    found = Best(part, mu)
    if isinstance(problem.loss, Hinge):
        _solve_hinge(part, mu, inner, None, found)
    else:
        _solve_squared(part, mu, inner, None, found)
    watch.n_iter += inner.n_iter
    return found.w, found.b


def _solve_in_rounds(problem, mu, watch, best, w, b, start, few) -> Ending:
    rows, y, c = problem.rows, problem.y, problem.c
    n, d = problem.shape
    shift = float(mu @ w)
    z = 1.0 - y * (scores(rows, w) + (b - shift))
    alpha = None if start is None else np.clip(start.alpha, 0.0, c)
    pull = Pull(rows, mu)
    primal = _primal(problem, w, b, z)
    gap, size, kappa = 1e-2, max(few, n // SHRINK), 0.0
    fewest = min(n, max(500, 4 * (d + 1)))
    for _ in range(ROUNDS):
        near, up = _near_margin(problem, z, size)
        size = len(near)
        halfwidth = float(np.abs(z[near]).max())
        frozen = np.where(up, c, 0.0)
        v0, r0 = pull.of(frozen * y), float(frozen @ y)
        block = Block(take(rows, near), y[near], c[near], mu, problem.bias, v0, r0)
        if alpha is None:
            state = State(w, b, 0.5 * c[near], z[near])
        else:
            state = State(w, b, alpha[near], z[near])
        kappa = max(0.5 / max(halfwidth, 1e-12), kappa / GROWTH)
        constant = float(frozen.sum())
        target = max(0.1 * gap, 0.2 * watch.tol)

        def done(terms, target=target, constant=constant):
            return terms.gap <= target * abs(terms.primal + constant)

        # The reduced objective lies below the full one everywhere; once it is below a dual
        # bound, the frozen rows no longer tell the truth and the line search takes over.
        floor = max(best.dual, 0.0) * (1.0 - 1e-9) - constant
        _, kappa = augment(block, state, kappa, watch, target, done, floor)

        alpha = frozen.copy()
        alpha[near] = state.a
        best.offer_dual(_dual(problem, block, state, alpha), alpha)
        z_new = 1.0 - y * (scores(rows, state.w) + (state.b - float(mu @ state.w)))
        before, primal = primal, _primal(problem, state.w, state.b, z_new)
        moved = np.abs(z_new[near] - z[near])
        if primal <= before:
            w, b, z = state.w, state.b, z_new
        else:  # the frozen rows mattered after all
            t = _segment_step(c, w, b, z, state.w, state.b, z_new, problem.bias)
            w, b, z = w + t * (state.w - w), b + t * (state.b - b), z + t * (z_new - z)
            primal = _primal(problem, w, b, z)
            fewest = min(n, 2 * size)
        best.offer_primal(primal, w, b)
        if watch.record(best.primal, best.dual):
            return Ending.REACHED
        gap = min(1e-2, max(0.0, best.primal - best.dual) / best.primal)
        # The next round will move the rows less than this one did.
        reach = 0.5 * float(np.quantile(moved, 0.95))
        size = max(fewest, min(2 * size, int(np.count_nonzero(np.abs(z) <= reach))))
    return Ending.STALLED


def _primal(problem: Problem, w, b, z) -> float:
    value = 0.5 * float(w @ w) + float(problem.c @ np.maximum(z, 0.0))
    return value + 0.5 * b * b if problem.bias is Bias.PENALIZED else value


def _dual(problem: Problem, block: Block, state: State, alpha) -> float:
    """Σα − ½‖w_α‖², charged for what Σαy lacks of zero."""
    v = block.v0 + combine(block.rows, state.a * block.y) - float(state.a @ block.y) * block.mu
    r = float(alpha @ problem.y)
    value = float(alpha.sum()) - 0.5 * float(v @ v)
    if problem.bias is Bias.PENALIZED:
        return value - 0.5 * r * r
    return value - abs(r) * (abs(state.b) + 1.0) if problem.bias is Bias.FREE else value


def _near_margin(problem: Problem, z, size) -> tuple[np.ndarray, np.ndarray]:
    """The ``size`` rows nearest their margin, and which of the others are at their cap.

    More rows are taken while those at their cap pull the bias harder than the near ones
    can hold: the reduced problem would have no minimum.
    """
    n, y, c = len(z), problem.y, problem.c
    distance = np.abs(z)
    while True:
        size = min(n, size)
        near = np.sort(np.argpartition(distance, size - 1)[:size])
        up = z > 0.0
        up[near] = False
        if size == n or problem.bias is not Bias.FREE:
            return near, up
        pull = float(c[up] @ y[up])
        hold = float(c[near][y[near] == -np.sign(pull)].sum())
        if abs(pull) < 0.9 * hold or pull == 0.0:
            return near, up
        size *= 2


class Pull:
    """Σ u_i (x_i − μ), kept up to date by passing only over the rows whose u changed."""

    def __init__(self, rows: Rows, mu: np.ndarray):
        self.rows, self.mu = rows, mu
        n, d = shape(rows)
        self.u, self.v = np.zeros(n), np.zeros(d)

    def of(self, u: np.ndarray) -> np.ndarray:
        changed = np.flatnonzero(u != self.u)
        if len(changed) > len(u) // 4:
            self.v = combine(self.rows, u) - float(u.sum()) * self.mu
        else:
            step = (u - self.u)[changed]
            self.v = self.v + combine_some(self.rows, changed, step) - float(step.sum()) * self.mu
        self.u = u
        return self.v


def _segment_step(c, w, b, z, w_new, b_new, z_new, bias) -> float:
    """The minimiser of the full objective between the old point (0) and the new (1)."""
    dw, db, dz = w_new - w, b_new - b, z_new - z
    slope, curvature = float(w @ dw), float(dw @ dw)
    if bias is Bias.PENALIZED:
        slope, curvature = slope + b * db, curvature + db * db
    start = slope + float((c * (z > 0.0)) @ dz)
    steep = 1e12 * c  # so steep that clip(σz, 0, c) is the hinge's own slope
    t = exact_step(z, dz, np.zeros_like(c), steep, c, start, slope, curvature)
    return min(t, 1.0)


# --- squared hinge --------------------------------------------------------------------


def _solve_squared(problem, mu, watch, start, best) -> Ending:
    """The squared hinge is smooth as it stands: σ = 2c, no cap, one minimisation."""
    n, d = problem.shape
    block = Block(problem.rows, problem.y, problem.cap, mu, problem.bias, np.zeros(d))
    if start is not None:
        w, b = start.w, start.b + float(mu @ start.w)
    elif n > max(FEW_ROWS, ROWS_PER_COLUMN * (d + 1)):
        w, b = _from_a_part(problem, mu, watch)
    else:
        w, b = np.zeros(d), 0.0
    state = State(w, b, np.zeros(n), block_slack(block, w, b))

    def enough(terms: Terms) -> bool:
        best.offer_primal(terms.primal, state.w, state.b)
        best.offer_dual(terms.primal - terms.gap, 2.0 * problem.c * np.maximum(state.z, 0.0))
        watch.record(best.primal, best.dual)
        return terms.gap <= 0.1 * watch.tol * terms.primal

    _, finished = minimise(block, state, 2.0 * problem.c, watch, enough)
    return Ending.REACHED if finished else Ending.STALLED
