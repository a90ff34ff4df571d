"""Epochs or Newton steps?  What either costs, and when coordinate descent should give way.

Newton's method for k classes takes about as many steps whatever C is; the epochs of coordinate
descent grow with C‖x − mean‖² and with what columns have in common, which nobody knows before.
So descent begins wherever it may be the quicker, and is asked at its checks how the gap falls: once
it has taken a share of Newton's time and would need another, it stops, and Newton's method goes on
from there.  Work is counted, not timed: the same data take the same way.
"""

from __future__ import annotations

import numpy as np

from ...problem.multiclass import MulticlassProblem
from ...rows.class_products import padded
from ...rows.rows import combine, size_of, sqnorms
from .class_direction import MAX_DIRECT_UNKNOWNS

# Nanoseconds, fitted to 280 random problems of 200 to 25,000 rows, 4 to 300 columns and 3 to 40
# classes: half of all estimates are within a factor of 1.5 of the truth, nine of ten within 3.
# A Newton step: by itself, for a row and class (answers and line search), for a value and class
# (products), for a pair of unknowns (assembly), for three (the factor).
STEP, STEP_ANSWER, STEP_PRODUCT, STEP_PAIR, STEP_FACTOR = 3.5e5, 59.0, 2.6, 15.0, 0.0061
# An epoch, leaps and checks included: by itself, for a row and class, for a value and class.
EPOCH, EPOCH_ANSWER, EPOCH_PRODUCT = 1.3e5, 9.5, 0.13
# Rows up to which a Newton system of their margins is solved whatever the number of unknowns.
MAX_DIRECT_ROWS = 700
# Newton steps of a usual fit to a gap above LOOSE_TOL, and to a smaller one; a third of them and
# three times as many occur.
FEW_STEPS, USUAL_STEPS, LOOSE_TOL = 25, 45, 1e-4
# Epochs of a usual fit at C‖x − mean‖² = s are this times √s; they vary by a factor of ten.
USUAL_EPOCHS = 30.0
# Newton's method begins where s is larger than this and the usual epochs take half of its time …
MIN_STIFFNESS, MIN_TIME_SHARE = 10.0, 0.5
# … but where there are half as many unknowns as rows, or more, the classes come apart, and no row
# minds how large C is: up to this s descent is tried there, too.
UNKNOWNS_PER_ROW, MAX_APART_STIFFNESS = 0.5, 3e4
# Descent is not judged before it has taken this share of Newton's time, and stops when it would
# need another such share.  On 272 made-up problems no fit then took more than 1.45 times as long as
# by the rule before; with 0.2 the total was the same, and single ones took 1.9 times as long.
TRIAL_SHARE, MAX_SHARE_LEFT = 0.1, 0.5


def stiffness(problem: MulticlassProblem) -> float:
    """The mean of C‖x − mean‖²: how strongly a row's multipliers pull on its own scores."""
    n, _ = problem.shape
    mean = combine(problem.rows, np.full(n, 1.0 / n)) if problem.bias else np.zeros(1)
    q = float(sqnorms(problem.rows).mean()) - float(mean @ mean)
    return float(problem.c.mean()) * q


def newton_epochs(problem: MulticlassProblem, tol: float) -> float:
    """Epochs of coordinate descent that take as long as a usual fit by Newton's method; none are
    too many where its systems are not factored, but iterated on."""
    n, d = problem.shape
    k, p = problem.k, d + 1
    if (k - 1) * p > MAX_DIRECT_UNKNOWNS and n > MAX_DIRECT_ROWS:
        return np.inf
    order = min((k - 1) * p, n)  # of the system that is solved
    step = STEP + n * k * (STEP_ANSWER + STEP_PRODUCT * p)
    step += order**2 * (STEP_PAIR + STEP_FACTOR * order)
    width = padded(k)
    epoch = EPOCH + width * (EPOCH_ANSWER * n + EPOCH_PRODUCT * size_of(problem.rows))
    return (FEW_STEPS if tol > LOOSE_TOL else USUAL_STEPS) * step / epoch


def is_stiff(problem: MulticlassProblem, pull: float, tol: float) -> bool:
    """Whether descent need not be tried; ``pull`` is the stiffness."""
    n, d = problem.shape
    apart = (problem.k - 1) * (d + 1) >= UNKNOWNS_PER_ROW * n
    if pull <= (MAX_APART_STIFFNESS if apart else MIN_STIFFNESS):
        return False
    return USUAL_EPOCHS * np.sqrt(pull) > MIN_TIME_SHARE * newton_epochs(problem, tol)


class Outlook:
    """How the gap of a descent has fallen, and whether it is worth waiting for the rest."""

    def __init__(self, patience: float):
        self.patience, self.seen = patience, [(0, 1.0)]

    def epochs_left(self, epochs: int, gap: float, target: float) -> float:
        """Until the gap is closed, if it goes on to fall as in the last half of its epochs."""
        gap = min(gap, 1.0)
        since, before = next(seen for seen in reversed(self.seen) if seen[0] <= epochs / 2)
        self.seen.append((epochs, gap))
        if not gap < before:
            return np.inf
        return (epochs - since) * float(np.log(gap / target) / np.log(before / gap))

    def is_bleak(self, epochs: int, left: float) -> bool:
        """Whether so many epochs more take too long."""
        return epochs >= TRIAL_SHARE * self.patience and left > MAX_SHARE_LEFT * self.patience
