"""A machine whose multipliers no float64 can say: other coefficients of its function, with proof.

    primal(u, b) = ½ Σ_c u_cᵀK u_c + Σ_g c_g max(0, 1 − m)      m_p = e_p·(Ku + b)_row(p)
    dual(α)      = Σ α − ½ Σ_c a_cᵀK a_c                        a = Σ_p α_p e_p

Demands p as in ``problem/demands.py``: of two classes one a row, of k classes k − 1.  Coefficients
of a machine need not be multipliers: where K is singular, or nearly so, many say the same function,
and some of them are float64 (``solve/same_function.py``).  What they are worth is computed in two
hundred digits, beside multipliers of as many, that balance exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...certify.certificate import Certificate
from ...certify.conclude import KINDS
from ...certify.rational import above, decimal, feasible_units
from ...kernels.decimal_values import DECIMAL_ERROR, DECIMAL_KERNELS
from ...kernels.kernel_block import KernelPoints
from ...problem.demands import Demands, Penalty, demands
from ...problem.multiclass import MulticlassProblem
from ...problem.problem import Problem
from ...rows.decimals import DIGITS, ONE, ZERO, decimals, factor, floats
from ...rows.rows import DenseRows
from ..active_set import INFINITE
from ..same_function import Column, Numbers, small_coefficients
from .exact_program import SHARE, Solved, centred, roundable, within_reach

METHOD = f"the function's objective, in {DIGITS} digits, beside multipliers of as many"
# Far more than sums of values of so many digits are off by, relative to what they are made of.
ERROR = 100 * Decimal(DECIMAL_ERROR)
# Of a slack, or of what a row has beyond its margin, what a score may be off by.
ROOM_SHARE = Decimal("0.25")
NOTHING: Any = ZERO


class KernelFunction(NamedTuple):
    """Coefficients (s, B) of rows, biases (B,), K of all rows with these (n, s), and K of these."""

    u: Numbers
    b: Numbers
    K: Numbers
    own: Numbers


class DecimalMachine(NamedTuple):
    """The optimum of a problem in many digits: K (n, n), multipliers α (P,) that are feasible for
    certain, the function of them, and the bound that they prove."""

    asked: Demands
    best: KernelFunction
    alpha: Numbers
    dual: Decimal

    @property
    def rows(self) -> np.ndarray:
        """Of every demand its row."""
        return self.asked.where[0]

    def margins(self, scores: Numbers) -> Numbers:
        return (decimals(self.asked.e) * scores[self.rows]).sum(axis=1)

    def reach(self, given: KernelFunction) -> Decimal:
        """No score is made of more: k_ij, and all that it is made of, is below √k_ii √k_jj."""
        most = max(*self.best.K.diagonal(), *given.own.diagonal())
        return most * max(abs(given.u).sum(axis=0))

    def primal(self, given: KernelFunction) -> Decimal:
        """The objective of a function, or a little more; infinite where a hard margin is none."""
        scores, reach = given.K.dot(given.u) + given.b, self.reach(given)
        off = ERROR * (reach + ONE + sum(abs(given.b), ZERO))
        norm = (given.u * given.own.dot(given.u)).sum() + ERROR * reach * abs(given.u).sum()
        z = ONE - self.margins(scores) + off
        worst = np.maximum.reduceat(z, self.asked.starts)
        if self.asked.penalty is Penalty.HARD:
            closest = ONE - max(worst)
            return norm / 2 / min(closest, ONE) ** 2 if closest > 0 else INFINITE
        return norm / 2 + (decimals(self.asked.cost) * np.maximum(worst, NOTHING)).sum()


def has_digits(points: KernelPoints, variables: int) -> bool:
    """Whether values of the kernel are known to many digits, it is positive semidefinite whatever
    the rows are, and the problem is small enough."""
    kernel = points.kernel
    sure = kernel.name in DECIMAL_KERNELS and not (kernel.name == "poly" and kernel.coef0 < 0)
    return sure and within_reach(points, variables)


def decimal_machine(problem: Any, points: KernelPoints, K: Numbers, found: Solved):
    """From multipliers of many digits, of two classes or of k; None where they prove nothing, or
    the kernel is one of which only float64 values are known."""
    if not has_digits(points, len(found.x)):
        return None
    asked = demands(_without_columns(problem))
    alpha = found.x[asked.where]
    units = feasible_units(asked, alpha, DIGITS)
    if units is None:
        return None
    alpha = units[0] * decimal(units[1])
    u = np.full((len(K), asked.e.shape[1]), ZERO, dtype=object)
    np.add.at(u, asked.where[0], alpha[:, None] * decimals(asked.e))
    first = asked.where[0][0]
    b = (centred(K)[first] - K[first]).dot(u) + found.biases
    machine, mass = DecimalMachine(asked, KernelFunction(u, b, K, K), alpha, ZERO), sum(alpha, ZERO)
    off = ERROR * (machine.reach(machine.best) * abs(u).sum() + mass)
    return machine._replace(dual=mass - (u * K.dot(u)).sum() / 2 - off)


def better_function(
    machine: DecimalMachine, near: Certificate, tol: float, go_on: Callable[[], bool]
) -> tuple[KernelFunction, Certificate] | None:
    """Float64 coefficients that are proved better than ``near``, the best found; None: no such."""
    best = None
    for tried in same_function(machine, tol, go_on):
        proof = proved(machine, tried, near)
        if proof.relative_gap < near.relative_gap:
            best, near = (tried, proof), proof
        if near.holds(tol):
            break
    return best


def _without_columns(problem: Any) -> Any:
    """The same demands on rows without columns: what they say of K is said elsewhere."""
    rows = DenseRows(np.empty((len(problem.y), 0)))
    if isinstance(problem, MulticlassProblem):
        return MulticlassProblem(rows, problem.y, problem.c, problem.loss, problem.k)
    return Problem(rows, problem.y, problem.c, problem.loss)


def same_function(
    machine: DecimalMachine, tol: float, go_on: Callable[[], bool]
) -> Iterator[KernelFunction]:
    """Float64 coefficients and biases of nearly the function of the optimum: first its own, each
    rounded alone, which balance only nearly, and prove little as multipliers."""
    K, n = machine.best.K, len(machine.best.K)
    yield KernelFunction(rounded(machine.best.u), rounded(machine.best.b), K, K)
    gap = SHARE * Decimal(tol) * machine.dual
    if not roundable(n + 1) or not gap > 0:
        return
    # A margin a little wider than one forgives errors.
    wider = ONE + SHARE * Decimal(tol)
    share = (2 * gap / machine.asked.e.shape[1]).sqrt()
    free, lengths = _free(machine, Decimal(tol)), factor(K).T / share
    columns = []
    for c, (u, b) in enumerate(zip(machine.best.u.T, machine.best.b, strict=True)):
        rows = np.flatnonzero([each is not None for each in free[:, c]])
        scores = np.column_stack([K[rows], np.full(len(rows), ONE)]) / free[rows, c][:, None]
        norm = np.column_stack([lengths, np.full(n, ZERO)])
        columns.append(Column(np.vstack([scores, norm]), wider * np.append(u, b)))
    for found in small_coefficients(K, columns, share * share / 100, go_on):
        yield KernelFunction(decimals(found[:-1]), decimals(found[-1]), K, K)


def rounded(values: Numbers) -> Numbers:
    """The nearest float64, as Decimals."""
    return decimals(floats(values))


def _free(machine: DecimalMachine, tol: Decimal) -> Numbers:
    """How far every score (n, B) may be off; None where no demand asks for it."""
    asked, best = machine.asked, machine.best
    z = ONE - machine.margins(best.K.dot(best.u) + best.b)
    level = np.maximum(np.maximum.reduceat(z, asked.starts), NOTHING)[asked.group]
    several = np.add.reduceat((machine.alpha > 0).astype(int), asked.starts)[asked.group]
    paid = np.where(several > 1, NOTHING, np.where(machine.alpha > 0, level, level - z))
    least: Any = SHARE * tol / 2
    room = np.maximum(ROOM_SHARE * abs(paid), least)
    free = np.full(best.u.shape, None, dtype=object)
    for p, row in enumerate(machine.rows.tolist()):
        sides = np.flatnonzero(asked.e[p])
        for c in sides.tolist():
            each = room[p] / len(sides)
            free[row, c] = each if free[row, c] is None else min(free[row, c], each)
    return free


def proved(machine: DecimalMachine, given: KernelFunction, near: Certificate) -> Certificate:
    """The certificate of a function; ``near`` says what else there is to be said."""
    primal = machine.primal(given)
    if not primal < INFINITE:
        return near
    upper, lower = above(Fraction(primal)), -above(Fraction(-machine.dual))
    kkt = dict(zip(KINDS, _violations(machine, given), strict=True))
    return replace(
        near, primal=upper, dual=lower, box_violation=0.0, bias_residual=0.0, method=METHOD,
        rounding=0.0, kkt_violation=kkt, stationarity=_apart(machine, given),
    )  # fmt: skip


def _violations(machine: DecimalMachine, given: KernelFunction) -> tuple[float, float, float]:
    """Of groups without a multiplier, with some, and with all that they may have."""
    asked = machine.asked
    z = ONE - machine.margins(given.K.dot(given.u) + given.b)
    worst = floats(np.maximum.reduceat(z, asked.starts))
    mass = np.add.reduceat(machine.alpha, asked.starts)
    none = np.array(mass == 0, dtype=bool)
    full = ~none & (floats(mass) >= asked.cost)
    kinds = (np.maximum(worst, 0.0), none), (np.abs(worst), ~none & ~full), (-worst, full)
    zero, free, bound = (float(each[some].max(initial=0.0)) for each, some in kinds)
    return zero, free, bound


def _apart(machine: DecimalMachine, given: KernelFunction) -> float:
    """‖w − w_α‖ / max(1, ‖w‖)."""
    best = machine.best
    norm = (given.u * given.own.dot(given.u)).sum()
    square = norm + (best.u * (best.K.dot(best.u) - 2 * given.K.dot(given.u))).sum()
    return float(max(square, ZERO).sqrt() / max(norm, ONE).sqrt())
