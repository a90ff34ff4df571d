"""The hard margin in the space of a kernel, or the proof that there is none.

    min ½‖w‖²    with   y_i (w·φ(x_i) + b) ≥ 1

Its dual has no upper bounds; on inseparable data it grows for ever, and its multipliers tend
to weights whose class means coincide.  The same point in both classes proves it at once.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..certify.kernelised import kernel_inseparability
from ..certify.separability import NotSeparableError, Separation
from ..problem.kernelised import KernelProblem
from ..problem.losses import Hinge
from ..problem.problem import Problem
from ..represent.factor import centred, exact_features
from ..represent.gram_cache import GramCache
from ..represent.kernel_block import values
from ..represent.rows import DenseRows, spread
from .contract import Ending, OutOfBudget, Watch
from .hard import prove_inseparable
from .kernel_blocks import DualPoint, improve

# Support vectors from which a proof is made: the heaviest.
HEAVIEST = 600
# Blocks after which a proof is first looked for; then after twice as many, and so on.
FIRST_LOOK = 64


def descend_hard(
    problem: KernelProblem, watch: Watch, cache: GramCache, point: DualPoint, tol: float
) -> Ending:
    """As ``descend``; raises NotSeparableError, with the proof, when there is no separator."""
    look, count = FIRST_LOOK, 0
    try:
        for primal, dual in improve(problem, watch, cache, point):
            watch.record(primal, dual)
            if primal - dual <= tol * abs(primal):
                return Ending.REACHED
            count += 1
            if count == look:
                look *= 2
                refuse_inseparable(problem, np.abs(point.beta), primal)
        refuse_inseparable(problem, np.abs(point.beta), primal)
        return Ending.STALLED
    except OutOfBudget as over:
        return over.ending
    except KeyboardInterrupt:
        return Ending.INTERRUPTED


def refuse_inseparable(problem: KernelProblem, alpha: np.ndarray, primal: float) -> None:
    """Raise with a proof, if no separator is known and the heaviest multipliers yield one."""
    if np.isfinite(primal):
        return
    support = np.flatnonzero(alpha)
    support = np.sort(support[np.argsort(-alpha[support], kind="stable")[:HEAVIEST]])
    K = gram(problem, support)
    y, c = problem.y[support], problem.c[support]
    flat = Problem(DenseRows(exact_features(centred(K))), y, c, Hinge())
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
