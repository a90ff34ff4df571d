"""The certificate of a ranking by grades: recomputed from the data, in O(n log n).

There is one multiplier for every implied pair, and they are not written down either: each
follows from the slack z = 1 − w·(x_u − x_v) of its pair by one number, the width δ,

    α = c · clip((z + δ)/(2δ), 0, 1)

Any δ gives multipliers between 0 and c, so that

    dual(δ) = Σ α − ½‖w_α‖²,        w_α = Σ α (x_u − x_v)

bounds the optimum from below, however w and δ were found.  Scores are floats, and multipliers are
those of these floats, whatever was rounded before; sums over pairs are differences of sums over
items, which a small δ divides: their bound is what limits a proof first.  Where it does, the pairs
within δ of their margin are listed, if they are not too many: only their multipliers are divided by
δ.  Where that is not enough, all pairs within reach of a slack are, and proved as such.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.graded import GradedProblem
from ..problem.losses import Hinge
from ..problem.problem import Bias, Problem
from ..rows.graded import between, by_score, count, ramp, tally
from ..rows.rows import PairRows, combine, scores
from .certificate import Certificate
from .conclude import (
    METHOD,
    SHARP_METHOD,
    SHARPEST,
    Tally,
    as_sharp_as_needed,
    conclude,
    norms_of,
)
from .rounding import SPARE, UNIT, Rounding, gamma, length_above
from .two_class import tally as pairs_tally

# Pairs that are listed where their sums are too blunt.
MAX_LISTED_PAIRS = 2_000_000
# Additions for every item in a pass over the pairs: to two trees, from them, and in turn.
ROUNDINGS_PER_ITEM = 3
LEAST = float(np.finfo(float).tiny)


class GradedProof(NamedTuple):
    """A certificate, and what its computation knows of w anyway."""

    certificate: Certificate
    scores: np.ndarray
    order: np.ndarray
    gradient: np.ndarray  # w − w_α


def centred(f: np.ndarray) -> np.ndarray:
    """Scores about zero: only their differences count, and sums of large ones lose digits."""
    return f - f.mean()


class _Scored(NamedTuple):
    """Scores about zero in order, how far the lead of a winner may be from what they say, and how
    large a slack may be."""

    f: np.ndarray
    order: np.ndarray
    lead: float
    spread: float


class _Pulls(NamedTuple):
    """What multipliers come to for every item, their sum, and how far both may be off: items in
    the sum of absolute values."""

    items: np.ndarray
    total: float
    off_items: float
    off_total: float


def certify_grades(
    problem: GradedProblem, w: np.ndarray, width: float, tol: float = SHARPEST
) -> GradedProof:
    """Recompute primal and dual of w, and of the multipliers that δ implies, from the data."""
    raw = scores(problem.rows, w)
    f, largest = centred(raw), float(np.abs(raw).max(initial=0.0))
    rounded = gamma(len(w) + 2) * length_above(w) * problem.longest
    lead = 2.0 * SPARE * (rounded + 8.0 * UNIT * (1.0 + largest))
    spread = 1.0 + 2.0 * float(np.abs(f).max(initial=0.0))
    seen = _Scored(f, by_score(problem.grades, f), lead, spread)

    def prove(pulls: _Pulls) -> tuple[Tally, Certificate]:
        found = _tallied(problem, seen, width, pulls)
        norms = norms_of(w, found.w, found.rounding.w)
        return found, conclude(found, norms, 0.0, Bias.NONE, problem.summary())

    found, certificate = prove(_counted(problem, seen, width))
    if certificate.blurred(tol) and (pulls := _cornered(problem, seen, width)):
        found, certificate = prove(pulls)
    if certificate.blurred(tol):
        certificate = _listed(problem, w, width, seen, tol) or certificate
    return GradedProof(certificate, f, seen.order, w - found.w)


def _tallied(problem: GradedProblem, seen: _Scored, width: float, pulls: _Pulls) -> Tally:
    """A pair that may have slack is counted with all that it may have."""
    C, n, lead = problem.C, len(seen.f), seen.lead
    slacks = tally(problem.grades, seen.order, seen.f, 1.0 + lead)
    loss = C * max(0.0, slacks.loss - lead * slacks.total)
    w_alpha = combine(problem.rows, pulls.items)
    w_alpha -= float(pulls.items.sum()) * problem.place  # pulls cancel but for rounding
    away = problem.longest + length_above(problem.place)
    lost = away * (pulls.off_items + 2.0 * gamma(n + 4) * float(np.abs(pulls.items).sum()))
    blur = lead * slacks.total + _each(seen.f) * slacks.total * (seen.spread + lead)
    rounding = Rounding(SPARE * C * blur, SPARE * pulls.off_total, SPARE * lost)
    # A multiplier strictly between its bounds belongs to a slack of at most δ.
    kkt, mass, pairs = (0.0, width, 0.0), pulls.total, problem.grades.pairs
    return Tally(pairs, loss, -mass, mass, 0.0, w_alpha, kkt, 0.0, rounding=rounding)


def _each(f: np.ndarray) -> float:
    return gamma(ROUNDINGS_PER_ITEM * len(f) + 32)


def _counted(problem: GradedProblem, seen: _Scored, width: float) -> _Pulls:
    """By sums over items."""
    C = problem.C
    items, total, terms = ramp(problem.grades, seen.order, seen.f, width)
    blunt = C * _each(seen.f) * terms * (seen.spread + width)
    return _Pulls(C * items, C * total, 2.0 * blunt, blunt)


def _cornered(problem: GradedProblem, seen: _Scored, width: float) -> _Pulls | None:
    """By sums over items where multipliers are 0 or c, so that δ divides none of them, and pair by
    pair in the corner between; None if these are too many."""
    C, grades, ends = problem.C, problem.grades, (1.0 - width, 1.0 + width)
    number = count(grades, seen.order, seen.f, ends[1]) - count(grades, seen.order, seen.f, ends[0])
    if number > MAX_LISTED_PAIRS:
        return None
    inner = tally(grades, seen.order, seen.f, ends[0])
    winner, loser = between(grades, seen.order, seen.f, *ends)
    share = (1.0 - (seen.f[winner] - seen.f[loser]) + width) / max(2.0 * width, LEAST)
    c = (1.0 - 4.0 * UNIT) * C * (grades.weight[winner] * grades.weight[loser])
    alpha, n = c * np.clip(share, 0.0, 1.0), len(seen.f)
    corner = np.bincount(winner, alpha, n) - np.bincount(loser, alpha, n)
    mass = float(alpha.sum())
    off = _each(seen.f) * C * inner.total + gamma(number + 8) * mass
    return _Pulls(C * inner.pull + corner, C * inner.total + mass, 2.0 * off, off)


def _listed(problem: GradedProblem, w, width: float, seen: _Scored, tol: float):
    """By the pairs themselves, as sharply as needed; None if they are too many."""
    f, order, lead, _ = seen
    far = 1.0 + width + 2.0 * lead
    if count(problem.grades, order, f, far) > MAX_LISTED_PAIRS:
        return None
    winner, loser = between(problem.grades, order, f, -np.inf, far)
    weight = problem.grades.weight
    c = problem.C * (weight[winner] * weight[loser])
    slack = 1.0 - (f[winner] - f[loser])
    share = (slack + width) / (2.0 * width) if width > 0.0 else slack > 0.0
    alpha = np.minimum(c * np.clip(share, 0.0, 1.0), c)
    rows = PairRows(problem.rows, winner, loser)
    listed = Problem(rows, np.ones(len(c)), c, Hinge(), Bias.NONE)

    def prove(sharp: bool) -> Certificate:
        found = pairs_tally(listed, w, 0.0, alpha, sharp=sharp)
        found.kkt, found.rows = (0.0, width, 0.0), problem.grades.pairs
        norms, method = norms_of(w, found.w, found.rounding.w), SHARP_METHOD if sharp else METHOD
        return conclude(found, norms, 0.0, Bias.NONE, problem.summary(), method=method)

    return as_sharp_as_needed(prove, tol)
