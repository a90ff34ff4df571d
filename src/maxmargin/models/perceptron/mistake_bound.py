"""mistake_bound(X, y): the R²/γ² that no perceptron can exceed, with the proof of γ."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...core.certify.mistakes import MistakeBound, NoMistakeBound
from ...core.certify.separability import NotSeparableError, Separation
from ...core.problem.losses import Hinge
from ...core.problem.problem import Bias, Problem, costs
from ...core.rows.rows import as_rows, scores, sqnorms
from ...core.solve.contract import Monitor
from ...core.solve.two_class.form import solve
from ...core.types import ArrayLike, MatrixLike
from ..bias_column import about_bias, by_class, with_ones
from ..validation import EstimatorStandIn, check_scale, check_training, positive

# Stored values of the difference vectors x ⊗ (e_ℓ − e_z) up to which k classes are solved.
MAX_DIFFERENCE_VALUES = 20_000_000


def mistake_bound(
    X: MatrixLike,
    y: ArrayLike,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-6,
    max_seconds: float = np.inf,
) -> MistakeBound:
    """R, γ and R²/γ²: the most updates a perceptron can make on (X, y), whatever the order.

    Two classes: γ is the largest margin of a hyperplane through the origin of (x, 1), the
    bias being one more weight.  k classes: γ is the largest margin(W) of lecture 001.
    ``fit_intercept=False`` leaves the 1 out.  Raises ``NoMistakeBound``, with the proof,
    when nothing separates the classes.

    Examples
    --------
    >>> from maxmargin import mistake_bound
    >>> answer = mistake_bound([[0.0, 2.0], [0.0, -1.0]], [1, 0], fit_intercept=False)
    >>> round(answer.radius, 6), round(answer.margin, 6), round(answer.bound, 6)
    (2.0, 1.0, 4.0)
    """
    X, classes, codes = check_training(EstimatorStandIn(), X, y)
    monitor = Monitor(
        tol=positive("tol", tol),
        max_iter=10**6,
        max_seconds=positive("max_seconds", max_seconds, infinite=True),
    )
    try:
        return widest(X, codes, len(classes), bool(fit_intercept), monitor)
    except NotSeparableError as error:
        raise NoMistakeBound(error.proof, len(classes)) from None


def explanation(X, codes, k: int, fit_intercept) -> tuple[Separation, MistakeBound | None]:
    """Whether weights exist that separate the k classes, with the proof either way."""
    try:
        best = widest(X, codes, k, bool(fit_intercept), Monitor(max_iter=10**6))
    except NotSeparableError as error:
        return error.proof, None
    b = best.b if isinstance(best.b, float) else None  # k biases are in the bound
    return Separation(True, best.margin, best.w, b, best.certificate), best


def widest(X, codes, k: int, fit_intercept: bool, monitor: Monitor) -> MistakeBound:
    """Maximise margin(W); raises NotSeparableError with the proof when there is none."""
    check_scale(X)
    radius = float(np.sqrt(sqnorms(as_rows(X)).max() + fit_intercept))
    solved = _widest_two if k == 2 else _widest_many
    w, b, margin, solution, certificate = solved(X, codes, k, fit_intercept, monitor)
    if not margin > 0:
        raise RuntimeError(
            "mistake_bound found neither a separator nor a proof that none exists "
            f"({solution.ending.value}). Scale the features, or allow more max_seconds."
        )
    # ½‖w‖² ≥ dual for every w with unit margins, so none is wider than 1/√(2 dual).
    upper = float((2.0 * certificate.dual) ** -0.5) if certificate.dual > 0 else np.inf
    upper *= 1.0 if k == 2 else np.sqrt(0.5)
    return MistakeBound(radius, margin, max(margin, upper), w, b, certificate)


def _widest_two(X, codes, k, fit_intercept, monitor):
    """½(‖w‖² + b²) is the squared norm of the weights of (x, 1)."""
    rows, y = as_rows(with_ones(X) if fit_intercept else X), np.where(codes == 1, 1.0, -1.0)
    problem = Problem(rows, y, costs(np.inf, None, len(y)), Hinge(), Bias.NONE)
    try:
        solution = solve(problem, monitor)
        certificate = solution.certificate
    except NotSeparableError as error:
        raise NotSeparableError(by_class(error.proof) if fit_intercept else error.proof) from None
    w = solution.point.w
    margin = float((y * scores(rows, w)).min() / np.linalg.norm(w))
    if not fit_intercept:
        return w, 0.0, margin, solution, certificate
    return w[:-1], float(w[-1]), margin, solution, about_bias(certificate, len(w) - 1)


def _widest_many(X, codes, k, fit_intercept, monitor):
    """k classes as one: every difference vector must score at least 1.

    With v = x ⊗ (e_ℓ − e_z) in k·d dimensions, w_ℓ·x − w_z·x = W·v, so margin(W) is the
    margin of W on the vectors v divided by √2.
    """
    Z = sparse.csr_matrix(X, dtype=np.float64)
    if fit_intercept:
        Z = with_ones(Z)
    _refuse_large(Z, k)
    V = differences(Z, codes, k)
    n = V.shape[0]
    problem = Problem(as_rows(V), np.ones(n), costs(np.inf, None, n), Hinge(), Bias.NONE)
    solution = solve(problem, monitor)
    certificate = solution.certificate
    flat = solution.point.w
    margin = float(scores(as_rows(V), flat).min() / np.linalg.norm(flat)) / np.sqrt(2.0)
    W = flat.reshape(k, -1)
    w, b = (W[:, :-1], W[:, -1]) if fit_intercept else (W, np.zeros(k))
    return w, b, margin, solution, certificate


def differences(Z: sparse.csr_matrix, codes, k: int) -> sparse.csr_matrix:
    """One row x ⊗ (e_ℓ − e_z) for every point and every wrong class z."""
    blocks = []
    for right in range(k):
        points = Z[codes == right]
        for z in range(k):
            if z != right:
                sign = np.zeros((1, k))
                sign[0, right], sign[0, z] = 1.0, -1.0
                blocks.append(sparse.kron(sparse.csr_matrix(sign), points, format="csr"))
    V = sparse.vstack(blocks, format="csr")
    V.sort_indices()
    return V


def _refuse_large(Z, k: int) -> None:
    values = 2 * (k - 1) * Z.nnz
    if values > MAX_DIFFERENCE_VALUES:
        raise ValueError(
            f"mistake_bound for {k} classes writes {k - 1} difference vectors per point, here "
            f"{values:,} values; its limit is {MAX_DIFFERENCE_VALUES:,}. Use a sample of the "
            "points, or "
            "two classes at a time."
        )
