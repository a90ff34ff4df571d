"""The certificate of a ranking by grades: recomputed from the data, in O(n log n).

There is one multiplier for every implied pair, and they are not written down either: each is
c if the pair has slack at w, 0 if it has none, except for the few that are listed.  Then

    dual(α) = Σ α_p − ½‖w_α‖²,     w_α = Σ α_p (x_u − x_v),     0 ≤ α_p ≤ c_p

bounds the optimum from below for any list, so nothing depends on how it was found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.graded import GradedProblem
from ..represent.graded import Tally, by_score, tally
from ..represent.pairs import PairRows, by_item
from ..represent.rows import combine, scores
from .certificate import Certificate


class Listed(NamedTuple):
    """Pairs whose multiplier is not what the sign of their slack says, and their multipliers."""

    winner: np.ndarray
    loser: np.ndarray
    alpha: np.ndarray


NONE = Listed(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))


class Proof(NamedTuple):
    """A certificate, and what its computation knows of w anyway."""

    certificate: Certificate
    scores: np.ndarray
    order: np.ndarray
    tally: Tally


def exceptions(problem: GradedProblem, f: np.ndarray, listed: Listed) -> Listed:
    """Only the multipliers that differ from what the slack at scores f says."""
    kept = listed.alpha != _expected(problem, f, listed)
    return Listed(listed.winner[kept], listed.loser[kept], listed.alpha[kept])


def certify_grades(problem: GradedProblem, w: np.ndarray, listed: Listed = NONE) -> Proof:
    """Recompute primal, dual and KKT residuals of w and the multipliers from the data."""
    f = scores(problem.rows, w)
    order = by_score(problem.grades, f)
    violated = tally(problem.grades, order, f, 1.0)
    change = listed.alpha - _expected(problem, f, listed)
    pull = problem.C * violated.pull
    pull += by_item(PairRows(problem.rows, listed.winner, listed.loser), change)
    w_alpha = combine(problem.rows, pull)
    dual = problem.C * violated.total + float(change.sum()) - 0.5 * float(w_alpha @ w_alpha)
    kkt, box = _violations(problem, f, listed)
    norm = float(w @ w)
    certificate = Certificate(
        primal=0.5 * norm + problem.C * violated.loss,
        dual=dual,
        kkt_violation=kkt,
        stationarity=float(np.linalg.norm(w - w_alpha)) / max(1.0, float(np.sqrt(norm))),
        bias_residual=0.0,
        box_violation=box,
        problem=problem.summary(),
    )
    return Proof(certificate, f, order, violated)


def _costs(problem: GradedProblem, listed: Listed) -> np.ndarray:
    weight = problem.grades.weight
    return problem.C * weight[listed.winner] * weight[listed.loser]


def _expected(problem: GradedProblem, f, listed: Listed) -> np.ndarray:
    """c where there is slack, else 0; told exactly as ``tally`` tells it."""
    slack = f[listed.winner] - 1.0 < f[listed.loser]
    return np.where(slack, _costs(problem, listed), 0.0)


def _violations(problem: GradedProblem, f, listed: Listed) -> tuple[dict[str, float], float]:
    """KKT violations by kind and the box violation; pairs that are not listed have neither."""
    z, c = 1.0 - (f[listed.winner] - f[listed.loser]), _costs(problem, listed)
    zero, bound = listed.alpha <= 0.0, listed.alpha >= c
    free = ~(zero | bound)
    kkt = {
        "zero": float(max(0.0, z[zero].max(initial=0.0))),
        "free": float(np.abs(z[free]).max(initial=0.0)),
        "bound": float(max(0.0, (-z[bound]).max(initial=0.0))),
    }
    outside = np.maximum(-listed.alpha, listed.alpha - c) / np.maximum(c, 1e-300)
    return kkt, float(max(0.0, outside.max(initial=0.0)))
