"""Fits as scikit-learn's examples and its users make them, without a word of maxmargin."""

from __future__ import annotations

import gzip
import zipfile
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
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from .class_problems import _minilm, _mnist
from .problems import narrow, newsgroup_texts, newsgroups

CS = np.logspace(-2, 2, 7)


@dataclass(frozen=True)
class Case:
    """One fit: a model as a program has it, and rows."""

    name: str
    model: Any
    X: Any
    y: np.ndarray


def cases(folder: Path | None, only: str = "") -> Iterator[Case]:
    """Those whose name contains ``only``; data that none of them needs are not read."""
    for name, (read, models) in (MADE | (REAL if folder else {})).items():
        models = tuple(model for model in models if only in f"{name}: {describe(model)}")
        if not models:
            continue
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


def _covtype(folder, n: int = 20_000):
    (file,) = (folder / "covtype").glob("covtype*")
    rows = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=n)
    return rows[:, :-1], rows[:, -1].astype(int)


def _two_covers(folder):
    """Lodgepole pine or not, as LIBSVM's covtype.binary."""
    X, y = _covtype(folder, 50_000)
    return X, (y == 2).astype(int)


def _scalable_poly_kernels(folder):
    """As the example of that name prepares it, of its 5000 rows."""
    X, y = _two_covers(folder)
    X = X[:: len(X) // 5000][:5000]
    return Normalizer().fit_transform(MinMaxScaler().fit_transform(X)), y[:: len(y) // 5000][:5000]


def _kernel_approximation(folder):
    """The digits as the example of that name has them, by 300 features of the RBF kernel."""
    X, y = load_digits(return_X_y=True)
    return Nystroem(gamma=0.2, n_components=300, random_state=1).fit_transform(X / 16.0), y


def _document_classification(folder):
    """Four groups, as the example of that name reads them."""
    texts, group = newsgroup_texts(folder)
    some = [i for i, g in enumerate(group) if g in (0, 7, 11, 19)]
    tfidf = TfidfVectorizer(sublinear_tf=True, max_df=0.5, min_df=5, stop_words="english")
    return narrow(tfidf.fit_transform([texts[i] for i in some])), group[some]


def _sentences(folder):
    with gzip.open(folder / "sentiment_labelled" / "full_set.txt.gz", "rb") as file:
        lines = [line.rsplit("\t", 1) for line in file.read().decode("utf-8").split("\n")]
    lines = [line for line in lines if len(line) == 2]
    X = CountVectorizer().fit_transform([text for text, _ in lines]).astype(np.float64)
    return narrow(X), np.array([int(label) for _, label in lines])


def _questions(folder):
    """TREC's six kinds of questions."""
    with zipfile.ZipFile(folder / "trec_qc" / "qc.zip") as archive:
        (name,) = (name for name in archive.namelist() if "train" in name)
        data = archive.read(name).decode("latin-1")
    lines = [line.split(" ", 1) for line in data.split("\n") if " " in line]
    X = TfidfVectorizer().fit_transform([text for _, text in lines])
    return narrow(X), np.array([kind.split(":")[0] for kind, _ in lines])


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
            SVC(kernel="linear"),
            LinearSVC(multi_class="crammer_singer", random_state=0),
            LinearDiscriminantAnalysis(),
            RidgeClassifier(),
            _grid(LinearSVC()),
            _grid(LogisticRegression()),
            LogisticRegressionCV(Cs=7, l1_ratios=(0,), use_legacy_attributes=False),
        ),
    ),
    "digits, kernel approximation": (_kernel_approximation, (LinearSVC(random_state=42),)),
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
    "letter": (
        _libsvm("letter.scale.gz", dense=True),
        (*LINEAR, LinearDiscriminantAnalysis(), SVC(kernel="linear")),
    ),
    "covtype 20k": (_covtype, (LogisticRegression(), LinearSVC(dual=False))),
    "covtype, two classes, 50k": (_two_covers, LINEAR),
    "covtype, scalable poly kernels": (
        _scalable_poly_kernels,
        (LinearSVC(), SVC(C=500.0, kernel="poly", degree=4, coef0=0, gamma=1.0)),
    ),
    "MNIST 5k": (_digits(5000), (*LINEAR, LinearDiscriminantAnalysis(), RidgeClassifier())),
    "document classification": (
        _document_classification,
        (
            LogisticRegression(C=5, max_iter=1000),
            RidgeClassifier(alpha=1.0, solver="sparse_cg"),
            LinearSVC(C=0.1, dual=False, max_iter=1000),
        ),
    ),
    "20newsgroups tf-idf": (_groups, LINEAR),
    "two newsgroups": (_two_groups, (*LINEAR, _grid(LinearSVC()), _grid(LogisticRegression()))),
    "sentences": (_sentences, LINEAR),
    "TREC questions": (_questions, LINEAR),
    "SMS spam": (_spam, (*LINEAR, _grid(LinearSVC()))),
    "MiniLM embeddings": (_embeddings, (*LINEAR, RidgeClassifier())),
}
