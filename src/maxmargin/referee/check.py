"""A fitted model's certificate, checked in exact arithmetic.

    claimed     optimum ≥ dual   and   objective of the model − optimum ≤ gap
    confirmed   the model's own multipliers prove both, exactly (logistic regression and closed
                forms keep none: there the optimum itself is found)
    not confirmed   they do not: the claim may be true, but this does not show it
    refuted     a better model, or the exact optimum, contradicts the claim
    no claim    the certificate itself says that nothing is proved

Data, weights and multipliers are floating-point numbers, and those are rationals: nothing here is
rounded but exp, log and roots, which are enclosed.  Of the library only the numbers of the fitted
model are used, none of its code.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from . import formulas, machines
from .read import Unknown, codes_of
from .report import VERDICTS, Report


def check(model, X, y, sample_weight=None, slack: float = 0.0, seconds: float = math.inf) -> Report:
    """Check ``model.certificate_`` on its training data.

    ``slack`` is forgiven, relative to the objective.  ``seconds``: the optimum is looked for only
    if that takes less, by a rough estimate.
    """
    name = type(model).__name__
    if name in ("OneVsRest", "OneVsOne"):
        return _reduction(model, X, y, sample_weight, slack, seconds)
    if name not in _CHECKS:
        raise Unknown(f"the referee does not know the certificate of a {name}")
    return _CHECKS[name](model, X, y, sample_weight, Fraction(slack), seconds)


def _reduction(model, X, y, sample_weight, slack, seconds) -> Report:
    """Every classifier by itself; the worst verdict speaks for all."""
    codes, k = np.array(codes_of(model, y)), len(model.classes_)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    questions = []
    if type(model).__name__ == "OneVsOne":
        for a, c in combinations(range(k), 2):
            some = np.flatnonzero((codes == a) | (codes == c))
            questions.append((some, (codes[some] == c).astype(int)))
    else:
        wanted = range(k) if len(model.estimators_) == k else [1]
        questions = [(np.arange(len(codes)), (codes == c).astype(int)) for c in wanted]
    reports = []
    for machine, (some, target) in zip(model.estimators_, questions, strict=True):
        weight = None if sample_weight is None else np.asarray(sample_weight)[some]
        reports.append(check(machine, X[some], target, weight, slack, seconds))
    worst = max(reports, key=lambda report: VERDICTS.index(report.verdict))
    worst.notes.append(f"the worst of {len(reports)} classifiers")
    return worst


_CHECKS = {
    "LinearSVM": machines.svm,
    "KernelSVM": machines.svm,
    "PairwiseRanker": machines.pairwise,
    "LabelRanker": machines.label_ranker,
    "LogisticRegression": formulas.logistic,
    "LeastSquaresClassifier": formulas.least_squares,
    "LinearUnit": formulas.least_squares,
    "KernelRidge": formulas.kernel_ridge,
    "KernelRidgeClassifier": formulas.kernel_ridge,
    "FisherDiscriminant": formulas.fisher,
    "Perceptron": formulas.perceptron,
}
