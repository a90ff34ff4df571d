"""SVC(kernel="linear"): one pair of classes by the linear solvers, its answer the multipliers.

    min over w, b   ½‖w‖² + Σ c_i max(0, 1 − y_i (w·x_i + b)),     w = Σ α_i y_i x_i

LIBSVM's answer is α and b, so what is proved is the w that α makes and not the one that the search
ended with; a search to a smaller gap brings the two together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .settings import ENOUGH

# Gaps to search for, as shares of the gap to be proved of α's own weights.
SEARCHED_SHARES = (0.1, 1e-3)


class LinearPair(NamedTuple):
    """Multipliers and bias of a pair, the proof of them, and where the search ended."""

    alpha: np.ndarray
    b: float
    certificate: Any
    n_iter: int
    why: str
    point: Any


def solve_pair(X: Any, y: np.ndarray, c: np.ndarray, gap: float, start: Any, max_iter: int):
    """The pair's best multipliers: of every search the next, until α's own weights are proved."""
    from ..core.certify.bias import best_bias
    from ..core.certify.two_class import certify
    from ..core.problem.losses import Hinge
    from ..core.problem.problem import Problem
    from ..core.rows.rows import as_rows, combine, scores
    from ..core.solve.contract import Monitor
    from ..core.solve.two_class.form import solve

    problem, best, n_iter = Problem(as_rows(X), y, c, Hinge()), None, 0
    for share in SEARCHED_SHARES:
        found = solve(problem, Monitor(share * gap, enough=ENOUGH, max_iter=max_iter), start=start)
        start, alpha, n_iter = found.point, found.point.alpha, n_iter + found.n_iter
        w = combine(problem.rows, alpha * y)
        f = scores(problem.rows, w)
        b = float(best_bias(problem, f, found.point.b))
        proof = certify(problem, w, b, alpha, f, gap)
        if best is None or proof.relative_gap < best.certificate.relative_gap:
            best = LinearPair(alpha, b, proof, n_iter, found.why, found.point)
        if proof.relative_gap <= gap:
            break
    return best
