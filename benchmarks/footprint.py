"""What a fit costs besides time:  python -m benchmarks.footprint

Peak extra memory, the first fit in a new process with an empty and with a warm cache of
compiled kernels, and the whole ``fit`` call on iris beside scikit-learn's SVC.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from .record import RESULTS, write

FIRST_FIT = """
import time, numpy as np
began = time.perf_counter()
rng = np.random.default_rng(0)
X = rng.standard_normal(({n}, {d})); y = (X[:, 0] + rng.standard_normal({n}) > 0).astype(int)
if {sparse}:
    from scipy import sparse
    X = sparse.csr_matrix(X * (np.abs(X) > 1.5))
from {module} import {name} as Model
Model().fit(X, y)
print(time.perf_counter() - began)
"""


def first_fit(module: str, name: str, n: int, d: int, sparse: bool, cache: str) -> float:
    """Seconds from the start of the imports to a fitted model, in a new process."""
    code = FIRST_FIT.format(module=module, name=name, n=n, d=d, sparse=sparse)
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def compile_times() -> list[dict]:
    rows = []
    shapes = {
        "tiny": (100, 4, False),
        "newton, dense": (20_000, 20, False),
        "newton, sparse": (20_000, 60, True),
        "descent, sparse": (2_000, 5_000, True),
    }
    for label, (n, d, sparse) in shapes.items():
        peer = first_fit("sklearn.svm", "LinearSVC", n, d, sparse, "")
        with tempfile.TemporaryDirectory() as cache:
            cold = first_fit("maxmargin", "LinearSVM", n, d, sparse, cache)
            warm = min(first_fit("maxmargin", "LinearSVM", n, d, sparse, cache) for _ in range(3))
        rows.append({"case": f"first fit, {label}", "cold": cold, "warm": warm, "sklearn": peer})
        print(
            f"first fit, {label:16s} empty cache {cold:5.2f} s (bar 8)   warm cache {warm:5.2f} s"
            f"   scikit-learn {peer:5.2f} s   above it {warm - peer:5.2f} s (bar 1)"
        )
    return rows


MEMORY = """
import resource, sys, threading, time
import numpy as np
from maxmargin import LinearSVM
rng = np.random.default_rng(0)
small = rng.standard_normal((30_000, 20), dtype=np.float32)
LinearSVM(loss="{loss}").fit(small, (small[:, 0] > 0).astype(int))
X = np.empty(({n}, {d}), dtype=np.float32)
for start in range(0, {n}, 10_000):
    X[start : start + 10_000] = rng.standard_normal((min(10_000, {n} - start), {d}))
y = (X[:, :20].sum(axis=1) + 4 * rng.standard_normal({n}) > 0).astype(int)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.perf_counter()
model = LinearSVM(loss="{loss}").fit(X, y)
seconds = time.perf_counter() - began
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024 / X.nbytes, seconds, model.certificate_.relative_gap)
"""


def memory(n: int = 200_000, d: int = 500) -> list[dict]:
    rows = []
    for loss in ("hinge", "squared_hinge"):
        code = MEMORY.format(n=n, d=d, loss=loss)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        share, seconds, gap = map(float, done.stdout.split())
        rows.append({"case": f"memory, {loss}", "share": share, "seconds": seconds, "gap": gap})
        print(
            f"dense float32 {n}×{d}, {loss}: peak extra memory {share:.3f} × the data (bar 0.25),"
            f" {seconds:.2f} s, certified {gap:.0e}"
        )
    return rows


def iris() -> dict:
    """The whole fit call on two classes of iris, in microseconds."""
    from maxmargin import LinearSVM

    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    ours, peers = [], []
    LinearSVM().fit(X, y)
    for _ in range(500):
        for times, model in ((ours, LinearSVM()), (peers, SVC(kernel="linear"))):
            began = time.perf_counter()
            model.fit(X, y)
            times.append(time.perf_counter() - began)
    mine, theirs = float(np.median(ours)), float(np.median(peers))
    print(
        f"iris, whole fit: {mine * 1e6:.0f} µs, SVC(kernel='linear') {theirs * 1e6:.0f} µs,"
        f" ratio {mine / theirs:.2f} (bar 0.8)"
    )
    return {"case": "iris", "ours": mine, "svc": theirs, "ratio": mine / theirs}


def main() -> None:
    print(f"this process starts with {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")
    rows = [iris(), *compile_times(), *memory()]
    write(rows, RESULTS / "footprint.json")


if __name__ == "__main__":
    main()
