"""Support vector machines and rankers: their problems, and whether their multipliers prove them.

Two classes are one problem; "rest" and "pairs" are sums of such, whose gaps add up; "max", "sum"
and rankings of labels are one problem of k classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from . import hinge, optimum
from .hinge import ZERO, Demand, HingeProblem
from .intervals import high
from .read import Unknown, codes_of, costs, gram, matrix, number, rationals, row_weights
from .report import Report, by_truth, refute

# What a claim says that is about coefficients which are not its multipliers.
OF_FUNCTION = "the function's objective"


@dataclass
class HingePoint:
    """One hinge problem with its weights and multipliers."""

    problem: HingeProblem
    weights: hinge.Weights
    b: list[Fraction]
    gamma: list[Fraction]


class HingeRows(NamedTuple):
    """What all problems of a model share: rows or their Gram matrix, costs, loss and bias."""

    rows: Any
    gram: Any
    cost: list[Fraction]
    squared: bool
    free_bias: bool

    def some(self, which: list[int]) -> HingeRows:
        rows = None if self.rows is None else [self.rows[i] for i in which]
        gram = None if self.gram is None else [[self.gram[i][j] for j in which] for i in which]
        return self._replace(rows=rows, gram=gram, cost=[self.cost[i] for i in which])

    def problem(self, k: int, demands: list[Demand], cost: list[Fraction]) -> HingeProblem:
        return HingeProblem(k, demands, cost, self.rows, self.gram, self.squared, self.free_bias)


def _two_class_case(own: HingeRows, positive, w, b, alpha) -> HingePoint:
    """``w``: weights, under a kernel the coefficients of all rows; None: those of α."""
    demands = [Demand(i, int(up), int(not up), i) for i, up in enumerate(positive)]
    problem = own.problem(2, demands, own.cost)
    gamma = rationals(alpha)
    weights = _weights(problem, None if w is None else {1: w}, gamma)
    return HingePoint(problem, weights, [ZERO, Fraction(b) if own.free_bias else ZERO], gamma)


def _weights(problem: HingeProblem, w: dict[int, list[Fraction]] | None, gamma) -> hinge.Weights:
    if w is None:
        return hinge.expanded(problem, hinge.combined(problem, gamma))
    return hinge.expanded(problem, w) if problem.rows is None else hinge.explicit(problem, w)


def _bias(model) -> str:
    if not getattr(model, "fit_intercept", True):
        return "none"
    return "penalized" if getattr(model, "penalize_bias", False) else "free"


def _svm_cases(model, X, codes, weight) -> list[HingePoint]:
    """The problems whose sum the model solves, in the order of its machines."""
    k, kernel = len(model.classes_), hasattr(model, "kernel")
    if kernel and model.rank is not None:
        raise Unknown("the referee does not judge a Nyström approximation")
    rows: Any = None if kernel else matrix(X)
    K: Any = gram(X, model) if kernel else None
    bias, squared = _bias(model), getattr(model, "loss", "hinge") == "squared_hinge"
    W: Any = _coefficients(model, len(codes)) if kernel else matrix(model.coef_)
    intercept = rationals(model.intercept_)
    if bias == "penalized":  # a column of ones, whose weight is the bias
        rows = [[*row, Fraction(1)] for row in rows]
        W = [[*w, b] for w, b in zip(W, intercept, strict=True)]
    everything = HingeRows(rows, K, costs(model.C, weight), squared, bias == "free")
    if k > 2 and model.multiclass in ("max", "sum"):
        return [_joint_case(model, everything, codes, W, intercept)]
    machines = _machines(model, codes)
    alpha = _multipliers(model, (len(codes), len(machines)))
    cases = []
    for q, (some, positive) in enumerate(machines):
        own = everything.some(some)
        w = None if W is None else [W[q][i] for i in some] if kernel else W[q]
        cases.append(_two_class_case(own, positive, w, intercept[q], alpha[some, q]))
    return cases


def _coefficients(model, n: int) -> Any:
    """Of every machine those of all rows; None where they are the multipliers, whose sums over
    several classes are then meant without rounding, or where the model does not tell."""
    joint = len(model.classes_) > 2 and model.multiclass in ("max", "sum")
    if not hasattr(model, "dual_coef_") or (joint and OF_FUNCTION not in model.certificate_.method):
        return None
    u = np.zeros((len(model.dual_coef_), n))
    u[:, np.asarray(model.support_, dtype=int)] = model.dual_coef_
    return matrix(u)


def _multipliers(model, shape: tuple[int, int]) -> np.ndarray:
    """Those of the model; zeros where it has none, as after a streamed fit."""
    found = getattr(model, "alpha_", None)
    return np.zeros(shape) if found is None else np.asarray(found, dtype=float).reshape(shape)


def _machines(model, codes) -> list[tuple[list[int], list[bool]]]:
    """Of every two-class machine its rows, and which of them are on the positive side."""
    k, all_rows = len(model.classes_), list(range(len(codes)))
    if k == 2:
        return [(all_rows, [y == 1 for y in codes])]
    if model.multiclass == "rest":
        return [(all_rows, [y == c for y in codes]) for c in range(k)]
    found = []
    for a, c in combinations(range(k), 2):
        some = [i for i in all_rows if codes[i] in (a, c)]
        found.append((some, [codes[i] == a for i in some]))
    return found


def _joint_case(model, own: HingeRows, codes, W, intercept) -> HingePoint:
    k = len(model.classes_)
    beta = matrix(_multipliers(model, (len(codes), k)))
    demands, groups, gamma = [], [], []
    for i, y in enumerate(codes):
        if model.multiclass == "max":
            groups.append(own.cost[i])
        for c in (c for c in range(k) if c != y):
            if model.multiclass == "sum":
                groups.append(own.cost[i])
            demands.append(Demand(i, y, c, len(groups) - 1))
            gamma.append(beta[i][c])
    problem = own.problem(k, demands, groups)
    weights = _weights(problem, None if W is None else dict(enumerate(W)), gamma)
    return HingePoint(problem, weights, intercept if own.free_bias else [ZERO] * k, gamma)


def svm(model, X, y, sample_weight, slack, seconds) -> Report:
    codes = codes_of(model, y)
    cases = _svm_cases(model, X, codes, row_weights(model, codes, sample_weight))
    return _judge_hinge(model, cases, slack, seconds)


def _judge_hinge(model, cases: list[HingePoint], slack: Fraction, seconds: float) -> Report:
    """By the model's multipliers; where they do not suffice, by the optimum."""
    claim = model.certificate_
    report = Report(f"{type(model).__name__}: {claim.problem}", "no claim")
    if not math.isfinite(claim.relative_gap):
        return report
    if not math.isfinite(claim.dual):
        return refute(report, "bound", f"claimed that no model is below {claim.dual}")
    gap, dual = Fraction(max(0.0, claim.gap)), Fraction(claim.dual)
    allowed = slack * max(abs(Fraction(claim.primal)), abs(dual))
    report.claimed = number(gap)
    values: list[Any] = [hinge.primal(case.problem, case.weights, case.b) for case in cases]
    if any(value is None for value in values):
        return refute(report, "gap", "a hard margin that is none: a row lies on the wrong side")
    primal = sum(values, ZERO)
    report.primal = number(primal)
    bound = sum((hinge.bound(case.problem, case.gamma) for case in cases), ZERO)
    report.true_gap = number(high(primal) - bound)
    if high(primal) - bound <= gap + allowed and dual <= bound + allowed:
        report.verdict = "confirmed"
        return report
    report.verdict = "not confirmed"
    if sum(effort(case.problem) for case in cases) > seconds:
        report.notes.append("the optimum was not looked for: that would take long")
        return report
    ends: list[Any] = [optimum.enclose(case.problem) for case in cases]
    lower = max(bound, sum((lo for lo, _ in ends), ZERO))
    upper = high(primal)
    if all(hi is not None for _, hi in ends):
        upper = min(upper, sum((hi for _, hi in ends), ZERO))
    return by_truth(report, primal, (lower, upper), gap, dual, allowed)


def effort(problem: HingeProblem) -> float:
    """Rough seconds to enclose the optimum."""
    d = problem.n if problem.rows is None else len(problem.rows[0])
    return rough_seconds(len(problem.demands), d * len(problem.blocks) + problem.k)


def rough_seconds(demands: int, unknowns: int) -> float:
    """Of the interior point method: all steps, in Python."""
    return 2e-3 * demands * (1 + unknowns**2 / 100) + 2e-5 * unknowns**3


# --- rankers ------------------------------------------------------------------------------


def pairwise(model, X, y, sample_weight, slack, seconds) -> Report:
    """``y``: rows (winner, loser[, weight])."""
    rows, pairs = matrix(X), np.asarray(y, dtype=np.float64)
    if pairs.ndim != 2 or not hasattr(model, "alpha_"):
        raise Unknown("the referee judges a PairwiseRanker by listed pairs only")
    winner, loser = pairs[:, 0].astype(int), pairs[:, 1].astype(int)
    each = pairs[:, 2] if pairs.shape[1] > 2 else np.ones(len(pairs))
    if sample_weight is not None:
        weight = np.asarray(sample_weight, dtype=np.float64)
        each = each * weight[winner] * weight[loser]
    gaps = [
        [a - b for a, b in zip(rows[u], rows[v], strict=True)]
        for u, v in zip(winner, loser, strict=True)
    ]
    own = HingeRows(gaps, None, costs(model.C, each), squared=False, free_bias=False)
    case = _two_class_case(own, [True] * len(gaps), rationals(model.coef_), 0.0, model.alpha_)
    return _judge_hinge(model, [case], slack, seconds)


def label_ranker(model, X, y, sample_weight, slack, seconds) -> Report:
    """``y``: rows (example, preferred, other[, weight]), or one label per example."""
    rows, labels = matrix(X), model.classes_.tolist()
    place = {label: i for i, label in enumerate(labels)}
    if np.ndim(y) == 1 and not isinstance(y[0], tuple | list):
        table = [
            (i, own, c) for i, own in enumerate(np.asarray(y).tolist()) for c in labels if c != own
        ]
    else:
        table = [tuple(row) for row in y]
    weight = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    pairs = []
    more: list
    for example, best, other, *more in table:
        each = float(model.C) * float(more[0] if more else 1.0) * float(weight[int(example)])
        if each > 0:
            pairs.append((int(example), place[best], place[other], Fraction(each)))
    pairs.sort(key=lambda pair: pair[0])
    demands = [Demand(i, a, b, p) for p, (i, a, b, _) in enumerate(pairs)]
    # Two classes, too, have a weight vector each: a third, which no pair names, says so.
    k = max(3, len(labels))
    problem = HingeProblem(k, demands, [c for *_, c in pairs], rows, free_bias=model.fit_intercept)
    spare = k - len(labels)
    W = dict(enumerate(matrix(model.coef_) + [[ZERO] * len(rows[0])] * spare))
    b = rationals(model.intercept_) + [ZERO] * spare if model.fit_intercept else [ZERO] * k
    case = HingePoint(problem, hinge.explicit(problem, W), b, rationals(model.alpha_))
    return _judge_hinge(model, [case], slack, seconds)
