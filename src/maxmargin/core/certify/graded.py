"""The certificate of a ranking by grades: recomputed from the data, in O(n log n).

There is one multiplier for every implied pair, and they are not written down either: each
follows from the slack z = 1 − w·(x_u − x_v) of its pair by one number, the width δ,

    α = c · clip((z + δ)/(2δ), 0, 1)

Any δ gives multipliers between 0 and c, so that

    dual(δ) = Σ α − ½‖w_α‖²,        w_α = Σ α (x_u − x_v)

bounds the optimum from below, however w and δ were found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.graded import GradedProblem
from ..problem.problem import Bias
from ..rows.graded import by_score, ramp, tally
from ..rows.rows import anchor, combine, scores
from .certificate import Certificate
from .conclude import Tally, conclude, norms_of


class GradedProof(NamedTuple):
    """A certificate, and what its computation knows of w anyway."""

    certificate: Certificate
    scores: np.ndarray
    order: np.ndarray
    gradient: np.ndarray  # w − w_α


def centred(f: np.ndarray) -> np.ndarray:
    """Scores about zero: only their differences count, and sums of large ones lose digits."""
    return f - f.mean()


def certify_grades(problem: GradedProblem, w: np.ndarray, width: float) -> GradedProof:
    """Recompute primal and dual of w, and of the multipliers that δ implies, from the data."""
    f = centred(scores(problem.rows, w))
    order = by_score(problem.grades, f)
    loss = problem.C * tally(problem.grades, order, f, 1.0).loss
    pull, total = ramp(problem.grades, order, f, width)
    w_alpha = combine(problem.rows, problem.C * pull)
    w_alpha -= problem.C * float(pull.sum()) * anchor(problem.rows)  # pulls cancel but for rounding
    # A multiplier strictly between its bounds belongs to a slack of at most δ.
    kkt, mass = (0.0, width, 0.0), problem.C * total
    found = Tally(problem.grades.pairs, loss, -mass, mass, 0.0, w_alpha, kkt, 0.0)
    certificate = conclude(found, norms_of(w, w_alpha), 0.0, Bias.NONE, problem.summary())
    return GradedProof(certificate, f, order, w - w_alpha)
