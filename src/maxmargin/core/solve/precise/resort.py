"""What float64 solvers leave unproved, if it is small: solved in 100 digits, and told in float64.

The weights of a model are float64 in the end.  They are the precise ones, rounded, a little longer
where slack costs more than length, and with last digits that do not lose the bias
(``float_weights.py``).  Multipliers are rounded as well if they then prove what was asked for; else
the certificate is one in rational arithmetic, of the multipliers as they were found.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from ...certify.certificate import Certificate
from ...certify.rational import digits_for, rational_certificate
from ...problem.demands import Demands, Penalty, demands
from ...rows.decimals import ZERO, decimals, many_digits
from ..contract import ClassWeights, Ending, Form, Monitor, OutOfBudget, Proved, Solution, settled
from ..driver import drive
from ..far import about_the_rows
from .beyond import no_float_weights
from .interior import DecimalOptimum, interior
from .limits import is_small
from .newton import newton
from .rounded import Precise, float_weights
from .system import DecimalSystem, Numbers, system

# Iterations of float64 solvers of a small problem, after which more digits are quicker.
SMALL_MAX_ITER = 500
# Seconds of computing after which it gives up, and after which it does so on the hard margin alone.
MAX_SECONDS, MAX_HARD_SECONDS = 3.0, 1.0
# σ² c from which on the hard margin is tried first.
BEYOND_MULTIPLIERS = Decimal("1e25")
# A gap with which an answer is one.
SOLVED = Decimal("1e-12")
WHY = "solved again in 100 digits"
WEIGHT_LIMIT = "limited by the rounding of float64 weights"
# Said where that is proved, too.
NO_WEIGHTS = WEIGHT_LIMIT + ": none at all have a gap of {:g}, which is proved"


class GaveUp(Exception):
    """The last resort ran out of time."""


def solved(
    form: Form, problem: Any, monitor: Monitor, solver: str, start: Any, prove: Callable
) -> Solution:
    """What the solvers of a form find, and where that is not proved, what more digits do.

    ``prove(problem, *point, tol)`` proves a point of such a problem.
    """
    most, moved = monitor.max_iter, form.elsewhere()
    if solver == "auto" and is_small(problem):
        monitor.max_iter = min(most, SMALL_MAX_ITER)
    try:
        found = drive(form, problem, monitor, solver, start)
    finally:
        monitor.max_iter = most
    if found.ending is Ending.ESTIMATED or found.certificate.holds(monitor.enough):
        return found
    if not (found.ending is Ending.ITERATIONS and monitor.n_iter < most):
        return again(moved, problem, monitor, found, prove)
    best = again(moved, problem, monitor, found._replace(ending=Ending.STALLED), prove)
    if best.ending is not Ending.STALLED or WHY in best.why:
        return best
    return drive(form, problem, monitor, solver, best.point)


def again(form: Form, problem: Any, monitor: Monitor, found: Solution, prove: Callable) -> Solution:
    """``found``, or what is proved better by more digits, or else about a place among the rows."""
    best = precisely(problem, monitor, found, prove)
    if WHY in best.why:  # nothing else can say more
        return best
    return about_the_rows(problem, monitor, best, partial(drive, form), prove)


def precisely(problem: Any, monitor: Monitor, found: Solution, prove: Callable) -> Solution:
    """``found``, or what is proved better by 100 digits.

    ``prove(problem, *point, tol)`` proves a point of the problem.
    """
    if found.ending is not Ending.STALLED or found.certificate.holds(monitor.tol):
        return found
    if not is_small(problem):
        return found
    asked = demands(problem)
    try:
        with many_digits(digits_for(asked)), np.errstate(all="ignore"):
            answer = _solve(asked, found.point, monitor)
            best = _told(problem, asked, answer, found, prove, monitor.tol)
    except (GaveUp, ArithmeticError):  # too slow, or diverged: there is no optimum to be found
        return found
    except OutOfBudget as stop:
        return found._replace(ending=stop.ending)
    except KeyboardInterrupt:
        return found._replace(ending=Ending.INTERRUPTED)
    why = f"{found.why}; {WHY}"
    why = why if best.gap <= monitor.tol else f"{why}: {WEIGHT_LIMIT}"
    ending = settled(found.ending, best.certificate, monitor.tol)
    count = max(1, monitor.n_iter)
    return Solution(*best, ending, found.solver, why, count, monitor.history)


def sharpened(problem: Any, W: np.ndarray, b: Any, near: Certificate, tol: float) -> Certificate:
    """``near``, or the proof of the same weights with multipliers sought in 100 digits."""
    if near.holds(tol) or not is_small(problem):
        return near
    asked = demands(problem)
    try:
        with many_digits(digits_for(asked)), np.errstate(all="ignore"):
            alpha = _solve(asked, (W, b), Monitor()).alpha
    except (GaveUp, ArithmeticError):
        return near
    found = rational_certificate(asked, W, np.atleast_1d(b), alpha, near)
    return found if found.relative_gap < near.relative_gap else near


def none_within_gap(problem: Any, point: Any, gap: float) -> bool:
    """Whether it is proved that no float64 weights of the problem come within this gap."""
    if not is_small(problem):
        return False
    asked, end = demands(problem), time.thread_time() + MAX_SECONDS
    try:
        with many_digits(digits_for(asked)), np.errstate(all="ignore"):
            answer = _solve(asked, point, Monitor())
            return no_float_weights(asked, answer, Decimal(gap), lambda: time.thread_time() < end)
    except (GaveUp, ArithmeticError):
        return False


def _solve(asked: Demands, point: Any, monitor: Monitor) -> Precise:
    there, tick = system(asked), _ticking(monitor, MAX_SECONDS)
    if asked.penalty is Penalty.LOG:
        return _back(there, newton(there, _start(asked, there, point), tick))
    if asked.penalty is not Penalty.HARD and 1 / there.rho > BEYOND_MULTIPLIERS:
        margin = system(asked, hard=True)
        with suppress(GaveUp):
            answer = interior(margin, _ticking(monitor, MAX_HARD_SECONDS))
            found = _back(margin, answer)
            if answer.gap < SOLVED and _pays_no_slack(asked, found.alpha):
                return found
    return _back(there, interior(there, tick))


def _ticking(monitor: Monitor, seconds: float) -> Callable[[], None]:
    """What stops a search after so many seconds of computing, or when the fit has no more."""
    end = time.thread_time() + seconds

    def tick() -> None:
        if monitor.seconds > monitor.max_seconds:
            raise OutOfBudget(Ending.TIME)
        if time.thread_time() > end:
            raise GaveUp

    return tick


def _pays_no_slack(asked: Demands, alpha: Numbers) -> bool:
    """Whether multipliers of the hard margin are those of the problem, or nearly so."""
    mass, cost = np.add.reduceat(alpha, asked.starts), decimals(asked.cost)
    if asked.penalty is Penalty.HINGE:
        return bool((mass <= cost).all())
    return sum(mass * mass / (4 * cost), ZERO) <= SOLVED * sum(mass, ZERO)


def _start(asked: Demands, there: DecimalSystem, point: Any) -> Numbers:
    """The weights and biases found so far."""
    W, b = decimals(np.atleast_2d(point[0])), decimals(np.atleast_1d(point[1]))
    scores = (W @ decimals(asked.place) + b)[: asked.e.shape[1]]
    return np.concatenate([W.ravel() * there.sigma, scores])


def _back(there: DecimalSystem, answer: DecimalOptimum) -> Precise:
    """Scores of several classes add up to zero, as everywhere: a shift of all changes nothing."""
    x, D = answer.x, there.weights
    at_place = x[D:] if len(x) < D + 2 else x[D:] - sum(x[D:], ZERO) / len(x[D:])
    return Precise(x[:D] / there.sigma, at_place, answer.alpha * there.largest)


def _told(problem, asked: Demands, answer: Precise, found: Solution, prove, tol: float) -> Proved:
    """The best proof of any float64 weights and multipliers near the answer."""
    best = Proved(found.point, found.certificate, found.scores, found.slacks)
    alone = isinstance(found.point, ClassWeights)  # multipliers follow from them
    multipliers = () if alone else (_multipliers(asked, answer.alpha, found.point[2]),)
    shape, like = np.shape(found.point[0]), found.point[1]
    end = time.thread_time() + MAX_SECONDS

    def go_on() -> bool:
        return time.thread_time() < end

    for W, b in float_weights(asked, answer, tol, go_on):
        W, b = W.reshape(shape), b if len(b) else np.zeros(np.size(like))
        b = b if np.ndim(like) else float(b[0])
        tried = prove(problem, W, b, *multipliers, tol)
        if not tried.gap <= tol:
            exact = rational_certificate(
                asked, W, np.atleast_1d(b), answer.alpha, tried.certificate
            )
            tried = tried._replace(certificate=exact)
        best = tried if tried.gap < best.gap else best
        if best.gap <= tol:
            return best
    gap, proof = Decimal(tol) * Decimal(best.certificate.primal), best.certificate
    none = proof.relative_gap < 1.0 and no_float_weights(asked, answer, gap, go_on)
    limited = f"{proof.method}; {NO_WEIGHTS.format(tol) if none else WEIGHT_LIMIT}"
    return best._replace(certificate=replace(best.certificate, method=limited))


def _multipliers(asked: Demands, alpha: Numbers, like: np.ndarray) -> np.ndarray:
    """Rounded, where the problem has them."""
    out = np.zeros_like(like)
    cap = asked.cost[asked.group] if asked.penalty is Penalty.HINGE else np.inf
    out[asked.where] = np.clip([float(a) for a in alpha], 0.0, cap)
    return out
