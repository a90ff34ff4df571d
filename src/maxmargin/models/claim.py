"""One policy for the multipliers that prove a model's claim, wherever its rows are.

    primal(w, b) − dual(α) ≤ tol · primal      for the model's own (w, b) and any feasible α

Multipliers are those stored with the model, else rebuilt from the margins; where these prove less
than ``tol`` they are sought, by solving from there: whoever finds them, they prove the bound.  The
primal is always that of the model's own (w, b).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from ..core.certify.certificate import Certificate
from ..core.certify.separability import NotSeparableError
from ..core.solve.contract import Monitor

# Times that multipliers are sought, each with a smaller gap asked for.
MOST_SEARCHES, SHARPER_SEARCH = 4, 0.2


def best_claim(
    best: Certificate, monitor: Monitor, seek: Callable[[], tuple[float, Certificate]]
) -> Certificate:
    """The best proof there is; ``seek()`` solves to the gap of ``monitor``, and returns an upper
    bound of the optimum and what the multipliers found prove of the model."""
    tol = monitor.tol
    with suppress(NotSeparableError):  # then (w, b) does not separate the rows either
        for _ in range(MOST_SEARCHES):
            if best.holds(tol) or not np.isfinite(best.primal):
                break
            monitor.tol *= SHARPER_SEARCH
            above, found = seek()
            if found.feasible and (not best.feasible or found.relative_gap <= best.relative_gap):
                best = found
            if best.primal - above > tol * abs(best.primal):
                break  # no multipliers can prove it
    return best
