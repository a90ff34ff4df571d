"""k classes over parts by the rows that matter: a few as they are, all others by their means.

    min over W, b    ½‖W‖² + Σ over rows held c_i ℓ(W x_i + b) + Σ over cells c ℓ(W x̄ + b)

A sample is solved first.  Then a round tells the parts (W, b); they answer with the objective,
the cells of their rows there (``cells.py``) and the rows that a cell is wrong about or may
soon be, in all a few times as many values as W has.  Rows and cells are a small problem, solved in
memory by the solvers there are; its dual is a bound for all rows, and when no cell is wrong any
more its solution is theirs.

As long as more rows matter than may be sent, some are sent at random and stand for those left
behind on the same piece, moved to their mean.  This bounds nothing, but leads to where
fewer rows matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....core.problem.multiclass import MulticlassProblem
from ....core.rows.rows import as_rows
from ....core.solve.contract import Ending, Monitor, OutOfBudget
from ....core.solve.many_class.form import solve_classes
from ....core.solve.working_set import WorkingSet, search_in_rounds
from ...parts import Parts
from ..tasks import ask, ask_total
from .cells import (
    LINE_SEARCH_POINTS,
    ClassCells,
    LookPayload,
    Sent,
    draw,
    is_linear,
    look,
    numbers,
    pieces,
    settle,
)
from .tasks import ClassSpec, DualSums

# Values of rows that a part sends in one round: this many times those of W, or so few (half a
# megabyte) that the round itself costs more; and of all rows ever sent.
SENT_VALUES_PER_WEIGHT, MIN_SENT_VALUES, MAX_HELD_VALUES = 16, 1 << 16, 1 << 22
# Rows of the sample, and of later ones, for every unknown; the fewest in the first.
SAMPLE_ROWS_PER_UNKNOWN, MIN_SAMPLE_ROWS = 8, 1000
# With fewer in the first, the rounds would be too many.
MIN_ROWS_PER_UNKNOWN = 0.25
# Rounds in all, and those in which something must get better.
MAX_SEARCH_ROUNDS, MAX_IDLE_ROUNDS = 60, 4
# The small problem is solved to this share of the gap there is, and of the gap asked for; while
# rows stand for others, to this share of its unknowns per row.
GAP_TOL, STOP_TOL, SAMPLE_TOL = 0.1, 0.2, 0.1
# Nine rows in ten moved at most so far in the last round; in the next it will be less.
MOVED_QUANTILE, NEXT_MOVE = 0.9, 0.5
# The gap at which the rounds end, as a share of the one asked for: the rest is for the repair.
STOP_SHARE = 0.9
# Sums that differ by less are equal.
SUM_EQUALITY_TOL = 1e-12
# Multipliers with Σα below this share of their sum bound the optimum without a repair.
MAX_IMBALANCE_SHARE = 1e-9


Start = Callable[[], tuple[np.ndarray, np.ndarray, DualSums]]


class Small(NamedTuple):
    """A small problem: first the rows held, last the cells; and whether it bounds the whole."""

    X: Any
    y: np.ndarray
    c: np.ndarray
    held: int
    cells: np.ndarray
    bounds: bool


class NearSearch(WorkingSet):
    """The rows held, the best weights so far, and the bounds."""

    def __init__(
        self,
        parts: Parts,
        spec: ClassSpec,
        monitor: Monitor,
        rows: int,
        values: int = MAX_HELD_VALUES,
    ):
        self.parts, self.spec, self.monitor, self.n = parts, spec, monitor, rows
        self.W, self.b = np.zeros((spec.k, parts.n_features)), np.zeros(spec.k)
        self.W_best, self.b_best = self.W, self.b
        self.primal, self.dual = np.inf, 0.0
        self.held: list[Sent] = []
        self.times: dict[bytes, int] = {}  # how many parts have this name
        self.room, self.reach = values, np.inf
        self.small: Small | None = None
        self.told = False  # whether its solution was told to the parts
        self.model = -np.inf  # the small problem's objective at its solution
        self.beta = np.zeros((0, spec.k))
        self.idle = 0  # rounds that brought nothing

    def _start(self, W: np.ndarray, b: np.ndarray, standing: DualSums) -> None:
        """Begin at the weights and with the dual of multipliers the parts hold."""
        self.W, self.b = W, b
        off = float(np.abs(standing.r).max())
        if not self.spec.bias or off <= MAX_IMBALANCE_SHARE * standing.mass:
            dual = standing.mass - 0.5 * standing.bent - _norm(W)
            self.dual = max(0.0, float(dual))

    def run(self, start: Start | None = None) -> Ending:
        """Rounds until the gap seems closed; the parts then hold the multipliers.

        ``start`` finds weights and biases to begin at, and what the parts hold there; it is not
        asked where all rows come here.
        """
        try:
            begun = self._begin(start)
            ending = search_in_rounds(self, MAX_SEARCH_ROUNDS) if begun else Ending.STALLED
        except OutOfBudget as stop:
            ending = stop.ending
        except KeyboardInterrupt:
            ending = Ending.INTERRUPTED
        self._settle()
        return ending

    # --- rounds ---------------------------------------------------------------------------

    def _begin(self, start: Start | None) -> bool:
        """The optimum of a sample, its costs scaled up to those of all rows; or of all of them.

        False if the rows of one round are so few beside the unknowns that all rounds would be.
        """
        k, d = self.W.shape
        portion, by_class = (
            max(MIN_SAMPLE_ROWS, SAMPLE_ROWS_PER_UNKNOWN * k * (d + 1)) / self.n,
            np.zeros(k),
        )
        asked = portion, self._quota(), self.spec.seed
        for sent, mine in ask(self.parts, draw, self.spec, *asked):
            by_class += mine
            self.times[sent.name] = self.times.get(sent.name, 0) + 1
            if self.times[sent.name] == 1:
                self._hold(sent)
        X, y, c = self._rows()
        unsure = min(1.0, k * (d + 1) / len(y))
        here = np.bincount(y, c, minlength=k)
        all_held = bool((here >= by_class * (1.0 - SUM_EQUALITY_TOL)).all())
        if not all_held and len(y) < MIN_ROWS_PER_UNKNOWN * k * (d + 1):
            return False
        if start is not None and not all_held:
            self._start(*start())
        if all_held or not self.W.any():
            tol = STOP_TOL * self.monitor.tol if all_held else min(0.1, 0.5 * unsure)
            c = c * (by_class / np.where(here > 0, here, 1.0))[y]
            self._solve(Small(X, y, c, len(y), np.zeros(0), all_held), tol)
        self.reach = float(np.sqrt(unsure) * np.median(_width(X, self.W, self.b)))
        return True

    def look(self) -> bool:
        """Every part at the present weights; at the best ones again, where these are not."""
        self.before = self.primal, self.dual
        self.cells, self.last = self._look()
        self.gap = (self.primal - self.dual) / self.primal
        if self.gap <= STOP_SHARE * self.monitor.tol:
            return True
        if self.last > self.before[0]:  # rows and cells that matter are those of the best point
            self.W, self.b = self.W_best, self.b_best
            self.cells, _ = self._look()
        return False

    def choose(self) -> bool:
        """Rows held and cells; False if no more rows can be held."""
        self.posed = self._pose(self.cells)
        return self.posed.bounds or self._quota() >= self.parts.n_features

    def solve(self) -> bool:
        """Solve them; False after too many rounds that brought nothing."""
        W, b = self.W, self.b
        self._solve(self.posed, self._tolerance(self.posed, self.gap, self.last))
        moved = _width(self._rows()[0], self.W - W, self.b - b)
        self.reach = NEXT_MOVE * float(np.quantile(moved, MOVED_QUANTILE))
        primal, dual = self.before
        better = self.primal < primal * (1.0 - 0.1 * self.monitor.tol) or self.dual > dual
        self.idle = 0 if better else self.idle + 1
        return self.idle < MAX_IDLE_ROUNDS

    def _look(self) -> tuple[ClassCells, float]:
        """One question: the cells at W and the objective there; keeps rows and the best weights."""
        self.monitor.step()
        k, d = self.W.shape
        few = int(SAMPLE_ROWS_PER_UNKNOWN * k * (d + 1) * d / self.parts.n_parts)
        told = LookPayload(
            self.W, self.b, self.W_best, self.b_best, self.reach, self._quota(), few,
            self.monitor.n_iter,
        )  # fmt: skip
        losses, found, seen = np.zeros(len(LINE_SEARCH_POINTS)), [], set()
        for some, sent, cells in ask(self.parts, look, self.spec, told):
            losses += some
            found.append(cells)
            if sent.name not in seen:
                seen.add(sent.name)
                self._hold(sent)
        self.told = True
        last = self._note_primal(losses)
        self.monitor.record(self.primal, self.dual)
        return _together(found), last

    def _note_primal(self, losses: np.ndarray) -> float:
        """Keep the best weights on the way from those so far to W; the objective at W."""
        dW, db = self.W - self.W_best, self.b - self.b_best
        ways = [(self.W_best + t * dW, self.b_best + t * db) for t in LINE_SEARCH_POINTS]
        primal = losses + [_norm(W) for W, _ in ways]
        best = int(primal.argmin())
        if primal[best] < self.primal:
            self.primal = float(primal[best])
            self.W_best, self.b_best = ways[best]
        return float(primal[0])

    # --- small problems -------------------------------------------------------------------

    def _pose(self, cells: ClassCells) -> Small:
        """Rows held and cells; rows left behind on the edge of a cell have stand-ins."""
        X, y, c = self._rows()
        means = cells.sums / cells.mass[:, None]
        more, kept = self._stand_ins(X, y, c, cells, means)
        means = sparse.csr_array(means[kept]) if sparse.issparse(X) else means[kept]
        whole = [X, *(rows for rows, _, _ in more), means]
        return Small(
            sparse.vstack(whole, format="csr") if sparse.issparse(X) else np.concatenate(whole),
            np.concatenate([y, *(label for _, label, _ in more), cells.y[kept]]),
            np.concatenate([c, *(cost for _, _, cost in more), cells.mass[kept]]),
            len(y), cells.number[kept], not more,
        )  # fmt: skip

    def _stand_ins(self, X, y, c, cells: ClassCells, means) -> tuple[list, np.ndarray]:
        """For every cell of rows left behind those held on its piece; and the cells without."""
        more: list[tuple[Any, np.ndarray, np.ndarray]] = []
        kept = np.ones(len(cells.mass), dtype=bool)
        if not cells.edge.any():
            return more, kept
        rates = self.spec.rates
        here = pieces(rates, np.asarray(X @ self.W.T) + self.b, y)
        near = here.distance <= self.reach
        if not is_linear(rates):
            near |= here.loss > 0.0
        number = numbers(here.blame, y, near)
        for q in np.flatnonzero(cells.edge):
            who = np.flatnonzero(near & (number == cells.number[q]))
            if len(who) == 0:
                continue
            kept[q], mass, rows = False, float(c[who].sum()), X[who]
            if not sparse.issparse(X):
                rows = rows + (means[q] - c[who] @ rows / mass)
            more.append((rows, y[who], c[who] * (cells.mass[q] / mass)))
        return more, kept

    def _tolerance(self, small: Small, gap: float, last: float) -> float:
        """How well a small problem deserves to be solved."""
        finest = STOP_TOL * self.monitor.tol
        if not small.bounds:
            k, d = self.W.shape
            return max(finest, min(0.01, SAMPLE_TOL * k * (d + 1) / small.held))
        if last - self.model <= 0.5 * (last - self.dual):
            return finest  # the cells were right: what is left is what was not solved
        return max(finest, GAP_TOL * min(gap, 0.1))

    def _solve(self, small: Small, tol: float) -> None:
        """Minimise it, from nothing: from W it takes Newton's method as many steps, or more."""
        spec = self.spec
        rows = as_rows(small.X.astype(np.float64, copy=False))
        problem = MulticlassProblem(rows, small.y, small.c, spec.loss, spec.k, spec.bias)
        left = self.monitor.max_seconds - self.monitor.seconds
        inner = Monitor(tol, max_iter=10 * self.monitor.max_iter, max_seconds=left, seed=spec.seed)
        solution = solve_classes(problem, inner)
        proof = solution.certificate
        if solution.ending is Ending.INTERRUPTED:
            raise KeyboardInterrupt
        self.W, self.b, self.beta = solution.point
        self.small, self.told = small, False
        self.model = proof.primal if small.bounds else -np.inf
        if small.bounds:
            self.dual = proof.dual

    # --- rows and multipliers -------------------------------------------------------------

    def _quota(self) -> int:
        """Values that each part may send; half of the room is kept for later rounds."""
        most = max(SENT_VALUES_PER_WEIGHT * self.W.size, MIN_SENT_VALUES)
        return int(min(most, 0.5 * max(0, self.room) / self.parts.n_parts))

    def _hold(self, sent: Sent) -> None:
        self.held.append(sent)
        self.room -= sent.X.nnz if sparse.issparse(sent.X) else sent.X.size

    def _rows(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """Rows held; those of equal parts count as often as there are such parts."""
        X = [sent.X for sent in self.held]
        whole = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
        c = np.concatenate([self.times[sent.name] * sent.c for sent in self.held])
        return whole, np.concatenate([sent.y for sent in self.held]), c

    def _settle(self) -> None:
        """Hand over the multipliers of the small problem, if it bounds anything."""
        small = self.small
        if small is None or not small.bounds:
            return  # the parts keep those they had
        mine: dict[bytes, list] = {name: [] for name in self.times}
        first = 0
        for sent in self.held:
            if first < small.held:  # others came later
                beta = self.beta[first : first + len(sent.y)] / self.times[sent.name]
                mine[sent.name].append((sent.place, beta))
            first += len(sent.y)
        rows = {
            name: tuple(np.concatenate(column) for column in zip(*found, strict=True))
            for name, found in mine.items()
        }
        rates = self.beta[small.held :] / small.c[small.held :, None]
        cells = dict(zip(small.cells.tolist(), rates, strict=True))
        ask_total(self.parts, settle, self.spec, rows, cells, self.told)


def _width(X, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far the scores of every row are apart."""
    f = np.asarray(X @ W.T) + b
    return f.max(axis=1) - f.min(axis=1)


def _norm(W: np.ndarray) -> float:
    return 0.5 * float(np.sum(W * W))


def _together(found: list[ClassCells]) -> ClassCells:
    """Cells of the same number as one."""
    every = ClassCells(*(np.concatenate(column) for column in zip(*found, strict=True)))
    number, first, which = np.unique(every.number, return_index=True, return_inverse=True)
    sums = np.zeros((len(number), every.sums.shape[1]))
    np.add.at(sums, which, every.sums)
    mass = np.bincount(which, every.mass, minlength=len(number))
    return ClassCells(number, every.y[first], every.edge[first], mass, sums)
