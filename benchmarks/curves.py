"""Cost curves:  python -m benchmarks.curves [--only WORD] [--seconds 10]

Time against n, d, k, nnz and C, one family of problems at a time, ours and a peer, so that every
hump in the choice of solver shows.  Ours counts once the gap is *certified* to 1e-3, the peer once
its true error is; both solve the same problem, judged as in the races: two classes and kernels with
a free bias (the peer's is re-optimised), the "max" rule with penalised biases, as LIBLINEAR has it.
Processor time, one thread; a curve ends where a fit took longer than ``--seconds``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression as Lbfgs
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from maxmargin import KernelSVM, LinearSVM, LogisticRegression
from maxmargin.core.first_use import compiled_at_once
from maxmargin.models.svm.two_class import pose
from maxmargin.models.validation import check_training

from . import kernel_svm, run, softmax
from .problems import dense, textlike
from .record import RESULTS, write

TARGET = 1e-3
HALF_DECADES = np.array([1.0, 3.0])


@dataclass(frozen=True)
class Point:
    """Rows, labels and C: one point of a curve."""

    X: Any
    y: np.ndarray
    C: float = 1.0


@dataclass(frozen=True)
class Family:
    """Our model, the peer's runs from rough to exact, the objective of its answer, the curves."""

    ours: Callable[[Point, float], Any]
    peer: str
    runs: tuple[dict, ...]
    fit: Callable[[Point, dict], Any]
    objective: Callable[[Point, Any], float]
    curves: dict[str, tuple[tuple[float, ...], Callable[[float], Point]]]


# --- data ------------------------------------------------------------------------------


def values(low: float, high: float) -> tuple[float, ...]:
    """1, 3, 10, 30 … from low to high."""
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    found = np.outer(decades, HALF_DECADES).ravel()
    return tuple(float(v) for v in found if low * 0.999 <= v <= high * 1.001)


def two(n: float, d: float, C: float = 1.0) -> Point:
    return Point(*dense(int(n), int(d)), C)


def several(n: float, d: float, k: float, C: float = 1.0) -> Point:
    """Clusters of float64 rows whose classes overlap."""
    X, y = softmax.clusters(int(n), int(d), int(k))
    return Point(X.astype(np.float64), np.unique(y, return_inverse=True)[1], C)


def words(n: float, a_row: float) -> Point:
    return Point(*textlike(int(n), 20_000, words=int(a_row)))


def quadratic(n: float, C: float = 1.0) -> Point:
    return Point(*kernel_svm.noisy(int(n), 1), C)


# --- objectives of the peers' answers ----------------------------------------------------


def hinge_of(point: Point, model: LinearSVC) -> float:
    X, _, codes = check_training(LinearSVM(), point.X, point.y)
    problem = pose(LinearSVM(C=point.C), X, codes, None)
    return run.primal(problem, model.coef_[0], float(model.intercept_[0]), refit_bias=True)


def max_of(point: Point, model: LinearSVC) -> float:
    """½‖W‖² + ½‖b‖² + C Σ max over j of (1 + f_j − f_y), at least 0."""
    W, b = model.coef_, model.intercept_
    if len(W) == 1:
        W, b = np.vstack([-W, W]) / 2, np.concatenate([-b, b]) / 2
    f = point.X @ W.T + b
    at = np.arange(len(point.y)), point.y
    gaps = 1.0 + f - f[at][:, None]
    gaps[at] = 0.0
    return 0.5 * float(np.sum(W * W) + b @ b) + point.C * float(gaps.max(axis=1).sum())


def softmax_of(point: Point, model: Lbfgs) -> float:
    case = softmax.Case("", point.X, point.y, point.C, TARGET)
    return softmax.objective(case, model.coef_, model.intercept_)


def kernel_of(point: Point, model: SVC) -> float:
    case = kernel_svm.Case("", point.X, point.y, (point.X, point.y), point.C)
    return kernel_svm.primal(case, model)


# --- the families ------------------------------------------------------------------------

TOLERANCES = tuple({"tol": tol} for tol in (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5))
STEPS = tuple({"tol": 1e-12, "max_iter": steps} for steps in (5, 10, 20, 40, 80, 160, 400, 1000))

FAMILIES: dict[str, Family] = {
    "two classes, hinge": Family(
        lambda p, tol: LinearSVM(C=p.C, tol=tol, max_iter=100_000).fit(p.X, p.y),
        "LinearSVC",
        TOLERANCES,
        lambda p, kind: LinearSVC(loss="hinge", C=p.C, max_iter=10_000, **kind).fit(p.X, p.y),
        hinge_of,
        {
            "rows n, of 20 columns": (values(100, 1e5), lambda n: two(n, 20)),
            "columns d, of 3,000 rows": (values(3, 3e3), lambda d: two(3_000, d)),
            "C, 5,000 × 20": (values(1e-3, 1e3), lambda C: two(5_000, 20, C)),
            "words a row, 5,000 × 20,000 sparse": (values(3, 1e3), lambda m: words(5_000, m)),
        },
    ),
    "many classes, max rule": Family(
        lambda p, tol: LinearSVM(C=p.C, tol=tol, penalize_bias=True, max_iter=100_000).fit(
            p.X, p.y
        ),
        "LinearSVC(crammer_singer)",
        TOLERANCES,
        lambda p, kind: LinearSVC(
            multi_class="crammer_singer", C=p.C, max_iter=100_000, random_state=0, **kind
        ).fit(p.X, p.y),
        max_of,
        {
            "rows n, of 20 columns, 5 classes": (values(100, 3e4), lambda n: several(n, 20, 5)),
            "columns d, of 2,000 rows, 5 classes": (values(3, 1e3), lambda d: several(2e3, d, 5)),
            "classes k, 3,000 × 20": (values(3, 300), lambda k: several(3e3, 20, k)),
            "C, 2,000 × 20, 5 classes": (values(1e-3, 1e3), lambda C: several(2e3, 20, 5, C)),
        },
    ),
    "softmax": Family(
        lambda p, tol: LogisticRegression(C=p.C, tol=tol).fit(p.X, p.y),
        "lbfgs",
        STEPS,
        lambda p, kind: Lbfgs(C=p.C, **kind).fit(p.X, p.y),
        softmax_of,
        {
            "rows n, of 20 columns, 5 classes": (values(100, 1e5), lambda n: several(n, 20, 5)),
            "columns d, of 3,000 rows, 5 classes": (values(3, 1e3), lambda d: several(3e3, d, 5)),
            "classes k, 5,000 × 50": (values(3, 300), lambda k: several(5e3, 50, k)),
            "C, 5,000 × 20, 5 classes": (values(1e-3, 1e3), lambda C: several(5e3, 20, 5, C)),
        },
    ),
    "kernel, RBF": Family(
        lambda p, tol: KernelSVM(C=p.C, tol=tol, random_state=0).fit(p.X, p.y),
        "SVC",
        TOLERANCES,
        lambda p, kind: SVC(C=p.C, **kind).fit(p.X, p.y),
        kernel_of,
        {
            "rows n, of 20 columns": (values(100, 1e4), lambda n: quadratic(n)),
            "C, 3,000 × 20": (values(1e-3, 1e3), lambda C: quadratic(3e3, C)),
        },
    ),
}


# --- measuring ---------------------------------------------------------------------------


def timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the processor's seconds: the best of five where it is quick."""
    taken: list[float] = []
    while not taken or (len(taken) < 5 and sum(taken) < 0.3):
        began = process_time()
        model = fit()
        taken.append(process_time() - began)
    return model, min(taken)


def measure(family: Family, point: Point, patience: float) -> dict:
    """Both times at one point; the peer's is None where no run came to the target."""
    family.ours(point, TARGET)  # compiles
    model, seconds = timed(lambda: family.ours(point, TARGET))
    proof = model.certificate_
    found = {"ours": seconds, "gap": proof.relative_gap, "solver": model.solver_,
             "peer": None, "error": None, "spent": 0.0}  # fmt: skip
    bound = family.ours(point, TARGET / 100).certificate_.dual
    for setting in family.runs:
        answer, took = timed(lambda setting=setting: family.fit(point, setting))
        found["spent"] += took
        found["error"] = (family.objective(point, answer) - bound) / bound
        if found["error"] <= TARGET:
            return found | {"peer": took}
        if found["spent"] > patience:
            break
    return found


def curve(family: Family, axis: str, patience: float) -> Iterator[dict]:
    """Points of one curve, until somebody takes too long."""
    at, make = family.curves[axis]
    for value in at:
        found = measure(family, make(value), patience)
        yield {"at": value, **found}
        if max(found["ours"], found["spent"]) > patience:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="families whose name contains this")
    parser.add_argument("--seconds", type=float, default=10.0, help="where a curve ends")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    with threadpool_limits(limits=1), compiled_at_once():
        for name, family in FAMILIES.items():
            for axis in family.curves if options.only in name else ():
                print(f"\n{name}: {axis}")
                points = []
                for point in curve(family, axis, options.seconds):
                    points.append(point)
                    theirs = f"{point['peer']:9.4f}" if point["peer"] else "   missed"
                    print(f"  {point['at']:9g}  {point['ours']:9.4f} s {point['solver']:10s} "
                          f"{family.peer} {theirs} s", flush=True)  # fmt: skip
                results.append({"case": name, "axis": axis, "who": family.peer, "points": points})
                write(results, RESULTS / "curves.json")


if __name__ == "__main__":
    main()
