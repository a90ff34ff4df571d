"""Run by the tests in a process of its own: fit a file within a limit, print the peak memory."""

from __future__ import annotations

import ctypes
import gc
import json
import sys
from pathlib import Path

import numpy as np
from numba.core.event import install_recorder
from scipy.sparse import csr_matrix


def status(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def main() -> dict:
    from maxmargin import LinearSVM, LogisticRegression, fit_stream, open_source

    name, path, memory = sys.argv[1:]
    model = {"svm": LinearSVM(tol=1e-3), "logistic": LogisticRegression(tol=1e-3)}[name]
    sparse = path.endswith(".svm")
    rng = np.random.default_rng(0)
    n = 60_000  # so many that every kernel the file will need is loaded
    X = rng.standard_normal((n, 20)).astype(np.float64 if not path.endswith("t") else np.float32)
    y = (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
    fit_stream(model, [(csr_matrix(X) if sparse else X, y)])  # loads and compiles everything
    source = open_source(path, **({} if sparse else {"target": "label"}))
    next(iter(source.chunks(100_000)))  # and what reads such files
    del X, y
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # or what the small fit has left would be reckoned as ours
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew here
    before = status("VmRSS")
    fitted = fit_stream(model, source, memory=memory)
    return {"peak": status("VmHWM") - before, "gap": fitted.certificate_.relative_gap}


if __name__ == "__main__":
    # The peak is that of the whole process: if it compiled anything, it tells nothing of us.
    with install_recorder("numba:compile") as compiled:
        told = main()
    print(json.dumps(told | {"compiled": len(compiled.buffer)}))
