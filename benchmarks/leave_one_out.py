"""Leaving every row out, and forgetting some, against one fit: ratios of one run.

    python -m benchmarks.leave_one_out [--a9a FILE] [--out benchmarks/results/leave_one_out.json]

Times are of the processor, summed over threads ("cpu"), and on the clock ("wall"): paths of
different rows are followed side by side, a fit has one thread.  Every fit is certified to its tol.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin import KernelSVM, LinearSVM, LogisticRegression, leave_one_out

from .record import write

BARS = {
    "LinearSVM 20k×50": 15.0,
    "LinearSVM a9a": 20.0,
    "LogisticRegression 20k×50": 5.0,
    "KernelSVM rbf 5k": 30.0,
    "forget 1 row of 100k×50": 0.05,
    "forget 1 row with a multiplier of 100k×50": 0.05,
    "forget 1 % of 100k×50": 0.20,
}
REPEATS = 3


def linear_data(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A linear rule with a tenth of the labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(X @ rng.standard_normal(d))
    y[rng.random(n) < 0.1] *= -1.0
    return X, y


def ring_data(n: int, d: int = 10, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Inside and outside of a ball, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(np.linalg.norm(X, axis=1) - np.sqrt(d) + 0.3 * rng.standard_normal(n))
    y[rng.random(n) < 0.05] *= -1.0
    return X, y


def timed(call: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, float, Any]:
    """The least processor and clock seconds of some calls, and what the last returned."""
    cpu, wall, found = np.inf, np.inf, None
    for _ in range(repeats):
        began, clock = time.process_time(), time.perf_counter()
        found = call()
        cpu = min(cpu, time.process_time() - began)
        wall = min(wall, time.perf_counter() - clock)
    return cpu, wall, found


def against_a_fit(name: str, model, X, y, repeats: int = REPEATS) -> dict:
    few = np.r_[np.flatnonzero(y > 0)[:150], np.flatnonzero(y < 0)[:150]]
    leave_one_out(type(model)().fit(X[few], y[few]), X[few], y[few])  # kernels are compiled
    model.fit(X, y)
    fit = timed(lambda: model.fit(X, y))
    loo = timed(lambda: leave_one_out(model, X, y), repeats)
    told = loo[2]
    return row(name, fit, loo, error=told.error, tolerance=float(told.tolerance.max()),
               settled=told.settled)  # fmt: skip


def forgetting(name: str, rows, X, y) -> dict:
    """``rows``: their numbers, or None for one with a multiplier."""
    model = LinearSVM().fit(X, y)
    rows = int(model.support_[5]) if rows is None else rows
    fit = timed(lambda: model.fit(X, y))
    less = timed(lambda: model.without(rows, X, y))
    return row(name, fit, less, relative_gap=less[2].certificate_.relative_gap)


def row(name: str, fit, other, **told) -> dict:
    ratio = {"cpu": other[0] / fit[0], "wall": other[1] / fit[1]}
    print(f"{name}: {ratio['cpu']:.2f} fits of processor time, {ratio['wall']:.2f} on the clock, "
          f"bar {BARS[name]:g}; {told}", flush=True)  # fmt: skip
    return {"name": name, "bar": BARS[name], "fit_seconds": fit[0], "ratio": ratio, **told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--a9a", help="the svmlight file a9a")
    parser.add_argument("--out")
    asked = parser.parse_args()
    X, y = linear_data(20_000, 50)
    found = [
        against_a_fit("LinearSVM 20k×50", LinearSVM(), X, y),
        against_a_fit("LogisticRegression 20k×50", LogisticRegression(), X, y),
    ]
    if asked.a9a:
        from sklearn.datasets import load_svmlight_file

        found.append(against_a_fit("LinearSVM a9a", LinearSVM(), *load_svmlight_file(asked.a9a)))
    found.append(against_a_fit("KernelSVM rbf 5k", KernelSVM(), *ring_data(5000), repeats=1))
    X, y = linear_data(100_000, 50)
    some = np.random.default_rng(1).choice(100_000, 1000, replace=False)
    found.append(forgetting("forget 1 row of 100k×50", 17, X, y))
    found.append(forgetting("forget 1 row with a multiplier of 100k×50", None, X, y))
    found.append(forgetting("forget 1 % of 100k×50", some, X, y))
    if asked.out:
        write(found, Path(asked.out))


if __name__ == "__main__":
    main()
