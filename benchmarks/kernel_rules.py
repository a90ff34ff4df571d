"""Which multiclass rule for kernel machines?  python -m benchmarks.kernel_rules [--data FOLDER]

Test error in percent of KernelSVM's four rules with an RBF kernel, C of 1 or 10 chosen on
validation rows, mean and spread over three splits.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_svmlight_file, load_wine

from maxmargin import KernelSVM

from .kernel_svm import images
from .run import save

RULES = ("pairs", "rest", "max", "sum")
SPLITS, MOST_HELD_OUT = 3, 2000


def sets(folder: Path | None):
    """Name, X, y and the number of training rows."""
    for name, load, n in (("iris", load_iris, 70), ("wine", load_wine, 80)):
        X, y = load(return_X_y=True)
        yield name, (X - X.mean(axis=0)) / X.std(axis=0), y, n
    yield "digits", *load_digits(return_X_y=True), 900
    if folder:
        X, y = images(folder, "train")
        yield "MNIST", X[:8000], y[:8000], 1500
        X, y = load_svmlight_file(str(next((folder / "libsvm").glob("letter*"))))
        yield "letter", X.toarray(), y, 1500


def errors(X, y, n: int, rule: str) -> list[float]:
    """Test error in percent, one for every split."""
    found = []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(y))
        held = min((len(y) - n) // 2, MOST_HELD_OUT)
        train, valid, test = np.split(order[: n + 2 * held], [n, n + held])
        models = [KernelSVM(C, multiclass=rule).fit(X[train], y[train]) for C in (1.0, 10.0)]
        best = max(models, key=lambda model: model.score(X[valid], y[valid]))
        found.append(100.0 * (1.0 - best.score(X[test], y[test])))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with real data sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    for name, X, y, n in sets(options.data):
        row = {rule: errors(X, y, n, rule) for rule in RULES}
        shown = "  ".join(f"{rule} {np.mean(e):.1f} ± {np.std(e):.1f}" for rule, e in row.items())
        print(f"{name}, {n} training rows:  {shown}", flush=True)
        results.append({"case": name, "rows": n, "errors": row})
    print(f"\nwritten: {save(results, 'kernel_rules.json')}")


if __name__ == "__main__":
    main()
