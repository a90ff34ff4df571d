"""One fit in one thread and in two:  python -m benchmarks.threads [--data FOLDER] [--only WORD]

Time by the clock, validation and certificate included, the quickest of a few fits, one thread and
two in turns; the processor time of the quickest fit beside it, and whether two threads gave the
same bits and the same certificate.  Needs two idle cores: another process on either of them is all
that such a comparison sees.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin import KernelSVM, LinearSVM, LogisticRegression

from .problems import dense, narrow, newsgroups
from .record import RESULTS, write
from .softmax import _mnist

REPEATS, MAX_SECONDS = 7, 8.0
BAR = 1.6


class Case(NamedTuple):
    name: str
    make: Callable[[], Any]
    X: Any
    y: np.ndarray


def cases(folder: Path | None) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 20))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(len(X)) > 0
    yield Case("RBF kernel, 20k×20, C=1", lambda: KernelSVM(1.0, tol=1e-3), X, y)
    X, y = dense(200_000, 100)
    square = {"loss": "squared_hinge", "tol": 1e-3}
    yield Case("hinge, dense 200k×100, C=1", lambda: LinearSVM(1.0, tol=1e-3), X, y)
    yield Case("squared hinge, dense 200k×100, C=1", lambda: LinearSVM(1.0, **square), X, y)
    yield Case("logistic, dense 200k×100, C=1", lambda: LogisticRegression(C=1.0, tol=1e-3), X, y)
    if folder is None:
        return
    images = next(_mnist(folder))
    yield Case("“max” rule, MNIST 60k, C=0.1", _max_rule, images.X, images.y)
    X, y = newsgroups(folder)
    yield Case("softmax, 20newsgroups tf-idf, C=1", _softmax, narrow(X), y)


def _max_rule() -> LinearSVM:
    return LinearSVM(0.1, multiclass="max", tol=1e-3)


def _softmax() -> LogisticRegression:
    return LogisticRegression(C=1.0, tol=1e-4)


def compared(case: Case) -> dict:
    """Both ways in turns, and what differs."""
    best: dict[int, tuple[float, float]] = {}
    fits: dict[int, Any] = {}
    case.make().fit(case.X, case.y)  # kernels are compiled
    began = time.perf_counter()
    for turn in range(REPEATS):
        for threads in (1, 2):
            with threadpool_limits(threads, user_api="blas"):
                clock, processor = time.perf_counter(), time.process_time()
                fits[threads] = case.make().fit(case.X, case.y)
                took = time.perf_counter() - clock, time.process_time() - processor
            best[threads] = min(took, best.get(threads, took))
        if turn and time.perf_counter() - began > MAX_SECONDS:
            break
    one, two = fits[1], fits[2]
    return {
        "case": case.name,
        "seconds": {threads: found[0] for threads, found in best.items()},
        "processor": {threads: found[1] for threads, found in best.items()},
        "times_as_fast": best[1][0] / best[2][0],
        "gap": two.certificate_.relative_gap,
        "same_certificate": one.certificate_ == two.certificate_,
        "same_bits": all(
            np.array_equal(getattr(one, name), getattr(two, name))
            for name in ("coef_", "dual_coef_", "intercept_")
            if hasattr(one, name)
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with data sets")
    parser.add_argument("--only", default="", help="run cases whose name contains this")
    parser.add_argument("--out", type=Path, default=RESULTS / "threads.json")
    options = parser.parse_args()
    results = []
    for case in cases(options.data):
        if options.only not in case.name:
            continue
        results.append(found := compared(case))
        one, two = found["seconds"][1], found["seconds"][2]
        same = "same bits" if found["same_bits"] and found["same_certificate"] else "NOT THE SAME"
        met = "met" if found["times_as_fast"] >= BAR else "missed"
        print(
            f"{found['case']:36s} {one:7.3f} s {two:7.3f} s  {found['times_as_fast']:.2f} "
            f"({met}, asked ≥ {BAR})  {same}, certified {found['gap']:.0e}",
            flush=True,
        )
    print(f"written: {write(results, options.out)}")


if __name__ == "__main__":
    main()
