"""Probabilities and prediction sets against peers.

    python -m benchmarks.chances [--splits 20] [--processes 16] [--data FOLDER] [--only ours mapie]

60 data sets (``chance_cases.py``), each split anew into training and test rows; LinearSVM(C=1) with
probability=True on scaled features, beside CalibratedClassifierCV around the same LinearSVM
(sigmoid, isotonic), Venn–Abers (venn-abers) and MAPIE's cross-conformal sets (LAC, 5 folds).
Means over the splits of log-loss, Brier score,
coverage and size of sets at α = 0.1, coverage of the worst class of per-class sets, and process
time as a multiple of one fit without probabilities, one BLAS thread.

Splits of the same rows, drawn by lot, are independent of each other, so that their spread tells the
standard error of a mean over them; "below" counts the data sets, and their classes, whose mean is
below 1 − α − 2 standard errors.  A peer that is not installed is left out, and named.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from maxmargin import LinearSVM

from .chance_cases import DATA_SETS, MAX_TRAINING_ROWS, Case, cases
from .run import save

ALPHA = 0.1


class Ours:
    def __init__(self, X, y):
        self.model = LinearSVM(probability=True).fit(X, y)

    def probabilities(self, X) -> np.ndarray:
        return self.model.predict_proba(X)

    def sets(self, X, per_class: bool = False) -> np.ndarray:
        return self.model.predict_set(X, ALPHA, per_class)


class Calibrated:
    def __init__(self, method: str, X, y):
        self.model = CalibratedClassifierCV(LinearSVM(), method=method, cv=5).fit(X, y)

    def probabilities(self, X) -> np.ndarray:
        return self.model.predict_proba(X)


class VennAbersPeer:
    def __init__(self, X, y):
        from venn_abers import VennAbersCalibrator

        estimator = CalibratedClassifierCV(LinearSVM(), method="sigmoid", cv=2)
        self.model = VennAbersCalibrator(estimator=estimator, inductive=False, n_splits=5)
        self.model.fit(X, y)

    def probabilities(self, X) -> np.ndarray:
        return np.asarray(self.model.predict_proba(X))


class Mapie:
    def __init__(self, X, y):
        from mapie.classification import CrossConformalClassifier

        estimator = CalibratedClassifierCV(LinearSVM(), method="sigmoid", cv=5)
        self.model = CrossConformalClassifier(
            estimator, confidence_level=1 - ALPHA, conformity_score="lac", cv=5
        ).fit_conformalize(X, y)

    def sets(self, X, per_class: bool = False) -> np.ndarray:
        return self.model.predict_set(X)[1][:, :, 0]


PEERS: dict[str, Callable] = {
    "ours": Ours,
    "sigmoid": lambda X, y: Calibrated("sigmoid", X, y),
    "isotonic": lambda X, y: Calibrated("isotonic", X, y),
    "venn-abers": VennAbersPeer,
    "mapie": Mapie,
}


def measured(name: str, X, y, Z, truth) -> dict:
    """What one way of calibrating gave on one split; ``seconds`` of process time for its fit."""
    began = time.process_time()
    model = PEERS[name](X, y)
    told = {"seconds": time.process_time() - began}
    rows = np.arange(len(truth))
    if hasattr(model, "probabilities"):
        P = np.clip(model.probabilities(Z), 1e-15, 1.0)
        told["log_loss"] = float(-np.log(P[rows, truth]).mean())
        told["brier"] = float(np.sum((P - np.eye(P.shape[1])[truth]) ** 2, axis=1).mean())
    if hasattr(model, "sets"):
        S = model.sets(Z)
        told |= {"coverage": float(S[rows, truth].mean()), "size": float(S.sum(axis=1).mean())}
    if name == "ours":
        covered = model.sets(Z, per_class=True)[rows, truth]
        told["by_class"] = [
            [float(covered[truth == c].sum()), int((truth == c).sum())] for c in np.unique(truth)
        ]
    return told


def split_of(X, y, split: int):
    """Scaled training and test rows, labels as codes."""
    y = np.unique(y, return_inverse=True)[1]
    half = len(y) // 2
    rows = train_test_split(
        np.arange(len(y)), train_size=min(MAX_TRAINING_ROWS, half), test_size=min(2000, half),
        stratify=y, random_state=split,
    )  # fmt: skip
    scaler = StandardScaler().fit(X[rows[0]])
    return scaler.transform(X[rows[0]]), y[rows[0]], scaler.transform(X[rows[1]]), y[rows[1]]


def one_fit(X, y) -> float:
    began = time.process_time()
    LinearSVM().fit(X, y)
    return time.process_time() - began


class Split(NamedTuple):
    """What every way of calibrating gave, the seconds of one fit, and the rows it had."""

    told: dict[str, dict]
    base: float
    rows: int


def judged(case: Case, split: int, peers: list[str]) -> Split:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = split_of(case[1], case[2], split)
        base = min(one_fit(*data[:2]) for _ in range(2))
        return Split({name: measured(name, *data) for name in peers}, base, len(data[1]))


def means(splits: list[Split], peers: list[str]) -> dict:
    """Means over the splits of a data set."""
    base = [split.base for split in splits]
    found = {name: _mean([split.told[name] for split in splits], base) for name in peers}
    return found | {"rows": splits[0].rows}


def _mean(runs: list[dict], base: list[float]) -> dict:
    keys = [key for key in runs[0] if key != "by_class"]
    out = {key: float(np.mean([run[key] for run in runs])) for key in keys}
    out["fits"] = float(
        np.median([run["seconds"] / one for run, one in zip(runs, base, strict=True)])
    )
    if "coverage" in runs[0]:
        out["below"] = int(_is_below([run["coverage"] for run in runs]))
    if "by_class" in runs[0]:
        counts = np.array([run["by_class"] for run in runs])
        out["worst_class"] = float((counts[..., 0].sum(axis=0) / counts[..., 1].sum(axis=0)).min())
        shares = counts[..., 0] / counts[..., 1]
        out["classes"] = shares.shape[1]
        out["classes_below"] = sum(_is_below(share) for share in shares.T)
    return out


def _is_below(coverage) -> bool:
    """Whether a mean over splits is below 1 − α by more than two standard errors."""
    if len(coverage) < 2:
        return False
    error = float(np.std(coverage, ddof=1)) / np.sqrt(len(coverage))
    return bool(np.mean(coverage) < 1.0 - ALPHA - 2.0 * error)


def summary(results: dict, peers: list[str]) -> dict:
    """Means over data sets; of what is counted, sums."""
    out: dict = {}
    for name in peers:
        out[name] = {}
        for key in results[next(iter(results))][name]:
            values = [r[name][key] for r in results.values()]
            counts = key == "below" or key.startswith("classes")
            out[name][key] = int(np.sum(values)) if counts else float(np.mean(values))
        out[name]["median_fits"] = float(np.median([r[name]["fits"] for r in results.values()]))
    return out


def installed(peers: list[str]) -> list[str]:
    """Those that can be asked; tells of the others."""
    needs = {"mapie": "mapie", "venn-abers": "venn_abers"}
    there = [name for name in peers if name not in needs or find_spec(needs[name])]
    for name in peers:
        if name not in there:
            print(f"{name}: not installed, left out")
    return there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--only", nargs="*", default=list(PEERS))
    parser.add_argument("--most", type=int, default=DATA_SETS, help="data sets")
    given = parser.parse_args()
    peers = installed(given.only)
    some = cases(given.data)[: given.most]
    judged(some[0], 0, peers)  # compiled once, for all processes
    results: dict = {}
    for name, found in _side_by_side(some, given, peers):
        results[name] = found
        _tell(name, found, peers)
        _keep(results, given.splits, peers)
    whole = summary(results, peers)
    _tell(f"mean of {len(results)}", whole, peers)
    print(_last_line(whole, len(results), given.splits))


def _side_by_side(some: list[Case], given, peers: list[str]) -> Iterator[tuple[str, dict]]:
    """Data sets as they are done, every split a task of its own."""
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        asked: dict[Future, str] = {}
        done: dict[str, list[Split]] = {case[0]: [] for case in some}
        for case in some:
            for split in range(given.splits):
                asked[pool.submit(judged, case, split, peers)] = case[0]
        for each in as_completed(asked):
            name = asked.pop(each)
            done[name].append(each.result())
            if len(done[name]) == given.splits:
                yield name, means(done.pop(name), peers)


def _last_line(whole: dict, data_sets: int, splits: int) -> str:
    """Coverage against the bar."""
    sets = [
        f"{name}: {told['coverage']:.3f} covered, {told['size']:.3f} labels, {told['below']} below"
        for name, told in whole.items() if "coverage" in told
    ]  # fmt: skip
    ours = whole.get("ours", {})
    per_class = f"of {ours.get('classes', 0)} classes {ours.get('classes_below', 0)} below"
    return f"{data_sets} data sets × {splits} splits: {'; '.join(sets)}; {per_class}"


def _keep(results: dict, splits: int, peers: list[str]) -> None:
    """Write what is known so far."""
    rows = [{"case": name, "splits": splits} | found for name, found in results.items()]
    mean = {"case": "mean", "splits": splits, "data sets": len(rows)}
    save([mean | summary(results, peers), *rows], "chances.json")


def _tell(title: str, found: dict, peers: list[str]) -> None:
    parts = []
    for name in peers:
        numbers = ", ".join(
            f"{key} {found[name][key]:.3f}"
            for key in ("log_loss", "brier", "coverage", "size", "worst_class", "fits")
            if key in found[name]
        )
        parts.append(f"{name}: {numbers}")
    print(f"{title:26s} " + " | ".join(parts), flush=True)


if __name__ == "__main__":
    main()
