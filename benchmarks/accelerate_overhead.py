"""What the patch costs where it does nothing:  python -m benchmarks.accelerate_overhead

Fits left to scikit-learn, with and without the patch in turns, the quickest of each in
processor time; and that of importing and installing it.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from maxmargin import accelerate

from .run import save

MODELS = (
    LinearSVC(),
    LogisticRegression(),
    SVC(),
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    KernelRidge(),
)
TURNS, FITS = 60, 5
IMPORTED = """
import time
began = time.process_time()
{}
print(time.process_time() - began)
"""


def fit_seconds(model: Any, X: np.ndarray, y: np.ndarray) -> list[float]:
    taken = []
    for _ in range(FITS):
        began = time.process_time()
        model.fit(X, y)
        taken.append(time.process_time() - began)
    return taken


def overhead(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds that the patch adds to a fit."""
    plain, patched = [], []
    for _ in range(TURNS):
        plain += fit_seconds(model, X, y)
        with accelerate.accelerated():
            patched += fit_seconds(model, X, y)
    accelerate.clear()
    return float(min(patched) - min(plain))


def import_seconds() -> float:
    code = "import maxmargin.accelerate; maxmargin.accelerate.install()"
    run = [sys.executable, "-c", IMPORTED.format(code)]
    times = [
        float(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    return min(times)


def main() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [{"case": str(model), "seconds": overhead(model, X, y)} for model in MODELS]
    results.append({"case": "import and install", "seconds": import_seconds()})
    for result in results:
        print(f"{1e6 * result['seconds']:8.0f} µs  {result['case']}")
    save(results, "accelerate_overhead.json")


if __name__ == "__main__":
    main()
