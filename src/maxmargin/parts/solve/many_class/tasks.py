"""What a part is asked about a margin problem of k classes, and what it remembers of it.

    min over W, b    ½‖W‖² + Σ over parts Σ over rows c_i ℓ(W x_i + b)

Every part keeps the multipliers β (rows × k) of its own rows; only sums as large as W leave it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....core.certify.circulation import confine
from ....core.certify.multiclass import residual, signed
from ....core.problem.class_losses import ClassLoss, hinge_rates
from ....core.problem.multiclass import MulticlassProblem
from ....core.problem.problem import Bias, costs
from ....core.rows.class_products import class_combine
from ....core.rows.rows import as_rows, combine, scores, sqnorms
from ....core.solve.many_class.class_sweep import CLASS_ROW_DTYPE
from ...parts import Block


class ClassSpec(NamedTuple):
    """All k classes at once, by the "max" or the "sum" rule."""

    C: float
    loss: ClassLoss  # a hinge
    k: int
    bias: Bias = Bias.FREE
    seed: int = 0

    @property
    def key(self) -> str:
        """Where a part keeps what it knows: the same along C, so that fits start warm."""
        return "all classes"

    def pose(self, block: Block) -> MulticlassProblem:
        """The part's rows as this problem."""
        return pose_classes(block, self)

    @property
    def rates(self) -> tuple[float, float, float, float]:
        return hinge_rates(self.loss)


class ClassState(NamedTuple):
    """What a part remembers: never written in place, for a task may be run again."""

    q: np.ndarray  # ‖x − μ‖²
    centre: np.ndarray  # μ·x
    beta: np.ndarray  # multipliers (n, k), the accepted ones
    points: np.ndarray  # them, those a leap and the epochs after it proposed, and older ones
    epochs: int = 0
    scores: np.ndarray | None = None  # W x of the weights whose biases are sought
    trial: np.ndarray | None = None  # multipliers on trial
    near: Any = None  # which rows the driver holds (``near.py``)


class ClassCensus(NamedTuple):
    """Sums over all rows that set the scale of everything."""

    rows: int
    alive: int
    by_class: np.ndarray  # Σc
    sum_x: np.ndarray

    @property
    def cost(self) -> float:
        return float(self.by_class.sum())

    @property
    def mean(self) -> np.ndarray:
        return self.sum_x / max(1, self.alive)


class DualSums(NamedTuple):
    """Sums over the multipliers the parts hold."""

    sqnorm: float  # Σ ‖x − μ‖² over rows that cost something
    mass: float  # Σβ
    r: np.ndarray  # Σ α_i
    V: np.ndarray  # Σ α_i x_iᵀ, (k, d)
    bent: float  # the conjugate's quadratic part


def pose_classes(block: Block, spec: ClassSpec) -> MulticlassProblem:
    """The part's rows as a problem of all k classes, whichever of them it holds."""
    X, codes, weight = block
    c = costs(spec.C, weight, len(codes))
    y = codes.astype(np.int64, copy=False)
    return MulticlassProblem(as_rows(X), y, c, spec.loss, spec.k, spec.bias)


def count(problem: MulticlassProblem, state: ClassState | None):
    """The first question."""
    alive = problem.c > 0
    sum_x = combine(problem.rows, alive.astype(np.float64))
    by_class = np.bincount(problem.y, problem.c, minlength=problem.k)
    census = ClassCensus(len(alive), int(alive.sum()), by_class, sum_x)
    return state, census


def begin(problem: MulticlassProblem, state: ClassState | None, mu: np.ndarray):
    """Take the multipliers of an earlier fit into the domain of this one, or start from none."""
    n, k = len(problem.y), problem.k
    beta = np.zeros((n, k))
    if state is not None and state.beta.shape == beta.shape:
        beta = state.beta.copy()
        confine(problem, beta)
    centre = scores(problem.rows, mu)
    q = np.maximum(sqnorms(problem.rows) - 2.0 * centre + float(mu @ mu), 0.0)
    sqnorm = float(q[problem.c > 0].sum())
    return ClassState(q, centre, beta, beta[None]), DualSums(sqnorm, *_sums(problem, beta))


def _sums(problem: MulticlassProblem, beta: np.ndarray):
    V = class_combine(problem.rows, problem.k, signed(problem, beta))
    return float(beta.sum()), residual(problem, beta), V, float(bends(problem, beta[None])[0, 0])


def bends(problem: MulticlassProblem, points: np.ndarray) -> np.ndarray:
    """Σ over rows of the squared hinges' ββ′/(2c), by class or of the sums; 0 for the hinges."""
    _, each, _, whole = hinge_rates(problem.loss)
    bent = np.zeros((len(points),) * 2)
    inverse = np.divide(1.0, problem.c, out=np.zeros(len(problem.c)), where=problem.c > 0)
    if each > 0.0:
        bent += each * np.einsum("aic,i,bic->ab", points, inverse, points, optimize=True)
    if whole > 0.0:
        sums = points.sum(axis=2)
        bent += whole * (sums * inverse) @ sums.T
    return bent


def points_of(problem: MulticlassProblem, state: ClassState, rho: float) -> np.ndarray:
    """What the kernels of the solvers in memory need to know of every row."""
    points = np.zeros(len(problem.y), dtype=CLASS_ROW_DTYPE)
    points["y"], points["c"], points["centre"] = problem.y, problem.c, state.centre
    points["q"] = state.q + rho
    points["wake"] = np.where(problem.c > 0, 0.0, np.inf)
    return points
