"""Random problems of which rows are left out: every estimator and form, every bad shape."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from maxmargin import (
    FisherDiscriminant,
    KernelSVM,
    KernelSVMCV,
    LeastSquaresClassifier,
    LinearSVM,
    LinearSVMCV,
    LogisticRegression,
    LogisticRegressionCV,
)

RULES = ("max", "sum", "rest", "pairs")
# With three classes; of ridge and Fisher half of the problems have them.
THREE = {
    *RULES, *(f"squared-{rule}" for rule in RULES), *(f"rbf-{rule}" for rule in RULES),
    "poly-rest", "softmax", "pairs-cv", "softmax-cv",
}  # fmt: skip
KINDS = (
    "hinge", "squared", "none", "squared-none", "penalized", "hard", *sorted(THREE),
    "logistic", "least-squares", "ridge", "fisher", "shrunk", "rbf", "hinge-cv", "squared-cv",
    "logistic-cv", "rbf-cv",
)  # fmt: skip
# Those that are fitted for every row have fewer rows.
SLOW = {kind for kind in KINDS if kind in THREE or kind.endswith("-cv")}
NO_SPARSE = {"fisher", "shrunk"}
MIN_ROWS_PER_CLASS, MAX_ROWS, MAX_SLOW_ROWS = 3, 40, 16


class Case(NamedTuple):
    """A model, not fitted, and its data."""

    kind: str
    model: object
    X: object
    y: np.ndarray
    weight: np.ndarray | None


def random_case(seed: int, kinds=KINDS) -> Case:
    """The same case for the same seed, whatever the machine."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(kinds))
    model = _model(kind, float(10.0 ** rng.uniform(-4, 4)), rng)
    three = kind in THREE or (kind in ("ridge", "fisher") and rng.random() < 0.5)
    k = 3 if three else 2
    most = MAX_SLOW_ROWS if kind in SLOW else MAX_ROWS
    n, d = int(rng.integers(MIN_ROWS_PER_CLASS * k, most)), int(rng.integers(1, 6))
    X, codes = _points(rng, n, d, k, separable=kind == "hard")
    weight = _weights(rng, n, k)
    if rng.random() < 0.2 and kind not in NO_SPARSE:
        X = sparse.csr_matrix(X)
    elif rng.random() < 0.1:
        X = X.astype(np.float32)
    labels = np.array(["ant", "bee", "cat"])[codes] if rng.random() < 0.3 else codes
    return Case(kind, model, X, labels, weight)


def _model(kind: str, C: float, rng):
    given = {"C": C, "class_weight": "balanced" if rng.random() < 0.1 else None}
    gamma = float(10.0 ** rng.uniform(-1, 1))
    first, _, rule = kind.partition("-")
    if kind in RULES:
        return LinearSVM(multiclass=kind, **given)
    if rule in RULES:
        if first == "squared":
            return LinearSVM(loss="squared_hinge", multiclass=rule, **given)
        return KernelSVM(gamma=gamma, tol=1e-6, multiclass=rule, **given)
    if rule == "cv":
        return _search(first, C, gamma)
    return _other(kind, C, gamma, given)


def _search(kind: str, C: float, gamma: float):
    """Two values of C, one of them far from the other, and two folds."""
    given = {"Cs": [C, 10.0 * C], "cv": 2}
    return {
        "hinge": LinearSVMCV(**given),
        "squared": LinearSVMCV(loss="squared_hinge", **given),
        "pairs": LinearSVMCV(multiclass="pairs", **given),
        "logistic": LogisticRegressionCV(**given),
        "softmax": LogisticRegressionCV(**given),
        "rbf": KernelSVMCV(gamma=gamma, tol=1e-6, **given),
    }[kind]


def _other(kind: str, C: float, gamma: float, given: dict):
    balanced = given["class_weight"]
    return {
        "hinge": LinearSVM(**given),
        "squared": LinearSVM(loss="squared_hinge", **given),
        "none": LinearSVM(fit_intercept=False, **given),
        "squared-none": LinearSVM(loss="squared_hinge", fit_intercept=False, **given),
        "penalized": LinearSVM(penalize_bias=True, **given),
        "hard": LinearSVM(C=np.inf),
        "logistic": LogisticRegression(**given),
        "softmax": LogisticRegression(**given),
        "least-squares": LeastSquaresClassifier(class_weight=balanced),
        "ridge": LeastSquaresClassifier(alpha=1.0 / C, class_weight=balanced),
        "fisher": FisherDiscriminant(),
        "shrunk": FisherDiscriminant(shrinkage=0.3),
        "rbf": KernelSVM(gamma=gamma, tol=1e-6, **given),
        "poly-rest": KernelSVM(kernel="poly", degree=2, gamma=gamma, multiclass="rest", **given),
    }[kind]


def _weights(rng, n: int, k: int) -> np.ndarray | None:
    """None, small integers, or fractions with some rows of weight zero, but two of each class."""
    kind = rng.random()
    if kind < 0.7:
        return None
    if kind < 0.85:
        return rng.integers(1, 4, n).astype(float)
    weight = rng.uniform(0.1, 3.0, n)
    weight[2 * k :][rng.random(n - 2 * k) < 0.2] = 0.0
    return weight


def _points(rng, n: int, d: int, k: int, separable: bool) -> tuple[np.ndarray, np.ndarray]:
    """Points of every class, some of them on a grid, repeated, or in a subspace."""
    few = MIN_ROWS_PER_CLASS
    codes = np.concatenate([np.tile(np.arange(k), few), rng.integers(k, size=n - few * k)])
    X = rng.standard_normal((n, d)) + (4.0 if separable else rng.uniform(0, 2)) * codes[:, None]
    if separable:
        return X, codes
    shape = rng.random()
    if shape < 0.2:
        X = np.round(X)
    elif shape < 0.35:
        X = X[rng.integers(n, size=n)]
    elif shape < 0.45:
        X[:, -1] = X[:, 0]
    elif shape < 0.5:
        X[:] = X[0]
    return X * 10.0 ** rng.uniform(-1, 1), codes
