"""What every certificate concludes, from sums over the rows: weak duality.

For any weights w, b and any multipliers α in their box, with Σ α_i y_i = 0 if the bias is free,

    dual(α) = −½‖w_α‖² − Σ c_i ℓ*(−α_i / c_i)  ≤  optimum  ≤  ½‖w‖² + Σ c_i ℓ(m_i) = primal(w, b)

with w_α = Σ α_i y_i x_i.  So primal − dual bounds how far the model is from the best one, whoever
computed w, b and α, and however.  With k classes w is a matrix, α_i a vector, and y_i is in it.

Rows are tallied wherever they are, in memory, in a part of a file or on another machine; tallies
are added; and the conclusion is drawn here.  Nothing is taken from a solver's sums.  What rounding
may have done is bounded (``rounding.py``): ``primal`` is never below the objective in real
arithmetic, ``dual`` never above the optimum, and ``rounding`` says what that cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba.extending import register_jitable

from ..problem.problem import Bias
from .certificate import Certificate
from .rounding import (
    NO_ROUNDING,
    SMALLEST,
    SPARE,
    UNIT,
    Rounding,
    gamma,
    imbalance,
    length_above,
    squared_length_error,
    squared_norms,
)

KINDS = ("zero", "free", "bound")
METHOD = "recomputed from the data in float64"
SHARP_METHOD = "recomputed from the data in twice the digits of float64"
# The gap proved where no other is asked for.
SHARPEST = 1e-9
TINY = float(np.finfo(float).tiny)
# A hard margin is met if no row falls short of it by more than this.
MET_MARGIN_TOL = 1e-9
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
    price: Any = (np.inf,)  # Σ c by class, an array
    rounding: Rounding = NO_ROUNDING  # bounds on the errors of all this

    def __add__(self, other: Tally) -> Tally:
        zero, free, bound = map(max, self.kkt, other.kkt)
        added = Rounding(
            UNIT * abs(self.loss + other.loss),
            UNIT * abs(self.conjugate + other.conjugate),
            UNIT * float(np.linalg.norm(self.w + other.w)),
            UNIT * float(np.abs(self.r + other.r).sum()),
        )
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
            self.price + other.price,
            self.rounding + other.rounding + added,
        )


class Norms(NamedTuple):
    """‖w‖², ‖w_α‖² and ‖w − w_α‖: all that is asked of weights, which kernels never form."""

    w: float
    w_alpha: float
    apart: float
    w_error: float = 0.0  # by how much ‖w‖² may be larger
    alpha_error: float = 0.0  # by how much ‖w_α‖² may be larger


@register_jitable
def norms_of(w: np.ndarray, w_alpha: np.ndarray, off: float = 0.0) -> Norms:
    """``off``: the length of the error of w_α."""
    square, other, apart, some, any_alpha = squared_norms(w.ravel(), w_alpha.ravel())
    lost = SPARE * gamma(w.size + 2)
    error = SPARE * squared_length_error(length_above(w_alpha), off) if off > 0.0 else 0.0
    spare = w.size * SMALLEST  # of squares that underflow
    above = lost * square + (spare if some else 0.0)
    return Norms(square, other, apart, above, lost * other + error + (spare if any_alpha else 0.0))


def conclude(
    tally: Tally, norms: Norms, b, bias: Bias, problem: str, hard=False, method: str = METHOD
) -> Certificate:
    """The certificate of weights, biases and multipliers from the tally of all rows."""
    primal, dual, above, below = objective_bounds(
        norms, tally.loss, tally.conjugate, tally.mass, tally.box, tally.rounding
    )
    if hard and not tally.closest >= 1.0 - MET_MARGIN_TOL:
        primal = np.inf
    elif hard:
        above = _stretched(primal + above, tally) - primal
    if bias:
        worst = abs(tally.r) if np.ndim(tally.r) == 0 else float(np.abs(tally.r).max())
        residual = worst / max(tally.mass, TINY)
        below += _imbalance(tally, primal + above, primal - dual + above + below)
    else:
        residual = float(np.abs(b).max())  # there must be none
        above = above if residual == 0.0 else np.inf
    return Certificate(
        primal=primal + SPARE * above,
        dual=dual - SPARE * below,
        kkt_violation=dict(zip(KINDS, tally.kkt, strict=True)),
        stationarity=norms.apart / float(np.sqrt(max(1.0, norms.w))),
        bias_residual=residual,
        box_violation=tally.box,
        problem=problem,
        method=method,
        rounding=SPARE * (above + below),
    )


@register_jitable
def objective_bounds(norms, loss, conjugate, mass, box, rounding):
    """Primal and dual as computed, and how much rounding may be above the one, below the other."""
    primal, dual = 0.5 * norms.w + loss, -0.5 * norms.w_alpha - conjugate
    above = 0.5 * norms.w_error + rounding.loss + 4.0 * UNIT * primal
    below = 0.5 * norms.alpha_error + rounding.conjugate
    below += 4.0 * UNIT * (0.5 * norms.w_alpha + abs(conjugate))
    below += SPARE * max(box, 0.0) * abs(mass)  # all multipliers made shorter by it
    return primal, dual, above, below


def _stretched(primal: float, tally: Tally) -> float:
    """½‖w‖² of (w, b) made so long that it has a margin of one for certain."""
    least = float(np.minimum(tally.closest, tally.rounding.closest))
    if least >= 1.0:
        return primal
    return primal * (1.0 / least**2 + 8.0 * UNIT) if least > 0.0 else np.inf


def _imbalance(tally: Tally, primal: float, gap: float) -> float:
    """What Σ αy ≠ 0 costs, with what rounding may hide of it."""
    if np.ndim(tally.r) == 0:
        return one_imbalance(tally.r, float(min(tally.price)), tally.rounding, primal, gap)
    price = np.atleast_1d(tally.price)
    if len(price) > 1 and not price.all():
        # No row asks for such a class; nothing bounds its score, and nothing may flow into it.
        if tally.r[price == 0.0].any():
            return np.inf
        price = price[price > 0.0]
    rho = 0.5 * (float(np.abs(tally.r).sum()) * (1.0 + 4.0 * UNIT) + tally.rounding.r)
    return imbalance(rho, float(price.min(initial=np.inf)), tally.rounding, True, primal, gap)


@register_jitable
def one_imbalance(r, least, rounding, primal, gap):
    """The same of two classes, of which the one has costs that add up to ``least``."""
    rho = abs(r) * (1.0 + 4.0 * UNIT) + rounding.r
    return imbalance(rho, least, rounding, False, primal, gap)


def sum_of(proofs: Sequence[Certificate], problem: str) -> Certificate:
    """The certificate of several problems that share nothing: their sum is one problem."""
    # One part's gap below zero must not hide another's above: then the sum proves nothing.
    sound = all(proof.sound for proof in proofs)
    return Certificate(
        primal=_sum_above(proof.primal for proof in proofs),
        dual=-_sum_above(-proof.dual for proof in proofs) if sound else np.inf,
        kkt_violation={kind: max(proof.kkt_violation[kind] for proof in proofs) for kind in KINDS},
        stationarity=max(proof.stationarity for proof in proofs),
        bias_residual=max(proof.bias_residual for proof in proofs),
        box_violation=max(proof.box_violation for proof in proofs),
        problem=problem,
        rounding=sum(proof.rounding for proof in proofs),
    )


def _sum_above(values: Iterable[float]) -> float:
    """Their sum, or the next number above where it is none."""
    terms = list(values)
    total = math.fsum(terms) if all(map(math.isfinite, terms)) else sum(terms)
    if math.isfinite(total) and math.fsum([*terms, -total]) > 0.0:
        return math.nextafter(total, math.inf)
    return total


def as_sharp_as_needed(prove: Callable[[bool], F], tol: float) -> F:
    """``prove(False)`` in float64; ``prove(True)``, in twice its digits, where only the bound on
    its rounding is between it and the gap asked for."""
    found = prove(False)
    return prove(True) if _of(found).blurred(tol) else found


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
