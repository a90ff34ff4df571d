"""The hinge of two classes on a stream: rounds over the rows near their margin.

    min over w, b    ½‖w‖² + Σ c_i max(0, z_i),        z_i = 1 − y_i (w·x_i + b)

Rows far from their margin have multiplier 0 or c and stay there for a while.  A pass keeps the
rows near their margin in memory, as many as fit, and adds the others up: those beyond the margin
pull on (w, b) with all their cost.  What remains is solved in memory
(``solve/two_class/lagrangian.py``). It lies below the full objective everywhere, so its
multipliers, made feasible, bound the optimum without another pass; the next pass shows the full
objective at its solution, and keeps the rows near their margin there.  Where that objective is
worse than before, frozen rows have crossed their margin: the best point between the two is taken,
and a proximal term ½ρ‖w − w_k‖², with ρ as large as needed, keeps the next steps where the rows in
memory tell the truth.

What must be kept does not grow with the number of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.problem.losses import Hinge
from ...core.problem.problem import Problem
from ...core.rows.rows import Rows, as_rows, combine
from ...core.solve.contract import Ending, Monitor, OutOfBudget, Point
from ...core.solve.semismooth import Terms
from ...core.solve.two_class.blocks import NearRows, State
from ...core.solve.two_class.lagrangian import KAPPA_GROWTH, Goal, augment
from ...core.solve.two_class.newton import newton
from ...core.solve.working_set import WorkingSet, search_in_rounds
from .plane import HingeTask, Multipliers, StreamPlane
from .row_buffer import RowBuffer
from .rows import StreamedRows

MAX_STREAM_ROUNDS = 60
# A round is solved to this share of the gap it starts with, and of the gap asked for.
GAP_TOL, STOP_TOL = 0.1, 0.2
# Rows that should be kept: of large data one in so many, but this many for every column.
ONE_ROW_IN, KEPT_ROWS_PER_COLUMN = 8, 16
# The buffer is filled to this share by a guess, and thinned to it where the guess was too high.
FILL_SHARE, THINNED_SHARE = 0.85, 0.6
# … unless so many rows are as near as the farthest of them.
TIED_ROWS_SHARE = 0.95
# Rows per column from which on a sample's own rows lie about as all rows do.
TELLING_ROWS_PER_COLUMN = 200
# Rows from which the distances of all rows to their margin are guessed.
DISTANCE_SAMPLE_ROWS = 20_000
# A row moves about this much less from one round to the next.
NEXT_MOVE = 0.5
# Rounds without progress after which another method is asked.
MAX_IDLE_ROUNDS = 4
# A step that lowers the objective by this share of what was hoped for is good: the proximal term
# is divided by PROXIMAL_FACTOR, else multiplied by it; below MIN_PROXIMAL_WEIGHT it is none.
GOOD_DECREASE_SHARE, LITTLE_GAP_SHARE, PROXIMAL_FACTOR, MIN_PROXIMAL_WEIGHT = 0.5, 0.1, 4.0, 1e-2
# Where the full objective is looked at between the last point (0) and the new one (1).
LINE_SEARCH_POINTS = np.array(
    [1.0, 0.75, 0.5, 0.35, 0.25, 0.15, 0.08, 0.04, 0.02, 0.01, 0.003, 0.0]
)


class HingeResult(NamedTuple):
    """The best plane, the best multipliers, and why the search ended."""

    plane: StreamPlane
    multipliers: Multipliers
    ending: Ending


def solve_hinge(rows: StreamedRows, task: HingeTask, sample: RowBuffer | None) -> HingeResult:
    """Rounds until the gap is closed; goes on from the folder's checkpoint where there is one."""
    search = HingeSearch(rows, task)
    search.begin(sample)
    try:
        ending = search_in_rounds(search, MAX_STREAM_ROUNDS)
    except OutOfBudget as stop:
        ending = stop.ending
    return HingeResult(search.best, search.multipliers, ending)


def solve_sample(task: HingeTask, sample: RowBuffer) -> tuple[Point, np.ndarray]:
    """The optimum of a sample, as well as it resembles the whole, and the sample's mean."""
    m, d = sample.count, sample.width
    y = np.where(sample.y[:m] == 1, 1.0, -1.0)
    c = task.C * sample.c[:m]
    problem = Problem(sample.rows(), y, c, Hinge(), task.bias)
    inner = Monitor(
        tol=max(STOP_TOL * task.monitor.tol, min(0.1, 0.5 * (d + 1) / m)),
        max_iter=task.monitor.max_iter,
        max_seconds=task.monitor.max_seconds - task.monitor.seconds,
        seed=task.monitor.seed,
        _shown=task.monitor._shown,
    )
    point, ending = newton(problem, inner)
    if ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    task.monitor.n_iter += inner.n_iter
    mu = combine(problem.rows, np.full(m, 1.0 / m)) if task.bias else np.zeros(d)
    return point, mu


class HingeSearch(WorkingSet):
    """Where the rounds stand."""

    def __init__(self, rows: StreamedRows, task: HingeTask):
        self.rows, self.task, self.monitor = rows, task, task.monitor
        self.kappa, self.rho = 0.0, 0.0
        self.primal, self.dual, self.model = np.inf, 0.0, np.inf
        self.multipliers = Multipliers(None, np.zeros(0, dtype=np.int64), np.zeros(0))
        self.reach = np.full(2, np.inf)
        self.buffer: RowBuffer
        self.idle = 0  # rounds that brought nothing

    # --- beginning ------------------------------------------------------------------------

    def begin(self, sample: RowBuffer | None) -> None:
        state = self.rows.folder.load()
        if state is not None and "mu" in state:
            self._go_on(state)
            return
        assert sample is not None
        point, self.mu = solve_sample(self.task, sample)
        self.best = self.next = StreamPlane(point.w, point.b)
        self.reach = self._guess(sample)
        sample.drop()
        self.buffer = self._room()

    def _go_on(self, state: dict[str, np.ndarray]) -> None:
        self.mu, self.reach, self.kappa = state["mu"], state["reach"], float(state["kappa"])
        self.rho, self.model = float(state["rho"]), float(state["model"])
        self.best = StreamPlane(state["w"], float(state["b"]))
        self.next = StreamPlane(state["next_w"], float(state["next_b"]))
        self.primal, self.dual = float(state["primal"]), float(state["dual"])
        if "at_w" in state:
            plane = StreamPlane(state["at_w"], float(state["at_b"]))
            self.multipliers = Multipliers(plane, state["rows"], state["alpha"])
        self.buffer = self._room()

    def _room(self) -> RowBuffer:
        rows = self.rows
        return RowBuffer(rows.memory.kept, rows.n_features, rows.dtype, rows.sparse)

    def save(self) -> None:
        at, told = self.multipliers.plane, {}
        if at is not None:
            told = {"at_w": at.w, "at_b": at.b}
        self.rows.folder.save(
            mu=self.mu, reach=self.reach, kappa=self.kappa, rho=self.rho,
            model=self.model, w=self.best.w, b=self.best.b,
            next_w=self.next.w, next_b=self.next.b, primal=self.primal, dual=self.dual,
            rows=self.multipliers.rows, alpha=self.multipliers.alpha, **told,
        )  # fmt: skip

    def _guess(self, sample: RowBuffer) -> np.ndarray:
        """How far from its margin a row of each class may be, so that the buffer is well filled."""
        if sample.count < TELLING_ROWS_PER_COLUMN * (sample.width + 1):
            return np.full(2, np.inf)  # its rows are fitted too well to tell of others
        counts, capacity = self.rows.counts.astype(float), self._capacity(sample)
        share = np.minimum(counts, 0.5 * capacity)
        share = np.minimum(counts, share + (capacity - share.sum()) * (share == 0.5 * capacity))
        m = sample.count
        some = np.random.default_rng(self.monitor.seed).permutation(m)[:DISTANCE_SAMPLE_ROWS]
        some.sort()
        codes = sample.y[some]
        z = self.best.slack(as_rows(sample.matrix()[some]), np.where(codes == 1, 1.0, -1.0))
        reach = np.full(2, np.inf)
        for code in (0, 1):
            if share[code] < counts[code] and (codes == code).any():
                wanted = share[code] / counts[code]
                reach[code] = float(np.quantile(np.abs(z[codes == code]), wanted))
        return np.maximum(reach, 1e-12)

    def _capacity(self, sample: RowBuffer) -> float:
        """Rows that the buffer should hold."""
        n, d = self.rows.n, self.rows.n_features
        room = self.rows.memory.kept / sample.each
        return min(FILL_SHARE * room, max(n / ONE_ROW_IN, KEPT_ROWS_PER_COLUMN * (d + 1), 1000))

    # --- rounds ---------------------------------------------------------------------------

    def look(self) -> bool:
        self.before = self.primal
        self._look()
        return self.monitor.record(self.primal, self.dual)

    def choose(self) -> bool:
        """The pass has chosen; False if too many rows lie on their margin."""
        self.idle = self.idle + 1 if self.primal >= self.before * (1.0 - 1e-12) else 0
        return self.idle < MAX_IDLE_ROUNDS and self.buffer.count > 0

    def solve(self) -> bool:
        self._solve_near()
        self.save()
        return True

    def _look(self) -> None:
        """Pass over all rows: the objective at ``next``, the rows near their margin there."""
        values = self._pass(self.best, self.next)
        if not np.isfinite(self.primal) or values[0] <= self.primal:
            hoped, had = self.primal - self.model, self.primal - float(values[0])
            # Little to be hoped for beside the gap: it is the proximal term that keeps it open.
            if had >= GOOD_DECREASE_SHARE * hoped or hoped <= LITTLE_GAP_SHARE * (
                self.primal - self.dual
            ):
                self.rho = self.rho / PROXIMAL_FACTOR if self.rho > MIN_PROXIMAL_WEIGHT else 0.0
            elif np.isfinite(hoped):
                self.rho = max(PROXIMAL_FACTOR * self.rho, MIN_PROXIMAL_WEIGHT)
            self.best, self.primal = self.next, float(values[0])
            return
        place = int(values.argmin())
        t = max(float(LINE_SEARCH_POINTS[place]), float(LINE_SEARCH_POINTS[-2]))
        step = float(np.sum((self.next.w - self.best.w) ** 2))
        wanted = (self.primal - self.model) / (t * step) if step > 0 else 0.0
        little = self.primal - self.model <= LITTLE_GAP_SHARE * (self.primal - self.dual)
        self.rho = self.rho / PROXIMAL_FACTOR if little else max(PROXIMAL_FACTOR * self.rho, wanted)
        self.best = self.best.toward(self.next, float(LINE_SEARCH_POINTS[place]))
        self.primal = float(self._pass(self.best, self.best)[0])
        self.reach *= 1.5  # frozen rows mattered: keep more of them, if there is room

    def _pass(self, last: StreamPlane, new: StreamPlane) -> np.ndarray:
        """The objective at LINE_SEARCH_POINTS, and the buffer, v₀ and r₀ at ``new``."""
        task, buffer = self.task, self.buffer
        buffer.clear()
        losses = np.zeros(len(LINE_SEARCH_POINTS))
        self.pull, self.r0, self.constant = np.zeros(self.rows.n_features), 0.0, 0.0
        for first, block in self.rows.blocks():
            rows, y, c = task.terms(block)
            z = new.slack(rows, y)
            if last is new:
                losses += float(c @ np.maximum(z, 0.0))
            else:
                dz = last.slack(rows, y) - z
                for j, t in enumerate(LINE_SEARCH_POINTS):
                    losses[j] += float(c @ np.maximum(z + (1.0 - t) * dz, 0.0))
            self._sort(block, rows, y, c, z, first)
        norms = [task.norm(last.toward(new, t)) for t in LINE_SEARCH_POINTS]
        return losses + np.array(norms)

    def _sort(self, block, rows: Rows, y, c, z, first: int) -> None:
        """Near rows to the buffer; those beyond the margin are added up."""
        buffer, codes = self.buffer, block.y
        while True:
            is_near = np.abs(z) <= self.reach[codes]
            near = np.flatnonzero(is_near)
            X = block.X[near]
            if buffer.fits(X):
                break
            self._thin(codes, z)
        buffer.put(X, y[near], c[near], near + first, z[near])
        up = (z > 0.0) & ~is_near
        u = np.where(up, c * y, 0.0)
        self._freeze(rows, u, float(c[up].sum()))

    def _freeze(self, rows: Rows, u: np.ndarray, cost: float) -> None:
        total = float(u.sum())
        self.pull += combine(rows, u) - total * self.mu
        self.r0 += total
        self.constant += cost

    def _thin(self, codes, z) -> None:
        """Half the reach of the class with more rows near; those beyond are frozen."""
        buffer, m = self.buffer, self.buffer.count
        side = (buffer.y[:m] > 0).astype(int)
        near = np.abs(z) <= self.reach[codes]
        held = np.bincount(side, minlength=2) + np.bincount(codes[near], minlength=2)
        code = int(held.argmax())
        there = np.abs(np.concatenate([buffer.z[:m][side == code], z[near & (codes == code)]]))
        reach = float(np.quantile(there, THINNED_SHARE))
        if np.mean(there <= reach) > TIED_ROWS_SHARE:  # equal rows: all of them or none
            reach = float(np.nextafter(reach, -1.0))
        self.reach[code] = reach
        gone = np.abs(buffer.z[:m]) > self.reach[side]
        up = gone & (buffer.z[:m] > 0.0)
        if up.any():
            u = np.where(up, buffer.c[:m] * buffer.y[:m], 0.0)
            self._freeze(buffer.rows(), u, float(buffer.c[:m][up].sum()))
        buffer.keep(np.flatnonzero(~gone))

    def _solve_near(self) -> None:
        """Minimise over the buffer; offer the multipliers this makes, and the plane to look at."""
        buffer, task, m = self.buffer, self.task, self.buffer.count
        rows, y, z = buffer.rows(), buffer.y[:m], buffer.z[:m]
        # ½‖w‖² + ½ρ‖w − w_k‖² is (1 + ρ) times ½‖w‖² but for a pull towards w_k.
        near = 1.0 + self.rho
        pull = (self.pull + self.rho * self.best.w) / near
        block = NearRows(rows, y, buffer.c[:m] / near, self.mu, task.bias, pull, self.r0 / near)
        b = self.best.b + float(self.mu @ self.best.w)
        state = State(self.best.w, b, self._start() / near, z)
        gap = min(1e-2, max(0.0, self.primal - self.dual) / self.primal)
        target = max(GAP_TOL * gap, STOP_TOL * self.monitor.tol)

        def done(terms: Terms) -> bool:
            return near * terms.gap <= target * self.primal

        # Below a known dual bound the frozen rows no longer tell the truth.
        floor = (self.dual * (1.0 - 1e-9) - self.constant) / near
        floor -= 0.5 * self.rho * float(self.best.w @ self.best.w) / near
        self.kappa = max(
            0.5 / max(float(np.abs(z).max(initial=0.0)), 1e-12), self.kappa / KAPPA_GROWTH
        )
        _, self.kappa = augment(block, state, self.kappa, self.monitor, Goal(target, done, floor))
        self._offer(rows, y, buffer.c[:m], near * state.a)
        self.model = self._reduced(state, y, buffer.c[:m])
        self.next = StreamPlane(state.w, state.b - float(self.mu @ state.w))
        self._choose_reach(np.abs(state.z - z), np.abs(z))

    def _choose_reach(self, moved: np.ndarray, distance: np.ndarray) -> None:
        """Where steps are good, no more rows than may still cross their margin; else all that
        the buffer can hold."""
        m = len(moved)
        if self.rho > 0.0 or m == 0:
            if m < 0.5 * FILL_SHARE * self.rows.memory.kept / self.buffer.each:
                self.reach *= 2.0
            return
        limit = NEXT_MOVE * float(np.quantile(moved, 0.95))
        fewest = min(m, max(1000, KEPT_ROWS_PER_COLUMN * (self.rows.n_features + 1)))
        enough = float(np.partition(distance, fewest - 1)[fewest - 1])
        self.reach = np.minimum(self.reach, max(limit, enough))

    def _start(self) -> np.ndarray:
        """Multipliers of the near rows as far as the last round knew them."""
        m, c = self.buffer.count, self.buffer.c[: self.buffer.count]
        if self.multipliers.plane is None:
            return 0.5 * c
        a = np.where(self.buffer.z[:m] > 0.0, c, 0.0)
        ids, known = self.buffer.ids[:m], self.multipliers.rows
        if len(known):
            place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
            same = known[place] == ids
            a[same] = np.minimum(self.multipliers.alpha[place[same]], c[same])
        return a

    def _reduced(self, state: State, y, c) -> float:
        """The objective with all other rows frozen: what the next pass would find if they were."""
        value = 0.5 * float(state.w @ state.w) + float(c @ np.maximum(state.z, 0.0))
        return value + (self.constant - float(self.pull @ state.w) - self.r0 * state.b)

    def _offer(self, rows: Rows, y, c, a) -> None:
        """The bound that the multipliers a of the buffer, with those of frozen rows, prove."""
        a = np.clip(a, 0.0, c)
        if self.task.bias:
            a = balanced(a, c, y, self.r0)
        r = self.r0 + float(a @ y)
        if self.task.bias and abs(r) > 1e-9 * (self.constant + float(a.sum())):
            return  # they prove nothing
        step = a * y
        v = self.pull + combine(rows, step) - float(step.sum()) * self.mu
        dual = self.constant + float(a.sum()) - 0.5 * float(v @ v)
        if dual > self.dual:
            self.dual = dual
            self.multipliers = Multipliers(self.best, self.buffer.ids[: len(a)].copy(), a)


def balanced(a: np.ndarray, cap: np.ndarray, y: np.ndarray, r0: float) -> np.ndarray:
    """Near multipliers with r₀ + Σ a y = 0, as near as is cheap: free ones are moved first."""
    a = a.copy()
    for free in (True, False):
        for _ in range(40):
            r = r0 + float(a @ y)
            among = (a > 0.0) & (a < cap) if free else cap > 0.0
            room = np.where(among, np.where(y * np.sign(r) > 0.0, a, cap - a), 0.0)
            total = float(room.sum())
            if abs(r) <= 1e-15 * float(a.sum()) or total <= 0.0:
                break
            a -= y * np.sign(r) * room * min(1.0, abs(r) / total)
            np.clip(a, 0.0, cap, out=a)
    return a
