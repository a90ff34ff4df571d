"""Fits as scikit-learn's examples and its users make them, without a word of maxmargin."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_svmlight_file,
    load_wine,
    make_classification,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from .class_problems import _minilm, _mnist
from .problems import narrow, newsgroups

CS = np.logspace(-2, 2, 7)


@dataclass(frozen=True)
class Case:
    """One fit: a model as a program has it, and rows."""

    name: str
    model: Any
    X: Any
    y: np.ndarray


def cases(folder: Path | None) -> Iterator[Case]:
    for name, (read, models) in (MADE | (REAL if folder else {})).items():
        try:
            X, y = read(folder)
        except (FileNotFoundError, NotADirectoryError) as missing:
            print(f"skipped {name}: {missing}")
            continue
        for model in models:
            yield Case(f"{name}: {describe(model)}", model, X, y)


def describe(model: Any) -> str:
    return " ".join(str(model).split()).replace("estimator=", "").replace("param_grid=", "")


def _bundled(load: Callable, scaled: bool = False) -> Callable:
    def read(folder):
        X, y = load(return_X_y=True)
        return (StandardScaler().fit_transform(X) if scaled else X), y

    return read


def _made(n: int, d: int, scales: float) -> Callable:
    """Columns of unit variance times 10^−scales … 10^scales."""

    def read(folder):
        X, y = make_classification(n, d, n_informative=d // 2, flip_y=0.05, random_state=0)
        return StandardScaler().fit_transform(X) * np.logspace(-scales, scales, d), y

    return read


def _libsvm(file: str, n: int | None = None, dense: bool = False) -> Callable:
    def read(folder):
        X, y = load_svmlight_file(str(folder / "libsvm" / file))
        X = narrow(X)[:n]
        return (X.toarray() if dense else X), y[:n]

    return read


def _covtype(folder):
    (file,) = (folder / "covtype").glob("covtype*")
    rows = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=20_000)
    return rows[:, :-1], rows[:, -1].astype(int)


def _digits(n: int) -> Callable:
    def read(folder):
        X, y = _mnist(folder)
        return X[:n].astype(np.float64), y[:n]

    return read


def _groups(folder):
    X, y = newsgroups(folder)
    return narrow(X), y


def _two_groups(folder):
    X, y = _groups(folder)
    some = y < 2
    return X[some], y[some]


def _spam(folder):
    with gzip.open(folder / "sms_spam" / "SMSSpamCollection.gz", "rb") as file:
        data = file.read().decode("utf-8")
    lines = [line.split("\t", 1) for line in data.split("\n") if "\t" in line]
    X = TfidfVectorizer().fit_transform([text for _, text in lines])
    return narrow(X), np.array([kind for kind, _ in lines])


def _embeddings(folder):
    X, y = _minilm(folder)
    return X[:8000], y[:8000]


def _grid(model: Any) -> GridSearchCV:
    return GridSearchCV(model, {"C": CS})


LINEAR = (LinearSVC(), LogisticRegression())
MADE: dict[str, tuple[Callable, tuple]] = {
    "wine": (_bundled(load_wine), (*LINEAR, SVC())),
    "breast cancer": (
        _bundled(load_breast_cancer),
        (*LINEAR, LogisticRegression(solver="liblinear"), SVC(kernel="linear"), _grid(LinearSVC())),
    ),
    "breast cancer, scaled": (
        _bundled(load_breast_cancer, scaled=True),
        (*LINEAR, SVC(), _grid(LinearSVC()), _grid(LogisticRegression())),
    ),
    "digits": (
        _bundled(load_digits),
        (
            *LINEAR,
            LogisticRegression(solver="saga", random_state=0),
            SVC(),
            LinearSVC(multi_class="crammer_singer", random_state=0),
            LinearDiscriminantAnalysis(),
            RidgeClassifier(),
            _grid(LinearSVC()),
            _grid(LogisticRegression()),
            LogisticRegressionCV(Cs=7, l1_ratios=(0,), use_legacy_attributes=False),
        ),
    ),
    "made 20k×40": (
        _made(20_000, 40, 0.0),
        (*LINEAR, LinearSVC(loss="hinge", random_state=0), RidgeClassifier()),
    ),
    "made 20k×40, scales 0.03…30": (_made(20_000, 40, 1.5), LINEAR),
    "made 4k×20": (
        _made(4000, 20, 0.0),
        (SVC(kernel="linear"), SVC(), KernelRidge(kernel="rbf", gamma=0.05)),
    ),
    "made 100k×50": (
        _made(100_000, 50, 0.0),
        (LogisticRegression(), LinearDiscriminantAnalysis(), RidgeClassifier()),
    ),
}
REAL: dict[str, tuple[Callable, tuple]] = {
    "a9a": (_libsvm("a9a.gz"), (*LINEAR, LogisticRegression(solver="liblinear"))),
    "a9a 5k": (_libsvm("a9a.gz", 5000), (SVC(), SVC(kernel="linear"))),
    "mushrooms": (_libsvm("mushrooms.gz"), (*LINEAR, SVC(kernel="linear"))),
    "letter": (_libsvm("letter.scale.gz", dense=True), (*LINEAR, LinearDiscriminantAnalysis())),
    "covtype 20k": (_covtype, (LogisticRegression(), LinearSVC(dual=False))),
    "MNIST 5k": (_digits(5000), (*LINEAR, LinearDiscriminantAnalysis(), RidgeClassifier())),
    "20newsgroups tf-idf": (_groups, LINEAR),
    "two newsgroups": (_two_groups, (*LINEAR, _grid(LinearSVC()), _grid(LogisticRegression()))),
    "SMS spam": (_spam, (*LINEAR, _grid(LinearSVC()))),
    "MiniLM embeddings": (_embeddings, (*LINEAR, RidgeClassifier())),
}
