"""Predictions under the patch, where scikit-learn converges:  python -m benchmarks.accelerate_same

Every model with ``tol=1e-8`` is fitted to half of the rows, by scikit-learn and under the patch
with fits of every size, and predicts the other half.  Fits that scikit-learn ends with a
ConvergenceWarning have not converged and are not counted.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from maxmargin import accelerate
from maxmargin.accelerate.settings import SETTINGS

from .accelerate_cases import _made, _sentences, _spam, describe
from .run import save

TOL = 1e-8
MODELS = (
    LinearSVC(tol=TOL, max_iter=100_000, random_state=0),
    LinearSVC(loss="hinge", C=0.1, tol=TOL, max_iter=100_000, random_state=0),
    LogisticRegression(tol=TOL, max_iter=10_000),
    LogisticRegression(solver="liblinear", tol=TOL, max_iter=10_000, random_state=0),
    SVC(tol=TOL),
    SVC(kernel="linear", C=0.1, tol=TOL),
    RidgeClassifier(tol=TOL),
    LinearDiscriminantAnalysis(),
)


def _bundled(load: Any) -> Any:
    def read(folder):
        X, y = load(return_X_y=True)
        return StandardScaler().fit_transform(X), y

    return read


MADE = {
    "iris": _bundled(load_iris),
    "wine": _bundled(load_wine),
    "breast cancer": _bundled(load_breast_cancer),
    "digits": _bundled(load_digits),
    "made 4k×20": _made(4000, 20, 0.0),
}
REAL = {"sentences": _sentences, "SMS spam": _spam}


def compared(model: Any, X: Any, y: np.ndarray) -> dict[str, Any]:
    """Rows predicted, those predicted differently, who solved, and whether theirs converged."""
    mine = np.arange(len(y)) % 2 == 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        theirs = clone(model).fit(X[mine], y[mine])
    unfinished = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    accelerate.clear()
    with accelerate.accelerated(load="now"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = clone(model).fit(X[mine], y[mine])
    changed = np.sum(ours.predict(X[~mine]) != theirs.predict(X[~mine]))
    solvers = {fit.solver for fit in accelerate.fits()}
    return {
        "rows": int(np.sum(~mine)),
        "changed": int(changed),
        "converged": not unfinished,
        "by_maxmargin": solvers == {"maxmargin"},
    }


def fits(model: Any, X: Any, y: np.ndarray) -> bool:
    """LIBLINEAR's logistic regression is of two classes, discriminants are of dense rows."""
    if isinstance(model, LinearDiscriminantAnalysis):
        return not sparse.issparse(X)
    return getattr(model, "solver", "") != "liblinear" or len(np.unique(y)) == 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with real data sets")
    parser.add_argument("--only", default="", help="run cases whose name contains this")
    options = parser.parse_args()
    SETTINGS.every_size = True
    results = []
    with threadpool_limits(limits=1):
        for name, read in (MADE | (REAL if options.data else {})).items():
            X, y = read(options.data)
            for model in MODELS:
                case = f"{name}: {describe(model)}"
                if fits(model, X, y) and options.only in case:
                    found = {"case": case} | compared(model, X, y)
                    results.append(found)
                    save(results, "accelerate_same.json", others=True)
                    print(*found.values(), flush=True)
    print(summary(results))


def summary(results: list[dict]) -> str:
    counted = [r for r in results if r["converged"]]
    rows, changed = (sum(r[name] for r in counted) for name in ("rows", "changed"))
    solved = sum(r["by_maxmargin"] for r in counted)
    return (
        f"{rows - changed} of {rows} rows ({100 * (1 - changed / rows):.4f} %) are predicted alike "
        f"in {len(counted)} fits, {solved} of them solved by maxmargin; "
        f"{len(results) - len(counted)} fits of scikit-learn's did not converge"
    )


if __name__ == "__main__":
    main()
