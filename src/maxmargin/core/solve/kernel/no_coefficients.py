"""Whether any float64 coefficients and biases at all come within a gap: a proof that none do.

    primal(u, b) − dual(α) = ½ Σ_c (u_c − u*_c)ᵀ K (u_c − u*_c) + Σ_g excess_g

as for weights (``precise/beyond.py``), with margins  m_p = e_p·(Ku + b)_row(p).  Where K is
singular many coefficients say the same function, however large they are, and nothing is proved.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal

import numpy as np

from ...certify.certificate import Certificate
from ...problem.demands import Penalty
from ...rows.decimals import ZERO, decimals
from ...rows.lattice import none_within
from ..active_set import INFINITE
from ..precise.beyond import GENEROUS, metric
from ..same_function import Numbers
from .other_coefficients import DecimalMachine

# Said where that is proved.
NO_COEFFICIENTS = "no float64 coefficients at all have a gap of {:g}, which is proved"
# Seconds of computing for all machines together.
MAX_SECONDS = 3.0
# Of a gap, what multipliers may be from the best ones.
SOLVED_SHARE = Decimal("1e-6")


def none_within_gap(machines: list[DecimalMachine], others: list[Certificate], tol: float) -> bool:
    """Whether one of these machines alone misses what all together, with others that are proved,
    may have beyond the optimum, for certain; inside ``many_digits``."""
    most = [machine.primal(machine.best) for machine in machines]
    most += [Decimal(proof.primal) for proof in others]
    least = [machine.dual for machine in machines] + [Decimal(proof.dual) for proof in others]
    # The gap asked for is relative to what the model pays, which then is no more than this.
    gap = sum(most, ZERO) / (1 - Decimal(tol)) - sum(least, ZERO) if tol < 1 else INFINITE
    end = time.thread_time() + MAX_SECONDS
    return any(no_float_function(each, gap, lambda: time.thread_time() < end) for each in machines)


def no_float_function(
    machine: DecimalMachine, gap: Decimal, go_on: Callable[[], bool] = lambda: True
) -> bool:
    """Whether no float64 coefficients of all rows are within this gap of the dual, for certain."""
    if machine.asked.penalty is Penalty.HARD or not 0 < gap < INFINITE:  # any length will do
        return False
    if machine.primal(machine.best) - machine.dual > SOLVED_SHARE * gap:
        return False
    x, H = coefficient_ellipsoid(machine, GENEROUS * gap)
    several = len(machine.best.b) > 1  # biases, which are any numbers, for one of them may be zero
    return none_within(x, H, several & (np.arange(len(x)) >= machine.best.u.size), go_on)


def coefficient_ellipsoid(machine: DecimalMachine, G: Decimal) -> tuple[Numbers, Numbers]:
    """Coefficients of all classes, one after the other, and biases x, and H, with
    (x′ − x)ᵀ H (x′ − x) ≤ 1  for all x′ within the gap G; of several biases without the first."""
    asked, (u, b, K, _) = machine.asked, machine.best
    e = decimals(asked.e)
    moved = (e[:, :, None] * K[machine.rows][:, None, :]).reshape(len(e), -1)
    if len(b) > 1:
        b, e = b[1:], e[:, 1:]
    norm = np.full((u.size + len(b),) * 2, ZERO, dtype=object)
    norm[: u.size, : u.size] = np.kron(decimals(np.eye(u.shape[1])), K)
    H = metric(asked, machine.alpha, np.concatenate([moved, e], axis=1), norm, G)
    return np.concatenate([u.T.ravel(), b]), H
