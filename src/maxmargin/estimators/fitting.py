"""What every estimator with a certificate does around its solver."""

from __future__ import annotations

import warnings
from numbers import Integral

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..certify.certificate import Certificate
from ..solve.contract import Ending, Watch
from .validation import count, positive

ADVICE = {
    Ending.TIME: "give it more max_seconds, or continue with warm_start=True",
    Ending.ITERATIONS: "raise max_iter, or continue with warm_start=True",
    Ending.INTERRUPTED: "continue with warm_start=True",
    Ending.STALLED: "scale the features to similar size, lower C, or accept a larger tol",
}


def make_watch(estimator) -> Watch:
    """Tolerance, budget and seed from an estimator's parameters, checked."""
    seed = estimator.random_state
    if seed is not None and not isinstance(seed, Integral):
        seed = check_random_state(seed).randint(2**31)  # refuses what is no seed
    return Watch(
        tol=positive("tol", estimator.tol),
        max_iter=count("max_iter", estimator.max_iter),
        max_seconds=positive("max_seconds", estimator.max_seconds, infinite=True),
        verbose=int(estimator.verbose),
        seed=0 if seed is None else int(seed),
    )


def warn_unless_reached(estimator, ending: Ending, certificate: Certificate) -> None:
    """Say why a fit stopped early, how good the model kept is, and how to get closer."""
    if ending is Ending.REACHED:
        return
    warnings.warn(
        f"{type(estimator).__name__} stopped before the gap asked for (tol={estimator.tol:g}): "
        f"{ending.value}. The model kept has relative gap "
        f"{certificate.relative_gap:.1e} ({certificate}). To get closer: {ADVICE[ending]}.",
        ConvergenceWarning,
        stacklevel=3,
    )
