"""Ranking by grades: rounds over the pairs near their margin.

    min over w    ½‖w‖² + C Σ s_u s_v max(0, 1 − w·(x_u − x_v)),     grade_u > grade_v

A pair far from its margin has multiplier 0 or c and stays there for a while.  A round lists
the pairs near their margin, a few for every column, and gives them to the augmented
Lagrangian of ``lagrangian.py``; all others pull on w through one number per item, found
without listing them (``represent/graded.py``).  One more such pass gives primal, dual and,
where the round overshot, the slope for a line search.  The first round starts from the
solution of a random sample of the pairs.  Memory is O(n + listed pairs).
"""

from __future__ import annotations

import numpy as np

from ..certify.certificate import Certificate
from ..certify.graded import NONE, Listed, Proof, certify_grades, exceptions
from ..problem.graded import GradedProblem
from ..problem.losses import Hinge
from ..problem.problem import Bias, Problem
from ..represent.graded import between, by_score, count, sample, tally
from ..represent.pairs import PairRows
from ..represent.rows import combine, scores, take
from .contract import Ending, OutOfBudget, Point, Solution, Watch
from .lagrangian import GROWTH, Block, State, Terms, augment, block_slack
from .newton import newton
from .threads import one_blas_thread

MOST_ROUNDS = 100
# Pairs that a round lists: at least so many for every column, at most so many for every item.
PER_COLUMN, PER_ITEM = 16, 4
FEWEST = 2000
# Pairs of the sample solved first, for every column.
SAMPLE_PER_COLUMN = 48
# A pair moves about this much less from one round to the next.
LESS = 0.2
# A round is solved to this share of the gap it starts with.
SHARPER = 0.1
HALVINGS = 40


def solve_grades(
    problem: GradedProblem, watch: Watch, start: np.ndarray | None = None
) -> tuple[Solution, Certificate, Listed]:
    """The best w found, its proof, and the multipliers that the proof needs listed."""
    watch.solver = "rounds"
    rounds = Rounds(problem, watch, start)
    with one_blas_thread(), np.errstate(all="ignore"):
        try:
            ending = rounds.loop()
        except OutOfBudget as stop:
            ending = stop.ending
        except KeyboardInterrupt:
            ending = Ending.INTERRUPTED
        best = certify_grades(problem, rounds.best_w, rounds.best_listed)
    if best.certificate.holds(watch.tol):
        ending = Ending.REACHED
    elif ending is Ending.REACHED:
        ending = Ending.STALLED
    point = Point(rounds.best_w, 0.0, rounds.best_listed.alpha)
    why = f"{problem.grades.pairs} pairs implied by grades: only those near their margin are listed"
    solution = Solution(
        point, best.scores, ending, watch.solver, why, max(1, watch.n_iter), watch.history
    )
    return solution, best.certificate, rounds.best_listed


class Rounds:
    """Where the minimisation stands; ``best_*`` is the pair (w, list) with the smallest gap."""

    def __init__(self, problem: GradedProblem, watch: Watch, start: np.ndarray | None):
        self.problem, self.watch = problem, watch
        n, d = problem.shape
        self.fewest = min(problem.grades.pairs, max(FEWEST, PER_COLUMN * d))
        self.most = min(problem.grades.pairs, max(2 * self.fewest, PER_ITEM * n))
        self.w = np.zeros(d) if start is None else start
        self.warm = start is not None
        self.listed, self.kappa = NONE, 0.0
        self.best_w, self.best_listed, self.best_gap = self.w, NONE, np.inf

    def loop(self) -> Ending:
        watch, size = self.watch, self.fewest
        if not self.warm and self.problem.grades.pairs > self.most:
            self.w, reach = self._from_a_sample(), 0.5
            self.best_w = self.w
        else:
            reach = np.inf
        here = self._prove(self.w, NONE)
        for _ in range(MOST_ROUNDS):
            gap = min(1e-2, here.certificate.relative_gap)
            target = max(SHARPER * gap, 0.2 * watch.tol)
            band = self._band(here, reach, size)
            w, near = self._round(here, band, target)
            moved = np.abs(_margins(scores(self.problem.rows, w), near) - _margins(here.scores, near))
            there = self._prove(w, near)
            t = 1.0
            if there.certificate.primal > here.certificate.primal:
                t = self._step(here, w - self.w, there.scores - here.scores)
                w = self.w + t * (w - self.w)
                there = self._prove(w, near)
            here, self.w = there, w
            if watch.record(here.certificate.primal, self.dual):
                return Ending.REACHED
            if band == np.inf and t == 1.0 and len(near.alpha) == self.problem.grades.pairs:
                return Ending.STALLED  # all pairs were listed: there is no more to see
            if t == 1.0:
                reach, size = LESS * float(np.quantile(moved, 0.95)), self.fewest
            else:
                size = min(self.problem.grades.pairs, 2 * len(near.alpha))
                reach = np.inf
        return Ending.STALLED

    def _prove(self, w, near: Listed) -> Proof:
        """Primal and dual at w; remembers the best of both."""
        f = scores(self.problem.rows, w)
        listed = exceptions(self.problem, f, near)
        proof = certify_grades(self.problem, w, listed)
        self.dual = max(getattr(self, "dual", 0.0), proof.certificate.dual)
        if proof.certificate.gap < self.best_gap:
            self.best_gap, self.best_w, self.best_listed = proof.certificate.gap, w, listed
        return proof

    def _from_a_sample(self) -> np.ndarray:
        """Weights that are optimal for a random part of the pairs."""
        problem, grades = self.problem, self.problem.grades
        n, d = problem.shape
        size = min(self.most, max(FEWEST, SAMPLE_PER_COLUMN * d))
        winner, loser = sample(grades, size, np.random.default_rng(self.watch.seed))
        c = problem.C * grades.weight[winner] * grades.weight[loser] * (grades.pairs / size)
        part = Problem(
            take(PairRows(problem.rows, winner, loser), np.arange(size)),
            np.ones(size), c, Hinge(), Bias.NONE,
        )  # fmt: skip
        inner = Watch(
            tol=max(self.watch.tol, min(0.1, 2.0 * d / size)),
            max_iter=self.watch.max_iter,
            max_seconds=self.watch.max_seconds - self.watch.seconds,
            seed=self.watch.seed,
        )
        point, ending = newton(part, inner)
        self.watch.n_iter += inner.n_iter
        if ending is Ending.INTERRUPTED:
            raise KeyboardInterrupt
        return point.w

    def _band(self, here: Proof, reach: float, size: int) -> float:
        """How far from their margin the pairs of the next round may be."""
        grades, f, order = self.problem.grades, here.scores, here.order

        def within(band: float) -> int:
            return count(grades, order, f, 1.0 + band) - count(grades, order, f, 1.0 - band)

        least, most = size, max(size, self.most)
        if most >= grades.pairs:
            return np.inf
        low, high = 0.0, 2.0 * float(np.ptp(f)) + 2.0
        if np.isfinite(reach) and reach < high:
            number = within(reach)
            if least <= number <= most:
                return reach
            low, high = (low, reach) if number > most else (reach, high)
        for _ in range(HALVINGS):
            band = 0.5 * (low + high)
            number = within(band)
            if least <= number <= most:
                return band
            low, high = (low, band) if number > most else (band, high)
        return low  # ties: more pairs than may be listed lie at one distance

    def _round(self, here: Proof, band: float, target: float) -> tuple[np.ndarray, Listed]:
        """Minimise over the pairs near their margin, all others frozen at 0 or c."""
        problem, grades = self.problem, self.problem.grades
        winner, loser = between(grades, here.order, here.scores, 1.0 - band, 1.0 + band)
        beyond = tally(grades, here.order, here.scores, 1.0 - band)
        c = problem.C * grades.weight[winner] * grades.weight[loser]
        v0 = combine(problem.rows, problem.C * beyond.pull)
        constant = problem.C * beyond.total
        rows = take(PairRows(problem.rows, winner, loser), np.arange(len(winner)))
        block = Block(rows, np.ones(len(c)), c, np.zeros(problem.shape[1]), Bias.NONE, v0)
        a = self._remembered(winner, loser, c)
        state = State(self.w, 0.0, a, block_slack(block, self.w, 0.0))
        halfwidth = max(float(np.abs(state.z).max(initial=0.0)), 1e-12)

        def done(terms: Terms) -> bool:
            return terms.gap <= target * abs(terms.primal + constant)

        floor = self.dual * (1.0 - 1e-9) - constant
        kappa = max(0.5 / halfwidth, self.kappa / GROWTH)
        _, self.kappa = augment(block, state, kappa, self.watch, target, done, floor)
        self.listed = Listed(winner, loser, state.a)
        return state.w, self.listed

    def _remembered(self, winner, loser, c) -> np.ndarray:
        """The last round's multipliers of the same pairs, and half of c for the others."""
        n, _ = self.problem.shape
        a, old = 0.5 * c, self.listed
        if len(old.alpha) == 0:
            return a
        key, before = winner * n + loser, old.winner * n + old.loser
        order = np.argsort(before)
        place = np.minimum(np.searchsorted(before, key, sorter=order), len(before) - 1)
        same = before[order[place]] == key
        a[same] = np.clip(old.alpha[order[place[same]]], 0.0, c[same])
        return a

    def _step(self, here: Proof, dw, df) -> float:
        """The minimiser of the whole objective on the way to a round's result."""
        problem = self.problem
        slope0, curvature0 = float(self.w @ dw), float(dw @ dw)
        low, high = 0.0, 1.0
        for _ in range(HALVINGS // 2):
            t = 0.5 * (low + high)
            f = here.scores + t * df
            pull = tally(problem.grades, by_score(problem.grades, f), f, 1.0).pull
            slope = slope0 + t * curvature0 - problem.C * float(pull @ df)
            low, high = (t, high) if slope < 0.0 else (low, t)
        return 0.5 * (low + high)


def _margins(f: np.ndarray, listed: Listed) -> np.ndarray:
    return f[listed.winner] - f[listed.loser]
