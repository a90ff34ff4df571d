"""Race the search for C against its peers:  python -m benchmarks.select [--data FOLDER]

Ours is one warm path per fold; the peers are ``GridSearchCV`` around ``LinearSVC(loss="hinge")``
and scikit-learn's ``LogisticRegressionCV``.  Same 13 values of C from 1e-3 to 1e3, same five
folds, final fit included; one process, one thread, processor time.  LinearSVC penalises the bias
and is judged on that problem.  Error: of one fold's training part, (primal − D)/D with D a dual
bound that we proved, the median and the worst over the 13 values, and at how many of them ours is
larger than the peer's.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegressionCV as PeerCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from maxmargin import LinearSVM, LinearSVMCV, LogisticRegression, LogisticRegressionCV, c_path

from .problems import REAL, dense, narrow
from .run import save

CS = np.logspace(-3, 3, 13)
FOLDS = StratifiedKFold(5)
# The gap of the dual bound that errors are measured against.
REFERENCE = 1e-6


@dataclass(frozen=True)
class Case:
    name: str
    X: object
    y: np.ndarray
    bar: float
    softmax: bool = False


def timed(fit: Callable, repeats: int = 1):
    """The result and the least processor time of a few runs."""
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = fit()
        taken.append(time.process_time() - began)
    return result, min(taken)


# --- cases -----------------------------------------------------------------------------


def cases(folder: Path | None) -> Iterator[Case]:
    X, y = dense(20_000, 50)
    yield Case("hinge, dense 20k×50", X, y, 0.02)
    X, y = dense(6_000, 30)
    yield Case("hinge, dense 6k×30", X, y, 0.03)
    if folder is None:
        print("real data: skipped (give a folder with --data)")
        return
    for reader in (_sentiment, _newsgroups, _embeddings):
        try:
            yield reader(folder)
        except (FileNotFoundError, NotADirectoryError) as missing:
            print(f"skipped {reader.__name__.strip('_')}: {missing}")


def _sentiment(folder: Path) -> Case:
    X, y, _ = REAL["sentiment bag of words (short rows)"](folder)
    return Case("hinge, sentiment sentences", narrow(X), y, 0.1)


def _newsgroups(folder: Path) -> Case:
    X, y, _ = REAL["20newsgroups tf-idf, two groups of ten"](folder)
    return Case("hinge, 20newsgroups, two groups of ten", narrow(X), y, 0.1)


def _embeddings(folder: Path) -> Case:
    content = np.load(folder / "embeddings_minilm" / "20news_minilm384.npz")
    X, y = content["X"].astype(np.float32), content["y"].astype(np.int64)
    return Case("softmax, MiniLM embeddings of 20newsgroups", X, y, 0.1, softmax=True)


# --- the race --------------------------------------------------------------------------


def race(case: Case) -> dict:
    tuned, plain = (
        (LogisticRegressionCV, LogisticRegression) if case.softmax else (LinearSVMCV, LinearSVM)
    )
    ours, seconds = timed(lambda: tuned(CS, cv=FOLDS).fit(case.X, case.y), repeats=2)
    if case.softmax:
        peer, theirs = timed(lambda: PeerCV(Cs=CS, cv=FOLDS).fit(case.X, case.y))
        chosen = float(np.ravel(peer.C_)[0])
    else:
        machine = LinearSVC(loss="hinge", max_iter=10_000)
        search = GridSearchCV(machine, {"C": CS}, cv=FOLDS)
        peer, theirs = timed(lambda: search.fit(case.X, case.y))
        chosen = float(peer.best_params_["C"])
    tol = plain().tol
    mine, others = errors(case, tuned, plain), peer_errors(case)
    path, along = timed(lambda: c_path(plain(), case.X, case.y, CS, stop=False), repeats=2)
    _, once = timed(lambda: plain(C=CS[-1], tol=tol).fit(case.X, case.y), repeats=2)
    return {
        "case": case.name, "bar": case.bar, "ratio": seconds / theirs,
        "ours": {"seconds": seconds, "C": ours.C_, "score": ours.best_score_,
                 "gap_in_folds": float(ours.cv_results_["max_relative_gap"].max()),
                 "gap": ours.certificate_.relative_gap, **_spread(mine),
                 "larger_error_at": int((mine > others).sum())},
        "peer": {"seconds": theirs, "C": chosen, **_spread(others)},
        "path": {"seconds": along, "cold_at_largest_C": once, "ratio": along / once,
                 "gap": float(max(path.column("gap")))},
    }  # fmt: skip


def fold(case: Case):
    train, _ = next(FOLDS.split(case.X, case.y))
    return case.X[train], case.y[train]


def errors(case: Case, tuned, plain) -> np.ndarray:
    """Of our models in the first fold, as a scorer sees them, against a sharper bound."""
    X, y = fold(case)
    values: list[float] = []

    def keep(model, *held_out) -> float:
        values.append(objective(model, X, y))
        return 0.0

    tuned(CS, cv=[next(FOLDS.split(case.X, case.y))], scoring=keep).fit(case.X, case.y)
    sharp = c_path(plain(tol=REFERENCE), X, y, CS, stop=False)
    bounds = np.array([model.certificate_.dual for model in sharp.models])
    return np.array(values) / bounds - 1.0


def objective(model, X, y) -> float:
    """½‖W‖² + C Σ loss in float64: the hinge of two classes, or softmax."""
    f = X.astype(np.float64) @ model.coef_.T + model.intercept_
    norm = 0.5 * float((model.coef_**2).sum())
    if f.shape[1] == 1:
        signs = np.where(y == model.classes_[1], 1.0, -1.0)
        return norm + model.C * float(np.maximum(0.0, 1.0 - signs * f[:, 0]).sum())
    return norm + model.C * float((logsumexp(f, axis=1) - f[np.arange(len(y)), y]).sum())


def peer_errors(case: Case) -> np.ndarray:
    X, y = fold(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, bounds = _softmax_peer(X, y) if case.softmax else _hinge_peer(X, y)
    return np.array(values) / bounds - 1.0


def _hinge_peer(X, y):
    signs, values, bounds = np.where(y == np.unique(y)[1], 1.0, -1.0), [], []
    model = LinearSVM(penalize_bias=True, tol=REFERENCE, max_seconds=60)
    sharp = c_path(model, X, y, CS, stop=False)
    for C, reference in zip(CS, sharp.models, strict=True):
        peer = LinearSVC(loss="hinge", max_iter=10_000, C=C).fit(X, y)
        w, b = peer.coef_[0], float(peer.intercept_[0])
        slack = np.maximum(0.0, 1.0 - signs * (X @ w + b)).sum()
        values.append(0.5 * float(w @ w) + 0.5 * b * b + C * float(slack))
        bounds.append(reference.certificate_.dual)
    return values, bounds


def _softmax_peer(X, y):
    whole = np.arange(len(y))
    peer = PeerCV(Cs=CS, cv=[(whole, whole[:100])], refit=False).fit(X, y)
    paths = np.stack([peer.coefs_paths_[c][0] for c in peer.classes_], axis=1)
    sharp = c_path(LogisticRegression(tol=1e-4), X, y, CS, stop=False)
    values, X = [], X.astype(np.float64)
    for C, W in zip(CS, paths, strict=True):
        s = X @ W[:, :-1].T + W[:, -1]
        loss = (logsumexp(s, axis=1) - s[whole, y]).sum()
        values.append(0.5 * float((W[:, :-1] ** 2).sum()) + C * float(loss))
    return values, [model.certificate_.dual for model in sharp.models]


def _spread(error: np.ndarray) -> dict:
    return {"median_error": float(np.median(error)), "worst_error": float(error.max())}


def threads(case: Case) -> dict:
    """Wall time with one thread and with two; says little on a machine that is busy."""
    taken: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for jobs, runs in taken.items():
            began = time.perf_counter()
            LinearSVMCV(CS, cv=FOLDS, n_jobs=jobs).fit(case.X, case.y)
            runs.append(time.perf_counter() - began)
    one, two = min(taken[1]), min(taken[2])
    met = "met" if one / two >= 1.6 else "MISSED"
    load = os.getloadavg()[0]
    print(f"\ntwo threads, {case.name}: {one:.3f} s → {two:.3f} s, {one / two:.2f} ×, ≥ 1.6: {met}")
    print(f"  (load of the machine {load:.1f}, of which up to two are ours)")
    name = f"two threads, {case.name}"
    return {"case": name, "one": one, "two": two, "speedup": one / two, "load": load}


def show(result: dict) -> None:
    ours, peer, path = result["ours"], result["peer"], result["path"]
    met = "met" if result["ratio"] <= result["bar"] else "MISSED"
    print(f"\n{result['case']}")
    for who, entry in (("maxmargin", ours), ("peer", peer)):
        print(
            f"  {who:10s} {entry['seconds']:9.3f} s  C = {entry['C']:<8.4g} "
            f"error in a fold: median {entry['median_error']:.1e}, worst {entry['worst_error']:.1e}"
        )
    print(f"  ours has the larger error at {ours['larger_error_at']} of {len(CS)} values of C")
    print(f"  ratio {result['ratio']:.4f}, asked ≤ {result['bar']:g}: {met}")
    met = "met" if path["ratio"] <= 3.0 else "MISSED"
    print(
        f"  whole path {path['seconds']:.3f} s, one cold fit at C = 1000 "
        f"{path['cold_at_largest_C']:.3f} s: {path['ratio']:.2f} ×, asked ≤ 3: {met}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with real data sets")
    parser.add_argument("--only", default="", help="run cases whose name contains this")
    options = parser.parse_args()
    small = np.random.default_rng(0).standard_normal((200, 50))  # compile before the clock starts
    for X in (small, small.astype(np.float32), sparse.csr_matrix(small)):
        for model in (
            LinearSVMCV(3),
            LinearSVMCV([1e-2], solver="descent"),
            LogisticRegressionCV(3),
        ):
            model.fit(X, np.arange(200) % 2)
        LogisticRegressionCV(3).fit(X, np.arange(200) % 3)
    results = []
    for case in cases(options.data):
        if options.only in case.name:
            with threadpool_limits(limits=1):
                results.append(race(case))
            show(results[-1])
            path = save(results, "select.json", others=True)
        if options.only in f"two threads, {case.name}" and not case.softmax:
            results.append(threads(case))
            path = save(results, "select.json", others=True)
    print(f"\nwritten: {path}" if results else f"no case is called {options.only!r}")


if __name__ == "__main__":
    main()
