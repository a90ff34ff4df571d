"""The last digits of the hinge: rows near their margin are fetched and solved in one place.

    min over w, b    ½‖w‖² + Σ over near rows c_i max(0, z_i) + Σ over far rows α_i z_i

Near the optimum a row far from its margin has multiplier α_i = 0 or c_i and keeps it, so the far
rows are one vector, and the near ones, a bounded number, are given to the augmented Lagrangian of
``solve/two_class/lagrangian.py``.  Then all parts are asked what the result is worth.  Products
over parts would need hundreds of rounds for the same, since ever fewer rows are free and a sample
says ever less of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....core.problem.problem import Problem
from ....core.rows.rows import combine, scores, take
from ....core.solve.contract import Monitor
from ....core.solve.two_class.blocks import NearRows, State
from ....core.solve.two_class.lagrangian import CentredPoint, Goal, augment
from ...parts import Parts
from ..tasks import ask, ask_total
from .sample import Chosen, most_values, stack
from .tasks import BinarySpec, BinaryState, Census

# Rows per column that may be fetched, and unknowns or rows up to which their system is solved.
NEAR_ROWS_PER_COLUMN, LARGEST_SYSTEM = 40, 2000
# Distances from the margin at which rows are counted, in units of the rounded corner.
NEAR_WIDTHS = 2.0 ** np.arange(-1.0, 6.5, 0.5)
# A distance that is wide enough, in the same units.
MAX_NEAR_WIDTH = 6.0
# The near rows are solved to this share of the gap asked for.
NEAR_TOL = 0.2
# κ to begin with, where the near rows lie within a distance of one.
FIRST_KAPPA = 2.0


class NearSample(NamedTuple):
    """What the parts answer at the new point."""

    loss: float
    gains: float  # Σα
    v: np.ndarray  # Σ α y x
    r: float


def count_near(problem: Problem, state: BinaryState, widths) -> tuple[BinaryState, np.ndarray]:
    """Rows within every distance of their margin."""
    assert state.z is not None
    z = np.sort(np.abs(state.z[problem.c > 0]))
    return state, np.searchsorted(z, widths, side="right")


def fetch_near(problem: Problem, state: BinaryState, width: float) -> tuple[BinaryState, Chosen]:
    """The rows within ``width`` of their margin, and the pull of all others at 0 or c."""
    assert state.z is not None
    trial = state.alpha if state.trial is None else state.trial
    near = (np.abs(state.z) <= width) & (problem.c > 0)
    frozen = np.where(near, 0.0, problem.c * (state.z > 0.0))
    index = np.flatnonzero(near)
    u = frozen * problem.y
    if state.trial is None or state.v is None:
        v = combine(problem.rows, u)
    else:
        v = state.v + combine(problem.rows, u - trial * problem.y)
    chosen = Chosen(
        take(problem.rows, index), problem.y[index], problem.c[index], trial[index],
        state.z[index], np.ones(len(index)), v, float(u.sum()), float(frozen.sum()),
        (len(u), len(index), float(state.z.sum()), float(problem.c.sum())),
    )  # fmt: skip
    return state._replace(ahead=(index, frozen, chosen.pull, chosen.mark)), chosen


def look_near(
    problem: Problem, state: BinaryState, dw, db: float, mu, found: dict
) -> tuple[BinaryState, NearSample]:
    """Where the near rows' solution leads: the loss there, and the multipliers' sums."""
    assert state.z is not None
    index, frozen, pull, mark = state.ahead
    dz = -problem.y * (scores(problem.rows, dw) + (db - float(mu @ dw)))
    trial = frozen.copy()
    trial[index] = found[mark]
    step = np.zeros(len(trial))
    step[index] = trial[index] * problem.y[index]
    v = pull + combine(problem.rows, step)
    loss = float(problem.c @ np.maximum(state.z + dz, 0.0))
    state = state._replace(dz=dz, ahead=(trial, v, None))
    return state, NearSample(loss, float(trial.sum()), v, float(trial @ problem.y))


class Nearby(NamedTuple):
    """The new point, as steps from the old one, its bounds, and whether they were worth it."""

    dw: np.ndarray
    db: float
    primal: float
    dual: float


def solve_near(
    parts: Parts, spec: BinarySpec, census: Census, at: CentredPoint, corner: float, own: Monitor
) -> Nearby | None:
    """One round from where the parts stand; None if too many rows are near.

    ``own``: the gap asked for and what is left of the budget.
    """
    mu, w, b = at
    d = len(w)
    a_row = max(1.0, census.values / max(1, census.rows))
    most = min(
        NEAR_ROWS_PER_COLUMN * (d + 1),
        most_values(parts) // a_row,
        LARGEST_SYSTEM if d > LARGEST_SYSTEM else np.inf,
    )
    counts = ask_total(parts, count_near, spec, corner * NEAR_WIDTHS)
    fit = np.flatnonzero(counts <= most)
    if len(fit) == 0 or NEAR_WIDTHS[fit[-1]] < 1.0:
        return None
    width = corner * min(MAX_NEAR_WIDTH, float(NEAR_WIDTHS[fit[-1]]))
    chosen = list(ask(parts, fetch_near, spec, width))
    state, value = _solve(chosen, spec, at, width, own)
    if value is None:
        return None
    told = state.w - w, state.b - b, mu, _by_mark(chosen, state.a)
    answer = ask_total(parts, look_near, spec, *told)
    primal = 0.5 * float(state.w @ state.w) + answer.loss
    v = answer.v - answer.r * mu
    dual = answer.gains - 0.5 * float(v @ v)
    if spec.bias:
        dual -= abs(answer.r) * (abs(state.b) + 1.0)
    return Nearby(told[0], told[1], primal, dual)


def _solve(chosen: list[Chosen], spec: BinarySpec, at: CentredPoint, width: float, own: Monitor):
    """The near rows' own problem, the far ones being one vector."""
    mu, w, b = at
    tol = own.tol
    y, c, a, z = (np.concatenate(column) for column in list(zip(*chosen, strict=True))[1:5])
    r0 = sum(one.r for one in chosen)
    constant = sum(one.cost for one in chosen)
    v0 = sum(one.pull for one in chosen) - r0 * mu
    hold = float(c[y == -np.sign(r0)].sum())
    if spec.bias and r0 != 0.0 and abs(r0) >= 0.9 * hold:
        return None, None  # the far rows pull the bias harder than the near ones can hold
    if len(y) == 0:  # the far rows are all there are: a plain square
        return State(v0, b, a, z), True
    block = NearRows(stack([one.rows for one in chosen]), y, c, mu, spec.bias, v0, r0)
    state = State(w, b, a, z)

    def done(terms: Any) -> bool:
        return terms.gap <= NEAR_TOL * tol * abs(terms.primal + constant)

    closed, _ = augment(block, state, FIRST_KAPPA / width, own, Goal(NEAR_TOL * tol, done))
    return state, closed


def _by_mark(chosen: list[Chosen], alpha) -> dict:
    """The multipliers of every part, by a mark that it knows itself by.

    Parts that hold the very same rows have the same mark, and share the mean of theirs.
    """
    ends = np.cumsum([len(one.y) for one in chosen])[:-1]
    found: dict = {}
    for one, part in zip(chosen, np.split(alpha, ends), strict=True):
        found.setdefault(one.mark, []).append(part)
    return {mark: np.mean(parts, axis=0) for mark, parts in found.items()}
