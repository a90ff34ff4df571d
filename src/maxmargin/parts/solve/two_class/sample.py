"""A sample of the rows, held by the driver: a start, and a model of the curvature.

    M = D + Σ over free rows of the sample  ρ s_i x̃_i x̃_iᵀ,      x̃ = (x − μ, 1)

Conjugate gradients over parts cost one round a product; with M as preconditioner they need a
handful.  The sample is treated as one more part: it is asked what the parts are asked, so its own
multipliers are those that the same rows have at home, and it knows which of its rows are free.
When too few of them are left, rows that are free now are fetched, at most as many as at first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....core.problem.problem import Problem
from ....core.rows.gram import column_gram
from ....core.rows.rows import DenseRows, Rows, as_csr, as_rows, scores, shape, size_of, take
from ....core.solve.contract import Monitor
from ....core.solve.softmax.hessian_models import Diagonal, Factored, Thin
from ....core.solve.two_class.form import solve
from ...parts import Parts
from ..tasks import ask
from .tasks import BinarySpec, BinaryState, Census

# Rows of the sample: so many per column, of at most so many values in all.
SAMPLE_ROWS_PER_COLUMN, MIN_SAMPLE_ROWS = 40, 1000
MAX_SAMPLE_VALUES = 1 << 22
# Free rows that a model is made of, at most, where there are more columns.
MAX_MODEL_FREE_ROWS = 1200
# Columns up to which a model is a d × d matrix.
MAX_MATRIX_COLUMNS = 2000
# Rows are fetched anew when fewer than this share of those that could be had are free, and how
# often; those whose multiplier on trial is this far from the middle of its box, in lengths of it.
STALE_FREE_SHARE, MAX_FETCHES = 0.3, 6
NEAR_BOX_LENGTHS = 2.5
# The first κ is at least, and at most.
MIN_FIRST_KAPPA, MAX_FIRST_KAPPA = 0.5, 1e4
NEAR_CORNER_WIDTHS = 2.0
# Two free rows per column tell the curvature; with fewer, part of it is told by its diagonal.
FREE_ROWS_PER_COLUMN = 2.0
# Rows per column from which on a sample's own optimum is a start.
START_ROWS_PER_COLUMN = 15
# The gap to which the sample's own problem is solved.
SAMPLE_TOL = 1e-2


class Chosen(NamedTuple):
    """Rows that travel, and what their part knows of them."""

    rows: Rows
    y: np.ndarray
    c: np.ndarray
    alpha: np.ndarray
    z: np.ndarray
    weight: np.ndarray  # how many rows each stands for
    # Of the rows left behind: Σ α y x, Σ α y and Σ α; and what the part knows itself by.
    pull: np.ndarray | float = 0.0
    r: float = 0.0
    cost: float = 0.0
    mark: tuple = ()


def choose_rows(
    problem: Problem, state: BinaryState, rate: float, most: int, seed: int, kappa: float | None
) -> tuple[BinaryState, Chosen]:
    """Rows of each class at random, and no more values than ``most``.

    ``kappa``: only those that are free with this κ, or nearly so.
    """
    alive = problem.c > 0
    if kappa is not None:
        assert state.z is not None
        place = kappa * state.z + state.alpha / np.maximum(problem.c, np.finfo(float).tiny)
        if np.isinf(problem.cap).any():  # the squared hinge: all rows with slack
            place = np.where(state.z > 0.0, 0.5, np.inf)
        alive &= np.abs(place - 0.5) < NEAR_BOX_LENGTHS
    n = len(problem.y)
    stored = size_of(problem.rows) * (int(alive.sum()) / max(1, n))
    rate = min(rate, most / max(1.0, stored))
    rng = np.random.default_rng([seed, n, state.epochs])
    chosen, weight = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for side in (1.0, -1.0):
        mine = np.flatnonzero(alive & (problem.y == side))
        size = min(len(mine), max(1, round(rate * len(mine))))
        chosen.append(rng.choice(mine, size=size, replace=False))
        weight.append(np.full(size, len(mine) / max(1, size)))
    index = np.concatenate(chosen)
    nothing = np.zeros(len(index))
    return state, Chosen(
        take(problem.rows, index), problem.y[index], problem.c[index], state.alpha[index],
        nothing if state.z is None else state.z[index],
        np.concatenate(weight),
    )  # fmt: skip


def most_values(parts: Parts) -> int:
    """Values that may be fetched at once; less where memory may be short, as with files."""
    return MAX_SAMPLE_VALUES if parts.far else MAX_SAMPLE_VALUES // 8


class HeldSample:
    """Some rows as a part of their own."""

    def __init__(self, parts: Parts, spec: BinarySpec, census: Census):
        self.parts, self.spec, self.census = parts, spec, census
        self.fetches = 0
        d = max(1, parts.n_features)
        a_row = max(1.0, census.values / max(1, census.rows))
        self.most = max(
            1,
            int(
                min(
                    most_values(parts) // a_row,
                    max(MIN_SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN * (d + 1)),
                )
            ),
        )
        self._fetch(self.most / max(1, census.alive), None)

    @property
    def wants_diagonal(self) -> bool:
        """Whether free rows may be too few to tell the curvature of all columns."""
        return self.most < 2 * FREE_ROWS_PER_COLUMN * self.parts.n_features

    def _fetch(self, rate: float, kappa: float | None) -> None:
        most = most_values(self.parts) // max(1, self.parts.n_parts)
        told = min(1.0, rate), most, self.spec.seed, kappa
        chosen = list(ask(self.parts, choose_rows, self.spec, *told))
        rows = stack([one.rows for one in chosen])
        y, c, alpha, z, weight = (
            np.concatenate(column) for column in list(zip(*chosen, strict=True))[1:6]
        )
        self.problem = Problem(rows, y, c, self.spec.loss, self.spec.bias)
        self.weight = weight
        self.share = BinaryState(np.zeros(len(y)), alpha, alpha[None, :], z=z)
        self.fetches += 1

    @property
    def telling(self) -> bool:
        """Whether its optimum tells anything of that of all rows; few rows are merely separable."""
        m, d = self.problem.shape
        return m >= START_ROWS_PER_COLUMN * (d + 1) or m == self.census.alive

    def start(self, tol: float, seconds: float) -> tuple[np.ndarray, float]:
        """Its optimum (w, b)."""
        costs = self.problem.c * self.weight
        costs *= self.census.cost / costs.sum()
        problem = Problem(self.problem.rows, self.problem.y, costs, self.spec.loss, self.spec.bias)
        monitor = Monitor(tol=max(tol, SAMPLE_TOL), max_seconds=seconds, seed=self.spec.seed)
        found = solve(problem, monitor)
        proof = found.certificate
        point, self.primal = found.point, proof.primal
        return point.w, point.b

    def rounding(self, w, b: float, tol: float) -> float:
        """κ so large that a corner rounded to 1/κ costs the proof no more than ``tol``, or that
        the rows in some such corners are few enough to be fetched."""
        c, weight = self.problem.c, self.weight
        z = np.abs(1.0 - self.problem.y * (scores(self.problem.rows, w) + b))
        kappa = MIN_FIRST_KAPPA
        while kappa < MAX_FIRST_KAPPA:
            lost = z * np.maximum(0.5 - kappa * z, 0.0)
            few = float(weight[kappa * z < NEAR_CORNER_WIDTHS].sum()) <= self.most
            if few or float((c * weight) @ lost) <= tol * self.primal:
                break
            kappa *= 1.2
        return kappa

    def hear(self, task: Any, *told: Any) -> None:
        """Follow what all parts are asked."""
        self.share, _ = task(self.problem, self.share, *told)

    def fewer(self, free: int) -> bool:
        """Whether too few rows here are free, if ``free`` rows of the parts are."""
        known = len(self.share.free.which)
        return (
            known < STALE_FREE_SHARE * min(free, self.most / (2 * NEAR_BOX_LENGTHS))
            and self.fetches < MAX_FETCHES
        )

    def renew(self, free: int, kappa: float) -> None:
        """Fetch rows that are free now, or nearly so."""
        self._fetch(self.most / (2.0 * NEAR_BOX_LENGTHS * free), kappa)

    def model(self, free: int, diagonal, stiffness: float, mu) -> Model:
        """The preconditioner where the parts stand now, if ``free`` rows of theirs are free.

        ``diagonal``: of the curvature of all parts.
        """
        index = self.share.free.which
        s = self.share.free.s * self.weight[index]
        m, d = len(index), self.problem.shape[1]
        if m > MAX_MODEL_FREE_ROWS and d > MAX_MATRIX_COLUMNS:
            some = np.random.default_rng(self.spec.seed).choice(
                m, MAX_MODEL_FREE_ROWS, replace=False
            )
            index, s, m = index[some], s[some], MAX_MODEL_FREE_ROWS
        s = s * (stiffness / max(float(s.sum()), np.finfo(float).tiny))
        unseen = (
            0.5 * max(0.0, 1.0 - m / max(1, free)) * max(0.0, 1.0 - m / (FREE_ROWS_PER_COLUMN * d))
        )
        D = np.ones(d) if not len(diagonal) else 1.0 + unseen * np.maximum(diagonal, 0.0)
        unseen = unseen if len(diagonal) else 0.0
        return Model(self.problem.rows, (index, (1.0 - unseen) * s), D, stiffness, mu, self.spec)


class Model:
    """M⁻¹; the bias is eliminated first."""

    def __init__(self, rows: Rows, curved: tuple, D, stiffness: float, mu, spec: BinarySpec):
        index, s = curved  # rows whose multipliers are free, and how much each bends
        self.free = bool(spec.bias)
        d = shape(rows)[1]
        self.S = max(stiffness, np.finfo(float).tiny)
        self.h, self.scale = np.zeros(d), np.ones(d)
        self.inverse: Factored | Thin | Diagonal = Diagonal(D)
        if len(index) == 0:
            return
        if len(index) >= d or d <= 64:
            H, self.h = column_gram(rows, index, s, mu)
            H = np.tril(H) + np.tril(H, -1).T
            H[np.diag_indices_from(H)] += D
            if self.free:
                H -= np.outer(self.h, self.h / self.S)
            self.inverse = Factored(H)
            return
        # Fewer rows than columns: through the rows, in columns scaled so that D is one.
        self.scale = 1.0 / np.sqrt(D)
        X = _scaled(take(rows, index), self.scale)
        self.h = np.asarray(s @ X) / self.scale - float(s.sum()) * mu
        K = X @ X.T
        K = K.toarray() if sparse.issparse(K) else K
        share = s / float(s.sum()) if self.free else np.zeros_like(s)
        self.inverse = Thin(X, K, s, share)

    def __call__(self, g_w, g_b: float) -> tuple[np.ndarray, float]:
        if not self.free:
            return self._solve(g_w), 0.0
        dw = self._solve(g_w - self.h * (g_b / self.S))
        return dw, (g_b - float(self.h @ dw)) / self.S

    def _solve(self, rhs) -> np.ndarray:
        return self.scale * self.inverse.solve(self.scale * rhs)


def _scaled(rows: Rows, scale) -> Any:
    """Rows in float64 with their columns scaled, dense or CSR."""
    if isinstance(rows, DenseRows):
        return rows.X * scale
    return as_csr(rows).astype(np.float64) @ sparse.diags_array(scale, format="csr")


def stack(pieces: list[Rows]) -> Rows:
    """The rows of all pieces, one below the other."""
    if isinstance(pieces[0], DenseRows):
        return as_rows(np.concatenate([piece.X for piece in pieces]))  # type: ignore[union-attr]
    return as_rows(sparse.vstack([as_csr(piece) for piece in pieces], format="csr"))  # type: ignore[arg-type]
