"""What the patch costs where it does nothing:  python -m benchmarks.accelerate_overhead

Of fits left to scikit-learn, the time around its own code, and by how much whole fits take longer,
which is more: the code between makes what comes after it start with colder caches.  And the
processor time of importing and installing it.
"""

from __future__ import annotations

import subprocess
import sys
import time
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
# Whole fits are compared in so many blocks of so many, with and without the patch in turn.
BLOCKS, BLOCK_FITS = 15, 60
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


def longer(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds of processor time by which a whole fit takes longer: the median over blocks."""
    differences = []
    for _ in range(BLOCKS):
        plain = _block_seconds(model, X, y)
        with accelerate.accelerated():
            differences.append(_block_seconds(model, X, y) - plain)
        accelerate.clear()
    return float(np.median(differences)) / BLOCK_FITS


def _block_seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    model.fit(X, y)  # after a switch Python looks its methods up anew
    began = time.process_time()
    for _ in range(BLOCK_FITS):
        model.fit(X, y)
    return time.process_time() - began


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
        results = [
            {"case": f"{model}{of}", "seconds": measure(model, X, y)}
            for of, measure in (("", overhead), (", whole fits", longer))
            for model in MODELS
        ]
    results.append({"case": "import and install", "seconds": import_seconds()})
    for result in results:
        print(f"{1e6 * result['seconds']:8.0f} µs  {result['case']}")
    save(results, "accelerate_overhead.json")


if __name__ == "__main__":
    main()
