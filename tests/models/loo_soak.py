"""Leaving one out against a fit for every row, on random problems of all kinds.

    python -m tests.models.loo_soak --most 1000 --seed 0

Prints what differs, and exits with 1 if a label is wrong or a score further off than was told.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from maxmargin import (
    FisherDiscriminant,
    KernelSVM,
    LeastSquaresClassifier,
    LinearSVM,
    LogisticRegression,
    NotSeparableError,
    leave_one_out,
)
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.left_out.answer import distance_bound, score_reach
from maxmargin.models.fitting import linear_scores

KINDS = (
    "hinge", "squared", "none", "penalized", "hard", "max", "sum", "rest", "pairs", "squared-max",
    "logistic", "softmax", "least-squares", "ridge", "fisher", "shrunk", "rbf", "rbf-pairs",
    "poly-rest",
)  # fmt: skip
SLOW = {"max", "sum", "squared-max", "softmax", "rbf-pairs", "poly-rest"}


class Case(NamedTuple):
    """A model, not fitted, and its data."""

    kind: str
    model: object
    X: object
    y: np.ndarray
    weight: np.ndarray | None


class Finding(NamedTuple):
    """How many labels are wrong, and by how much the worst score is beyond its tolerance."""

    wrong: int
    beyond: float


def random_case(seed: int, kinds=KINDS) -> Case:
    """The same case for the same seed, whatever the machine."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(kinds))
    C = float(10.0 ** rng.uniform(-4, 4))
    model = _model(kind, C, rng)
    k = 3 if kind in ("max", "sum", "rest", "pairs", "squared-max", "softmax", "poly-rest") else 2
    k = 3 if kind == "rbf-pairs" or (kind in ("ridge", "fisher") and rng.random() < 0.5) else k
    n, d = int(rng.integers(3 * k, 16 if kind in SLOW else 40)), int(rng.integers(1, 6))
    X, codes = _points(rng, n, d, k, separable=kind == "hard")
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None
    if rng.random() < 0.2 and kind not in ("fisher", "shrunk"):
        X = sparse.csr_matrix(X)
    elif rng.random() < 0.1:
        X = X.astype(np.float32)
    labels = np.array(["ant", "bee", "cat"])[codes] if rng.random() < 0.3 else codes
    return Case(kind, model, X, labels, weight)


def _model(kind: str, C: float, rng):
    balanced = "balanced" if rng.random() < 0.1 else None
    given = {"C": C, "class_weight": balanced}
    if kind in ("max", "sum", "rest", "pairs"):
        return LinearSVM(multiclass=kind, **given)
    gamma = float(10.0 ** rng.uniform(-1, 1))
    return {
        "hinge": LinearSVM(**given),
        "squared": LinearSVM(loss="squared_hinge", **given),
        "none": LinearSVM(fit_intercept=False, **given),
        "penalized": LinearSVM(penalize_bias=True, **given),
        "hard": LinearSVM(C=np.inf),
        "squared-max": LinearSVM(loss="squared_hinge", **given),
        "logistic": LogisticRegression(C=min(C, 100.0), class_weight=balanced),
        "softmax": LogisticRegression(C=min(C, 100.0), class_weight=balanced),
        "least-squares": LeastSquaresClassifier(class_weight=balanced),
        "ridge": LeastSquaresClassifier(alpha=1.0 / C, class_weight=balanced),
        "fisher": FisherDiscriminant(),
        "shrunk": FisherDiscriminant(shrinkage=0.3),
        "rbf": KernelSVM(gamma=gamma, tol=1e-6, **given),
        "rbf-pairs": KernelSVM(gamma=gamma, tol=1e-6, **given),
        "poly-rest": KernelSVM(kernel="poly", degree=2, gamma=gamma, multiclass="rest", **given),
    }[kind]


def _points(rng, n: int, d: int, k: int, separable: bool) -> tuple[np.ndarray, np.ndarray]:
    """Points of every class, some of them on a grid, repeated, or in a subspace."""
    codes = np.concatenate([np.tile(np.arange(k), 3), rng.integers(k, size=n - 3 * k)])
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


def check(case: Case) -> Finding | None:
    """Fit with all rows, leave each out, and fit without each; None where there is no such fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = clone(case.model).fit(case.X, case.y, case.weight)
        except (NotSeparableError, ValueError):
            return None
        found = leave_one_out(model, case.X, case.y, case.weight)
        wrong, beyond = 0, -np.inf
        for i in range(len(case.y)):
            other, f, own = _fitted_without(model, case, i)
            pairs = getattr(model, "multiclass", "") == "pairs" and np.ndim(f) == 1
            apart = float(np.abs(np.atleast_1d(f - found.scores[i])).max())
            room = own + float(found.tolerance[i])
            if not pairs:
                beyond = max(beyond, apart - room)
            label = model.classes_[int(f > 0) if np.ndim(f) == 0 else int(f.argmax())]
            duels = _duels(other, case.X[[i]]) if pairs else f
            wrong += bool(label != found.labels[i] and _clear(duels, room, pairs))
    return Finding(wrong, beyond)


def _duels(model, X) -> np.ndarray:
    """The scores of the machines of all pairs."""
    if isinstance(model, KernelSVM):
        return (model._expansion.scores(model._expansion.prepare(X)) + model.intercept_)[0]
    return linear_scores(model, X)[0]


def _clear(f, room: float, pairs: bool) -> bool:
    """Whether the best score is ahead by more than the two answers may differ."""
    if np.ndim(f) == 0 or pairs:
        return bool(np.abs(f).min() > room)
    first, second = np.sort(f)[::-1][:2]
    return bool(first - second > 2.0 * room)


def _fitted_without(model, case: Case, i: int) -> tuple:
    """A fit without row i, its scores of the row, and how far they can be from the optimum's."""
    rest = np.arange(len(case.y)) != i
    weight = _weights(model, case)
    other = clone(model)
    for name, value in {"tol": 1e-12, "class_weight": None, "gamma": None}.items():
        if name in other.get_params():
            other.set_params(**{name: model.gamma_ if name == "gamma" else value})
    other.fit(case.X[rest], case.y[rest], None if weight is None else weight[rest])
    f = other.decision_function(case.X[[i]])[0]
    proof = other.certificate_
    if not hasattr(proof, "dual"):
        return other, f, 1e-9 * max(1.0, proof.condition) * (1.0 + float(np.abs(f).max()))
    if isinstance(model, KernelSVM):
        reach = 2.0 * float(np.sqrt(other._expansion.points.kernel.diagonal(case.X).max()))
    else:
        reach = float(score_reach(as_rows(sparse.csr_matrix(case.X)), True, 2.0).max()) + 1.0
    return other, f, distance_bound(proof) * reach


def _weights(model, case: Case) -> np.ndarray | None:
    """With the weights of the classes, as they are with all rows."""
    if getattr(model, "class_weight", None) is None:
        return case.weight
    from maxmargin.models.validation import check_known

    return check_known(model, case.X, case.y, case.weight)[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS)
    asked = parser.parse_args()
    kinds = (asked.kind,) if asked.kind else KINDS
    done, bad = Counter(), 0
    for seed in range(asked.seed, asked.seed + asked.most):
        case = random_case(seed, kinds)
        found = check(case)
        done[case.kind if found else f"{case.kind}, no fit"] += 1
        if found and (found.wrong or found.beyond > 0.0):
            bad += 1
            print(
                f"seed {seed}, {case.kind}: {found.wrong} labels wrong, beyond {found.beyond:.1e}"
            )
    print(f"{sum(done.values())} problems, {bad} bad: {dict(done)}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
