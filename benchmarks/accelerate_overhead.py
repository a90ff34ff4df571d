"""What the patch costs where it does nothing:  python -m benchmarks.accelerate_overhead

Of fits left to scikit-learn, the time around its own code; and the processor time of importing and
installing it.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
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
    KernelRidge(),
)
FITS = 400
IMPORTED = """
import time
began = time.process_time()
{}
print(time.process_time() - began)
"""


def overhead(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds between a call of scikit-learn's solver and its own code, and back: the median."""
    accelerate.clear()
    with accelerate.accelerated():
        for _ in range(FITS):
            model.fit(X, y)
    return float(np.median([fit.seconds - fit.their_seconds for fit in accelerate.fits()]))


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
