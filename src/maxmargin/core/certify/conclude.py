"""What every certificate concludes, from sums over the rows: weak duality.

For any weights w, b and any multipliers α in their box, with Σ α_i y_i = 0 if the bias is free,

    dual(α) = −½‖w_α‖² − Σ c_i ℓ*(−α_i / c_i)  ≤  optimum  ≤  ½‖w‖² + Σ c_i ℓ(m_i) = primal(w, b)

with w_α = Σ α_i y_i x_i.  So primal − dual bounds how far the model is from the best one, whoever
computed w, b and α, and however.  With k classes w is a matrix, α_i a vector, and y_i is in it.

Rows are tallied wherever they are, in memory, in a part of a file or on another machine; tallies
are added; and the conclusion is drawn here.  Nothing is taken from a solver's sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..problem.problem import Bias
from .certificate import Certificate

KINDS = ("zero", "free", "bound")
METHOD = "recomputed from the data in float64"
TINY = float(np.finfo(float).tiny)
# A hard margin is met if no row falls short of it by more than this.
MET = 1e-9
# Slack on the margin up to which it is rounding, and (w, b) are made longer by as much.
ROUNDED_SLACK = 1e-6

F = TypeVar("F")


@dataclass
class Tally:
    """What some rows add to a certificate; the tallies of all parts add up to that of all rows."""

    rows: int
    loss: float  # Σ c ℓ(m)
    conjugate: float  # Σ c ℓ*(−α/c)
    mass: float  # Σ α
    r: Any  # Σ αy, or Σ α_i by class: zero where the bias is free
    w: Any  # Σ αy (x − a): a is a place among all rows, to which rounding of r is charged
    kkt: tuple[float, float, float]  # the worst violation by kind
    box: float  # the worst violation of the multipliers' box
    closest: float = np.inf  # the smallest margin

    def __add__(self, other: Tally) -> Tally:
        zero, free, bound = map(max, self.kkt, other.kkt)
        return Tally(
            self.rows + other.rows,
            self.loss + other.loss,
            self.conjugate + other.conjugate,
            self.mass + other.mass,
            self.r + other.r,
            self.w + other.w,
            (zero, free, bound),
            max(self.box, other.box),
            min(self.closest, other.closest),
        )


class Norms(NamedTuple):
    """‖w‖², ‖w_α‖² and ‖w − w_α‖: all that is asked of weights, which kernels never form."""

    w: float
    w_alpha: float
    apart: float


def norms_of(w: np.ndarray, w_alpha: np.ndarray) -> Norms:
    return Norms(
        float(np.vdot(w, w)), float(np.vdot(w_alpha, w_alpha)), float(np.linalg.norm(w - w_alpha))
    )


def conclude(
    tally: Tally, norms: Norms, b, bias: Bias, problem: str, hard=False, method: str = METHOD
) -> Certificate:
    """The certificate of weights, biases and multipliers from the tally of all rows."""
    primal, dual = 0.5 * norms.w + tally.loss, -0.5 * norms.w_alpha - tally.conjugate
    if bias:
        residual = float(np.abs(tally.r).max()) / max(tally.mass, TINY)
    else:
        residual = float(np.abs(b).max())  # there must be none
    if hard and tally.closest < 1.0 - MET:
        primal = np.inf
    return Certificate(
        primal=primal,
        dual=dual,
        kkt_violation=dict(zip(KINDS, tally.kkt, strict=True)),
        stationarity=norms.apart / float(np.sqrt(max(1.0, norms.w))),
        bias_residual=residual,
        box_violation=tally.box,
        problem=problem,
        method=method,
    )


def sum_of(proofs: Sequence[Certificate], problem: str) -> Certificate:
    """The certificate of several problems that share nothing: their sum is one problem."""
    # One part's gap below zero must not hide another's above: then the sum proves nothing.
    sound = all(proof.sound for proof in proofs)
    return Certificate(
        primal=sum(proof.primal for proof in proofs),
        dual=sum(proof.dual for proof in proofs) if sound else np.inf,
        kkt_violation={kind: max(proof.kkt_violation[kind] for proof in proofs) for kind in KINDS},
        stationarity=max(proof.stationarity for proof in proofs),
        bias_residual=max(proof.bias_residual for proof in proofs),
        box_violation=max(proof.box_violation for proof in proofs),
        problem=problem,
    )


def first_that_proves(*proofs: Callable[[], F]) -> F:
    """The first of some proofs whose multipliers prove more than none at all: a dual of zero.

    The last one, which is to be that of no multipliers, is taken whatever it proves.  A proof is
    a certificate, or something that has one.
    """
    for prove in proofs[:-1]:
        found = prove()
        if _of(found).feasible and _of(found).dual >= 0.0:
            return found
    return proofs[-1]()


def lengthened(found: F, tol: float, prove: Callable[[float], F]) -> F:
    """``prove(t)``, with (w, b) made t times as long, where only rounding keeps it from proving.

    A large C charges even 1e-16 of slack on the margin; a relative change of w by as much costs
    nothing.  ``found`` has a certificate, and so has what ``prove`` returns.
    """
    certificate = _of(found)
    slack = max(certificate.kkt_violation["zero"], certificate.kkt_violation["free"])
    if certificate.holds(tol) or not 0.0 < slack < ROUNDED_SLACK:
        return found
    longer = prove(1.0 + 1.01 * slack + 4e-16)
    return longer if _of(longer).primal < certificate.primal else found


def _of(found: Any) -> Certificate:
    return found if isinstance(found, Certificate) else found.certificate
