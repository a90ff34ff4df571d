"""Leaving one out against a fit for every row, on random problems of all kinds.

    python -m tests.models.loo_soak --most 10000 --seconds 600 --processes 16 --seed 0

Ends with the problems or with the time, whichever is first.  Prints what differs and, kind by kind,
how many problems there were, how many labels are wrong and in how many problems a score is further
off than was told; exits with 1 if there is any of these.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
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


class Count(NamedTuple):
    """Of one kind: problems, those among them that cannot be fitted, labels, scores."""

    problems: int = 0
    without_fit: int = 0
    labels_wrong: int = 0
    scores_beyond: int = 0

    def __add__(self, other: Count) -> Count:  # type: ignore[override]
        return Count(*map(sum, zip(self, other, strict=True)))


def counted(seed: int, kinds) -> tuple[str, Count]:
    """One problem; tells at once of what differs."""
    case = random_case(seed, kinds)
    found = check(case)
    if found is None:
        return case.kind, Count(1, 1)
    bad = found.beyond > 0.0
    if found.wrong or bad:
        told = f"{found.wrong} labels wrong, beyond {found.beyond:.1e}"
        print(f"seed {seed}, {case.kind}: {told}", flush=True)
    return case.kind, Count(1, 0, found.wrong, int(bad))


def soak(first: int, step: int, end: int, seconds: float, kinds) -> dict[str, Count]:
    """Every ``step``-th seed from ``first`` until ``end``, or until the time is over."""
    began, counts = time.monotonic(), dict.fromkeys(kinds, Count())
    for seed in range(first, end, step):
        if time.monotonic() - began > seconds:
            break
        kind, count = counted(seed, kinds)
        counts[kind] += count
    return counts


def soak_side_by_side(asked) -> dict[str, Count]:
    """Seeds dealt to processes by turns, so that all of them end at about the same time."""
    kinds = (asked.kind,) if asked.kind else KINDS
    end, step = asked.seed + asked.most, asked.processes
    work = [(asked.seed + i, step, end, asked.seconds, kinds) for i in range(step)]
    if step == 1:
        return soak(*work[0])
    with ProcessPoolExecutor(step, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(soak, *zip(*work, strict=True)))
    return {kind: sum((part[kind] for part in found), Count()) for kind in kinds}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS)
    counts = soak_side_by_side(parser.parse_args())
    print(f"{'kind':16}{'problems':>10}{'no fit':>8}{'labels wrong':>14}{'scores beyond':>15}")
    everything = sum(counts.values(), Count())
    for kind, count in (*counts.items(), ("all", everything)):
        print("{:16}{:>10}{:>8}{:>14}{:>15}".format(kind, *count))
    return int(everything.labels_wrong + everything.scores_beyond > 0)


if __name__ == "__main__":
    sys.exit(main())
