"""LinearSVC: LIBLINEAR's objective, whose bias is the weight of a column.

    min over w̃   ½‖w̃‖² + C Σ s_i ℓ(y_i w̃·x̃_i),      x̃ = (x, a),   w = w̃ but its last,   b = a w̃_last

ℓ is max(0, 1 − m)² or max(0, 1 − m), a is ``intercept_scaling``; k classes are k such problems, one
against the rest each, in which a class weight counts for the one.
``multi_class="crammer_singer"`` is one problem for all,

    min over W̃   ½‖W̃‖² + C Σ s_i max(0, max over c ≠ y_i of 1 − (W̃_y − W̃_c)·x̃_i)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import compute_class_weight

from . import warm
from .case import Answer, Case, Quicker, attend
from .draws import Draws
from .liblinear import Arguments, column_appended, refuse_errors, refuse_parameters
from .settings import ENOUGH, aim

# What LIBLINEAR takes for a value of X and a class: 50–500 ns, by how well X is scaled.
SECONDS_PER_VALUE = 1e-7
MAX_ITER, USUAL_TOL = 10_000, 1e-4
# Dense columns up to which a d × d system for every class pays.
MAX_COLUMNS = 400
# LIBLINEAR is quicker at its usual tolerance below so many values of X: dense; sparse; sparse with
# the plain hinge.
MIN_DENSE_VALUES, MIN_SPARSE_VALUES, MIN_SPARSE_HINGE_VALUES = 15_000, 200_000, 400_000


def wrap(original: Callable) -> Callable:
    """In place of ``_fit_liblinear`` as ``sklearn.svm._classes`` knows it."""

    @wraps(original)
    def fit_liblinear(*args, **kwargs):
        arguments = Arguments.of(original, args, kwargs)
        if arguments.loss not in ("hinge", "squared_hinge"):  # LinearSVR
            return original(*args, **kwargs)
        return attend(LinearSVCCase(original, arguments))

    return fit_liblinear


class LinearSVCCase(Case):
    """One call of LIBLINEAR by LinearSVC; an answer is (coef, intercept, n_iter)."""

    kind = "LinearSVC"

    def __init__(self, original: Callable, arguments: Arguments):
        self._original, self.given = original, arguments
        self.rows, self.columns = arguments.X.shape
        self.draws = Draws(arguments.random_state)

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Classes and codes."""
        classes, codes = np.unique(self.given.y, return_inverse=True)
        return classes, codes.reshape(-1)

    def check(self) -> None:
        refuse_parameters(self.given)
        if not self.any_size:
            self._refuse_size()
        classes, codes = self.labels
        self.classes = len(classes)
        refuse_errors(self.given, classes, codes)

    def _refuse_size(self) -> None:
        """What LIBLINEAR is quicker at, by measurement."""
        given, scattered = self.given, sparse.issparse(self.given.X)
        if self.columns > MAX_COLUMNS and not scattered and len(self.labels[0]) > 2:
            raise Quicker(f"LIBLINEAR is quicker with more than {MAX_COLUMNS} dense columns")
        least = MIN_SPARSE_VALUES if scattered else MIN_DENSE_VALUES
        if given.dual and not scattered:  # its descent on dense columns may take forever
            least = 0
        elif scattered and given.loss == "hinge":
            least = MIN_SPARSE_HINGE_VALUES
        if (given.X.nnz if scattered else given.X.size) < least and given.tol >= USUAL_TOL:
            raise Quicker(f"LIBLINEAR is quicker on fewer than {least} values")

    def seconds(self) -> float:
        values = self.given.X.nnz if sparse.issparse(self.given.X) else self.given.X.size
        return SECONDS_PER_VALUE * values * (1 if self.classes == 2 else self.classes)

    def original(self) -> Any:
        return self._original(*self.given._replace(random_state=self.draws.source()))

    @cached_property
    def c(self) -> np.ndarray:
        """C times the weights of class and row."""
        return self.sample_costs * self.class_weight[self.labels[1]]

    @cached_property
    def sample_costs(self) -> np.ndarray:
        weight = self.given.sample_weight
        return float(self.given.C) * (np.ones(self.rows) if weight is None else np.asarray(weight))

    @cached_property
    def class_weight(self) -> np.ndarray:
        given = self.given
        return compute_class_weight(
            given.class_weight, classes=self.labels[0], y=given.y, sample_weight=given.sample_weight
        )

    def machine(self, label: int) -> tuple[np.ndarray, np.ndarray]:
        """y and c of one class against the rest; of more than two classes LIBLINEAR gives the rest
        no class weight."""
        mine = self.labels[1] == label
        if self.classes == 2:
            return np.where(mine, 1.0, -1.0), self.c
        return np.where(mine, 1.0, -1.0), np.where(mine, self.c, self.sample_costs)

    @property
    def aim(self) -> float:
        return aim(self.given.tol, USUAL_TOL)

    @property
    def machines(self) -> list[int]:
        return [1] if self.classes == 2 else list(range(self.classes))

    @cached_property
    def wide(self) -> Any:
        """(x, a), or x where there is no bias."""
        return column_appended(self.given.X, self.given.column)

    def solve(self) -> Answer:
        self.draws.draw(0, np.iinfo("i").max)
        solver = _joint if self.given.multi_class == "crammer_singer" else _one_vs_rest
        W, primal, dual, n_iter, method = solver(self)
        gap = max(0.0, primal - dual) / max(primal, np.finfo(float).tiny)
        n_iter = np.minimum(n_iter, max(1, self.given.max_iter - 1)).astype(np.int32)
        return Answer((*self.given.split(W), n_iter), primal, gap, method)

    @cached_property
    def warm_key(self) -> tuple:
        """Of all classes, so that rows are looked at once."""
        given, (_, codes) = self.given, self.labels
        weight = hash((self.c / float(given.C)).tobytes())
        return warm.fingerprint(given.X, codes, "LinearSVC", given.loss, given.column, weight)

    def primal(self, value: Any) -> float:
        W, codes = self.given.joined(value), self.labels[1]
        S = self.wide @ W.T
        if self.given.multi_class == "crammer_singer":
            own = S[np.arange(len(codes)), codes]
            S[np.arange(len(codes)), codes] -= 1.0
            return 0.5 * float((W * W).sum()) + float(self.c @ (1.0 + S.max(axis=1) - own))
        total = 0.5 * float((W * W).sum())
        for f, label in zip(S.T, self.machines, strict=True):
            y, c = self.machine(label)
            slack = np.maximum(0.0, 1.0 - y * f)
            total += float(c @ (slack**2 if self.given.loss == "squared_hinge" else slack))
        return total

    def predict(self, value: Any) -> np.ndarray:
        S = self.wide @ self.given.joined(value).T
        return S[:, 0] > 0 if S.shape[1] == 1 else S.argmax(axis=1)


def _one_vs_rest(case: LinearSVCCase):
    """Every class against the rest; of two classes, the second against the first."""
    from ..core.problem.losses import LOSSES
    from ..core.problem.problem import Bias, Problem
    from ..core.rows.rows import as_rows
    from ..core.solve.contract import Monitor
    from ..core.solve.two_class.form import solve

    rows, C = as_rows(case.wide), float(case.given.C)
    W, primal, dual, n_iter = [], 0.0, 0.0, []
    for label in case.machines:
        y, c = case.machine(label)
        problem = Problem(rows, y, c, LOSSES[case.given.loss], Bias.NONE)
        key = (*case.warm_key, label)
        solution = solve(
            problem, Monitor(case.aim, enough=ENOUGH, max_iter=MAX_ITER), start=warm.start(key, C)
        )
        warm.keep(key, C, solution.point, sum(problem.shape))
        W.append(solution.point.w)
        primal += solution.certificate.primal
        dual += solution.certificate.dual
        n_iter.append(solution.n_iter)
    return np.array(W), primal, dual, np.array(n_iter), solution.why


def _joint(case: LinearSVCCase):
    """All classes at once; of two classes, both rows."""
    from ..core.problem.class_losses import MaxHinge
    from ..core.problem.multiclass import MulticlassProblem
    from ..core.problem.problem import Bias
    from ..core.rows.rows import as_rows
    from ..core.solve.contract import Monitor
    from ..core.solve.many_class.form import solve_classes

    classes, codes = case.labels
    y, k = codes.astype(np.int64), len(classes)
    problem = MulticlassProblem(as_rows(case.wide), y, case.c, MaxHinge(), k, Bias.NONE)
    solution = solve_classes(problem, Monitor(case.aim, enough=ENOUGH, max_iter=MAX_ITER))
    proof = solution.certificate
    n_iter = np.array([solution.n_iter])
    return solution.point.W, proof.primal, proof.dual, n_iter, solution.why
