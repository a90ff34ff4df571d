"""SVC: LIBSVM's problem for every pair of classes, under a kernel.

    min over w, b   ½‖w‖² + Σ c_i max(0, 1 − y_i (w·φ(x_i) + b)),     k(x, z) = φ(x)·φ(z)

over the rows of two classes, the first of them positive, c_i = C times the weights of class and
row.  LIBSVM keeps of all pairs one table: the support vectors class by class, and for each of them
the signed multipliers of the k − 1 pairs that its class is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property, wraps
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import get_config

from . import warm
from .case import Answer, Case, Quicker, Refusal, attend
from .liblinear import refuse_weights
from .linear_pair import solve_pair
from .settings import ENOUGH, aim

# What LIBSVM takes for a pair of rows, and for each column in it.
SECONDS_PER_PAIR, SECONDS_PER_PAIR_VALUE = 5e-9, 1e-9
MAX_ITER, USUAL_TOL = 100_000, 1e-3
# From where on a certified fit here is quicker than LIBSVM's at its own tolerance, by rows of two
# classes on average: with the linear kernel (of more than two classes, whose pairs are often
# separated, by values, too); with others by values, or by rows up to a C.
MIN_LINEAR_ROWS, MIN_KERNEL_VALUES, MIN_KERNEL_ROWS, MAX_KERNEL_C = 500, 8e5, 5000, 2.0
# What a fit of LIBSVM's leaves in the estimator.
SVC_ATTRIBUTES = (
    "support_",
    "support_vectors_",
    "_n_support",
    "dual_coef_",
    "intercept_",
    "_probA",
    "_probB",
    "fit_status_",
    "_num_iter",
)
_XFIT = "_BaseLibSVM__Xfit"


def wrap(original: Callable) -> Callable:
    """In place of ``BaseLibSVM._dense_fit`` and ``_sparse_fit``."""

    @wraps(original)
    def libsvm_fit(self, X, y, sample_weight, solver_type, kernel, random_seed):
        if self._impl != "c_svc":
            return original(self, X, y, sample_weight, solver_type, kernel, random_seed)
        rest = (solver_type, kernel, random_seed)
        return attend(SVCCase(original, self, X, y, sample_weight, rest))

    return libsvm_fit


class ClassPair(NamedTuple):
    """Two classes, the rows of both, and their multipliers and bias."""

    first: int
    second: int
    some: np.ndarray
    alpha: np.ndarray
    b: float


class SVCCase(Case):
    """One call of LIBSVM by SVC; an answer is what it leaves in the estimator, by name."""

    kind = "SVC"

    def __init__(self, original: Callable, svc: Any, X: Any, y, sample_weight, rest: tuple):
        self._original, self.svc, self.X, self.y = original, svc, X, y
        self.sample_weight, self.rest = sample_weight, rest
        if sparse.issparse(X):  # as LIBSVM's predictions need them, and its own fit leaves them
            X.sort_indices()
        self.rows = len(y)
        self.columns = X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else 0
        self.classes = len(svc.classes_)

    def check(self) -> None:
        svc = self.svc
        if svc._effective_probability:
            raise Refusal("probability=True asks for LIBSVM's own cross-validation")
        if svc.verbose:
            raise Refusal("verbose asks for LIBSVM's own output")
        if svc.max_iter != -1:
            raise Refusal(f"max_iter={svc.max_iter} asks for an early stop")
        if not np.isfinite(svc.C):
            raise Refusal("C=inf is not LIBSVM's problem")
        _refuse_kernel(svc)
        if not self.any_size:
            self._refuse_size()
        if len(self.sample_weight):
            refuse_weights(self.sample_weight, self.codes, self.classes)
            if not np.all(self.sample_weight > 0):
                raise Refusal("LIBSVM leaves rows of weight 0 out")

    def _refuse_size(self) -> None:
        """What LIBSVM is quicker at, by measurement."""
        rows = 2 * self.rows / self.classes
        if self.svc.kernel == "linear":
            short = rows * self.columns < MIN_KERNEL_VALUES
            small = rows < MIN_LINEAR_ROWS or (self.classes > 2 and short)
        else:
            hard = rows < MIN_KERNEL_ROWS or self.svc.C > MAX_KERNEL_C
            small = hard and rows * self.columns < MIN_KERNEL_VALUES
        if small:
            raise Quicker("LIBSVM is quicker to its tolerance on few and short rows, or large C")

    def seconds(self) -> float:
        return self.rows**2 * (SECONDS_PER_PAIR + SECONDS_PER_PAIR_VALUE * self.columns)

    def original(self) -> dict[str, Any]:
        svc = copy(self.svc)
        self._original(svc, self.X, self.y, self.sample_weight, *self.rest)
        return {name: vars(svc)[name] for name in (*SVC_ATTRIBUTES, _XFIT) if name in vars(svc)}

    def settle(self, value: dict[str, Any]) -> None:
        vars(self.svc).update(value)

    @cached_property
    def codes(self) -> np.ndarray:
        return np.asarray(self.y).astype(np.int64)

    @cached_property
    def c(self) -> np.ndarray:
        c = float(self.svc.C) * np.asarray(self.svc.class_weight_)[self.codes]
        return c * self.sample_weight if len(self.sample_weight) else c

    @cached_property
    def points(self) -> Any:
        """The rows under their kernel; of a callable, its matrix."""
        from ..core.kernels.kernel_block import KernelPoints
        from ..core.kernels.kernels import Kernel

        svc = self.svc
        if callable(svc.kernel):
            scratch = copy(svc)
            setattr(scratch, _XFIT, self.X)
            return KernelPoints(scratch._compute_kernel(self.X), Kernel("precomputed"))
        kernel = Kernel(svc.kernel, float(svc._gamma), int(svc.degree), float(svc.coef0))
        return KernelPoints(self.X, kernel)

    def problems(self) -> Iterator[tuple[int, int, np.ndarray, Any]]:
        """Every pair of classes, its rows, and its problem."""
        from ..core.kernels.kernel_block import KernelPoints
        from ..core.problem.kernelised import KernelProblem
        from ..core.problem.losses import Hinge

        whole = self.points
        for first, second in combinations(range(self.classes), 2):
            some = np.flatnonzero((self.codes == first) | (self.codes == second))
            points = whole
            if self.classes > 2:
                X = whole.X[some]
                X = X[:, some] if whole.kernel.precomputed else X
                points = KernelPoints(X, whole.kernel, like=whole)
            y = np.where(self.codes[some] == first, 1.0, -1.0)
            yield first, second, some, KernelProblem(points, y, self.c[some], Hinge())

    def solve(self) -> Answer:
        solve_one = self._linear_pair if self.svc.kernel == "linear" else self._kernel_pair
        goal, pairs, counts = aim(self.svc.tol, USUAL_TOL), [], []
        primal, dual, why = 0.0, 0.0, ""
        for first, second, some, problem in self.problems():
            point, proof, n_iter, why = solve_one(problem, (*self._key, first, second), goal)
            pairs.append(ClassPair(first, second, some, point.alpha, point.b))
            counts.append(n_iter)
            primal, dual = primal + proof.primal, dual + proof.dual
        gap = max(0.0, primal - dual) / max(primal, np.finfo(float).tiny)
        return Answer(self._table(pairs, counts), primal, gap, why)

    def _kernel_pair(self, problem: Any, key: tuple, goal: float) -> tuple[Any, Any, int, str]:
        """Point, proof, iterations and reason of one pair."""
        from ..core.solve.contract import Monitor
        from ..core.solve.kernel.form import dual_point, solve_kernel

        C, monitor = float(self.svc.C), Monitor(goal, enough=ENOUGH, max_iter=MAX_ITER)
        known = warm.start(key, C)
        start = None if known is None else dual_point(_repaired(problem, known))
        found = solve_kernel(problem, monitor, float(self.svc.cache_size), start)
        warm.keep(key, C, found.point.alpha, len(problem.y))
        return found.point, found.certificate, found.n_iter, found.why

    def _linear_pair(self, problem: Any, key: tuple, goal: float) -> tuple[Any, Any, int, str]:
        """The same where the kernel is x·z; what is not proved so may be, value by value of it."""
        C, X = float(self.svc.C), problem.rows.X
        found = solve_pair(X, problem.y, problem.c, goal, warm.start(key, C), MAX_ITER)
        warm.keep(key, C, found.point, sum(X.shape))
        if found.certificate.relative_gap > goal:
            other = self._kernel_pair(problem, (*key, "values"), goal)
            if other[1].relative_gap < found.certificate.relative_gap:
                return other
        return found, found.certificate, found.n_iter, found.why

    @cached_property
    def _key(self) -> tuple:
        """Of all pairs, so that rows are looked at once."""
        svc, X = self.svc, self.points.X
        kernel = (str(svc.kernel), svc._gamma, svc.degree, svc.coef0)
        weight = hash((self.c / float(svc.C)).tobytes())
        return warm.fingerprint(X, self.codes, "SVC", kernel, weight)

    def _table(self, pairs: list[ClassPair], counts: list[int]) -> dict[str, Any]:
        """All pairs as LIBSVM keeps them."""
        k, n = self.classes, self.rows
        beta = np.zeros((k - 1, n))
        for pair in pairs:
            mine = self.codes[pair.some] == pair.first
            beta[pair.second - 1, pair.some[mine]] = pair.alpha[mine]
            beta[pair.first, pair.some[~mine]] = -pair.alpha[~mine]
        used = np.flatnonzero(beta.any(axis=0))
        support = used[np.argsort(self.codes[used], kind="stable")].astype(np.int32)
        value = {
            "support_": support,
            "support_vectors_": self._support_vectors(support),
            "_n_support": np.bincount(self.codes[support], minlength=k).astype(np.int32),
            "dual_coef_": self._dual_coef(beta[:, support]),
            "intercept_": np.array([pair.b for pair in pairs]),
            "_probA": np.empty(0),
            "_probB": np.empty(0),
            "fit_status_": 0,
            "_num_iter": np.array(counts, dtype=np.int32),
        }
        return value | ({_XFIT: self.X} if callable(self.svc.kernel) else {})

    def _support_vectors(self, support: np.ndarray) -> Any:
        if self.points.kernel.precomputed:
            return np.empty((0, 0))
        return _own_kind(self.X[support])

    def _dual_coef(self, beta: np.ndarray) -> Any:
        """Dense as it is; with sparse rows, every entry stored, as LIBSVM stores them."""
        if not sparse.issparse(self.X) or callable(self.svc.kernel):
            return np.ascontiguousarray(beta)
        rows, columns = beta.shape
        indices = np.tile(np.arange(columns), rows)
        indptr = np.arange(0, beta.size + 1, max(1, columns))
        return _own_kind(sparse.csr_matrix((beta.ravel(), indices, indptr), shape=beta.shape))

    def _scores(self, value: dict[str, Any]) -> Iterator[tuple[Any, np.ndarray, np.ndarray, float]]:
        """Of every pair: its problem, its β, its scores, its bias."""
        from ..core.certify.kernelised import kernel_scores

        table = value["dual_coef_"]
        dense = table.toarray() if sparse.issparse(table) else table
        beta = np.zeros((self.classes - 1, self.rows))
        beta[:, value["support_"]] = dense
        pairs = zip(self.problems(), value["intercept_"], strict=True)
        for (first, second, some, problem), b in pairs:
            own = np.where(problem.y > 0, beta[second - 1, some], beta[first, some])
            yield problem, own, kernel_scores(problem.rows, own), float(b)

    def primal(self, value: dict[str, Any]) -> float:
        total = 0.0
        for problem, beta, f, b in self._scores(value):
            slack = np.maximum(0.0, 1.0 - problem.y * (f + b))
            total += 0.5 * float(beta @ f) + float(problem.c @ slack)
        return total

    def predict(self, value: dict[str, Any]) -> np.ndarray:
        """Of every pair, on which side each of its rows is."""
        return np.concatenate([f + b > 0 for _, _, f, b in self._scores(value)])


def _own_kind(A: Any) -> Any:
    """Sparse matrix or sparse array, as scikit-learn is configured to return them."""
    if not sparse.issparse(A):
        return A
    arrays = get_config().get("sparse_interface", "spmatrix") == "sparray"
    return sparse.csr_array(A) if arrays else sparse.csr_matrix(A)


def _refuse_kernel(svc: Any) -> None:
    """Kernels that are no inner product, and those that scikit-learn has and maxmargin has not."""
    if callable(svc.kernel):
        return
    if svc.kernel == "sigmoid" or (svc.kernel == "poly" and (svc.coef0 < 0 or svc.degree < 1)):
        raise Refusal(f"kernel={svc.kernel!r} is no inner product with these parameters")
    if svc.kernel in ("rbf", "poly") and not svc._gamma > 0:
        raise Refusal("gamma=0 makes all rows the same")


def _repaired(problem: Any, alpha: np.ndarray) -> np.ndarray:
    from ..core.certify.repair import repair

    return repair(problem, alpha)
