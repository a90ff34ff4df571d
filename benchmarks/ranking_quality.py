"""How well do the rankers predict?  Real preferences, five folds, simple baselines beside.

MQ2008          mean NDCG@10 and Kendall's τ over the test queries, and the share of pairs in the
                right order; C of both SVM and logistic regression from one grid, on the
                fold after the test fold
label ranking   mean Kendall's τ between the true and the predicted order of the labels; in the
                "partial" sets 60 % of the labels of every training example are hidden
sushi           mean Kendall's τ between held-out voters' orders and the one learned; C from a grid,
                on every fourth training voter (C → 0 counts wins less losses, as Borda does)
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import ndcg_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from maxmargin import LabelRanker, PairwiseRanker, pair_accuracy, pairs_from_grades

GRID = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
LABEL_GRID = (0.1, 1.0, 10.0)
SUSHI_GRID = (1e-6, 1e-5, 1e-4, 1e-3)
COMPLETE = ("authorship", "glass", "housing", "iris", "segment", "stock", "vehicle", "vowel",
            "wine", "wisconsin", "cold", "heat")  # fmt: skip
PARTIAL = ("vehicle", "segment", "vowel")
HIDDEN = 0.6


def letor(folder: Path):
    """Items, grades, queries and folds of MQ2008."""
    parts = []
    for fold in range(1, 6):
        with gzip.open(folder / "letor_mq2008" / f"Fold{fold}.test.txt.gz") as file:
            X, y, query = load_svmlight_file(file, n_features=46, query_id=True)
        parts.append((X.toarray(), y, query, np.full(len(y), fold - 1)))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def by_query(y, f, query) -> tuple[float, float]:
    """Mean NDCG@10 and Kendall's τ of the queries that have something to order."""
    gains, taus = [], []
    for q in np.unique(query):
        mine = query == q
        if len(np.unique(y[mine])) > 1:
            gains.append(ndcg_score([y[mine]], [f[mine]], k=10))
            tau = kendalltau(y[mine], f[mine]).statistic
            taus.append(0.0 if np.isnan(tau) else tau)
    return float(np.mean(gains)), float(np.mean(taus))


def best_of(predictors, valid) -> Callable:
    """The one that orders the validation fold best, by NDCG@10."""
    X, y, query = valid
    return max(predictors, key=lambda predict: by_query(y, predict(X), query)[0])


def ranker(X, y, query, valid) -> Callable:
    return best_of([PairwiseRanker(C).fit(X, y, groups=query).predict for C in GRID], valid)


def regression(X, y, query, valid) -> Callable:
    return LinearRegression().fit(X, y).predict


def differences(X, y, query, valid) -> Callable:
    pairs = pairs_from_grades(y, query)
    Z = X[pairs[:, 0]] - X[pairs[:, 1]]
    sign = np.where(np.arange(len(Z)) % 2 == 0, 1.0, -1.0)
    models = [LogisticRegression(C=C, fit_intercept=False) for C in GRID]
    fits = [model.fit(Z * sign[:, None], sign) for model in models]
    return best_of([lambda X, w=fit.coef_[0]: X @ w for fit in fits], valid)


def constant(X, y, query, valid) -> Callable:
    return lambda X: np.zeros(len(X))


OBJECT_METHODS = {
    "PairwiseRanker": ranker,
    "LinearRegression on grades": regression,
    "LogisticRegression on differences": differences,
    "constant": constant,
}


def objects_quality(folder: Path) -> Iterator[dict]:
    X, y, query, fold = letor(folder)
    for name, method in OBJECT_METHODS.items():
        marks = []
        for test in range(5):
            held, valid = fold == test, fold == (test + 1) % 5
            train = ~held & ~valid
            chosen = (X[valid], y[valid], query[valid])
            f = method(X[train], y[train], query[train], chosen)(X[held])
            accuracy = pair_accuracy(y[held], f, groups=query[held])
            marks.append((*by_query(y[held], f, query[held]), accuracy))
        ndcg, tau, accuracy = np.mean(marks, axis=0)
        line = f"| MQ2008 | {name} | {ndcg:.3f} | {tau:.3f} | {accuracy:.3f} |"
        values = {"ndcg@10": ndcg, "tau": tau, "pair_accuracy": accuracy}
        yield {"case": f"quality, MQ2008, {name}", **values, "line": line}


def label_sets(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Attributes and ranks, 1 for the best, of every set of the archive."""
    sets = {}
    with tarfile.open(folder / "label_ranking" / "label_ranking.tar.gz") as archive:
        for member in archive:
            if member.name.endswith(".csv"):
                text = io.TextIOWrapper(archive.extractfile(member))
                header = text.readline().strip().split(",")
                table = np.loadtxt(text, delimiter=",", ndmin=2)
                d = sum(name.startswith("A") for name in header)
                sets[Path(member.name).stem] = table[:, :d], table[:, d:]
    return sets


def kendall(ranks, scores) -> float:
    taus = [kendalltau(-rank, score).statistic for rank, score in zip(ranks, scores, strict=True)]
    return float(np.mean(np.nan_to_num(taus)))


def label_ranker(X, scores) -> Callable:
    """C from a grid, on every fourth training example."""
    held = np.arange(len(X)) % 4 == 0
    known = lambda ranks: np.where(np.isnan(ranks), np.nanmean(ranks), ranks)  # noqa: E731

    def mark(C: float) -> float:
        fit = LabelRanker(C, tol=1e-3).fit(X[~held], scores=scores[~held])
        return kendall(-known(scores[held]), fit.decision_function(X[held]))

    return LabelRanker(max(LABEL_GRID, key=mark)).fit(X, scores=scores).decision_function


def mean_ranks(X, scores) -> Callable:
    mean = np.nanmean(scores, axis=0)
    return lambda X: np.tile(mean, (len(X), 1))


def rank_regression(X, scores) -> Callable:
    """One regression for every label, on the examples that know its rank."""
    mean, models = np.nanmean(scores, axis=0), []
    for j in range(scores.shape[1]):
        known = ~np.isnan(scores[:, j])
        models.append(LinearRegression().fit(X[known], scores[known, j]) if known.any() else None)
    return lambda X: np.column_stack(
        [np.full(len(X), mean[j]) if m is None else m.predict(X) for j, m in enumerate(models)]
    )


LABEL_METHODS = {
    "LabelRanker": label_ranker,
    "LinearRegression on ranks": rank_regression,
    "mean ranks": mean_ranks,
}


def labels_quality(folder: Path) -> Iterator[dict]:
    sets = label_sets(folder)
    for name, hidden in [
        *((name, 0.0) for name in COMPLETE),
        *((name, HIDDEN) for name in PARTIAL),
    ]:
        X, ranks = sets[name]
        rng = np.random.default_rng(0)
        given = np.where(rng.random(ranks.shape) < hidden, np.nan, -ranks)
        marks: dict[str, list[float]] = {method: [] for method in LABEL_METHODS}
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            scale = StandardScaler().fit(X[train])
            for method, learn in LABEL_METHODS.items():
                predict = learn(scale.transform(X[train]), given[train])
                marks[method].append(kendall(ranks[test], predict(scale.transform(X[test]))))
        values = {method: float(np.mean(taus)) for method, taus in marks.items()}
        title = (
            f"{name}{', 60 % hidden' if hidden else ''} ({len(X)}×{X.shape[1]}, {ranks.shape[1]})"
        )
        line = f"| {title} | " + " | ".join(f"{tau:.3f}" for tau in values.values()) + " |"
        yield {"case": f"quality, labels, {title}", **values, "line": line}


def sushi_orders(folder: Path) -> np.ndarray:
    """(5000, 10): item numbers from 0, best first."""
    with tarfile.open(folder / "sushi" / "preflib_00014_sushi.tar.gz") as archive:
        text = archive.extractfile("00014 - sushi/00014-00000001.soc").read().decode()
    orders = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            times, order = line.split(":")
            orders += [[int(item) - 1 for item in order.split(",")]] * int(times)
    return np.array(orders)


def comparisons(orders) -> np.ndarray:
    """How often, (k, k), the item of the row was put above that of the column."""
    k = orders.shape[1]
    upper, lower = np.triu_indices(k, 1)
    wins = np.zeros((k, k))
    np.add.at(wins, (orders[:, upper], orders[:, lower]), 1.0)
    return wins


def item_scores(orders, C: float) -> np.ndarray:
    """One weight per item, from the comparisons alone."""
    wins = comparisons(orders)
    a, b = np.nonzero(wins)
    return PairwiseRanker(C).fit(np.eye(len(wins)), np.column_stack([a, b, wins[a, b]])).coef_


def one_for_all(orders, f) -> float:
    return kendall(np.argsort(orders, axis=1), np.tile(f, (len(orders), 1)))


def chosen_item_scores(orders) -> np.ndarray:
    held = np.arange(len(orders)) % 4 == 0
    fits = {C: item_scores(orders[~held], C) for C in SUSHI_GRID}
    return item_scores(orders, max(fits, key=lambda C: one_for_all(orders[held], fits[C])))


def sushi_quality(folder: Path) -> Iterator[dict]:
    orders = sushi_orders(folder)
    marks: dict[str, list[float]] = {"PairwiseRanker": [], "Borda": [], "majority": []}
    for train, test in KFold(5, shuffle=True, random_state=0).split(orders):
        wins = comparisons(orders[train])
        learned = {
            "PairwiseRanker": chosen_item_scores(orders[train]),
            "Borda": wins.sum(axis=1),
            "majority": (wins > wins.T).sum(axis=1).astype(float),  # Copeland's rule
        }
        for method, f in learned.items():
            marks[method].append(one_for_all(orders[test], f))
    values = {method: float(np.mean(taus)) for method, taus in marks.items()}
    line = "| sushi | " + " | ".join(f"{name} {tau:.3f}" for name, tau in values.items()) + " |"
    yield {"case": "quality, sushi", **values, "line": line}


def quality(folder: Path, only: str) -> Iterator[dict]:
    for word, cases in (
        ("quality, MQ2008", objects_quality),
        ("quality, labels", labels_quality),
        ("quality, sushi", sushi_quality),
    ):
        if only in word:
            yield from cases(folder)
