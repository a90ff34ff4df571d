"""Where the hinge leaves its trivial form.

    max over u    C Σ u_i − ½C²‖v(u)‖²,        α = C u,  w = C v

For small C the first term decides: Σu is as large as the box 0 ≤ u ≤ s and the biases'
constraints allow.  Two classes with a free bias: every multiplier of the rarer class is at C,
and those of the other class add up to as much.  Among all such u the shortest v wins, whatever
C is; so u stays, w = Cv grows in proportion to C, the biases move along straight lines, and the
slack of every row at C is a straight line, too:

    ξ_i(C) = p_i − q_i C,        C₁ = min over rows at C of p_i / q_i

At C₁ the first of them reaches its margin, its multiplier comes off C, and the form ends.  Two
certified fits below C₁ give the lines.  For k classes the same holds of the rows' largest slacks
("max"), of every slack ("sum"), and of every machine ("rest", "pairs").

Where to begin is safe: no margin can move by its whole slack while C·V·2R is below it, with R
the radius of the data and V a bound on ‖v‖.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ...core.rows.class_products import score_chunks
from ...core.rows.rows import as_rows, combine, scores, sqnorms

# Gap to which the fits below C₁ are solved: slacks there are of order one.
SLACK_FIT_TOL = 1e-9
# A multiplier this near to its cap is at it.
AT_CAP_SHARE = 1.0 - 1e-6
# p is a whole number; the larger class may have rows at C whose slack grows from p = 0.
MIN_POSITIVE_COUNT = 0.5
# A fit this near to C₁ has no shorter way to it than extrapolation.
NEAR_C1_SHARE = 0.3
# How precisely C₁ is searched for where the lines end too early.
C1_SEARCH_TOL = 1e-3
MAX_C1_FITS = 40


def trivial_until(estimator, X, y, weight=None) -> float:
    """C₁ of a hinge LinearSVM on validated data; ``weight`` already holds class weights."""
    fits = _Fits(estimator, X, y, weight)
    C = safe_c(X, y, weight, free=estimator.fit_intercept and not estimator.penalize_bias)
    most = fits.at(C).total
    for _ in range(MAX_C1_FITS):
        first = _meeting(fits.at(0.7 * C), fits.at(C))
        if not np.isfinite(first) or NEAR_C1_SHARE * first <= C:
            break
        C = 0.7 * first
    return _refine(fits, first, most) if np.isfinite(first) else first


def _meeting(one: _Slacks, two: _Slacks) -> float:
    """Where the first falling line of slack, drawn through two fits, meets zero."""
    same = one.at_cap & two.at_cap
    q = (one.slack[same] - two.slack[same]) / (two.C - one.C)
    p = two.slack[same] + two.C * q
    falls = (q > 0) & (p > MIN_POSITIVE_COUNT)
    return float(np.min(p[falls] / q[falls], initial=np.inf))


def _refine(fits: _Fits, C: float, most: float) -> float:
    """Where biases have room they give way before a multiplier does: then C₁ is larger."""
    low, step = C, C1_SEARCH_TOL
    while fits.at(high := C * (1.0 + step)).total >= most * AT_CAP_SHARE:
        low, step = high, 2.0 * step
    while high / low > 1.0 + 2.0 * C1_SEARCH_TOL:
        middle = float(np.sqrt(low * high))
        low, high = (
            (middle, high) if fits.at(middle).total >= most * AT_CAP_SHARE else (low, middle)
        )
    return low


def safe_c(X, y, weight=None, *, free: bool = True) -> float:
    """A C at which the weights are still so short that no row can have reached its margin.

    ``free``: whether the bias is; then only differences of rows count.
    """
    rows, n = as_rows(X), X.shape[0]
    s = np.ones(n) if weight is None else weight
    q = sqnorms(rows)
    if free:
        mean = combine(rows, s / s.sum())
        q = np.maximum(q - 2.0 * scores(rows, mean) + mean @ mean, 0.0)
    lengths = np.sqrt(q if free else q + 1.0)  # a penalised bias is one more column of ones
    R, total = float(lengths[s > 0].max()), float(s @ lengths)
    codes = np.unique(y, return_inverse=True)[1]
    if free and codes.max() == 1:  # the means are closer than the rows: a sharper bound on ‖v‖
        one, two = (np.where(codes == c, s, 0.0) for c in (0, 1))
        between = combine(rows, one / one.sum()) - combine(rows, two / two.sum())
        total = min(total, min(one.sum(), two.sum()) * float(np.linalg.norm(between)))
    bound = 4.0 * R * total * max(1, int(codes.max()))
    return 1.0 / bound if bound > 0 else 1.0


class _Slacks(NamedTuple):
    """Slacks 1 − margin of a fit at C, not cut off at zero; who is at C; and Σα/C."""

    C: float
    slack: np.ndarray
    at_cap: np.ndarray
    total: float


class _Fits:
    """Sharp fits of one model at any C."""

    def __init__(self, estimator, X, y, weight):
        self.model = clone(estimator).set_params(
            tol=SLACK_FIT_TOL, warm_start=True, verbose=0, class_weight=None
        )
        self.X, self.y, self.weight = X, y, weight
        self.s = np.ones(X.shape[0]) if weight is None else weight

    def at(self, C: float) -> _Slacks:
        model, c = self.model, C * self.s
        with warnings.catch_warnings():  # 1e-9 is more than is needed, and may be too much
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(C=C).fit(self.X, self.y, sample_weight=self.weight)
        slack, alpha = self._slacks(), model.alpha_
        if slack.ndim == 1 and alpha.ndim == 2:
            alpha = alpha.sum(axis=1)
        cap = c if alpha.ndim == 1 else c[:, None]
        return _Slacks(C, slack, (alpha >= AT_CAP_SHARE * cap) & (cap > 0), float(alpha.sum()) / C)

    def _slacks(self) -> np.ndarray:
        """(n,), or one column per slack that a row can have."""
        model, rows, codes = self.model, as_rows(self.X), self.model._codes
        k = len(model.classes_)
        if k == 2:
            f = scores(rows, model.coef_[0]) + model.intercept_[0]
            return 1.0 - np.where(codes == 1, 1.0, -1.0) * f
        f = np.concatenate([part for _, part in score_chunks(rows, model.coef_)])
        f = f + model.intercept_
        if model.multiclass in ("max", "sum"):
            own = np.arange(k) == codes[:, None]
            slack = 1.0 + f - f[own][:, None]
            slack[own] = -np.inf
            return slack.max(axis=1) if model.multiclass == "max" else slack
        pairs = combinations(range(k), 2)
        firsts = list(range(k)) if model.multiclass == "rest" else [a for a, _ in pairs]
        return 1.0 - np.where(codes[:, None] == np.array(firsts), 1.0, -1.0) * f
