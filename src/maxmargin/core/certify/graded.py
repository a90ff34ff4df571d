"""The certificate of a ranking by grades: recomputed from the data, in O(n log n).

There is one multiplier for every implied pair, and they are not written down either: each
follows from the slack z = 1 − w·(x_u − x_v) of its pair by one number, the width δ,

    α = c · clip((z + δ)/(2δ), 0, 1)

Any δ gives multipliers between 0 and c, so that

    dual(δ) = Σ α − ½‖w_α‖²,        w_α = Σ α (x_u − x_v)

bounds the optimum from below, however w and δ were found.  Scores are floats, and multipliers are
those of these floats, whatever was rounded before; sums over pairs are differences of sums over
items, which a small δ divides: their bound is what limits a proof first.  Where it does, the pairs
within reach of a slack are listed, if they are not too many, and proved as such.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.graded import GradedProblem
from ..problem.losses import Hinge
from ..problem.problem import Bias, Problem
from ..rows.graded import between, by_score, count, ramp, tally
from ..rows.rows import PairRows, anchor, combine, lengths, scores
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


class GradedProof(NamedTuple):
    """A certificate, and what its computation knows of w anyway."""

    certificate: Certificate
    scores: np.ndarray
    order: np.ndarray
    gradient: np.ndarray  # w − w_α


def centred(f: np.ndarray) -> np.ndarray:
    """Scores about zero: only their differences count, and sums of large ones lose digits."""
    return f - f.mean()


def certify_grades(
    problem: GradedProblem, w: np.ndarray, width: float, tol: float = SHARPEST
) -> GradedProof:
    """Recompute primal and dual of w, and of the multipliers that δ implies, from the data."""
    raw, long = scores(problem.rows, w), float(lengths(problem.rows).max(initial=0.0))
    f = centred(raw)
    order = by_score(problem.grades, f)
    # How far the lead of a winner may be from what the scores say.
    largest = float(np.abs(raw).max(initial=0.0))
    lead = 2.0 * SPARE * (gamma(len(w) + 2) * length_above(w) * long + 8.0 * UNIT * (1.0 + largest))
    found = _counted(problem, width, f, order, lead, long)
    certificate = conclude(
        found, norms_of(w, found.w, found.rounding.w), 0.0, Bias.NONE, problem.summary()
    )
    if certificate.blurred(tol):
        certificate = _listed(problem, w, width, f, order, lead, tol) or certificate
    return GradedProof(certificate, f, order, w - found.w)


def _counted(problem: GradedProblem, width: float, f, order, lead: float, long: float) -> Tally:
    """By sums over items; a pair that may have slack is counted with all that it may have."""
    C, n = problem.C, len(f)
    each, spread = gamma(ROUNDINGS_PER_ITEM * n + 32), 1.0 + 2.0 * float(np.abs(f).max(initial=0.0))
    seen = tally(problem.grades, order, f, 1.0 + lead)
    loss = C * max(0.0, seen.loss - lead * seen.total)
    pull, total, terms = ramp(problem.grades, order, f, width)
    place = anchor(problem.rows)
    w_alpha = combine(problem.rows, C * pull)
    w_alpha -= C * float(pull.sum()) * place  # pulls cancel but for rounding
    blunt = each * terms * (spread + width)  # of what the pairs' multipliers add up to
    away = long + length_above(place)
    lost = C * away * (2.0 * blunt + 2.0 * gamma(n + 4) * float(np.abs(pull).sum()))
    rounding = Rounding(
        SPARE * C * (lead * seen.total + each * seen.total * (spread + lead)),
        SPARE * C * blunt,
        SPARE * lost,
    )
    # A multiplier strictly between its bounds belongs to a slack of at most δ.
    kkt, mass, pairs = (0.0, width, 0.0), C * total, problem.grades.pairs
    return Tally(pairs, loss, -mass, mass, 0.0, w_alpha, kkt, 0.0, rounding=rounding)


def _listed(
    problem: GradedProblem, w, width: float, f, order, lead: float, tol: float
) -> Certificate | None:
    """By the pairs themselves, as sharply as needed; None if they are too many."""
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
