"""Which multiclass rule predicts best?  python -m benchmarks.rules [--data FOLDER]

For every data set, three random splits into training, validation and test rows; C is chosen
on the validation rows from a grid, and the error is counted on the test rows.  At most
6,000 rows train, so that all four rules can be tried everywhere.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MaxAbsScaler

from maxmargin import LinearSVM

from .class_problems import class_cases
from .run import save

RULES = ("max", "sum", "rest", "pairs")
PRICES = (0.01, 0.1, 1.0, 10.0)
SPLITS, MOST = 3, 6000
# From this many classes on one machine per pair is left out: there would be thousands.
MANY_CLASSES = 50


def data(folder: Path | None) -> Iterator[tuple[str, object, np.ndarray]]:
    for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        yield name, MaxAbsScaler().fit_transform(X), y
    if folder is None:
        return
    seen = set()
    for case in class_cases(folder):
        name = case.name.rsplit(",", 1)[0]
        if name not in seen:
            seen.add(name)
            yield name, case.X, case.y


def test_error(rule: str, X, y, split: int) -> float:
    """Share of wrong answers on rows that neither the fit nor the choice of C has seen."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=split)
    X, X_valid, y, y_valid = train_test_split(X, y, test_size=0.3, stratify=y, random_state=split)
    X, y = X[:MOST], y[:MOST]
    fits = [LinearSVM(C, multiclass=rule, tol=1e-3, max_seconds=60).fit(X, y) for C in PRICES]
    best = max(fits, key=lambda fit: fit.score(X_valid, y_valid))
    return 1.0 - best.score(X_test, y_test)


def _cell(error: list | None) -> str:
    return f"{'–':>17s}" if error is None else f"{error[0]:10.2f} ± {error[1]:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with public data sets")
    warnings.simplefilter("ignore", ConvergenceWarning)
    table = []
    print(f"{'test error, %':24s}" + "".join(f"{rule:>16s}" for rule in RULES))
    for name, X, y in data(parser.parse_args().data):
        row: dict = {"data": name}
        for rule in RULES:
            if rule == "pairs" and y.max() >= MANY_CLASSES:
                continue
            errors = [100.0 * test_error(rule, X, y, split) for split in range(SPLITS)]
            row[rule] = [round(float(np.mean(errors)), 2), round(float(np.std(errors)), 2)]
        table.append(row)
        print(f"{name:24s}" + "".join(_cell(row.get(rule)) for rule in RULES), flush=True)
    save(table, "rules.json")


if __name__ == "__main__":
    main()
