"""LogisticRegression and LogisticRegressionCV, with the squared norm as penalty.

    min over w, b   ½‖w‖² + C Σ s_i log(1 + exp(−y_i (w·x_i + b)))                   two classes
    min over W, b   ½‖W‖² + C Σ s_i (log Σ_c exp(W_c·x_i + b_c) − (W_y·x_i + b_y))     k classes

These are the objectives of every solver of scikit-learn's but one: ``solver="liblinear"`` penalises
the bias as well, as the weight of a column, see ``linear_svc.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, wraps
from inspect import Parameter, signature
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils import compute_class_weight

from . import warm
from .case import Answer, Case, Quicker, Refusal, attend
from .conditioning import (
    MAX_HESSIAN_COLUMNS,
    MIN_LIBLINEAR_VALUES,
    MIN_SPARSE_VALUES,
    PATIENCE,
    USUAL_TOL,
    few_steps_suffice,
)
from .draws import Draws
from .liblinear import (
    LEAST_MAX_ITER,
    Arguments,
    by_name,
    column_appended,
    refuse_errors,
    refuse_parameters,
    refuse_weights,
)
from .settings import ENOUGH, aim

# What lbfgs takes for a value of X and a class.
SECONDS_PER_VALUE = 2e-8
MAX_ITER = 10_000


def wrap(original: Callable) -> Callable:
    """In place of ``_logistic_regression_path``."""
    parameters = signature(original).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not Parameter.empty}

    @wraps(original)
    def logistic_regression_path(*args, **kwargs):
        given = SimpleNamespace(**defaults | by_name(original, args, kwargs))
        if given.solver == "liblinear":  # comes to the wrapper below, one C at a time
            return original(*args, **kwargs)
        return attend(PathCase(original, given))

    return logistic_regression_path


def wrap_liblinear(original: Callable) -> Callable:
    """In place of ``_fit_liblinear`` as ``sklearn.linear_model._logistic`` knows it."""

    @wraps(original)
    def fit_liblinear(*args, **kwargs):
        return attend(LiblinearCase(original, Arguments.of(original, args, kwargs)))

    return fit_liblinear


class LogisticCase(Case):
    """What both doors share: a problem of X, codes, row weights and C."""

    kind = "LogisticRegression"
    X: Any
    bias: bool
    given: Any
    _path: Any = None  # what one C leaves to the next within this call

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError

    @cached_property
    def weight(self) -> np.ndarray:
        raise NotImplementedError

    def seconds(self) -> float:
        values = self.X.nnz if sparse.issparse(self.X) else self.X.size
        return SECONDS_PER_VALUE * values * (1 if self.classes == 2 else self.classes)

    def solved(self, C: float) -> Any:
        """The solution for one C, begun where the nearest C ended."""
        from ..core.solve.softmax.form import solve_logistic
        from ..core.solve.softmax.path_state import PathState
        from .impatient import ImpatientMonitor

        key, problem = self._key, self._problem(C)
        monitor = ImpatientMonitor(
            aim(self.given.tol, USUAL_TOL), enough=ENOUGH, max_iter=MAX_ITER, watch=self._watch(C)
        )
        self._path = self._path or PathState()
        solution = solve_logistic(problem, monitor, "auto", warm.start(key, C), self._path)
        warm.keep(key, C, tuple(solution.point), solution.point.W.size)
        return solution

    def _watch(self, C: float) -> Callable[[int, float], None]:
        """What is told the steps and gaps of the fit for C, and may end it."""
        return lambda step, gap: None

    def _problem(self, C: float) -> Any:
        from ..core.problem.class_losses import Softmax
        from ..core.problem.losses import Logistic
        from ..core.problem.multiclass import MulticlassProblem
        from ..core.problem.problem import Bias, Problem
        from ..core.rows.rows import as_rows

        _, codes = self.labels
        bias, c = Bias.FREE if self.bias else Bias.NONE, C * self.weight
        if self.classes == 2:
            y = np.where(codes == 1, 1.0, -1.0)
            return Problem(as_rows(self.X), y, c, Logistic(), bias)
        k = self.classes
        return MulticlassProblem(as_rows(self.X), codes.astype(np.int64), c, Softmax(), k, bias)

    @cached_property
    def _key(self) -> tuple:
        weight = hash(self.weight.tobytes())
        return warm.fingerprint(self.X, self.labels[1], self.kind, self.bias, weight)

    def objective(self, C: float, W: np.ndarray, b: np.ndarray) -> float:
        S, codes = self.X @ W.T.astype(np.float64) + b, self.labels[1]
        if len(W) == 1:
            losses = np.logaddexp(0.0, np.where(codes == 1, -S[:, 0], S[:, 0]))
        else:
            losses = logsumexp(S, axis=1) - S[np.arange(len(codes)), codes]
        return 0.5 * float((W.astype(np.float64) ** 2).sum()) + C * float(self.weight @ losses)


class PathCase(LogisticCase):
    """One call of ``_logistic_regression_path``; an answer is (coefs, Cs, n_iter)."""

    def __init__(self, original: Callable, given: SimpleNamespace):
        self._original, self.given = original, given
        if isinstance(given.Cs, Integral):
            given.Cs = np.logspace(-4, 4, given.Cs)
        self.rows, self.columns = given.X.shape
        self.classes = len(given.classes)
        self.X, self.bias = given.X, bool(given.fit_intercept)
        self.draws = Draws(given.random_state)

    def check(self) -> None:
        given = self.given
        _refuse_kind(given)
        if given.max_iter < LEAST_MAX_ITER:
            raise Refusal(f"max_iter={given.max_iter} asks for an early stop")
        if not self.any_size:
            self._refuse_size()
        if not np.all(np.isfinite(given.Cs)):
            raise Refusal("C=inf has no penalty")
        if given.coef is not None and not self._fits_start():
            raise Refusal("the initial coefficients are of another shape")
        codes = self.labels[1]
        refuse_weights(given.sample_weight, codes, self.classes)
        if np.bincount(codes, minlength=self.classes).min() == 0:
            raise Refusal("these rows lack a class")

    def _refuse_size(self) -> None:
        """What scikit-learn is quicker at, by measurement."""
        given = self.given
        if few_steps_suffice(self.X, given, self.classes):
            raise Quicker(f"{given.solver} needs few steps, or cheap ones, on such columns")
        if self._may_give_up():
            PATIENCE.refuse(self._sort, float(max(given.Cs)))

    @property
    def _sort(self) -> tuple:
        """What fits of one search have in common: columns, classes, and about how many rows."""
        return self.columns, self.classes, self.rows.bit_length(), sparse.issparse(self.X)

    def _may_give_up(self) -> bool:
        """Whether a fit that does not come near is better left to scikit-learn."""
        given = self.given
        wide = sparse.issparse(self.X) and self.columns > MAX_HESSIAN_COLUMNS
        quick = given.solver not in ("sag", "saga") and given.tol >= USUAL_TOL
        return self.classes > 2 and quick and not wide and not self.any_size

    def _watch(self, C: float) -> Callable[[int, float], None]:
        if not self._may_give_up():
            return super()._watch(C)
        return lambda step, gap: PATIENCE.watch(self._sort, C, step, gap)

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        given = self.given
        return given.classes, np.searchsorted(given.classes, given.y)

    @cached_property
    def weight(self) -> np.ndarray:
        given, (classes, codes) = self.given, self.labels
        weight = np.ones(self.rows)
        if given.sample_weight is not None:
            weight = weight * np.asarray(given.sample_weight, dtype=np.float64)
        if given.class_weight is None:
            return weight
        per_class = compute_class_weight(
            given.class_weight, classes=classes, y=given.y, sample_weight=given.sample_weight
        )
        return weight * per_class[codes]

    def original(self) -> Any:
        return self._original(**vars(self.given) | {"random_state": self.draws.source()})

    def solve(self) -> Answer:
        given, coefs, counts = self.given, [], []
        primal, gap, why, self._path = 0.0, 0.0, "", None
        if given.coef is not None:
            self._offer_start()
        if len(given.Cs) > 1 and self._may_give_up():
            self._try_hardest()
        for C in given.Cs:
            solution = self.solved(float(C))
            if given.solver in ("sag", "saga"):
                self.draws.draw(1, np.iinfo(np.int32).max)
            coefs.append(self._joined(solution.point))
            counts.append(min(solution.n_iter, given.max_iter))
            primal += solution.certificate.primal
            gap, why = max(gap, solution.certificate.relative_gap), solution.why
        value = np.stack(coefs), np.asarray(given.Cs), np.array(counts, dtype=np.int32)
        return Answer(value, primal, gap, why)

    def _try_hardest(self) -> None:
        """The largest C of a path first: where it does not come near nothing else is begun."""
        self.solved(float(max(self.given.Cs)))

    def _fits_start(self) -> bool:
        rows = 1 if self.classes == 2 else self.classes
        return np.atleast_2d(self.given.coef).shape == (rows, self.columns + self.bias)

    def _offer_start(self) -> None:
        """``warm_start=True``: where the last fit of this estimator ended."""
        C = float(self.given.Cs[0])
        if warm.start(self._key, C) is None:
            coef = np.atleast_2d(np.asarray(self.given.coef, dtype=np.float64))
            b = coef[:, -1] if self.bias else np.zeros(len(coef))
            warm.keep(self._key, C, (coef[:, : self.columns].copy(), b.copy()), coef.size)

    def _joined(self, point: Any) -> np.ndarray:
        """Weights and biases as one array, of the precision of X; of two classes one row."""
        W = np.column_stack(point) if self.bias else point.W
        W = W.astype(self.X.dtype)
        return W[0] if self.classes == 2 else W

    def _split(self, coef: np.ndarray) -> tuple[np.ndarray, Any]:
        W = np.atleast_2d(coef)
        return (W[:, :-1], W[:, -1]) if self.bias else (W, 0.0)

    def primal(self, value: Any) -> float:
        pairs = zip(value[0], self.given.Cs, strict=True)
        return sum(self.objective(float(C), *self._split(coef)) for coef, C in pairs)

    def predict(self, value: Any) -> np.ndarray:
        """For every C in turn."""
        return np.concatenate([_classes(self.X @ W.T + b) for W, b in self._models(value)])

    def _models(self, value: Any) -> Iterator[tuple[np.ndarray, Any]]:
        return (self._split(coef) for coef in value[0])


class LiblinearCase(LogisticCase):
    """LogisticRegression(solver="liblinear"): an answer is (coef, intercept, n_iter)."""

    bias = False

    def __init__(self, original: Callable, given: Arguments):
        self._original, self.given = original, given
        self.rows, self.columns = given.X.shape
        self.draws = Draws(given.random_state)

    @cached_property
    def X(self) -> Any:
        return column_appended(self.given.X, self.given.column)

    @cached_property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        classes, codes = np.unique(self.given.y, return_inverse=True)
        return classes, codes.reshape(-1)

    @cached_property
    def weight(self) -> np.ndarray:
        given, (classes, codes) = self.given, self.labels
        weight = compute_class_weight(
            given.class_weight, classes=classes, y=given.y, sample_weight=given.sample_weight
        )[codes]
        if given.sample_weight is None:
            return weight
        return weight * np.asarray(given.sample_weight, dtype=np.float64)

    def check(self) -> None:
        refuse_parameters(self.given)
        if not self.any_size and self.given.tol >= USUAL_TOL:
            self._refuse_size()
        classes, codes = self.labels
        refuse_errors(self.given, classes, codes)
        if len(classes) > 2:
            raise Refusal("scikit-learn refuses more than two classes here")

    def _refuse_size(self) -> None:
        """What LIBLINEAR is quicker at, by measurement."""
        X, scattered = self.given.X, sparse.issparse(self.given.X)
        least = MIN_SPARSE_VALUES if scattered else MIN_LIBLINEAR_VALUES
        if (X.nnz if scattered else X.size) < least:
            raise Quicker(f"LIBLINEAR is quicker on fewer than {least} values")

    def original(self) -> Any:
        return self._original(*self.given._replace(random_state=self.draws.source()))

    def solve(self) -> Answer:
        self.draws.draw(0, np.iinfo("i").max)
        solution = self.solved(float(self.given.C))
        n_iter = np.array([min(solution.n_iter, self.given.max_iter - 1)], dtype=np.int32)
        proof = solution.certificate
        value = *self.given.split(solution.point.W), n_iter
        return Answer(value, proof.primal, proof.relative_gap, solution.why)

    def primal(self, value: Any) -> float:
        return self.objective(float(self.given.C), self.given.joined(value), np.zeros(1))

    def predict(self, value: Any) -> np.ndarray:
        return _classes(self.X @ self.given.joined(value).T)


def _refuse_kind(given: SimpleNamespace) -> None:
    """Penalties, callbacks and arrays that are not numpy's."""
    if given.penalty != "l2":
        raise Refusal(f"penalty={given.penalty!r} is not solved by maxmargin")
    if not (isinstance(given.X, np.ndarray) or sparse.issparse(given.X)):
        raise Refusal("X is no numpy array")
    if given.verbose:
        raise Refusal("verbose asks for the solver's own output")
    watched = getattr(given, "callback_ctx", None) is not None
    if watched and hasattr(getattr(given, "estimator", None), "_skl_callbacks"):
        raise Refusal("callbacks watch scikit-learn's own iterations")


def _classes(S: np.ndarray) -> np.ndarray:
    return (S[:, 0] > 0).astype(int) if S.shape[1] == 1 else S.argmax(axis=1)
