"""The hard margin over parts: rounds over the few rows that decide it.

    min ½‖w‖²    with   y_i (w·x_i + b) ≥ 1   for every row i

A small set S of rows is solved in memory; then all parts are asked, in one question, for their
smallest margins under its solution and for the rows that have them, which join S.  Multipliers of
S, zero for all other rows, are feasible for all rows, so the optimum of S bounds that of all from
below; w, divided by the smallest margin of all rows, bounds it from above.  A row that violates
its margin raises the optimum of S, so rows without a multiplier may be dropped where room is short
and no set comes back.  If S cannot be separated all rows cannot, and S has the proof.

k classes are the same with (W_y − W_c)·x_i + b_y − b_c ≥ 1 for every wrong class c.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.certify.certificate import Certificate
from ....core.certify.conclude import Tally, as_sharp_as_needed, conclude, norms_of
from ....core.certify.rounding import Rounding
from ....core.certify.separability import NotSeparableError
from ....core.solve.contract import Ending, Monitor, OutOfBudget, settled
from ....core.solve.threads import one_blas_thread
from ....core.solve.working_set import WorkingSet, search_in_rounds
from ...certify.two_class import method_of
from ...parts import Block, Parts, need_weight
from ..many_class.tasks import ClassSpec
from ..tasks import PartsSolution
from ..two_class.tasks import BinarySpec
from .forms import form_of
from .tasks import HeldRows, Wish, join, look, sure_margin

MAX_HARD_ROUNDS = 200
# Rows that a round adds: so many for every unknown of two classes, at least and at most.
ADDED_ROWS_PER_COLUMN, FEWEST_JOINING, MOST_JOINING = 2, 500, 4000
# Of these a part may send so many times its share, for they may all be in one part.
MAX_PART_SHARES, MIN_SENT_ROWS = 4, 16
# The rows that a round adds may take this share of the room.
JOINING_SHARE = 0.25
# Bytes of S where nobody says how many there may be.
HELD_BYTES = 1 << 28
# S is solved to this share of the gap asked for; rows short of their margin by less need not join.
HELD_TOL, JOIN_TOL = 0.1, 0.2
# How often S is solved more sharply when it is all that keeps the gap open.
SHARPEST_HELD_TOL = 1e-3
# Margins so near to one that their rows may carry the proof.
NEAR_MARGIN = 1e-6
# A sample is solved as well as it resembles all rows.
SAMPLE_TOL = 1e-3


def solve_hard(
    parts: Parts,
    spec: BinarySpec | ClassSpec,
    monitor: Monitor,
    room: int = HELD_BYTES,
    sample: HeldRows | None = None,
) -> PartsSolution:
    """The hard margin of all rows, or NotSeparableError with the proof that there is none.

    ``room``: bytes of rows that may be in hand at once.  ``sample``: some of the rows, at random;
    they are solved first, by themselves, where asking all parts is slow.
    """
    with one_blas_thread(), np.errstate(all="ignore"):
        start = None
        if sample is not None:
            start = _from_sample(sample, spec, monitor, room)
        rounds = _HardMarginRounds(parts, spec, monitor, room)
        ending = rounds.run(start)
        return rounds.conclude(ending)


def verify_hard(
    parts: Parts, spec: BinarySpec | ClassSpec, w, b, tol: float = 1e-6, room: int = HELD_BYTES
) -> Certificate:
    """The certificate of weights w and b, with multipliers rebuilt from the rows nearest to their
    margin: the optimum of these bounds that of all rows from below."""
    rounds = _HardMarginRounds(parts, spec, Monitor(tol=tol, max_iter=10_000), room)
    with one_blas_thread(), np.errstate(all="ignore"):
        return rounds.judge(w, b)


class InHand(Parts):
    """Rows in hand as a single part."""

    def __init__(self, kept: HeldRows):
        self.block = Block(kept.X, kept.y, None)
        self.n_parts, self.n_features = 1, kept.X.shape[1]

    def ask(self, task, *told) -> Iterator[Any]:
        yield task(self.block, None, *told)[1]


def _from_sample(sample: HeldRows, spec, monitor: Monitor, room: int) -> HeldRows:
    """The rows that decide the margin of a sample."""
    rough = _within(monitor, max(SAMPLE_TOL, monitor.tol))
    rounds = _HardMarginRounds(InHand(sample), form_of(spec).plain, rough, room, sample.ids)
    if rounds.run(None) is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    monitor.n_iter += rough.n_iter
    return rounds.kept


def _within(monitor: Monitor, tol: float) -> Monitor:
    """A monitor for something smaller, with what is left of the budget."""
    left = max(1, monitor.max_iter - monitor.n_iter)
    seconds = max(0.0, monitor.max_seconds - monitor.seconds)
    return Monitor(tol=tol, max_iter=left, max_seconds=seconds, seed=monitor.seed)


def _size(kept: HeldRows) -> tuple[int, int]:
    return len(kept.y), kept.nbytes


class _HardMarginRounds(WorkingSet):
    """Where the search stands."""

    kept: HeldRows

    def __init__(self, parts: Parts, spec, monitor: Monitor, room: int, numbers=None):
        self.parts, self.spec, self.monitor, self.room = parts, spec, monitor, room
        self.numbers = numbers  # of the rows among all, where they are not those of the parts
        self.form = form_of(spec)
        d = parts.n_features
        self.wanted = int(
            np.clip(ADDED_ROWS_PER_COLUMN * (d + 1) * self.form.k / 2, FEWEST_JOINING, MOST_JOINING)
        )
        self.round, self.sharper = 0, HELD_TOL
        self.point: Any = None
        self.primal, self.dual = np.inf, 0.0
        self.best: tuple[Any, Any] = self.form.origin(d)
        self.support: tuple[HeldRows, np.ndarray] | None = None
        self.solver, self.rows = "", 0
        self.ending: Ending | None = None  # of the last solution of S

    # --- rounds -----------------------------------------------------------------------------

    def run(self, start: HeldRows | None) -> Ending:
        """Rounds until the gap is closed; ``start``: rows to begin with."""
        try:
            if start is None:
                start, _ = self._ask(*self.best, below=1.0)  # of every class, if it has any
                free = bool(self.form.bias)
                need_weight(np.bincount(start.y, minlength=self.form.k), 2 if free else 1)
            self.kept, self.alpha = start, np.zeros((len(start.y), *self.form.each))
            return search_in_rounds(self, MAX_HARD_ROUNDS)
        except OutOfBudget as stop:
            return stop.ending
        except KeyboardInterrupt:
            if self.support is None:
                raise
            return Ending.INTERRUPTED

    def look(self) -> bool:
        """How all rows fare at the optimum of S, and the rows that fall short of their margin."""
        if self.ending is None:
            return False
        w, b, _ = self.point
        self.short, nearest = self._ask(w, b, 1.0 - JOIN_TOL * self.monitor.tol)
        self._offer(nearest)
        return bool(np.isfinite(self.primal)) and self.monitor.record(self.primal, self.dual)

    def choose(self) -> bool:
        """The rows that fall short join S."""
        if self.ending is None:
            return True
        if self.ending not in (Ending.REACHED, Ending.STALLED):
            raise OutOfBudget(self.ending)
        return self._join(self.short) or self._sharpen()

    def solve(self) -> bool:
        self.monitor.step()
        self.ending = self._solve()
        return True

    def _solve(self) -> Ending:
        """The hard margin of the rows in hand."""
        inner = _within(self.monitor, self.sharper * self.monitor.tol)
        problem = self.form.problem(self.kept)
        start = None if self.point is None else self.point._replace(**{self.form.name: self.alpha})
        try:
            solution = self.form.solve(problem, inner, start)
            certificate = solution.certificate
        except NotSeparableError as error:
            raise NotSeparableError(self._of_all(error.proof)) from None
        finally:
            self.monitor.n_iter += inner.n_iter
        self.point, self.alpha = solution.point, solution.point[2]
        self.solver = solution.solver
        self.monitor.solver = f"{solution.solver} on {len(self.kept.y)} rows"
        if certificate.feasible and certificate.dual > self.dual:
            self.dual = certificate.dual
            mine = self.form.carriers(self.alpha)
            self.support = self.kept.take(mine), self.alpha[mine]
        return solution.ending

    def _of_all(self, proof):
        """The same proof as one about all rows."""
        some = self.form.carriers(proof.weights)
        some = some[np.argsort(self.kept.ids[some])]
        return replace(proof, weights=proof.weights[some], rows=self.kept.ids[some])

    def _offer(self, nearest: np.ndarray) -> None:
        """Weights scaled so that the smallest margin of all rows is one."""
        w = self.point[0]
        b = self.form.middle(self.form.problem(self.kept), self.point, nearest)
        closest = self.form.closest(b, nearest)
        if closest > 0.0 and (primal := self.form.norm(w) / closest**2) < self.primal:
            self.primal, self.best = primal, (w / closest, b / closest)

    def _sharpen(self) -> bool:
        """Whether S may be solved more sharply: all that is left of the gap is its own."""
        self.sharper *= HELD_TOL
        return self.sharper >= SHARPEST_HELD_TOL * HELD_TOL

    # --- rows -------------------------------------------------------------------------------

    def _ask(self, w, b, below: float) -> tuple[HeldRows, np.ndarray]:
        """Rows whose margin is below ``below``, at most as many as a round adds, and how much
        every class leads every other at least."""
        form = self.form
        self.round += 1
        nearest, first = np.full((form.k, form.k), np.inf), 0
        found: list[HeldRows] = []
        margins: list[np.ndarray] = []
        self.rows = 0
        for seen in self.parts.ask(look, self.spec, *form.told(w, b), self._wish(below)):
            nearest = np.minimum(nearest, seen.nearest)
            found.append(seen.worst._replace(ids=seen.worst.ids + first))
            margins.append(seen.margin)
            first, self.rows = first + seen.block, self.rows + seen.rows
            rows, nbytes = (sum(column) for column in zip(*map(_size, found), strict=True))
            if rows > 2 * self.wanted or nbytes > JOINING_SHARE * self.room:
                found, margins = self._thin(found, margins)
        [kept], _ = self._thin(found, margins)
        if self.numbers is not None:
            kept = kept._replace(ids=self.numbers[kept.ids])
        return kept, nearest

    def _wish(self, below: float) -> Wish:
        """What each part may send."""
        among = self.form.k * max(1, self.parts.n_parts // MAX_PART_SHARES)
        rows, nbytes = max(MIN_SENT_ROWS, self.wanted // among), JOINING_SHARE * self.room / among
        return Wish(below, rows, nbytes, (self.monitor.seed, self.round))

    def _thin(self, found: list[HeldRows], margins: list[np.ndarray]):
        """The worst rows of every class, as many as a round adds; ties are decided at random."""
        kept, margin = join(found), np.concatenate(margins)
        rng = np.random.default_rng([self.monitor.seed, self.round, len(margin)])
        order = np.lexsort((rng.random(len(margin)), margin))
        room = JOINING_SHARE * self.room * len(margin) / max(1, kept.nbytes)
        each = max(1, int(min(self.wanted, room) / self.form.k))
        chosen = [order[kept.y[order] == code][:each] for code in range(self.form.k)]
        index = np.sort(np.concatenate(chosen))
        return [kept.take(index)], [margin[index]]

    def _join(self, more: HeldRows) -> bool:
        """Rows that are not in hand yet join those that are; False: there is none."""
        more = more.take(np.flatnonzero(~np.isin(more.ids, self.kept.ids)))
        if len(more.y) == 0:
            return False
        if self.kept.nbytes + more.nbytes > self.room:
            self._drop(more.nbytes)
        if self.kept.nbytes + more.nbytes > self.room:
            raise ValueError(
                f"{len(self.kept.y)} rows and more decide the hard margin, which is more than the "
                f"{self.room / 1e6:.3g} MB set aside for them. Allow more memory, or slack: use a "
                "finite C."
            )
        self.kept = join([self.kept, more])
        none = np.zeros((len(more.y), *self.form.each))
        self.alpha = np.concatenate([self.alpha, none])
        return True

    def _drop(self, wanted: int) -> None:
        """Let go of rows without a multiplier, those farthest from their margin first.

        The rows with one have the same optimum alone, and those that join raise it: no set of
        rows comes back.
        """
        told, all_rows = self.form.told(*self.point[:2]), Wish(np.inf, len(self.kept.y), np.inf)
        [seen] = InHand(self.kept).ask(look, self.form.plain, *told, all_rows)
        away, needed = seen.margin.copy(), self.form.carriers(self.alpha)
        away[needed] = -np.inf
        each = self.kept.nbytes / len(away)
        count = int(np.clip((self.room - wanted) / each, len(needed), len(away)))
        stay = np.sort(np.argsort(away, kind="stable")[:count])
        self.kept, self.alpha = self.kept.take(stay), self.alpha[stay]

    # --- the proof --------------------------------------------------------------------------

    def conclude(self, ending: Ending) -> PartsSolution:
        """The best weights and multipliers, and their proof from all rows."""
        w, b = self.best
        if not np.isfinite(self.primal) and self.point is not None:
            w, b = self.point[:2]  # they separate the rows in hand only, which the proof says
        kept, alpha = self._proved()
        certificate = self.certify(w, b, kept, alpha)
        ending = settled(ending, certificate, self.monitor.tol)
        why = f"{len(kept.y)} of {self.rows} rows decide the margin: {self.round} questions"
        order = np.argsort(kept.ids)
        return PartsSolution(
            w, b, certificate, ending, self.solver, why, kept.ids[order], alpha[order]
        )

    def certify(self, w, b, kept: HeldRows, alpha: np.ndarray) -> Certificate:
        """Multipliers of some rows and the margins of all, recomputed from the data."""
        _, nearest = self._ask(w, b, -np.inf)
        closest, form = self.form.closest(b, nearest), self.form
        about = form.summary(self.rows, self.parts.n_features)

        def prove(sharp: bool) -> Certificate:
            found = form.tally(form.problem(kept), w, b, alpha, sharp)
            unheld, short = self.rows - found.rows, (max(0.0, 1.0 - closest), 0.0, 0.0)
            sure = Rounding(closest=min(self.parts.ask(sure_margin, self.spec, w, b, sharp)))
            nothing = np.zeros_like(found.price)
            found += Tally(
                unheld, 0.0, 0.0, 0.0, 0.0 * found.r, 0.0 * found.w, short, 0.0, closest, nothing,
                sure,
            )  # fmt: skip
            norms, method = norms_of(w, found.w, found.rounding.w), method_of(self.parts, sharp)
            return conclude(found, norms, b, form.bias, about, True, method)

        return as_sharp_as_needed(prove, self.monitor.tol)

    def judge(self, w, b) -> Certificate:
        """The proof for weights somebody gives; the search for multipliers begins near them."""
        start, _ = self._ask(w, b, 1.0 + NEAR_MARGIN)
        with suppress(NotSeparableError):  # then w does not separate the rows either
            self.run(start if len(np.unique(start.y)) > 1 else None)
        return self.certify(w, b, *self._proved())

    def _proved(self) -> tuple[HeldRows, np.ndarray]:
        """The best multipliers and their rows; without any, those of one row, zero."""
        if self.support is None:
            one = np.zeros(1, dtype=np.int64)
            self.support = self.kept.take(one), np.zeros((1, *self.form.each))
        return self.support
