"""Problems for the referee: small enough for exact arithmetic, and not all of them friendly.

``problem(seed, number, family)`` is always the same problem.  A family says what the data are
like; estimator and options are drawn for each problem anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

import maxmargin

FLOAT_LABELS = {"inf": np.inf}


@dataclass
class Posed:
    """Data, an estimator by name, and its parameters: everything that a fit depends on."""

    family: str
    estimator: str
    params: dict[str, Any]
    X: np.ndarray
    y: list
    weight: list[float] | None = None
    sparse: bool = False
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The estimator and what sets its problem apart from its others."""
        p = self.params
        if self.estimator == "LinearSVM":
            form = p["multiclass"] if len(set(self.y)) > 2 else "two"
            return f"LinearSVM {form}"
        if self.estimator == "KernelSVM":
            return f"KernelSVM {p['kernel']}"
        return self.estimator

    def data(self):
        return sparse.csr_matrix(self.X) if self.sparse else self.X

    def model(self):
        params = dict(self.params)
        if self.estimator in ("OneVsRest", "OneVsOne"):
            return getattr(maxmargin, self.estimator)(maxmargin.LinearSVM(**params))
        return getattr(maxmargin, self.estimator)(**params)

    def fit(self):
        given = {} if self.weight is None else {"sample_weight": np.array(self.weight)}
        return self.model().fit(self.data(), self.targets(), **given)

    def targets(self):
        if self.estimator in ("PairwiseRanker", "LabelRanker"):
            return [tuple(row) for row in self.y]
        return np.array(self.y)

    def to_dict(self) -> dict:
        C = self.params.get("C")
        params = self.params | ({"C": "inf"} if np.inf == C else {})
        return {
            "family": self.family,
            "estimator": self.estimator,
            "params": params,
            "dtype": str(self.X.dtype),
            "X": self.X.tolist(),
            "y": [list(row) if isinstance(row, tuple) else row for row in self.y],
            "weight": self.weight,
            "sparse": self.sparse,
        } | self.notes

    @classmethod
    def from_dict(cls, told: dict) -> Posed:
        params = dict(told["params"])
        if params.get("C") == "inf":
            params["C"] = np.inf
        X = np.array(told["X"], dtype=told["dtype"])
        return cls(
            told["family"], told["estimator"], params, X, told["y"], told["weight"], told["sparse"]
        )


# --- data ---------------------------------------------------------------------------------


def ordinary(rng, n, d):
    return rng.standard_normal((n, d))


def integers(rng, n, d):
    """Ties and repeated rows."""
    X = rng.integers(-2, 3, (n, d)).astype(float)
    return X[rng.integers(0, n, n)] if rng.random() < 0.5 else X


def far(rng, n, d):
    """Far from the origin, in all columns or in one."""
    offset = 10.0 ** rng.integers(4, 15) * (rng.random(d) < 0.7)
    X = rng.standard_normal((n, d))
    return (np.round(8 * X) / 8 if rng.random() < 0.5 else X) + offset


def scales(rng, n, d):
    """Columns of very different size."""
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-8, 8, d)


def outlier(rng, n, d):
    """A row or two far out."""
    X = rng.standard_normal((n, d))
    X[rng.integers(0, n, 2)] *= 10.0 ** rng.integers(3, 9)
    return X


def constant(rng, n, d):
    """Columns that tell nothing."""
    X = rng.standard_normal((n, d))
    X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 1e6])
    return X


def near(rng, n, d):
    """Rows that are almost the same."""
    X = rng.standard_normal((n, d))[rng.integers(0, max(2, n // 3), n)]
    return X + 10.0 ** rng.integers(-15, -5) * rng.standard_normal((n, d))


def extreme(rng, n, d):
    """All of it very large or very small."""
    return rng.standard_normal((n, d)) * 10.0 ** rng.choice([-170, -100, -30, 30, 100, 150])


SHAPES = {
    "ordinary": ordinary,
    "integers": integers,
    "far": far,
    "scales": scales,
    "outlier": outlier,
    "constant": constant,
    "near": near,
    "extreme": extreme,
    "large C": ordinary,
    "hard": ordinary,
    "float32": ordinary,
    "weights": ordinary,
    "wide": ordinary,
    "sparse": ordinary,
}
FAMILIES = tuple(SHAPES)

ESTIMATORS = {
    "LinearSVM": 8,
    "KernelSVM": 4,
    "LogisticRegression": 3,
    "LeastSquaresClassifier": 2,
    "FisherDiscriminant": 1,
    "KernelRidgeClassifier": 1,
    "KernelRidge": 1,
    "PairwiseRanker": 2,
    "LabelRanker": 2,
    "OneVsRest": 1,
    "OneVsOne": 1,
    "Perceptron": 1,
}
MIXTURES = ("far", "scales", "outlier", "near")


def problem(seed: int, number: int, family: str, estimator: str | None = None) -> Posed:
    """The problem of this number."""
    rng = np.random.default_rng([seed, number, FAMILIES.index(family)])
    if estimator is None:
        names, shares = list(ESTIMATORS), np.array(list(ESTIMATORS.values()), dtype=float)
        estimator = str(rng.choice(names, p=shares / shares.sum()))
    n, d = int(rng.integers(5, 25)), int(rng.integers(1, 5))
    k = int(rng.choice([2, 2, 3, 4]))
    if family == "wide":
        n, d = int(rng.integers(3, 6)), int(rng.integers(6, 9))
        k = min(k, 3)
    if estimator in ("KernelSVM", "KernelRidge", "KernelRidgeClassifier"):
        n = min(n, 14 if k == 2 else 9)
    X = SHAPES[family](rng, n, d)
    if family in ("large C", "hard", "float32", "weights") and rng.random() < 0.3:
        X = SHAPES[str(rng.choice(MIXTURES))](rng, n, d)  # two evils at once
    if family == "sparse":
        X = X * (rng.random((n, d)) < 0.4)
    if family == "float32":
        X = X.astype(np.float32)
    y = _labels(rng, X, k, family)
    params = PARAMETERS[estimator](rng, family, k)
    weight = _weights(rng, n, y) if family == "weights" and estimator != "Perceptron" else None
    if family == "weights" and weight is None and estimator in ("LinearSVM", "LogisticRegression"):
        params["class_weight"] = "balanced"
    if estimator == "PairwiseRanker":
        y, weight = _object_pairs(rng, X, n, family), None
    elif estimator == "LabelRanker":
        y = _label_pairs(rng, n, max(k, 2))
    elif estimator == "KernelRidge":
        y = rng.standard_normal(n).tolist()
    return Posed(family, estimator, params, X, y, weight, family == "sparse")


def _labels(rng, X, k: int, family: str) -> list[int]:
    """Classes that a line tells apart, mostly or exactly; each of them occurs."""
    n = len(X)
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    score = Z.astype(float) @ rng.standard_normal((X.shape[1], k))
    if family != "hard":
        score += rng.choice([0.3, 3.0]) * rng.standard_normal((n, k))
    y = score.argmax(axis=1)
    if len(np.unique(y)) < k and family != "hard":
        y[rng.permutation(n)[:k]] = np.arange(k)
    if len(np.unique(y)) < 2:
        y[int(np.argmax(score[:, 0] - score[:, 1]))] = 0
        y[int(np.argmin(score[:, 0] - score[:, 1]))] = 1
    return y.tolist()


def _weights(rng, n: int, y) -> list[float] | None:
    """Whole and broken ones, and some zeros that leave every class an example."""
    if rng.random() < 0.3:
        return None
    weight = rng.choice([0.0, 0.5, 1.0, 2.0, 7.3], n)
    for c in set(y):
        weight[y.index(c)] = 1.0
    return weight.tolist()


def _object_pairs(rng, X, n: int, family: str) -> list[tuple]:
    better = (X.astype(float) - X.mean(axis=0)) @ rng.standard_normal(X.shape[1])
    if family != "hard":
        better = better * rng.choice([0.5, 1.0, -1.0], n)
    pairs = []
    for _ in range(2 * n):
        u, v = rng.choice(n, 2, replace=False).tolist()
        if better[u] < better[v]:
            u, v = v, u
        if better[u] > better[v]:
            pairs.append((u, v))
    return pairs or [(0, 1)]


def _label_pairs(rng, n: int, k: int) -> list[tuple]:
    pairs = []
    for i in range(n):
        for _ in range(int(rng.integers(1, 3))):
            a, b = rng.choice(k, 2, replace=False).tolist()
            pairs.append((i, a, b))
    return [*pairs, *((0, c, (c + 1) % k) for c in range(k))]


# --- options ------------------------------------------------------------------------------


def _C(rng, family: str) -> float:
    if family == "hard":
        return np.inf
    if family == "large C":
        return float(10.0 ** rng.integers(6, 10))
    if family == "far":
        return float(10.0 ** rng.integers(0, 7))
    return float(10.0 ** rng.integers(-2, 4))


def _linear_svm(rng, family, k):
    bias = rng.choice(["free", "free", "free", "none", "penalized"])
    return {
        "C": _C(rng, family),
        "loss": "hinge"
        if family == "hard"
        else str(rng.choice(["hinge", "hinge", "squared_hinge"])),
        "multiclass": str(rng.choice(["max", "sum", "rest", "pairs"])),
        "fit_intercept": bool(bias != "none"),
        "penalize_bias": bool(bias == "penalized"),
        "tol": float(rng.choice([1e-6, 1e-6, 1e-9])),
        "max_seconds": 3.0,
    }


def _kernel_svm(rng, family, k):
    return {
        "C": _C(rng, family),
        "kernel": str(rng.choice(["rbf", "rbf", "poly", "linear", "laplacian", "cosine"])),
        "gamma": "scale" if rng.random() < 0.5 else float(rng.choice([0.37, 1.0])),
        "degree": int(rng.integers(2, 4)),
        "coef0": float(rng.choice([0.0, 1.0])),
        "multiclass": str(rng.choice(["pairs", "rest", "max", "sum"])),
        "tol": float(rng.choice([1e-3, 1e-9])),
        "max_seconds": 3.0,
    }


def _logistic(rng, family, k):
    C = min(_C(rng, family), 1e8)
    return {"C": C, "fit_intercept": bool(rng.random() < 0.8), "max_seconds": 3.0}


def _least_squares(rng, family, k):
    return {
        "alpha": float(rng.choice([0.0, 1e-3, 1.0])),
        "fit_intercept": bool(rng.random() < 0.8),
    }


def _kernel_ridge(rng, family, k):
    return {
        "alpha": float(rng.choice([1e-6, 1e-2, 1.0])),
        "kernel": str(rng.choice(["rbf", "poly", "linear", "laplacian"])),
        "gamma": "scale" if rng.random() < 0.5 else 0.37,
    }


def _fisher(rng, family, k):
    return {
        "covariance": str(rng.choice(["within", "within", "within", "none"])),
        "shrinkage": [None, None, 0.25][int(rng.integers(3))],
        "threshold": str(rng.choice(["priors", "midpoint"])),
    }


def _ranker(rng, family, k):
    return {"C": _C(rng, family), "max_seconds": 3.0}


def _label_ranker(rng, family, k):
    C = min(_C(rng, family), 1e8)
    return {"C": C, "fit_intercept": bool(rng.random() < 0.8), "max_seconds": 3.0}


def _machine(rng, family, k):
    return {"C": _C(rng, family), "max_seconds": 3.0}


def _perceptron(rng, family, k):
    return {"order": "cycle", "max_passes": 50}


PARAMETERS = {
    "LinearSVM": _linear_svm,
    "KernelSVM": _kernel_svm,
    "LogisticRegression": _logistic,
    "LeastSquaresClassifier": _least_squares,
    "FisherDiscriminant": _fisher,
    "KernelRidgeClassifier": _kernel_ridge,
    "KernelRidge": _kernel_ridge,
    "PairwiseRanker": _ranker,
    "LabelRanker": _label_ranker,
    "OneVsRest": _machine,
    "OneVsOne": _machine,
    "Perceptron": _perceptron,
}
