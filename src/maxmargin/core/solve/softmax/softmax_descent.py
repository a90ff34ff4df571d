"""Dual block coordinate descent for softmax, for sparse rows and for many classes.

    max over p    −½‖W‖² − Σ c_i Σ_c p_ic log p_ic,        W = Σ c_i (e_y − p_i) x_iᵀ
    such that     Σ c_i p_i = Σ c_i e_y                    (where biases are free)

The constraint is kept by an augmented Lagrangian whose multipliers are the biases b.  Rows are
visited in random order (``softmax_sweep.py``), dense ones in blocks (``softmax_blocks.py``).
Weights and log p are float32: what rounding does to them enters the gap squared.  The certificate
of W alone ends the search.
"""

from __future__ import annotations

import math

import numpy as np

from ...certify.certificate import Certificate
from ...certify.softmax import balanced
from ...problem.multiclass import MulticlassProblem
from ...rows.class_products import class_combine, padded, score_chunks, sums_by_class
from ...rows.rows import DenseRows, combine, scores, size_of, sqnorms
from ..contract import Ending, Monitor, OutOfBudget, ended
from .softmax_blocks import Blocks
from .softmax_sweep import SOFTMAX_ROW_DTYPE, sweep

# τ in units of the mean ‖x − μ‖².
BALANCE_STIFFNESS = 0.05
# Multiplications of stored values and classes that one call of the kernel makes: about 0.1 s,
# so that a keyboard interrupt or the end of the budget is never far away.
CALL_MULTIPLICATIONS = 1 << 28
# A check costs several epochs: one is made when the sweep's estimate of the gap says so, or
# after as many epochs again as before the last one.  At first a certificate is taken for so many
# times what rows see: of 339 made problems it was nine times in the median, less in a third.
CHECK_EPOCHS_GROWTH, MIN_CHECK_EPOCHS = 1.0, 20
FIRST_TRUST = 4.0
# Epochs without the gap falling to this share of its least end the search.
MAX_IDLE_EPOCHS, PROGRESS_GAP_RATIO = 30, 0.9
# The least doubt with which probabilities begin.
MIN_DOUBT = 1e-12


def softmax_descent(
    problem: MulticlassProblem, monitor: Monitor, start: tuple[np.ndarray, np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray, Ending, Certificate | None]:
    """W (k, d), b (k,), why the descent ended, and the certificate of W and b if it knows one."""
    descent = SoftmaxDescent(problem, monitor, start)
    ending = ended(descent.loop)
    if ending is not Ending.REACHED and descent.unseen and descent.check():
        ending = Ending.REACHED
    return descent.W, descent.b, ending, descent.certificate


class SoftmaxDescent:
    """Where the descent stands, and the best weights so far."""

    def __init__(self, problem: MulticlassProblem, monitor: Monitor, start):
        n, d = problem.shape
        self.problem, self.monitor = problem, monitor
        k, self.width = problem.k, padded(problem.k)
        free = bool(problem.bias)
        self.mu = combine(problem.rows, problem.c / problem.c.sum()) if free else np.zeros(d)
        centre = scores(problem.rows, self.mu)
        q = np.maximum(sqnorms(problem.rows) - 2.0 * centre + float(self.mu @ self.mu), 0.0)
        self.tau = BALANCE_STIFFNESS * float(q.mean()) if free else 0.0
        self.pull = self.tau + float(self.mu @ self.mu)
        self.points = np.zeros(n, dtype=SOFTMAX_ROW_DTYPE)
        self.points["y"], self.points["c"] = problem.y, problem.c
        self.points["q"], self.points["centre"] = q + self.tau, centre
        self.alive = np.flatnonzero(problem.c > 0)
        self.dice = np.random.default_rng(monitor.seed)
        values = max(1, size_of(problem.rows)) * self.width
        self.slice = max(1, int(CALL_MULTIPLICATIONS * n / values))
        self.blocks: Blocks | None = None
        if isinstance(problem.rows, DenseRows):
            self.blocks = Blocks(problem.rows, self.dice.permutation(self.alive), k, self.width)
            self.slice = max(1, self.slice // self.blocks.most)

        shares = np.bincount(problem.y, weights=problem.c, minlength=k)
        self.b = np.log(shares / shares.sum()) if free else np.zeros(k)
        self.W = np.zeros((k, d))
        self.logs = np.zeros((n, self.width), dtype=np.float32)
        self.room = np.zeros((4, self.width), dtype=np.float32)
        self.best, self.unseen = np.inf, False
        self.certificate: Certificate | None = None
        if start is None:
            self.offset = self.wide(self.b)
            self._begin(shares / shares.sum())
        else:
            self.W, self.b = start
            self.offset = self.wide(self.b + self.W @ self.mu)
            self._logs_of(start)
            self.refresh()

    def _begin(self, shares) -> None:
        """p = e_y + doubt (shares − e_y), the best of these, and U: no more than sums by class."""
        problem, k = self.problem, self.problem.k
        sums = sums_by_class(problem.rows, problem.y, problem.c, k)
        W = sums - np.outer(shares, sums.sum(axis=0))
        doubt = best_doubt(shares, float(problem.c.sum()), float(np.vdot(W, W)))
        first = np.log(doubt * shares)
        self.logs[:, :k] = first
        self.logs[np.arange(len(problem.y)), problem.y] = np.logaddexp(
            first, np.log1p(-doubt) if doubt < 1.0 else -np.inf
        )[problem.y]
        self._take(doubt * W, np.zeros(k))

    def wide(self, b) -> np.ndarray:
        out = np.zeros(self.width, dtype=np.float32)
        out[: self.problem.k] = b
        return out

    def _logs_of(self, start) -> None:
        """The probabilities of the weights given."""
        W, b = start
        for part, s in score_chunks(self.problem.rows, W):
            self.logs[part, : self.problem.k] = s + b
        logs = self.logs[:, : self.problem.k]
        logs -= logs.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))

    def refresh(self) -> None:
        """Compute U, r and h afresh from the probabilities."""
        y, c, k = self.problem.y, self.problem.c, self.problem.k
        r = np.zeros(k)

        def steps(part: slice) -> np.ndarray:
            alpha = -np.exp(self.logs[part, :k], dtype=np.float64)
            alpha[np.arange(len(alpha)), y[part]] += 1.0
            alpha *= c[part][:, None]
            r[:] += alpha.sum(axis=0)
            return alpha

        self._take(class_combine(self.problem.rows, k, steps), r)

    def _take(self, W: np.ndarray, r: np.ndarray) -> None:
        """U, r and h from Σ α xᵀ and Σ α."""
        k = self.problem.k
        self.U = np.zeros((W.shape[1], self.width), dtype=np.float32)
        self.U[:, :k] = W.T
        self.r = self.wide(r if self.problem.bias else 0.0)
        self.h = self.offset - self.wide(W @ self.mu) + np.float32(self.pull) * self.r

    def loop(self) -> Ending:
        """Epochs until a check proves the gap asked for."""
        trust, checked, least, since, last = FIRST_TRUST, 0, np.inf, 0, 0.0
        while since < MAX_IDLE_EPOCHS:
            gap, objective = self.epoch()
            least, since = (gap, 0) if gap < PROGRESS_GAP_RATIO * least else (least, since + 1)
            waited = self.monitor.n_iter - checked
            # Rows saw the gap on its way down: half of it, in logarithms, was still before them.
            ahead, last = min(1.0, math.sqrt(gap / max(last, np.finfo(float).tiny))), gap
            if trust * ahead * gap > self.monitor.tol * objective and waited < max(
                MIN_CHECK_EPOCHS, CHECK_EPOCHS_GROWTH * checked
            ):
                continue
            checked = self.monitor.n_iter
            if self.check():
                return Ending.REACHED
            trust = self.gap / max(ahead * gap, np.finfo(float).tiny)
            self.refresh()
        return Ending.STALLED

    def epoch(self) -> tuple[float, float]:
        """One pass over the rows; the gap and the objective as the rows saw them."""
        self.monitor.step()
        self.unseen = True
        order = self.dice.permutation(self.alive if self.blocks is None else self.blocks.count)
        gap, loss = 0.0, 0.0
        for first in range(0, len(order), self.slice):
            if first and self.monitor.seconds > self.monitor.max_seconds:
                raise OutOfBudget(Ending.TIME)
            more, lost = self._visit(order[first : first + self.slice])
            gap, loss = gap + more, loss + lost
        if self.problem.bias:
            step = np.float32(self.tau) * self.r
            self.offset += step
            self.h += step
        return gap, loss + 0.5 * float(np.vdot(self.U, self.U))

    def _visit(self, order: np.ndarray) -> tuple[float, float]:
        """Steps of the rows named, or of the blocks of dense rows."""
        state = (self.points, self.logs, self.U, self.r, self.h)
        if self.blocks is not None:
            return self.blocks.sweep(order, self.pull, (*state, self.room))
        return sweep(self.problem.rows, order, self.problem.k, self.pull, *state, *self.room)

    def check(self) -> bool:
        """The certificate of the present weights; whether it holds."""
        k = self.problem.k
        W = self.U[:, :k].T.astype(np.float64, order="C")
        W -= np.outer(self.r[:k], self.mu)  # the weights whose scores the rows have seen
        b, certificate = balanced(self.problem, W, self.h[:k].astype(np.float64), self.monitor.tol)
        self.unseen = False
        self.gap = certificate.gap
        if certificate.gap < self.best:
            self.best, self.W, self.b, self.certificate = certificate.gap, W, b, certificate
        return self.monitor.record(certificate.primal, certificate.dual)


def best_doubt(shares: np.ndarray, cost: float, square: float) -> float:
    """The t in (0, 1] that maximizes the dual of p = e_y + t (shares − e_y).

        −½ t² ‖W‖² + cost Σ_y shares_y H(e_y + t (shares − e_y)),        ‖W‖² = ``square``

    With the shares themselves, t = 1, many rows of a class would begin with weights far too long,
    and take a hundred epochs to come back from there.
    """
    from scipy.optimize import minimize_scalar  # slow to import, for this solver only

    s = shares[shares > 0.0]
    mixed = float(s @ np.log(s))  # Σ s log s

    def loss(log_t: float) -> float:
        t = math.exp(log_t)
        own = 1.0 - t + t * s
        others = t * (mixed - s * np.log(s) + (1.0 - s) * log_t)
        return 0.5 * t * t * square + cost * float(s @ (own * np.log(own) + others))

    found = minimize_scalar(loss, bounds=(math.log(MIN_DOUBT), 0.0), method="bounded")
    return math.exp(found.x)
