"""Did a change cost time?  This tree against another of the same library, fit by fit.

    git worktree add ../before REVISION
    python -m benchmarks.two_trees ../before/src

One child process per tree, one thread each; both fit the same data in turns, and a turn's ratio is
that of two processor times a moment apart, so that a busy or slowing machine meets both alike.
The median of the ratios counts, with its standard error: a case is called slower only if twice
that does not explain it.  Turns go on until the error is small or ``--seconds`` are spent.  Every
case of ``CASES`` uses names that the library has had from its first version.  The gap that each
tree claims stands beside the times: a bound that now counts its own rounding may be larger.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from .problems import binary_sparse, dense, textlike

HERE = Path(__file__).parent.parent / "src"
ALLOWED = 1.05  # above it a case is named in the last line
GOOD_ERROR = 0.005  # of a ratio; a case whose error is smaller needs no more turns
MEDIAN_ERROR = 1.2533  # the standard error of a median over that of a mean, for normal errors
NORMAL_QUARTILES = 1.349  # the distance of a normal distribution's quartiles in its deviations


def classes(n: int, d: int, k: int, dtype=np.float64, seed: int = 0):
    """k Gaussian classes that overlap, off the origin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1.0
    y = rng.integers(0, k, n)
    X[np.arange(n), y] += 1.5
    return X.astype(dtype), y


def digits():
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def grades(n: int = 2_000, d: int = 20, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.digitize(X @ rng.standard_normal(d) + rng.standard_normal(n), [-3, 0, 3])


def named_blobs(n: int = 150, d: int = 4):
    X, y = classes(n, d, 3)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


# what: (data, estimator, parameters, repetitions)
CASES = {
    "hinge, dense 50k×50": (lambda: dense(50_000, 50), "LinearSVM", {"tol": 1e-6}, 5),
    "squared hinge, dense 50k×50": (
        lambda: dense(50_000, 50), "LinearSVM", {"loss": "squared_hinge", "tol": 1e-6}, 5),
    "hinge, dense 50k×50, scales 1e±3": (
        lambda: dense(50_000, 50, scale=3), "LinearSVM", {"tol": 1e-6}, 5),
    "hinge, dense 2k×20": (lambda: dense(2_000, 20), "LinearSVM", {"tol": 1e-6}, 30),
    "hinge, 100×4": (lambda: dense(100, 4), "LinearSVM", {}, 200),
    "hinge, text 20k×50k": (lambda: textlike(20_000, 50_000), "LinearSVM", {"tol": 1e-3}, 3),
    "hinge, 0/1 sparse 50k×300": (binary_sparse, "LinearSVM", {"tol": 1e-3}, 3),
    "max rule, named 150×4": (named_blobs, "LinearSVM", {}, 50),
    "max rule, digits": (digits, "LinearSVM", {"C": 0.01, "tol": 1e-4}, 5),
    "sum rule, 20k×30, 5 classes": (
        lambda: classes(20_000, 30, 5), "LinearSVM", {"multiclass": "sum", "tol": 1e-4}, 3),
    "rest, digits": (digits, "LinearSVM", {"multiclass": "rest", "C": 0.01, "tol": 1e-4}, 3),
    "logistic, dense 50k×50": (lambda: dense(50_000, 50), "LogisticRegression", {}, 5),
    "logistic, 100×4": (lambda: dense(100, 4), "LogisticRegression", {}, 100),
    "softmax, digits": (digits, "LogisticRegression", {"C": 0.01}, 5),
    "softmax, 20k×30, 5 classes": (
        lambda: classes(20_000, 30, 5), "LogisticRegression", {}, 3),
    "logistic, text 20k×50k": (lambda: textlike(20_000, 50_000), "LogisticRegression", {}, 2),
    "least squares 20k×50": (lambda: classes(20_000, 50, 3), "LeastSquaresClassifier", {}, 20),
    "least squares 150×4": (named_blobs, "LeastSquaresClassifier", {}, 200),
    "least squares 4k×500 float32": (
        lambda: classes(4_000, 500, 3, np.float32), "LeastSquaresClassifier", {}, 10),
    "Fisher 20k×50": (lambda: classes(20_000, 50, 3), "FisherDiscriminant", {}, 20),
    "Fisher 4k×500 float32": (
        lambda: classes(4_000, 500, 3, np.float32), "FisherDiscriminant", {}, 5),
    "kernel SVM, RBF 2k×15": (lambda: classes(2_000, 15, 2), "KernelSVM", {}, 5),
    "kernel SVM, RBF 8k×15": (lambda: classes(8_000, 15, 2), "KernelSVM", {}, 2),
    "kernel SVM, poly 2k×15": (
        lambda: classes(2_000, 15, 2), "KernelSVM", {"kernel": "poly", "coef0": 1.0}, 3),
    "kernel ridge 2k×15": (
        lambda: classes(2_000, 15, 2), "KernelRidgeClassifier", {"kernel": "rbf"}, 5),
    "pairwise ranker 2k×20": (grades, "PairwiseRanker", {}, 5),
    "perceptron 20k×50": (lambda: dense(20_000, 50), "Perceptron", {"max_passes": 20}, 5),
    "choose C, dense 6k×30": (
        lambda: dense(6_000, 30), "LinearSVMCV", {"Cs": 13, "cv": 5}, 2),
}  # fmt: skip


def child() -> None:
    """Fits what is named on each line of standard input, and answers with time and gap."""
    import maxmargin

    _compile_at_once()
    data: tuple[str, object] = ("", None)
    for line in sys.stdin:
        name = line.strip()
        make, estimator, parameters, _ = CASES[name]
        if data[0] != name:
            data = (name, make())
        X, y = data[1]
        began = time.process_time()
        model = getattr(maxmargin, estimator)(**parameters).fit(X, y)
        spent = time.process_time() - began
        gap = getattr(getattr(model, "certificate_", None), "relative_gap", None)
        print(json.dumps([spent, None if gap is None else float(gap)]), flush=True)


def _compile_at_once() -> None:
    """Kernels of a tree that runs its first calls plainly are compiled by the first."""
    try:
        from maxmargin.core import first_use
    except ImportError:
        return
    first_use.MAX_PLAIN_SECONDS = 0.0


class Tree:
    """A child process that fits with the library found under ``source``."""

    def __init__(self, source: Path):
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        path = os.pathsep.join([str(source), str(HERE.parent)])
        environment = {**os.environ, **one, "PYTHONPATH": path}
        environment.pop("NUMBA_CACHE_DIR", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.two_trees", "--child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=HERE.parent,
        )

    def fit(self, name: str) -> tuple[float, float | None]:
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"The process that fits {name!r} has died.")
        return tuple(json.loads(answer))


def race(before: Tree, after: Tree, name: str, seconds: float) -> dict:
    """The median ratio of turns; the first fit of each, which compiles, does not count."""
    least = CASES[name][3]
    times: dict[Tree, list] = {before: [], after: []}
    gaps: dict[Tree, float | None] = {}
    for tree in (before, after):
        tree.fit(name)
    while True:
        turn = len(times[before])
        for tree in (before, after) if turn % 2 else (after, before):
            spent, gaps[tree] = tree.fit(name)
            times[tree].append(spent)
        ratios = np.array(times[after]) / np.array(times[before])
        ratio, error = median_with_error(ratios)
        out_of_time = sum(times[before]) + sum(times[after]) > seconds
        if turn + 1 >= least and (out_of_time or (turn >= 4 and error < GOOD_ERROR)):
            break
    row = {"case": name, "before": min(times[before]), "after": min(times[after])}
    row |= {"turns": turn + 1, "ratio": ratio, "error": error}
    return row | {"gap before": gaps[before], "gap after": gaps[after]}


def median_with_error(ratios: np.ndarray) -> tuple[float, float]:
    """A median, and its standard error from the quartiles, which outliers do not move."""
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    deviation = (high - low) / NORMAL_QUARTILES
    return float(middle), float(MEDIAN_ERROR * deviation / np.sqrt(len(ratios)))


def shown(gap: float | None) -> str:
    return "   –   " if gap is None else f"{gap:7.1e}"


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("before", nargs="?", type=Path, help="the other tree's src folder")
    reader.add_argument("--only", default="", help="cases whose name contains this")
    reader.add_argument("--seconds", type=float, default=20.0, help="at most for a case's turns")
    reader.add_argument("--json", type=Path, help="write the rows here as well")
    reader.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = reader.parse_args()
    if asked.child:
        return child()
    if asked.before is None or not (asked.before / "maxmargin").is_dir():
        reader.error("give the src folder of another tree of this library")
    before, after = Tree(asked.before.resolve()), Tree(HERE)
    rows = []
    for name in CASES:
        if asked.only in name:
            rows.append(race(before, after, name, asked.seconds))
            row = rows[-1]
            print(
                f"{name:34s} {row['before']:9.4f} s → {row['after']:9.4f} s  × {row['ratio']:.3f}"
                f" ± {row['error']:.3f} ({row['turns']:3d})"
                f"   gap {shown(row['gap before'])} → {shown(row['gap after'])}",
                flush=True,
            )
    slower = [row["case"] for row in rows if row["ratio"] - 2.0 * row["error"] > ALLOWED]
    unsure = [row["case"] for row in rows if abs(row["ratio"] - ALLOWED) <= 2.0 * row["error"]]
    print(f"slower than {ALLOWED}: {', '.join(slower) or 'none'}")
    print(f"cannot be told from {ALLOWED}: {', '.join(unsure) or 'none'}")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
