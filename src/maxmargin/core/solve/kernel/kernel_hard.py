"""The hard margin in the space of a kernel, or the proof that there is none.

    min ½‖w‖²    with   y_i (w·φ(x_i) + b) ≥ 1

is the soft margin with C above its largest multiplier, so C is raised (as in ``hard.py``)
until no multiplier is at C, or until those that are prove that no separator exists.  The
same point in both classes proves it at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ...certify.kernelised import kernel_inseparability
from ...certify.separability import NotSeparableError, Separation
from ...kernels.features import centred, exact_features
from ...kernels.gram_cache import Forgetful, GramCache
from ...kernels.kernel_block import values
from ...problem.kernelised import KernelProblem
from ...problem.losses import Hinge
from ...problem.problem import Problem
from ...rows.rows import DenseRows, spread
from ..contract import Ending, Monitor
from ..many_class.hard_classes import AT_C
from ..two_class.hard import MOST_RAISES, RAISE, prove_inseparable
from .kernel_descent import DualPoint, descend

# Support vectors from which a proof is made: the heaviest.
HEAVIEST = 600
# Gap of the first soft margins, in units of the one asked for, and the least worth trying.
ROUGH, SHARPER, SHARPEST = 0.5, 0.1, 1e-13


def descend_hard(
    problem: KernelProblem,
    monitor: Monitor,
    cache: GramCache | Forgetful,
    point: DualPoint,
    tol: float,
) -> Ending:
    """As ``descend``; raises NotSeparableError, with the proof, when there is no separator."""
    C = 10.0 / max(float(problem.rows.diagonal.mean()), 1e-300)
    close, ending = ROUGH * tol, Ending.STALLED
    for _ in range(MOST_RAISES):
        soft = replace(problem, c=np.where(problem.c > 0, C, 0.0))
        point.bound(soft)
        ending = descend(soft, monitor, cache, point, close)
        if ending not in (Ending.REACHED, Ending.STALLED):
            return ending
        primal, dual = point.bounds(problem)
        if np.isinf(primal):
            refuse_inseparable(problem, np.abs(point.beta))
        if np.abs(point.beta).max() >= AT_C * C:
            C *= RAISE
        elif primal - dual <= tol * abs(primal):
            return Ending.REACHED
        elif close < SHARPEST:
            break
        else:
            close *= SHARPER
    return Ending.STALLED


def refuse_inseparable(problem: KernelProblem, alpha: np.ndarray) -> None:
    """Raise with a proof, if the heaviest multipliers yield one."""
    support = np.flatnonzero(alpha)
    support = np.sort(support[np.argsort(-alpha[support], kind="stable")[:HEAVIEST]])
    y, c = problem.y[support], problem.c[support]
    flat = Problem(DenseRows(exact_features(centred(gram(problem, support)))), y, c, Hinge())
    found = prove_inseparable(flat, alpha[support], spread(flat.rows))
    if found is not None and found.weights is not None:
        weights = np.zeros(len(alpha))
        weights[support] = found.weights
        refuse(kernel_inseparability(problem, weights))


def refuse(proof: Separation | None) -> None:
    if proof is not None:
        raise NotSeparableError(proof)


def gram(problem: KernelProblem, index: np.ndarray) -> np.ndarray:
    """K of the rows named, exactly symmetric, in float64."""
    K = np.empty((len(index), len(problem.y)))
    for start in range(0, len(index), problem.rows.together):
        some = slice(start, start + problem.rows.together)
        for part, V in values(problem.rows, index[some], problem.rows, np.float64):
            K[some, part] = V
    K = K[:, index]
    return 0.5 * (K + K.T)


def refuse_twins(problem: KernelProblem) -> None:
    """Raise if a point is in both classes: then no kernel separates them."""
    X = problem.rows.X
    seen: dict = {}
    for i in np.flatnonzero(problem.c > 0).tolist():
        row = X[[i]]
        key = (row.indices.tobytes(), row.data.tobytes()) if sparse.issparse(X) else row.tobytes()
        j = seen.setdefault(key, i)
        if problem.y[i] != problem.y[j]:
            weights = np.zeros(len(problem.y))
            weights[[i, j]] = 1.0
            refuse(kernel_inseparability(problem, weights))
