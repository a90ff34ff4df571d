"""Race KernelSVM against scikit-learn's SVC:  python -m benchmarks.kernel_svm [--data FOLDER]

All solve ½‖w‖² + C Σ hinge with an RBF kernel (gamma="scale") and a free bias, in one process
and on one thread, timed by the processor's clock, with 200 MB for rows of the kernel matrix.
Error is (primal − D) / D with D a dual bound that we proved to 1e-4; a peer's bias is
re-optimised first.  Our time includes validation and the certificate, and counts once the
*certified* gap is at the target; a peer's counts once its true error is.  Every peer is run
with ever stricter ``tol`` until it is.
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from maxmargin import KernelSVM
from maxmargin.core.certify.bias import best_bias
from maxmargin.core.certify.kernelised import kernel_scores
from maxmargin.core.kernels.kernel_block import KernelPoints
from maxmargin.core.kernels.kernels import kernel_for
from maxmargin.models.kernel.two_class import pose

from .run import save

MEGABYTES = 200
TARGET = 1e-3
# Tolerances of the peers, in turn; at C = 100 the first would be far off.
GRID = {
    1.0: (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001),
    100.0: (0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5),
}
BARS = {1.0: 0.2, 100.0: 0.2}
# All of MNIST, and the processor's seconds that its exact machine may take.
WHOLE, MOST_SECONDS = "MNIST 60k odd/even, C=10", 20.0


@dataclass(frozen=True)
class Case:
    """Training and test rows, and C."""

    name: str
    X: object
    y: np.ndarray
    test: tuple
    C: float


def timed(fit):
    """The result of ``fit()`` and the processor's seconds: the best of two when it is quick."""
    taken: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while not taken or (len(taken) < 2 and sum(taken) < 5.0):
            began = time.process_time()
            model = fit()
            taken.append(time.process_time() - began)
    return model, min(taken)


# --- data ------------------------------------------------------------------------------


def noisy(n: int, seed: int):
    """20 Gaussian features, a rule with products of them, and one label in ten flipped."""
    w = np.random.default_rng(0).standard_normal(20) / np.sqrt(20)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 20))
    rule = X @ w + 0.5 * (X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3])
    return X, np.where((rule > 0) ^ (rng.random(n) < 0.1), 1, -1)


def curved(n: int, seed: int):
    """15 Gaussian features, of which squares and a product make the rule, with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 15))
    rule = X[:, 0] ** 2 + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 + 0.5 * X[:, 4] - 1.5
    return X, np.where(rule + 0.3 * rng.standard_normal(n) > 0, 1, -1)


def a9a(folder: Path):
    X, y = load_svmlight_file(str(folder / "libsvm" / "a9a.gz"), n_features=123)
    return X[:10_000], y[:10_000], (X[10_000:20_000], y[10_000:20_000])


def images(folder: Path, part: str):
    """MNIST's digits, between 0 and 1 in float32, and what they are."""
    with gzip.open(folder / "mnist" / f"{part}-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "mnist" / f"{part}-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    return (X / np.float32(255)).astype(np.float32), y.astype(int)


def mnist(folder: Path, n: int):
    """Odd against even."""
    (X, y), (test, labels) = images(folder, "train"), images(folder, "t10k")
    return X[:n], y[:n] % 2, (test, labels % 2)


def cases(folder: Path | None) -> Iterator[Case]:
    X, y = curved(8_000, 0)
    yield Case("8k×15, quadratic boundary, C=1", X, y, curved(5_000, 2), 1.0)
    sources = {"synthetic 20k×20, a tenth of the labels wrong": lambda: _noisy_case()}
    if folder:
        sources |= {
            "a9a 10k": lambda: a9a(folder),
            "MNIST 10k odd/even": lambda: mnist(folder, 10_000),
        }
    for name, read in sources.items():
        try:
            X, y, test = read()
        except FileNotFoundError as missing:
            print(f"skipped {name}: {missing}")
            continue
        for C in (1.0, 100.0):
            yield Case(f"{name}, C={C:g}", X, y, test, C)
    if folder and (folder / "mnist").exists():  # where scikit-learn-intelex is at its best
        X, y, test = mnist(folder, 8_000)
        yield Case("MNIST 8k odd/even, C=1", X, y, test, 1.0)


def _noisy_case():
    X, y = noisy(20_000, 1)
    return X, y, noisy(5_000, 2)


# --- the race --------------------------------------------------------------------------


def peers() -> dict:
    found = {"SVC": SVC}
    try:
        from sklearnex.svm import SVC as Intel

        found["SVC of scikit-learn-intelex"] = Intel
    except ImportError:
        print("scikit-learn-intelex: not installed")
    return found


def primal(case: Case, model) -> float:
    """The exact objective of a peer's multipliers with the best bias, in float64."""
    points = KernelPoints(case.X, kernel_for(case.X, "rbf"))
    codes = (case.y == case.y.max()).astype(int)
    problem = pose(KernelSVM(C=case.C), points, codes, None)
    beta, found = np.zeros(len(case.y)), model.dual_coef_
    beta[model.support_] = np.ravel(found.toarray() if sparse.issparse(found) else found)
    f = kernel_scores(points, beta)
    b = best_bias(problem, f)
    slack = np.maximum(0.0, 1.0 - problem.y * (f + b))
    return 0.5 * float(beta @ f) + case.C * float(slack.sum())


def race(case: Case, patience: float) -> list[dict]:
    """Ours first, then every peer's first run within the target."""
    fit = lambda tol: KernelSVM(C=case.C, tol=tol, cache_mb=MEGABYTES, random_state=0).fit(  # noqa: E731
        case.X, case.y
    )
    model, seconds = timed(lambda: fit(TARGET))
    bound = fit(TARGET / 10).certificate_.dual
    proof = model.certificate_
    entries = [
        {"who": f"maxmargin ({model.solver_})", "seconds": seconds,
         "error": (proof.primal - bound) / bound, "certified_gap": proof.relative_gap,
         "accuracy": model.score(*case.test), "reached": proof.holds(TARGET)}
    ]  # fmt: skip
    for name, Peer in peers().items():
        best = fastest(Peer, case, bound, patience)
        entries.append({"who": name, **best, "ratio": seconds / best["seconds"]})
    return entries


def fastest(Peer, case: Case, bound: float, patience: float) -> dict:
    """The quickest run within the target; without one, the most accurate."""
    tried, spent = [], 0.0
    for tol in GRID[case.C]:
        peer = Peer(C=case.C, tol=tol, cache_size=MEGABYTES)
        model, seconds = timed(lambda peer=peer: peer.fit(case.X, case.y))
        error = (primal(case, model) - bound) / bound
        tried.append({"setting": f"tol={tol:g}", "seconds": seconds, "error": error,
                      "accuracy": model.score(*case.test)})  # fmt: skip
        spent += seconds
        if error <= TARGET:
            return {**tried[-1], "reached": True}
        if spent > patience:
            break
    return {**min(tried, key=lambda run: run["error"]), "reached": False}


def show(case: Case, entries: list[dict]) -> dict:
    print(f"\n{case.name}: target {TARGET:g}")
    for entry in entries:
        ratio = f"{entry['ratio']:7.3f} ×" if "ratio" in entry else "         "
        mark = "" if entry["reached"] else f"  (never reached {TARGET:g})"
        gap = f"certified {entry['certified_gap']:.0e}" if "certified_gap" in entry else ""
        print(
            f"  {entry['who']:28s} {entry['seconds']:8.2f} s  error {entry['error']:8.1e}  "
            f"test accuracy {entry['accuracy']:.4f}  {ratio} {gap}{entry.get('setting', '')}{mark}",
            flush=True,
        )
    bar, ratio = BARS[case.C], entries[1]["ratio"]
    print(
        f"  bar: {ratio:.3f} of SVC's time, asked ≤ {bar:g}: {'met' if ratio <= bar else 'MISSED'}"
    )
    return {"case": case.name, "C": case.C, "target": TARGET, "bar": bar, "entries": entries}


def all_of_mnist(folder: Path) -> dict:
    """60,000 rows, C = 10: exact to a certified 1e-3, and with 1,000 landmarks."""
    X, y, test = mnist(folder, 60_000)
    entries = []
    for who, rank in (("exact", None), ("rank=1000", 1000)):
        fit = lambda rank=rank: KernelSVM(C=10, tol=TARGET, rank=rank, random_state=0).fit(X, y)  # noqa: E731
        model, seconds = timed(fit)
        entries.append({"who": who, "seconds": seconds, "accuracy": model.score(*test),
                        "certified_gap": model.certificate_.relative_gap,
                        "support": len(model.support_),
                        "certificate": str(model.certificate_)})  # fmt: skip
    ratio = entries[1]["seconds"] / entries[0]["seconds"]
    print(f"\n{WHOLE}, certified {TARGET:g}")
    for entry in entries:
        print(f"  {entry['who']:12s} {entry['seconds']:7.1f} s  test accuracy "
              f"{entry['accuracy']:.4f}  certified {entry['certified_gap']:.0e}")  # fmt: skip
    exact = entries[0]
    met = exact["seconds"] <= MOST_SECONDS and exact["accuracy"] >= 0.985
    print(f"  bar: {exact['seconds']:.1f} s, asked ≤ {MOST_SECONDS:g}: "
          f"{'met' if met else 'MISSED'}", flush=True)  # fmt: skip
    return {"case": WHOLE, "bar": MOST_SECONDS, "ratio": ratio, "entries": entries}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with real data sets")
    parser.add_argument("--only", default="", help="run cases whose name contains this")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds per peer and case")
    options = parser.parse_args()
    if not options.data:
        print("real data: skipped (give a folder with --data)")
    _compile()
    results, path = [], None
    with threadpool_limits(limits=1):
        for case in cases(options.data):
            if options.only in case.name:
                results.append(show(case, race(case, options.patience)))
                path = save(results, "kernel_svm.json", others=True)
        if options.data and options.only in WHOLE:
            results.append(all_of_mnist(options.data))
            path = save(results, "kernel_svm.json", others=True)
    print(f"\nwritten: {path}" if results else f"no case is called {options.only!r}")


def _compile() -> None:
    """Before the clock starts: dense and sparse rows, both precisions, both modes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 50))
    y = X[:, 0] + rng.standard_normal(900) > 0
    zeros = np.where(rng.random(X.shape) < 0.8, 0.0, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in (X, zeros, zeros.astype(np.float32)):
            for rank in (None, 200):
                KernelSVM(C=10.0, rank=rank).fit(data, y)


if __name__ == "__main__":
    main()
