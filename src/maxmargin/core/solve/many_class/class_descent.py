"""Dual block coordinate descent for k classes: the solver for many rows or many columns.

    primal   min over W, b    ½‖W‖² + Σ c_i ℓ(W x_i + b)
    dual     max over β       −½‖W_β‖² − Σ c_i ℓ*(β_i/c_i),    r = Σ α_i = 0

An epoch (``class_sweep.py``) gives every row that is awake its best multipliers; then
b += τ r, as the augmented Lagrangian of r = 0 asks.  After every second epoch a leap
(``class_leap.py``) goes on along the path of these two.  The weights of all classes lie side
by side (``core/rows/class_products.py``), in float32 until the gap is so small that rounding shows.
[Keerthi et al. 2008, with free biases]
"""

from __future__ import annotations

import numpy as np

from ...certify.circulation import into_domain
from ...certify.multiclass import signed
from ...problem.class_losses import hinge_rates
from ...problem.multiclass import MulticlassProblem
from ...rows.class_products import MIN_THREAD_MULTIPLICATIONS, class_combine, compressed, padded
from ...rows.rows import combine, scores, size_of, sqnorms, stretch
from ...team import in_shares
from ..contract import ClassPoint, Ending, Monitor, OutOfBudget, ended
from ..two_class.sweep import awake
from .class_leap import leap
from .class_shift import best_shift
from .class_sweep import CLASS_ROW_DTYPE, SLEEP_FACTOR, look, square_sum, sweep, weights
from .outlook import Outlook

# τ, the stiffness of the constraint r = 0, in units of the mean ‖x − μ‖².
BALANCE_STIFFNESS = 0.05
# Epochs between leaps; a leap reads U and β, so on short rows they are rarer.
EPOCHS_PER_LEAP, LEAP_COST = 2, 0.5
# A check is due after a quarter as many epochs as have been made, or when the gap should be closed
# if it falls on as it did, within these limits.
MIN_CHECK_EPOCHS, MAX_CHECK_EPOCHS = 3, 20
# Newton steps in the biases at a check; on rows of fewer values than these an epoch is so quick
# that one has to do: letters (16 columns, 26 classes) then take three quarters of the time.  Where
# C‖x − μ‖² is smaller than this, biases matter most, and one step alone doubles the epochs.
MAX_SHIFT_STEPS, LONG_ROW, MIN_BRIEF_STIFFNESS = 3, 32, 1.0
# Relative gap below which float32 weights would show their rounding; on small data, on which
# they would be no faster, they are not used.
MIN_SINGLE_GAP, MIN_SINGLE_VALUES = 3e-5, 2e7
# The gap is estimated before r is exactly zero; this much of tol is left for that.
STOP_TOL_SHARE = 0.95
# Checks in a row that bring either bound nearer by less than this share of the gap, after
# which the solver gives up.
MAX_IDLE_CHECKS, MIN_CHECK_PROGRESS = 12, 3e-4
# Stored values visited between looks at the clock.
CALL_MULTIPLICATIONS = 2e8
# Epochs after which a check first computes the weights afresh.
REFRESH_EPOCHS = 20
# Scores kept at a check, so that better biases cost no pass over the data, and multipliers kept
# to leap from: beyond so many numbers memory is worth more.
MAX_KEPT_SCORES, MAX_LEAP_MULTIPLIERS = 5e7, 2e8
# A row of length zero still needs a step: this share of the mean ‖x‖².
EMPTY_ROW_NORM = 1e-12


def class_descent(
    problem: MulticlassProblem,
    monitor: Monitor,
    start: ClassPoint | None = None,
    patience: float = np.inf,
) -> tuple[ClassPoint, Ending]:
    """Descend until the estimated gap is the one asked for; multipliers are nearly feasible.

    ``patience``: epochs worth about as much as another solver (``outlook.py``).
    """
    state = ClassDescent(problem, monitor, start, patience)
    ending = ended(state.loop)
    return state.point(ending is Ending.REACHED), ending


class ClassDescent:
    """Multipliers β (n, width), weights U (d, width), and what is known of their gap."""

    def __init__(
        self,
        problem: MulticlassProblem,
        monitor: Monitor,
        start: ClassPoint | None,
        patience: float = np.inf,
    ):
        self.problem, self.monitor, self.rates = problem, monitor, hinge_rates(problem.loss)
        self.rows = rows = compressed(problem.rows)
        n, d = problem.shape
        free = bool(problem.bias)
        self.mu = combine(rows, np.full(n, 1.0 / n)) if free else np.zeros(d)
        self.mm = float(self.mu @ self.mu)
        centre = scores(rows, self.mu) if free else np.zeros(n)
        q = np.maximum(sqnorms(rows) - 2.0 * centre + self.mm, 0.0)
        alive = problem.c > 0
        unit = max(float(q[alive].mean()), 1e-300)
        # When C is so small that the weights hardly matter, biases must still move by a margin.
        soft = max(BALANCE_STIFFNESS * unit, 1.0 / max(float(problem.c.sum()), 1e-300))
        self.tau = soft if free else 0.0

        self.points = np.zeros(n, dtype=CLASS_ROW_DTYPE)
        self.points["y"], self.points["c"], self.points["centre"] = problem.y, problem.c, centre
        self.points["q"] = np.maximum(q + self.tau, EMPTY_ROW_NORM * unit)
        self.points["wake"] = np.where(alive, 0.0, np.inf)
        self.order, self.every = np.empty(n, dtype=np.uint32), np.arange(n, dtype=np.uint32)
        self.dice = np.array([monitor.seed], dtype=np.uint64)
        values = max(1, size_of(rows))
        self.slice = max(1, int(CALL_MULTIPLICATIONS * n / (values * padded(problem.k))))
        self.stride = EPOCHS_PER_LEAP + int(LEAP_COST * (d + n) / values)

        brief = values < LONG_ROW * n and unit * float(problem.c.mean()) >= MIN_BRIEF_STIFFNESS
        self.shift_steps = 1 if brief else MAX_SHIFT_STEPS
        width = padded(problem.k)
        precision = np.float32 if values * width > MIN_SINGLE_VALUES else np.float64
        self.b, self.r = np.zeros(width), np.zeros(width)
        self.clock, self.speed, self.epochs = 0.0, np.inf, 0
        self.primal, self.dual = np.inf, -np.inf
        self.outlook = Outlook(patience)
        self.best: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self.beta = np.zeros((n, width), dtype=precision)
        if start is not None:
            self.beta[:, : problem.k] = start.beta
            self.b[: problem.k] = start.b
            if free:
                W = class_combine(rows, problem.k, signed(problem, self.beta))
                self.b[: problem.k] += W @ self.mu
        self.h = self.b.copy()
        kept = n if n * problem.k <= MAX_KEPT_SCORES else 0
        self.kept = np.zeros((kept, problem.k), dtype=np.float32)
        self._take(precision)

    def _take(self, precision) -> None:
        """Hold β and U in this precision."""
        width = padded(self.problem.k)
        if self.beta.dtype != precision:  # rounded caps are not quite those of the domain
            self.beta = self.beta.astype(precision)
            into_domain(self.problem, self.beta[:, : self.problem.k])
        self.U = np.zeros((self.problem.shape[1], width), dtype=precision)
        leaps = self.beta.size <= MAX_LEAP_MULTIPLIERS
        self.old_beta = self.beta.copy() if leaps else self.beta[:0]
        self.old_U = self.U.copy()
        self.noise = 4.0 * float(np.finfo(precision).eps)
        self.room = (
            np.zeros(width, dtype=precision), np.zeros(width, dtype=precision),
            np.full(width, -np.inf), np.zeros(width),
        )  # fmt: skip
        self.refresh()

    def refresh(self) -> None:
        """Compute U, r and h afresh from β: what rounding has added up to is forgotten.

        The displacement since the last leap stays as it is.
        """
        problem, k = self.problem, self.problem.k
        self.refreshed = self.epochs
        if not self.beta.any():
            return
        fresh = class_combine(self.rows, k, signed(problem, self.beta)).T
        self.old_U[:, :k] += fresh - self.U[:, :k]
        self.U[:, :k] = fresh
        totals = self.beta.sum(axis=1, dtype=np.float64)
        self.r[:k] = np.bincount(problem.y, weights=totals, minlength=k)
        self.r -= self.beta.sum(axis=0, dtype=np.float64)
        self.h = self.b - self.mu @ self.U + (self.tau + self.mm) * self.r

    def loop(self) -> Ending:
        """Epochs, leaps and checks until the gap asked for is reached."""
        target = STOP_TOL_SHARE * self.monitor.tol
        if self.beta.any() and self.check() <= target:
            return Ending.REACHED
        gap, speed, checked, idle, left = np.inf, np.inf, self.epochs, 0, np.inf
        while idle < MAX_IDLE_CHECKS:
            self.epoch()
            if self.epochs % self.stride:
                continue
            due = max(MIN_CHECK_EPOCHS, min(left, MAX_CHECK_EPOCHS, self.epochs // 4))
            guess = gap * (self.speed / speed) if speed > 0 and np.isfinite(gap) else gap
            if guess <= target or self.epochs - checked >= due:
                primal, dual = self.primal, self.dual
                gap = self.check()
                if gap <= target:
                    return Ending.REACHED
                left = self.outlook.epochs_left(self.epochs, gap, target)
                if self.outlook.is_bleak(self.epochs, left):
                    break
                speed, checked = self.speed, self.epochs
                closed = max(primal - self.primal, self.dual - dual) > MIN_CHECK_PROGRESS * (
                    primal - dual
                )
                idle = 0 if closed else idle + 1
                if (gap < MIN_SINGLE_GAP or idle > 1) and self.beta.dtype == np.float32:
                    self._take(np.float64)
                    idle = 0
            self.leap(make=idle == 0 or not self.problem.bias)
        return Ending.STALLED

    def epoch(self) -> None:
        """One pass over the rows that are awake."""
        problem, monitor = self.problem, self.monitor
        monitor.step()
        count = awake(self.points, self.every, self.clock, self.dice, self.order)
        moved = 0.0
        for first in range(0, count, self.slice):
            if first and monitor.seconds > monitor.max_seconds:
                raise OutOfBudget(Ending.TIME)
            part = self.order[first : min(count, first + self.slice)]
            moved += sweep(
                self.rates, self.rows, part, problem.k, self.tau + self.mm, self.noise,
                self.clock, self.points, self.beta, self.U, self.r, self.h, self.room,
            )  # fmt: skip
        self.speed = float(np.sqrt(moved / max(1, count)))
        self.clock += self.speed
        if problem.bias:
            self.b += self.tau * self.r
            self.h += self.tau * self.r
            if count == 0:  # nobody was awake to feel it
                self.clock += SLEEP_FACTOR * self.tau * float(np.ptp(self.r))
        self.epochs += 1

    def leap(self, make: bool) -> None:
        """Follow the path since the last leap to the highest dual on it.

        A leap knows nothing of b, which follows r; when the gap does not close, the two may
        be driving each other, and the next leap begins here.
        """
        if not len(self.old_beta):
            return
        if not make:
            self.old_beta[:], self.old_U[:] = self.beta, self.U
            return
        leap(self)

    def check(self) -> float:
        """The relative gap, as it would be if r = 0 were reached without loss.

        The dual is the Lagrangian's value, −b·r included, so that the estimate is a sum of
        Fenchel–Young gaps and cannot be negative.
        """
        problem = self.problem
        if self.epochs - self.refreshed >= REFRESH_EPOCHS:
            self.refresh()
        losses = self._look()
        owed = 0.0
        if problem.bias and len(self.kept):
            shift, losses, owed = best_shift(
                self.rates, self.points, self.beta, self.kept, losses, self.shift_steps
            )
            self.b[: problem.k] += shift
            self.h[: problem.k] += shift
            self.clock += SLEEP_FACTOR * float(np.ptp(shift))  # rows asleep feel it, too
        level = self.b + (self.tau + self.mm) * self.r - self.h  # U μ
        half = 0.5 * (square_sum(self.U) + float(self.r @ (self.mm * self.r - 2.0 * level)))
        primal, dual = half + losses, self._gain() - half
        if problem.bias:
            dual -= float((self.b + self.tau * self.r) @ self.r) + owed
        self.monitor.record(primal, dual)
        if primal < self.primal:
            self.best = self.U.copy(), self.r.copy(), self.h.copy()
        self.primal, self.dual = min(self.primal, primal), max(self.dual, dual)
        return (primal - dual) / max(abs(primal), np.finfo(float).tiny)

    def _look(self) -> float:
        """Σ c_i ℓ at the present weights, by as many threads as there are."""

        def share(i: int, j: int) -> float:
            room = tuple(each.copy() for each in self.room)
            return look(
                self.rates, stretch(self.rows, i, j), self.problem.k, self.noise, self.clock,
                self.points[i:j], self.beta[i:j], self.U, self.r, self.h, room, self.kept[i:j],
            )  # fmt: skip

        n = len(self.points)
        values = max(1, size_of(self.rows) * self.U.shape[1] // n)
        return sum(in_shares(share, n, max(1, MIN_THREAD_MULTIPLICATIONS // values)))

    def _gain(self) -> float:
        """−Σ c_i ℓ*(β_i/c_i)."""
        beta, c = self.beta, np.maximum(self.problem.c, 1e-300)
        gain = float(beta.sum(dtype=np.float64))
        _, each, _, total = self.rates
        if each > 0.0:
            gain -= 0.5 * each * float((np.einsum("ic,ic->i", beta, beta) / c).sum())
        if total > 0.0:
            gain -= 0.5 * total * float((beta.sum(axis=1, dtype=np.float64) ** 2 / c).sum())
        return gain

    def point(self, reached: bool) -> ClassPoint:
        """The present weights and biases, in the coordinates of the data, or the best seen."""
        k = self.problem.k
        U, r, h = (self.U, self.r, self.h) if reached or self.best is None else self.best
        W = weights(U, self.mu, r, k).T
        return ClassPoint(W, np.array(h[:k]), self.beta[:, :k])
