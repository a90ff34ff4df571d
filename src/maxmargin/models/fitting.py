"""What every estimator with a certificate does around its solver."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.certify.certificate import Certificate
from ..core.rows.class_products import score_chunks
from ..core.rows.rows import as_rows, scores
from ..core.solve.contract import Ending, Monitor
from ..core.solve.far import FLOAT_LIMIT, MULTIPLIER_LIMIT
from ..core.solve.precise.resort import WEIGHT_LIMIT
from .deadline import within_deadline
from .device.tensors import as_numpy, is_tensor
from .sparse_weights import dense_weights
from .validation import check_rows, count, positive

ENDING_ADVICE = {
    Ending.TIME: "give it more max_seconds, or continue with warm_start=True",
    Ending.ITERATIONS: "raise max_iter, or continue with warm_start=True",
    Ending.INTERRUPTED: "continue with warm_start=True",
    Ending.STALLED: "scale the features to similar size, lower C, or accept a larger tol",
}


def make_monitor(estimator) -> Monitor:
    """Tolerance, budget and seed from an estimator's parameters, checked."""
    seed = estimator.random_state
    if seed is not None and not isinstance(seed, Integral):
        seed = check_random_state(seed).randint(2**31)  # refuses what is no seed
    return Monitor(
        tol=positive("tol", estimator.tol),
        max_iter=count("max_iter", estimator.max_iter),
        max_seconds=within_deadline(positive("max_seconds", estimator.max_seconds, infinite=True)),
        verbose=int(estimator.verbose),
        seed=0 if seed is None else int(seed),
    )


def note(estimator, solution, certificate) -> None:
    """What every fit tells of itself."""
    estimator.certificate_ = certificate
    estimator.history_ = solution.history
    estimator.n_iter_ = solution.n_iter
    estimator.solver_ = solution.solver
    estimator.solver_reason_ = solution.why


def frozen(derived: np.ndarray) -> np.ndarray:
    """Of an array made anew for every reader: what is written into it would be lost, and is
    refused."""
    seen = derived.view()
    seen.flags.writeable = False
    return seen


def linear_scores(estimator, X) -> Any:
    """w·x + b as (n,) with two classes; with more, or several labels, (n, m), one column per row of
    ``coef_``.  Of a tensor a tensor, where that is."""
    check_is_fitted(estimator)
    if is_tensor(X):
        from .device.predict import tensor_scores

        return tensor_scores(estimator, X)
    rows = as_rows(check_rows(estimator, X, reset=False))
    coef, intercept = dense_weights(as_numpy(estimator.coef_)), as_numpy(estimator.intercept_)
    if len(estimator.classes_) == 2 and not hasattr(estimator, "n_labels_"):
        return scores(rows, coef[0]) + float(intercept[0])
    return np.concatenate([s + intercept for _, s in score_chunks(rows, coef)])


def warn_unless_reached(estimator, ending: Ending, certificate: Certificate, also="") -> None:
    """Say why a fit stopped early, how good the model kept is, and how to get closer."""
    if ending is Ending.REACHED:
        return
    advice = ENDING_ADVICE[ending]
    reason = getattr(estimator, "solver_reason_", "")
    if reason.endswith(FLOAT_LIMIT):
        advice = f"subtract the means of the columns first: {FLOAT_LIMIT}"
    elif reason.endswith(MULTIPLIER_LIMIT):
        advice = f"centre the columns and scale them to similar size: {MULTIPLIER_LIMIT}"
    elif reason.endswith(WEIGHT_LIMIT):
        advice = f"centre and scale the columns first: the gap is {WEIGHT_LIMIT}"
    warnings.warn(
        f"{type(estimator).__name__} stopped before the gap asked for (tol={estimator.tol:g}): "
        f"{ending.value}. The model kept has relative gap "
        f"{certificate.relative_gap:.1e} ({certificate}). To get closer: "
        f"{advice}.{also}",
        ConvergenceWarning,
        stacklevel=3,
    )
