"""Which of several proofs to take: multipliers against none, weights against longer ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .certificate import Certificate

F = TypeVar("F")
# Slack on the margin up to which it is rounding, and (w, b) are made longer by as much.
ROUNDED_SLACK = 1e-6


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
