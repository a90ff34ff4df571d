"""separability(X, y): the maximum margin, or the proof that there is none."""

from __future__ import annotations

import numpy as np

from ..certify.separability import NotSeparableError, Separation
from ..problem.losses import Hinge
from ..problem.problem import Bias, Problem, costs
from ..represent.rows import as_rows
from ..solve.choose import solve
from ..solve.contract import Watch
from .validation import Question, check_training, positive


def separability(X, y, *, fit_intercept=True, tol=1e-6, max_seconds=np.inf) -> Separation:
    """Whether a hyperplane separates the two classes of y, with proof either way.

    Examples
    --------
    >>> from maxmargin import separability
    >>> print(separability([[0.0], [1.0], [3.0]], [0, 0, 1]).margin)
    1.0
    >>> bool(separability([[0.0], [1.0], [2.0]], [0, 1, 0]))
    False
    """
    X, classes, codes = check_training(Question(), X, y)
    if len(classes) > 2:
        raise ValueError(
            f"separability compares two classes, but y holds {len(classes)}: "
            f"{classes[:5].tolist()}. Select two of them."
        )
    signs = np.where(codes == 1, 1.0, -1.0)
    bias = Bias.FREE if fit_intercept else Bias.NONE
    problem = Problem(as_rows(X), signs, costs(np.inf, None, len(signs)), Hinge(), bias)
    watch = Watch(
        tol=positive("tol", tol),
        max_iter=10**6,
        max_seconds=positive("max_seconds", max_seconds, infinite=True),
    )
    try:
        solution, certificate = solve(problem, watch)
    except NotSeparableError as error:
        return error.proof
    w, b, _ = solution.point
    if not np.isfinite(certificate.primal):
        raise RuntimeError(
            "separability found neither a separator nor a proof that none exists "
            f"({solution.ending.value}): any margin is below {(2 * certificate.dual) ** -0.5:.1e}. "
            "Scale the features, or allow more max_seconds."
        )
    return Separation(
        separable=True, margin=1.0 / float(np.linalg.norm(w)), w=w, b=b, certificate=certificate
    )
