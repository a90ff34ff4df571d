"""A probe: logistic regression on frozen embeddings, by a published protocol, every fit proved.

dino    a tenth of the rows chooses among C = 10^−6 … 10^5, 45 values; refit on all [DINOv2, 2023]
clip    the same choice by halving: C = 10^−6 … 10^6 in steps of a hundred, then around the best in
        steps half as long, to eight a power of ten [CLIP, 2021]
mteb    C = 1 on eight rows of every class, ten times, each judged on the test rows [MTEB, 2022]

What is told of new rows comes from rows that chose nothing: those given as a test set, or a tenth
that is put aside first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..core.types import ArrayLike, MatrixLike
from .device.tensors import as_numpy, is_tensor
from .regression.logistic_regression import LogisticRegression
from .tune.logistic_regression_cv import LogisticRegressionCV
from .validation import one_of, positive

PROTOCOLS = ("dino", "clip", "mteb")
DINO_CS = 10.0 ** np.linspace(-6.0, 5.0, 45)
# CLIP's coarse grid, and steps a power of ten at which halving ends.
CLIP_POWERS, CLIP_FINEST = np.arange(-6.0, 7.0, 2.0), 0.125
# MTEB's rows of every class, and experiments.
MTEB_ROWS, MTEB_EXPERIMENTS = 8, 10
# Shares that are put aside: to choose C by, and to be judged by.
CHOICE_SHARE, TEST_SHARE = 0.1, 0.1
# Standard deviations of a 95 % interval.
Z95 = 1.959963984540054


@dataclass(frozen=True)
class ProbeResult:
    """What a probe found.

    ``accuracy`` is the share of the test rows that are right, ``interval`` holds 95 % of what it
    would be on all such rows (Wilson; for "mteb" two standard errors of the experiments' mean), and
    ``class_accuracy`` is the mean over classes.  ``Cs``, ``choice_accuracy`` and ``gaps`` are the
    curve that chose C, on rows that the test rows are not among.
    """

    protocol: str
    model: Any
    C: float
    accuracy: float
    interval: tuple[float, float]
    class_accuracy: float
    test_rows: int
    Cs: np.ndarray
    choice_accuracy: np.ndarray
    gaps: np.ndarray
    seconds: float
    experiments: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def certificate(self) -> Any:
        return self.model.certificate_

    @property
    def proved(self) -> bool:
        """Whether the final fit reached the gap asked for."""
        return self.certificate.holds(self.model.tol)

    def to_dict(self) -> dict[str, Any]:
        return {
            "protocol": self.protocol,
            "C": self.C,
            "accuracy": self.accuracy,
            "interval": list(self.interval),
            "class_accuracy": self.class_accuracy,
            "test_rows": self.test_rows,
            "Cs": self.Cs.tolist(),
            "choice_accuracy": self.choice_accuracy.tolist(),
            "gaps": self.gaps.tolist(),
            "experiments": self.experiments.tolist(),
            "seconds": self.seconds,
            "proved": self.proved,
            "certificate": self.certificate.to_dict(),
        }

    def __str__(self) -> str:
        low, high = self.interval
        chosen = f", best of {len(self.Cs)}" if len(self.Cs) > 1 else ""
        return (
            f"{self.protocol}: C = {self.C:.4g}{chosen}; accuracy {self.accuracy:.2%} "
            f"({low:.2%} to {high:.2%} with 95% confidence) on {self.test_rows} rows, mean per "
            f"class {self.class_accuracy:.2%}; {self.certificate}"
        )


def probe(
    X: MatrixLike,
    y: ArrayLike,
    protocol: str = "dino",
    *,
    X_test: MatrixLike | None = None,
    y_test: ArrayLike | None = None,
    tol: float = 1e-6,
    tol_choice: float = 1e-4,
    device: Any = None,
    seed: int = 0,
) -> ProbeResult:
    """Fit and judge a linear probe on embeddings X (n, d) with labels y.

    Parameters
    ----------
    X, y : embeddings and labels; tensors of any width stay where they are
    protocol : {"dino", "clip", "mteb"}
    X_test, y_test : rows to be judged by; default: a tenth of X, put aside
    tol, tol_choice : relative gaps of the final fit and of those that choose C
    device : where to compute NumPy arrays, such as "cuda"; default: on the CPU
    seed : of the choice of rows

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from maxmargin import probe
    >>> X, y = load_digits(return_X_y=True)
    >>> found = probe(X / 16, y, protocol="mteb")
    >>> found.proved, found.test_rows, len(found.experiments)
    (True, 180, 10)
    """
    one_of("protocol", protocol, PROTOCOLS)
    positive("tol", tol)
    positive("tol_choice", tol_choice)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together: give both, or neither.")
    began = time.perf_counter()
    labels = as_numpy(y) if is_tensor(y) else np.asarray(y)
    if labels.ndim != 1 or len(labels) != len(X):
        raise ValueError(
            f"probe takes one label for every row, got X of shape {tuple(np.shape(X))} and y of "
            f"shape {labels.shape}."
        )
    rng = np.random.default_rng(seed)
    X = X if is_tensor(X) else np.asarray(X)
    if X_test is None:
        rest, aside = held_out(labels, TEST_SHARE, rng)
        X_test, y_test = take(X, aside), labels[aside]
        X, labels = take(X, rest), labels[rest]
    judged = Judge(X_test, as_numpy(y_test) if is_tensor(y_test) else np.asarray(y_test))
    run = {"dino": _dino, "clip": _clip, "mteb": _mteb}[protocol]
    settings = {"tol": tol, "device": device}
    return run(_Task(X, labels, judged, settings, tol_choice, rng, began))


class Judge:
    """The test rows; ``tell`` says how a model does on them."""

    def __init__(self, X: Any, y: np.ndarray):
        self.X, self.y = X, y

    def right(self, model) -> np.ndarray:
        return np.asarray(as_numpy(model.predict(self.X))) == self.y

    def tell(self, model) -> dict[str, Any]:
        right = self.right(model)
        classes, codes = np.unique(self.y, return_inverse=True)
        each = np.bincount(codes, right, len(classes)) / np.bincount(codes, minlength=len(classes))
        return {
            "accuracy": float(right.mean()),
            "interval": wilson(int(right.sum()), len(right)),
            "class_accuracy": float(each.mean()),
            "test_rows": len(right),
        }


def wilson(right: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    centre, share = right + Z95**2 / 2.0, right / n
    half = Z95 * np.sqrt(n * share * (1.0 - share) + Z95**2 / 4.0)
    total = n + Z95**2
    return float(max(0.0, (centre - half) / total)), float(min(1.0, (centre + half) / total))


def held_out(y: np.ndarray, share: float, rng) -> tuple[np.ndarray, np.ndarray]:
    """Rows to keep and rows to put aside, of every class its share but never its last row."""
    classes, codes = np.unique(y, return_inverse=True)
    order = rng.permutation(len(y))
    order = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes, minlength=len(classes))
    place = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    many = np.repeat(counts, counts)
    aside = place < np.minimum(np.rint(share * many + rng.random(len(classes))[codes[order]] - 0.5),
                               many - 1)  # fmt: skip
    return np.sort(order[~aside]), np.sort(order[aside])


def take(X: Any, index: np.ndarray) -> Any:
    """Some rows, where all of them are."""
    if not is_tensor(X):
        return X[index]
    import torch

    return X[torch.from_numpy(index).to(X.device)]


class _Task(NamedTuple):
    """What a protocol is run on, and with."""

    X: Any
    y: np.ndarray
    judged: Judge
    settings: dict[str, Any]
    tol_choice: float
    rng: np.random.Generator
    began: float


def _dino(task: _Task) -> ProbeResult:
    """The fit to all rows with the C that a tenth of them chose."""
    split = held_out(task.y, CHOICE_SHARE, task.rng)
    search = LogisticRegressionCV(DINO_CS, cv=[split], tol_cv=task.tol_choice, **task.settings)
    search.fit(task.X, task.y)
    return ProbeResult(
        "dino", search.plain(), search.C_, **task.judged.tell(search), Cs=search.Cs_,
        choice_accuracy=search.scores_[0], gaps=search.cv_results_["max_relative_gap"],
        seconds=time.perf_counter() - task.began,
    )  # fmt: skip


def _clip(task: _Task) -> ProbeResult:
    """The grid is refined around its best point; every value is fitted once."""
    X, y, judged, settings, tol_choice, rng, began = task
    split = held_out(y, CHOICE_SHARE, rng)
    powers, step = CLIP_POWERS, 2.0
    known: dict[float, tuple[float, float]] = {}
    while True:
        fresh = np.array([p for p in powers if p not in known])
        search = LogisticRegressionCV(
            10.0**fresh, cv=[split], tol_cv=tol_choice, **(settings | {"tol": tol_choice})
        ).fit(X, y)
        gaps = search.cv_results_["max_relative_gap"]
        known |= dict(zip(fresh, zip(search.scores_[0], gaps, strict=True), strict=True))
        best = max(sorted(known), key=lambda power: known[power][0])
        if step <= CLIP_FINEST:
            break
        step /= 2.0
        powers = np.array([best - step, best + step])
        if all(power in known for power in powers):
            powers = np.array([best - step / 2.0, best + step / 2.0])
            step /= 2.0
    model = LogisticRegression(10.0**best, **settings).fit(X, y)
    curve = np.array([(10.0**power, *known[power]) for power in sorted(known)])
    return ProbeResult(
        "clip", model, float(10.0**best), **judged.tell(model), Cs=curve[:, 0],
        choice_accuracy=curve[:, 1], gaps=curve[:, 2], seconds=time.perf_counter() - began,
    )  # fmt: skip


def _mteb(task: _Task) -> ProbeResult:
    """The last experiment's model is the one kept."""
    X, y, judged, settings, _, rng, began = task
    told = []
    for _ in range(MTEB_EXPERIMENTS):
        some = few_of_each(y, MTEB_ROWS, rng)
        model = LogisticRegression(1.0, **settings).fit(take(X, some), y[some])
        told.append(judged.tell(model))
    shares = np.array([each["accuracy"] for each in told])
    mean, error = float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(len(shares)))
    return ProbeResult(
        "mteb", model, 1.0, mean, (mean - 2.0 * error, mean + 2.0 * error),
        float(np.mean([each["class_accuracy"] for each in told])), told[0]["test_rows"],
        np.array([1.0]), np.array([np.nan]), np.array([model.certificate_.relative_gap]),
        time.perf_counter() - began, shares,
    )  # fmt: skip


def few_of_each(y: np.ndarray, count: int, rng) -> np.ndarray:
    """So many rows of every class, or all of them."""
    order = rng.permutation(len(y))
    _, codes = np.unique(y[order], return_inverse=True)
    by_class = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    place = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[by_class[place < count]])
