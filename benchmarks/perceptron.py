"""Perceptrons against scikit-learn and against the matrix product: ratios from one run.

    python -m benchmarks.perceptron

Both sides run the same number of passes in the same order, interleaved, and the best of
several repetitions counts; ours includes validation and the certificate.  Seconds are those of
the processor, one thread.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.utils.validation import validate_data

from maxmargin import KernelPerceptron, Perceptron

from .record import RESULTS, write

PASSES = 20
REPEATS = 7


def dense(n=100_000, d=100):
    """Gaussian points with labels that no hyperplane gets right: no run ends early."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal(d) + 3 * rng.standard_normal(n) > 0).astype(int)


def text(n=100_000, d=50_000, words=125):
    """Word counts with a heavy-tailed vocabulary, log-scaled: about 75 entries per row."""
    rng = np.random.default_rng(1)
    word = np.minimum((20 * rng.pareto(0.8, (n, words))).astype(int), d - 1)
    X = sparse.csr_matrix((np.ones(word.size), word.ravel(), np.arange(0, word.size + 1, words)))
    X.resize((n, d))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    return X, (X @ rng.standard_normal(d) + 2 * rng.standard_normal(n) > 0).astype(int)


def best(*runs):
    """The shortest time of every run, taken in turns."""
    times = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(REPEATS):
        for run, taken in zip(runs, times, strict=True):
            began = time.process_time()
            run()
            taken.append(time.process_time() - began)
    return [min(taken) for taken in times]


def line(case, ours, peer, theirs, bar, **more):
    return {
        "case": case, "ours_seconds": ours, "peer": peer, "peer_seconds": theirs,
        "ratio": ours / theirs, "bar": bar, **more,
    }  # fmt: skip


def against_scikit_learn():
    """Time per pass of the incremental perceptron."""
    for name, (X, y) in (("dense 100k×100", dense()), ("sparse 100k×50k", text())):
        # scikit-learn damps the bias of sparse data; without one the runs are the same.
        free = not sparse.issparse(X)
        ours = Perceptron("cycle", max_passes=PASSES, fit_intercept=free)
        theirs = TheirPerceptron(max_iter=PASSES, tol=None, shuffle=False, fit_intercept=free)
        a, b = best(lambda m=ours, X=X, y=y: m.fit(X, y), lambda m=theirs, X=X, y=y: m.fit(X, y))
        yield line(
            f"{name}, per pass", a / PASSES, "scikit-learn Perceptron", b / PASSES, 0.5,
            updates=ours.updates_, accuracy=ours.score(X, y), peer_accuracy=theirs.score(X, y),
        )  # fmt: skip


def against_the_matrix_product():
    """Mini-batch and batch mode: scores X w and changes Xᵀ v are two products per pass."""
    X, y = dense()
    for k, labels in ((2, y), (10, (y + 2 * np.arange(len(y))) % 10)):
        W = np.ones((100, 1 if k == 2 else k))
        for size in (256, "all"):
            model = Perceptron("cycle", batch_size=size, max_passes=PASSES)

            def products(W=W):
                for _ in range(PASSES):
                    X.T @ (X @ W)

            a, b = best(lambda m=model, t=labels: m.fit(X, t), products)
            yield line(
                f"dense 100k×100, {k} classes, batch_size={size!r}, per pass", a / PASSES,
                "X W and Xᵀ V", b / PASSES, 1.0, updates=model.updates_,
            )  # fmt: skip


def kernel_memory(n=5000):
    """Peak memory of an RBF fit, in n × n matrices: the cache is bounded."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, 20))
    y = ((X[:, :3] ** 2).sum(axis=1) + 0.5 * rng.standard_normal(n) > 2.4).astype(int)
    model = KernelPerceptron(max_passes=5)
    tracemalloc.start()
    began = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield {
        "case": f"KernelPerceptron rbf n={n}: peak bytes", "ours_seconds": seconds,
        "peer": "an n × n matrix", "peer_seconds": None, "ratio": peak / (8 * n * n),
        "bar": 0.7, "peak_megabytes": peak / 1e6, "updates": model.updates_,
        "accuracy": model.score(X, y),
    }  # fmt: skip


def stream(repeats=2000):
    """One row at a time: microseconds beyond scikit-learn's validation."""
    X, y = np.random.default_rng(3).standard_normal((1, 100)), np.array([1])
    model = Perceptron("cycle").partial_fit(X, y, classes=[0, 1])

    def ours():
        for _ in range(repeats):
            model.partial_fit(X, y)

    def validation():
        for _ in range(repeats):
            validate_data(model, X, y, reset=False, accept_sparse="csr", dtype=[np.float64])

    a, b = best(ours, validation)
    extra = (a - b) / repeats * 1e6
    yield line(
        "partial_fit, one row", a / repeats, "scikit-learn validate_data", b / repeats,
        (b / repeats + 30e-6) / (b / repeats), microseconds_over_validation=extra,
    )  # fmt: skip


def cases() -> list[dict]:
    """Every case, measured; one dict per line of the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        parts = (against_scikit_learn, against_the_matrix_product, kernel_memory, stream)
        return [result for part in parts for result in part()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS / "perceptron.json")
    out = parser.parse_args().out
    results = cases()
    for result in results:
        verdict = "reached" if result["ratio"] <= result["bar"] else "MISSED"
        theirs = result["peer_seconds"]
        print(
            f"{result['case']:<58} {result['ours_seconds'] * 1e3:9.3f} ms  "
            f"{result['peer']:<26} {'' if theirs is None else f'{theirs * 1e3:9.3f} ms':>12}  "
            f"ratio {result['ratio']:6.3f}  bar {result['bar']:.2f}  {verdict}"
        )
    print(f"written: {write(results, out)}")


if __name__ == "__main__":
    main()
