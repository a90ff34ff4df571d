"""Data sets on which probabilities and prediction sets are judged: (name, X, y) of each.

scikit-learn's, those of a folder, public tables (the extra ``tables``), and generated ones of every
kind until they are 60.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_svmlight_file,
    load_wine,
    make_blobs,
    make_classification,
    make_moons,
)

from .public_tables import PublicTable, public_tables

Case = tuple[str, np.ndarray, np.ndarray]
DATA_SETS = 60
# Training rows of a split: where calibration is hard, and peers' fits still end.
MAX_TRAINING_ROWS = 600
# Rows of a class, twice as many as five folds inside five folds of the peers need in training rows.
MIN_CLASS_ROWS, MIN_ROWS = 20, 100
# Tables that are scikit-learn's, and are there already.
KNOWN = {"wine", "wdbc"}
# Words of a column that are told apart; a column of more is a name.
MAX_WORDS = 20
# Rows of a file, drawn by lot.
FILE_ROWS = 4000


def cases(folder: Path | None) -> list[Case]:
    """Generated ones make them 60; those with many classes, which take longest, come last."""
    found = [*_bundled(), *(_of_files(folder) if folder else ()), *_tables()]
    found += [_generated(seed) for seed in range(DATA_SETS - len(found))]
    return sorted(found, key=lambda case: len(np.unique(case[2])))


def _bundled() -> Iterator[Case]:
    for name, load in (
        ("iris", load_iris), ("wine", load_wine), ("digits", load_digits),
        ("breast cancer", load_breast_cancer),
    ):  # fmt: skip
        X, y = load(return_X_y=True)
        yield name, X, y
    X, y = load_iris(return_X_y=True)
    yield "iris, last two", X[50:], y[50:]
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer, two columns", X[:, :2], y
    X, y = load_wine(return_X_y=True)
    yield "wine, two columns", X[:, :2], y
    X, y = load_digits(return_X_y=True)
    yield "digits, 3 against 8", X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)]


def _of_files(folder: Path) -> Iterator[Case]:
    for name, file in (
        ("a9a", "a9a"), ("mushrooms", "mushrooms"), ("letter", "letter.scale"),
    ):  # fmt: skip
        found = next((path for end in (".gz", "") for path in folder.glob(f"**/{file}{end}")), None)
        if found is not None:
            X, y = load_svmlight_file(str(found))
            some = np.random.default_rng(0).permutation(len(y))[:FILE_ROWS]
            yield name, X[some].toarray(), y[some]


def _tables() -> Iterator[Case]:
    """Public tables with rows enough; none, and that is told, where they are not installed."""
    try:
        found = [_as_numbers(table) for table in public_tables() if table.name not in KNOWN]
    except ImportError as missing:
        print(f"public tables: left out, {missing}")
        return
    yield from (case for case in found if _serves(case[2]))


def _serves(y: np.ndarray) -> bool:
    """Whether there are classes enough, and of each rows enough to be trained on."""
    n, counts = len(y), np.bincount(y)
    share = min(MAX_TRAINING_ROWS, n // 2) / n if n else 0.0
    return n >= MIN_ROWS and len(counts) > 1 and counts.min() * share >= MIN_CLASS_ROWS // 2


def _as_numbers(table: PublicTable) -> Case:
    """Columns of words as a column for each; what is missing is the median, or no word."""
    import pandas as pd

    frame = table.frame.dropna(subset=[table.target])
    codes, _ = pd.factorize(frame[table.target], sort=True)
    features = frame.drop(columns=table.target)
    features = features[[c for c in features if _is_told(features[c])]]
    X = pd.get_dummies(features, dtype=float)
    X = X.fillna(X.median()).to_numpy(dtype=float)
    return table.name, *_without_rare(X, codes)


def _is_told(column) -> bool:
    return column.dtype.kind in "ifb" or column.nunique() <= MAX_WORDS


def _without_rare(X: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    many = np.bincount(codes)[codes] >= MIN_CLASS_ROWS
    return X[many], np.unique(codes[many], return_inverse=True)[1]


def _generated(seed: int) -> Case:
    """Noisy planes, clouds and moons, of two to five classes, from 100 to 1,000 rows."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.choice([100, 200, 400, 1000])), seed % 4
    k = int(rng.integers(2, 6))
    if kind == 0:
        X, y = make_classification(
            n, 10, n_informative=4, flip_y=0.2 * rng.random(), random_state=seed
        )
    elif kind == 1:
        X, y = make_blobs(n, 5, centers=k, cluster_std=2.0 + 4.0 * rng.random(), random_state=seed)
    elif kind == 2:
        X, y = make_classification(
            max(n, 400), 12, n_informative=6, n_classes=k, n_clusters_per_class=1, flip_y=0.1,
            weights=rng.dirichlet(10 * np.ones(k)), random_state=seed,
        )  # fmt: skip
    else:
        X, y = make_moons(n, noise=0.3, random_state=seed)
    return f"generated {seed}", *_without_rare(X, y)
