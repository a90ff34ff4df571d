"""Logistic regression, closed forms and perceptrons: what they claim, and what is true.

None of them keeps multipliers, so the optimum itself is found, or errors are counted.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from . import closed, hinge, softmax
from .hinge import ZERO
from .intervals import Number, high, low
from .machines import effort
from .read import Unknown, codes_of, costs, gram, matrix, number, rationals, row_weights
from .report import Report, by_truth, refute

# --- logistic regression ------------------------------------------------------------------


def logistic(model, X, y, sample_weight, slack, seconds) -> Report:
    claim, codes = model.certificate_, codes_of(model, y)
    report = Report(f"LogisticRegression: {claim.problem}", "no claim")
    if not math.isfinite(claim.relative_gap):
        return report
    k = len(model.classes_)
    cost = costs(model.C, row_weights(model, codes, sample_weight))
    problem = softmax.pose(matrix(X), codes, k, cost, bool(model.fit_intercept))
    W = dict(zip(problem.blocks, matrix(model.coef_), strict=True))
    b = rationals(model.intercept_)
    b = [ZERO, *b] if k == 2 else b
    if not model.fit_intercept:
        b = [ZERO] * k
    primal = softmax.primal(problem, codes, W, b)
    report.claimed, report.primal = float(max(0.0, claim.gap)), number(primal)
    if effort(problem) > seconds:
        report.verdict = "not confirmed"
        report.notes.append("the optimum was not looked for: that would take long")
        return report
    lower, upper = softmax.enclose(problem, codes, W, b)
    gap, dual = Fraction(max(0.0, claim.gap)), Fraction(claim.dual)
    allowed = slack * max(abs(Fraction(claim.primal)), abs(dual))
    report = by_truth(report, primal, (lower, min(upper, primal.hi)), gap, dual, allowed)
    if report.verdict == "no claim":
        report.verdict = "confirmed" if "the claim is true" in report.notes else "not confirmed"
    return report


# --- closed forms -------------------------------------------------------------------------


def _targets(codes, k: int) -> list[list[Fraction]]:
    if k == 2:
        return [[Fraction(2 * y - 1)] for y in codes]
    return [[Fraction(int(y == c)) for c in range(k)] for y in codes]


def least_squares(model, X, y, sample_weight, slack, seconds) -> Report:
    codes, free = codes_of(model, y), bool(model.fit_intercept)
    s = rationals(row_weights(model, codes, sample_weight))
    rows, T = matrix(X), _targets(codes, len(model.classes_))
    alpha = Fraction(float(getattr(model, "alpha_", 0.0)))  # the linear unit has no ridge
    b = rationals(model.intercept_) if free else [ZERO] * len(T[0])
    value = closed.ridge_value(rows, T, s, alpha, matrix(model.coef_), b)
    return _judge_equations(model, value, closed.ridge_minimum(rows, T, s, alpha, free), slack)


def kernel_ridge(model, X, y, sample_weight, slack, seconds) -> Report:
    if hasattr(model, "classes_"):
        codes = codes_of(model, y)
        T, weight = _targets(codes, len(model.classes_)), row_weights(model, codes, sample_weight)
    else:
        T = matrix(np.asarray(y, dtype=np.float64).reshape(len(y), -1))
        weight = (
            np.ones(len(T)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        )
    K, s, alpha = gram(X, model), rationals(weight), Fraction(float(model.alpha_))
    u = [list(column) for column in zip(*matrix(model.dual_coef_), strict=True)]
    value = closed.kernel_value(K, T, s, alpha, u)
    minimum = closed.kernel_minimum(K, T, s, alpha) if alpha else ZERO
    return _judge_equations(model, value, minimum, slack)


def _judge_equations(model, value: Number, minimum: Fraction, slack: Fraction) -> Report:
    """Objective − minimum against ``excess``; the unit is the objective of the mean alone."""
    claim = model.certificate_
    report = Report(f"{type(model).__name__}: {claim.problem}", "no claim", primal=number(value))
    report.excess = number(low(value) - minimum), number(high(value) - minimum)
    if not math.isfinite(claim.relative_residual):
        return report
    unit = max(Fraction(claim.null_objective), minimum)
    excess = claim.excess if math.isfinite(claim.excess) else 1e-6 * claim.null_objective
    report.claimed = float(excess)
    allowed = Fraction(excess) + slack * unit
    if high(value) - minimum <= allowed:
        report.verdict = "confirmed"
    elif low(value) - minimum > allowed:
        refute(report, "gap", "the equations are further from solved than claimed")
        report.short = number((low(value) - minimum - Fraction(excess)) / unit)
    else:
        report.verdict = "not confirmed"
    return report


def fisher(model, X, y, sample_weight, slack, seconds) -> Report:
    claim, codes, k = model.certificate_, codes_of(model, y), len(model.classes_)
    report = Report(f"FisherDiscriminant: {claim.problem}", "no claim", claimed=claim.relative_gap)
    if model.shrinkage == "auto":
        raise Unknown("the referee does not know Ledoit and Wolf's shrinkage")
    if claim.rank < claim.size or not math.isfinite(claim.relative_gap):
        return report
    s = rationals(row_weights(model, codes, sample_weight))
    mass = [sum((w for w, c in zip(s, codes, strict=True) if c == y), ZERO) for y in range(k)]
    priors = mass if model.priors is None else rationals(model.priors_)
    priors = [each / sum(priors) for each in priors]
    between, within = closed.scatter(matrix(X), codes, k, s, priors)
    within = _spread(model, within)
    J, most = Fraction(claim.criterion[0]) if claim.criterion else ZERO, Fraction(claim.bound)
    direction = [Fraction(row[0]) for row in model.scalings_.tolist()] if claim.criterion else None
    true = closed.criterion(between, within, direction) if direction else ZERO
    report.primal = None if true is None else number(true)
    if not closed.none_above(between, within, most + slack * most):
        refute(report, "bound", f"some direction has a criterion above {claim.bound:.15g}")
    elif true is None or abs(true - J) > (most - J if most > J else ZERO) + slack * J:
        refute(report, "gap", f"claimed J = {number(J):.15g}")
    elif k == 2 and not _as_good(closed.criterion(between, within, rationals(model.coef_[0])), J):
        refute(report, "gap", "coef_ is not the direction that the certificate speaks of")
    else:
        report.verdict = "confirmed"
    return report


def _as_good(found: Fraction | None, J: Fraction) -> bool:
    return not J or (found is not None and found >= J * (1 - Fraction(1, 10**6)))


def _spread(model, within):
    """Σ: the covariance within the classes, or mixed with the mean variance times the identity."""
    d = len(within)
    mean = sum((within[j][j] for j in range(d)), ZERO) / d
    given = 1.0 if model.covariance == "none" else model.shrinkage or 0.0
    mixed = Fraction(float(given))
    if mixed == 1:
        mean = mean or Fraction(1)
    return [
        [(1 - mixed) * within[i][j] + (mixed * mean if i == j else ZERO) for j in range(d)]
        for i in range(d)
    ]


def perceptron(model, X, y, sample_weight, slack, seconds) -> Report:
    """Errors counted with exact scores."""
    claim, codes = model.certificate_, codes_of(model, y)
    W, b = matrix(model.coef_), rationals(model.intercept_)
    wrong = 0
    for x, own in zip(matrix(X), codes, strict=True):
        s = [hinge.dot(w, x) + each for w, each in zip(W, b, strict=True)]
        guess = int(s[0] > 0) if len(model.classes_) == 2 else s.index(max(s))
        wrong += guess != own
    report = Report(f"Perceptron: {claim.points} points, {claim.wrong} wrong", "confirmed")
    if wrong != claim.wrong or len(codes) != claim.points:
        refute(report, "gap", f"{wrong} of {len(codes)} points are wrong")
    return report
