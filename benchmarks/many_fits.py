"""Many small fits against loops of single ones: microseconds a fit, of one run.

    python -m benchmarks.many_fits [--out benchmarks/results/many_fits.json]

Processor time of one thread; ours with all cores by the clock besides.  Ours are certified to
1e-6; scikit-learn's run at their default tolerance and prove nothing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC, LinearSVC

from maxmargin import LinearSVM, fit_many

from .record import write

# Fits of each kind that are looped over: few, where all take the same.
LOOPED = 20


def permutations(n: int, d: int, count: int) -> dict[str, Any]:
    """Labels without meaning."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), rng.standard_normal((count, n)) > 0
    return {"X": X, "y": y}


def searchlights(n: int, d: int, count: int) -> dict[str, Any]:
    """Subsets of d of 2,000 columns, five folds each."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2000))
    y = X[:, :2].sum(axis=1) + rng.standard_normal(n) > 0
    columns = [rng.choice(2000, d, replace=False) for _ in range(count)]
    return {"X": X, "y": y, "columns": columns, "cv": 5}


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "permutations 100×20": lambda: permutations(100, 20, 2000),
    "searchlights 200×100": lambda: searchlights(200, 100, 100),
    "permutations 1,000×50": lambda: permutations(1000, 50, 200),
}


def microseconds(call: Callable[[], Any], count: int, clock=time.process_time) -> float:
    """The least time of three calls, per fit."""
    best = np.inf
    for _ in range(3):
        began = clock()
        call()
        best = min(best, clock() - began)
    return 1e6 * best / count


def looped(estimator, X, y, columns=None, cv=None) -> float:
    """The same fits, a few of them, by ``fit``."""
    rows = slice(0, len(X) * (cv - 1) // cv) if cv else slice(None)
    if columns is None:
        some = [(X[rows], labels[rows]) for labels in y[:LOOPED]]
    else:
        some = [(X[rows][:, chosen], y[rows]) for chosen in columns[:LOOPED]]
    return microseconds(lambda: [estimator.fit(*one) for one in some], len(some))


def measure(name: str) -> dict[str, Any]:
    case = CASES[name]()
    fit_many(LinearSVM(), **case)  # compiled
    found: dict[str, Any] = {"case": name}
    count = len(fit_many(LinearSVM(), **case))
    found["fit_many"] = microseconds(lambda: fit_many(LinearSVM(), **case), count)
    found["all cores, by the clock"] = microseconds(
        lambda: fit_many(LinearSVM(), **case, n_jobs=-1), count, time.perf_counter
    )
    for peer in (LinearSVM(), LinearSVC(loss="hinge"), SVC(kernel="linear")):
        found[type(peer).__name__] = looped(peer, **case)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # LinearSVC does not arrive
    results = [measure(name) for name in CASES]
    for found in results:
        times = {peer: t for peer, t in found.items() if peer != "case"}
        told = ", ".join(f"{p} {t:,.0f} µs ({found['fit_many'] / t:.3f})" for p, t in times.items())
        print(f"{found['case']}: {told}")
    if asked.out:
        write(results, asked.out)


if __name__ == "__main__":
    main()
