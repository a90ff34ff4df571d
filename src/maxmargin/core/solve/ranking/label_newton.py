"""Newton's method for pairs of labels.

    min over V    ½ Σ_cj E_j V_cj² + Σ c_p max(0, 1 − s_ia + s_ib),        s_i = V z_i

in the coordinates of ``augmented_rows.py``.  As in ``lagrangian.py``, given multipliers and σ one
outer step minimises the smooth function in which pair p pays max_a { a z_p − (a − a⁰_p)²/(2σ_p) };
its curvature comes from the pairs with 0 < a⁰ + σz < c, each of which makes two classes trade
blame for one example: the directions of ``class_direction.py`` serve as they are.
"""

from __future__ import annotations

import numpy as np

from ...certify.label_pairs import by_example
from ...problem.label_pairs import LabelPairsProblem
from ..contract import ClassPoint, Ending, Monitor
from ..many_class.augmented_rows import Frame
from ..many_class.class_direction import Trades, class_direction
from ..many_class.class_lagrangian import MAX_INNER_STEPS, stationary_terms
from ..many_class.class_newton import FIRST_KAPPA, BestClassPoint, augment
from ..semismooth import PiecewiseQuadratic, Terms, exact_step, minimise
from ..two_class.lagrangian import HingeLine, activity


def label_newton(
    problem: LabelPairsProblem, monitor: Monitor, start: ClassPoint | None = None
) -> tuple[ClassPoint, Ending]:
    """Solve ``problem``; β of a point holds one multiplier per pair, not yet repaired."""
    field = _Field(problem)
    best = BestClassPoint(*field.start(start))

    def step(V, a, kappa, enough):
        f = _SmoothedPairs(field, V, a, kappa * problem.c)
        terms, finished = minimise(f, monitor, enough, MAX_INNER_STEPS)
        return f.V, f.a, terms, finished

    ending = augment(step, monitor, best, field.gentle() if start is None else FIRST_KAPPA)
    return ClassPoint(*field.frame.outside(best.V), best.B), ending


class _Field:
    """The pairs on the examples that have any, in the coordinates of the frame."""

    def __init__(self, problem: LabelPairsProblem):
        self.problem = problem
        alive, self.example = np.unique(problem.example, return_inverse=True)
        self.frame = Frame(problem.rows, alive, problem.k, problem.bias)
        self.low = np.minimum(problem.winner, problem.loser)
        self.high = np.maximum(problem.winner, problem.loser)
        self.ones = np.ones(len(problem.c))

    def gentle(self) -> float:
        """κ to begin with: σ at most c/2, and one pair's pull 2σ‖z‖² on itself at most one."""
        Z = self.frame.Z
        square = float((Z.multiply(Z) if hasattr(Z, "multiply") else Z * Z).sum()) / Z.shape[0]
        pull = 2.0 * float(np.mean(self.problem.c)) * square
        return min(FIRST_KAPPA, 1.0 / max(pull, 1e-300))

    def start(self, point: ClassPoint | None) -> tuple[np.ndarray, np.ndarray]:
        if point is None:
            return np.zeros((self.problem.k, len(self.frame.E))), np.zeros(len(self.problem.c))
        return self.frame.inside(point.W, point.b), np.clip(point.beta, 0.0, self.problem.c)

    def differences(self, V: np.ndarray) -> np.ndarray:
        """s_ib − s_ia of every pair."""
        S = self.frame.Z @ V.T
        return S[self.example, self.problem.loser] - S[self.example, self.problem.winner]

    def gradient(self, V: np.ndarray, a: np.ndarray) -> np.ndarray:
        frame = self.frame
        pulls = by_example(self.problem, a)[frame.alive]
        return V * frame.E - (frame.Z.T @ pulls).T

    def direction(self, free, sigma, g) -> tuple[np.ndarray, bool]:
        who = np.column_stack([self.low[free], self.high[free]]).ravel()
        start = np.arange(0, len(who) + 1, 2)
        # diag(u) − uuᵀ/Σu over two classes with u = 2σ is σ (e_a − e_b)(e_a − e_b)ᵀ.
        trades = Trades(self.example[free], start, who, np.repeat(2.0 * sigma[free], 2))
        return class_direction(self.frame.Z, self.frame.E, trades, float(sigma.max()), g)


class _SmoothedPairs(PiecewiseQuadratic):
    """Σ max_a { a z − (a − a⁰)²/(2σ) } over pairs, with the norm, at V."""

    def __init__(self, field: _Field, V, a0, sigma):
        self.field, self.V, self.a0, self.sigma = field, V, a0, sigma
        self.a, self.free = np.empty(len(a0)), np.empty(len(a0), dtype=np.int64)
        self.z = 1.0 + field.differences(V)

    def look(self) -> tuple[Terms, np.ndarray]:
        field = self.field
        count, _, complementarity, loss = activity(
            self.z, self.a0, self.sigma, field.problem.c, field.ones, self.a, self.free
        )
        self.J = self.free[:count].copy()
        self.g = field.gradient(self.V, self.a)
        stationarity, norm = stationary_terms(field.frame.E, self.V, self.g)
        return Terms(complementarity, stationarity, norm + loss, norm), self.J

    def aim(self) -> None:
        self.dV, self.exact = self.field.direction(self.J, self.sigma, self.g)

    def step_length(self) -> float:
        E, V, dV, c = self.field.frame.E, self.V, self.dV, self.field.problem.c
        line = HingeLine(self.z, self.field.differences(dV), self.a0, self.sigma, c)
        slope, curvature = float(np.sum(E * V * dV)), float(np.sum(E * dV * dV))
        return exact_step(line, float(np.sum(self.g * dV)), slope, curvature)

    def move(self, t: float) -> None:
        self.V = self.V + t * self.dV
        self.z = 1.0 + self.field.differences(self.V)
