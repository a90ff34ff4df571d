"""separability(X, y): the maximum margin, or the proof that there is none."""

from __future__ import annotations

import numpy as np

from ..core.certify.separability import NotSeparableError, Separation
from ..core.problem.class_losses import MaxHinge
from ..core.problem.losses import Hinge
from ..core.problem.multiclass import MulticlassProblem
from ..core.problem.problem import Bias, Problem, costs
from ..core.rows.rows import Rows, as_rows
from ..core.solve.contract import Monitor
from ..core.solve.many_class.form import solve_classes
from ..core.solve.two_class.form import solve
from ..core.types import ArrayLike, MatrixLike
from .validation import EstimatorStandIn, check_scale, check_training, one_of, positive


def separability(
    X: MatrixLike,
    y: ArrayLike,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-6,
    max_seconds: float = np.inf,
    solver: str = "auto",
) -> Separation:
    """Whether linear scores separate the classes of y, with proof either way.

    Two classes are separated by a hyperplane, with margin min y(w·x + b)/‖w‖.  k classes are
    separated by W and b under which every point scores highest in its own class, with margin
    min (W_y − W_c)·x + b_y − b_c over √2 ‖W‖, which for k = 2 is the same.  ``solver`` may be
    "newton" or "descent" instead of a choice by size.

    Examples
    --------
    >>> from maxmargin import separability
    >>> print(separability([[0.0], [1.0], [3.0]], [0, 0, 1]).margin)
    1.0
    >>> bool(separability([[0.0], [1.0], [2.0]], [0, 1, 0]))
    False
    >>> print(round(separability([[0.0], [2.0], [4.0]], [0, 1, 2]).margin, 6))
    0.5
    """
    X, classes, codes = check_training(EstimatorStandIn(), X, y)
    check_scale(X)
    bias = Bias.FREE if fit_intercept else Bias.NONE
    monitor = Monitor(
        tol=positive("tol", tol),
        max_iter=10**6,
        max_seconds=positive("max_seconds", max_seconds, infinite=True),
    )
    solver = one_of("solver", solver, ("auto", "newton", "descent"))
    separate = _separate_two if len(classes) == 2 else _separate_many
    try:
        return separate(as_rows(X), codes, len(classes), bias, monitor, solver)
    except NotSeparableError as error:
        return error.proof


def _separate_two(
    rows: Rows, codes, k: int, bias: Bias, monitor: Monitor, solver: str
) -> Separation:
    signs = np.where(codes == 1, 1.0, -1.0)
    problem = Problem(rows, signs, costs(np.inf, None, len(signs)), Hinge(), bias)
    solution = solve(problem, monitor, solver)
    certificate = solution.certificate
    if not np.isfinite(certificate.primal):
        raise _undecided(solution.ending, _reciprocal_root(2.0 * certificate.dual))
    w, b, _ = solution.point
    return Separation(True, 1.0 / float(np.linalg.norm(w)), w, b, certificate)


def _separate_many(
    rows: Rows, codes, k: int, bias: Bias, monitor: Monitor, solver: str
) -> Separation:
    c = costs(np.inf, None, len(codes))
    problem = MulticlassProblem(rows, codes.astype(np.int64), c, MaxHinge(), k, bias)
    solution = solve_classes(problem, monitor, solver)
    certificate = solution.certificate
    if not np.isfinite(certificate.primal):
        raise _undecided(solution.ending, 0.5 * _reciprocal_root(certificate.dual))
    W, b, _ = solution.point
    return Separation(True, np.sqrt(0.5) / float(np.linalg.norm(W)), W, b, certificate)


def _reciprocal_root(x: float) -> float:
    return x**-0.5 if x > 0 else np.inf


def _undecided(ending, most: float) -> RuntimeError:
    return RuntimeError(
        "separability found neither a separator nor a proof that none exists "
        f"({ending.value}): any margin is below {most:.1e}. "
        "Scale the features, or allow more max_seconds."
    )
