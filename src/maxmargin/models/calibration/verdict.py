"""Is a model better than always giving the commonest answer, and which classes does it find?

Of n rows that the model had not seen, m of which are right by the model only and l by the constant
only, the model makes fewer errors if

    m − l > 1.96 √(m + l)            [McNemar: rows on which both agree tell nothing]

and finds classes that the constant never names if its balanced accuracy, the mean share found of
each class, is above 1/k by 1.96 standard errors.  Either makes it better: where a class is rare,
whoever finds it pays with errors among the many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .error_estimate import INTERVAL_QUANTILE, ErrorEstimate

BETTER, UNCLEAR, NO_BETTER, UNKNOWN = "better", "unclear", "no better", "unknown"
# Names of classes that a sentence lists; how many more there are is said.
MAX_NAMED_CLASSES = 6
# A class of which a smaller share is found than this is called missed.
MISSED_SHARE = 0.5


@dataclass(frozen=True)
class Verdict:
    """``table`` counts unseen rows by true and predicted class; None where they are not known.

    ``balanced`` and ``chance`` are the balanced accuracies of the model and of the constant.
    """

    status: str
    labels: tuple[str, ...]
    constant: str
    error: float
    constant_error: float
    fewer: bool
    way: str
    table: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        assert self.table is not None
        return self.table.sum(axis=1)

    @property
    def recall(self) -> np.ndarray:
        """The share of each class that was found; NaN of a class without rows."""
        assert self.table is not None
        return _shares(self.table.diagonal(), self.rows)

    @property
    def precision(self) -> np.ndarray:
        """How often the name of each class was right; NaN where it was never said."""
        assert self.table is not None
        return _shares(self.table.diagonal(), self.table.sum(axis=0))

    @property
    def balanced(self) -> float | None:
        return None if self.table is None else float(np.nanmean(self.recall))

    @property
    def chance(self) -> float | None:
        return None if self.table is None else 1.0 / int((self.rows > 0).sum())

    @property
    def never(self) -> list[str]:
        """Classes that have rows and are never predicted."""
        if self.table is None:
            return []
        silent = (self.rows > 0) & (self.table.sum(axis=0) == 0)
        return [self.labels[c] for c in np.flatnonzero(silent)]

    def first(self) -> str:
        """The first thing to know, in a sentence."""
        always = f"always “{self.constant}”"
        errors = f"{_percent(self.error)} of new rows wrong"
        instead = f"{errors} instead of {_percent(self.constant_error)}"
        if self.status == UNKNOWN:
            return f"Not known to be better than {always}: no rows were kept from the model"
        if self.status == NO_BETTER:
            alone = _percent(self.constant_error)
            return f"No better than {always}: {errors}, by that answer alone {alone}"
        if self.status == UNCLEAR:
            return f"Perhaps better than {always}: {instead}, which these rows do not settle"
        if self.fewer or self.balanced is None:
            return f"Better than {always}: {instead}"
        return (
            f"Better than {always} at finding every class: balanced accuracy "
            f"{_percent(self.balanced)} instead of {_percent(self.chance or 0.0)}, with {instead}"
        )

    def finds(self) -> str | None:
        """Which classes it finds and which it misses."""
        if self.table is None or self.status == UNKNOWN:
            return None
        recall, judged = self.recall, self.rows > 0
        low = judged & (np.nan_to_num(recall) < MISSED_SHARE)
        order = np.argsort(np.nan_to_num(recall), kind="stable")
        missed = [self._share(c) for c in order if low[c]]
        found = [self._share(c) for c in order[::-1] if judged[c] and not low[c]]
        parts = [f"finds {_listed(found)}"] if found else []
        parts += [f"misses most of {_listed(missed)}"] if missed else []
        text = f"It {' and '.join(parts)}" if parts else ""
        return f"{text}; never predicted: {_listed(self.never)}" if self.never else text

    def _share(self, c) -> str:
        assert self.table is not None
        return f"“{self.labels[c]}” ({self.table[c, c]:,} of {self.rows[c]:,})"

    def to_dict(self) -> dict:
        plain: dict = {
            "status": self.status, "words": self.first(), "finds": self.finds(),
            "constant": self.constant, "error": self.error, "constant_error": self.constant_error,
            "balanced_accuracy": self.balanced, "constant_balanced_accuracy": self.chance,
            "way": self.way, "never_predicted": self.never, "classes": [],
        }  # fmt: skip
        if self.table is None:
            return plain
        each = zip(self.labels, self.rows, self.recall, self.precision, strict=True)
        plain["classes"] = [
            {"class": label, "rows": int(n), "recall": _known(r), "precision": _known(p)}
            for label, n, r, p in each
        ]
        return plain


def by_table(
    labels: Sequence[str], counts: np.ndarray, table: np.ndarray, error: ErrorEstimate
) -> Verdict:
    """Of unseen rows by true and predicted class; ``counts`` are the classes of the training rows.
    The error is more than the table's where that is corrected for a choice."""
    constant = int(counts.argmax())
    always = 1.0 - float(table[constant].sum() / table.sum())
    fewer = error.error < always and _fewer_errors(table, constant)
    if (table.sum(axis=0) > 0).sum() < 2:
        status = NO_BETTER
    elif fewer or _finds_classes(table):
        status = BETTER
    else:
        status = UNCLEAR if error.error < always else NO_BETTER
    return Verdict(
        status, tuple(labels), labels[constant], error.error, always, fewer, error.way, table
    )


def by_error(labels: Sequence[str], counts: np.ndarray, error: ErrorEstimate) -> Verdict:
    """Where it is not known which class was taken for which: by the interval of the error."""
    constant = int(counts.argmax())
    always = 1.0 - float(counts[constant] / counts.sum())
    fewer = error.high < always
    status = BETTER if fewer else UNCLEAR if error.error < always else NO_BETTER
    return Verdict(status, tuple(labels), labels[constant], error.error, always, fewer, error.way)


def by_training_rows(
    labels: Sequence[str], counts: np.ndarray, table: np.ndarray | None, error: float
) -> Verdict:
    """Where no row was kept from the model: a constant is one anywhere, else nothing is known."""
    constant = int(counts.argmax())
    always = 1.0 - float(counts[constant] / counts.sum())
    same = table is not None and (table.sum(axis=0) > 0).sum() < 2
    status = NO_BETTER if same else UNKNOWN
    return Verdict(
        status, tuple(labels), labels[constant], error, always, False, "training rows", table
    )


def advice(verdict: Verdict, parameters: dict, counts: Sequence[tuple[str, int]]) -> list[str]:
    """What to try where a model is not better, by what was not tried yet."""
    if verdict.status in (BETTER, UNKNOWN):
        return []
    rarest, fewest = min(counts, key=lambda pair: pair[1])
    tries = []
    if "class_weight" in parameters and parameters["class_weight"] is None:
        tries.append("--weights balanced, by which every class weighs the same")
    if parameters.get("loss") in ("hinge", "squared_hinge"):
        tries.append("--method logistic, better than svm on most tables that were tried")
    if "kernel" not in parameters:
        tries.append("another basis (--basis quadratic) or a kernel (--kernel rbf)")
    tries.append(f"more rows of “{rarest}” ({fewest:,} now), or columns that tell it apart")
    return tries


def _fewer_errors(table: np.ndarray, constant: int) -> bool:
    right = table.diagonal()
    gained = float(right.sum() - right[constant])
    lost = float(table[constant].sum() - right[constant])
    return gained - lost > INTERVAL_QUANTILE * np.sqrt(gained + lost)


def _finds_classes(table: np.ndarray) -> bool:
    """Shares found, with one more row found and one more missed in each standard error: of a few
    rows all found the error is not zero."""
    rows = table.sum(axis=1)
    there = rows > 0
    found, rows = table.diagonal()[there], rows[there]
    careful = (found + 1.0) / (rows + 2.0)
    error = np.sqrt((careful * (1.0 - careful) / rows).sum()) / len(rows)
    return bool((found / rows).mean() - 1.0 / len(rows) > INTERVAL_QUANTILE * error)


def _shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _percent(share: float) -> str:
    return f"{share:.2%}".replace("%", " %")


def _known(share: float) -> float | None:
    return float(share) if np.isfinite(share) else None


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMED_CLASSES])
    more = len(names) - MAX_NAMED_CLASSES
    return f"{shown} and {more:,} more" if more > 0 else shown
