"""Preferences among labels: pairs, rankings, scores and labels, turned into one another.

A preference says of one example that it ranks one class above another.  All forms end as
``LabelPairs``; printing one tells how many pairs there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ...core.types import ArrayLike
from ..labels import label_codes
from .preference_tables import as_table, refuse_row, weights, whole_numbers


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Pairs (example, preferred class, other class, weight) over ``classes``."""

    example: np.ndarray
    preferred: np.ndarray  # codes: places in classes
    other: np.ndarray
    weight: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.example)

    def __repr__(self) -> str:
        examples = len(np.unique(self.example))
        return f"<{len(self)} pairs of {len(self.classes)} classes from {examples} examples>"

    def table(self) -> list[tuple]:
        """Rows (example, preferred, other, weight), with the classes' names."""
        preferred, other = self.classes[self.preferred], self.classes[self.other]
        columns = self.example.tolist(), preferred.tolist(), other.tolist(), self.weight.tolist()
        return list(zip(*columns, strict=True))


def label_pairs(table: Any, classes: ArrayLike | None = None) -> LabelPairs:
    """Pairs from a long table with rows (example, preferred class, other class[, weight]).

    >>> from maxmargin import label_pairs
    >>> label_pairs([(0, "tea", "milk"), (0, "milk", "mud"), (1, "milk", "tea")])
    <3 pairs of 3 classes from 2 examples>
    """
    example, preferred, other, *rest = as_table(
        table, (3, 4), "pairs", "(example, preferred class, other class[, weight])"
    )
    known, a, b = _code(preferred, other, classes)
    same = np.flatnonzero(a == b)
    if len(same):
        row = int(same[0])
        refuse_row("pairs", row, f"prefers class {known.tolist()[a[row]]!r} to itself", "remove it")
    weight = weights("pairs", rest[0]) if rest else np.ones(len(a))
    return LabelPairs(whole_numbers("pairs", "example", example), a, b, weight, known)


def pairs_from_rankings(
    rankings: Iterable[Sequence], classes: ArrayLike | None = None
) -> LabelPairs:
    """Pairs from one ranking per example: labels, best first, all or some of them.

    A tie is a list, tuple or set in place of a label: its members are not compared.

    >>> from maxmargin import pairs_from_rankings
    >>> pairs_from_rankings([["tea", "milk", "mud"], [("milk", "tea"), "mud"]])
    <5 pairs of 3 classes from 2 examples>
    """
    example, preferred, other = [], [], []
    for i, ranking in enumerate(rankings):
        tiers = [list(t) if isinstance(t, list | tuple | set) else [t] for t in ranking]
        named = [label for tier in tiers for label in tier]
        if len(set(named)) < len(named):
            twice = next(label for label in named if named.count(label) > 1)
            refuse_row("rankings", i, f"names class {twice!r} twice", "name every class once")
        for place, tier in enumerate(tiers):
            below = [label for lower in tiers[place + 1 :] for label in lower]
            example += [i] * (len(tier) * len(below))
            preferred += [label for label in tier for _ in below]
            other += below * len(tier)
    if not example:
        raise ValueError(
            "rankings imply no pair at all: every ranking is empty, or ranks one class or one tie."
        )
    known, a, b = _code(_column(preferred), _column(other), classes)
    return LabelPairs(np.array(example), a, b, np.ones(len(a)), known)


def pairs_from_scores(scores: ArrayLike, classes: ArrayLike | None = None) -> LabelPairs:
    """Pairs from an (n, k) matrix, larger is better; NaN is unknown, equal is not compared.

    Ranks, 1 for the best, are scores with their sign changed.  The columns of a frame name the
    classes.

    >>> from maxmargin import pairs_from_scores
    >>> pairs_from_scores([[3.0, 1.0, 1.0], [float("nan"), 2.0, 5.0]])
    <3 pairs of 3 classes from 2 examples>
    """
    scores, classes = _named_columns(scores, classes)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ValueError(
            "scores must be a matrix with one row per example and one column per class (two at "
            f"least), got shape {scores.shape}."
        )
    k = scores.shape[1]
    known = np.arange(k) if classes is None else np.asarray(classes)
    if len(known) != k:
        raise ValueError(f"scores has {k} columns, but {len(known)} classes are named.")
    parts = []
    for a in range(k):
        for b in range(k):
            rows = np.flatnonzero(scores[:, a] > scores[:, b])
            parts.append((rows, np.full(len(rows), a), np.full(len(rows), b)))
    example, preferred, other = (np.concatenate(column) for column in zip(*parts, strict=True))
    if len(example) == 0:
        raise ValueError("scores imply no pair at all: no row holds two different known scores.")
    order = np.argsort(example, kind="stable")
    weight = np.ones(len(example))
    return LabelPairs(example[order], preferred[order], other[order], weight, known)


def pairs_from_labels(y: ArrayLike, classes: ArrayLike | None = None) -> LabelPairs:
    """Pairs (yᵢ, c) for every other class c: multiclass classification by the "sum" rule.

    >>> from maxmargin import pairs_from_labels
    >>> pairs_from_labels(["tea", "milk", "mud", "tea"])
    <8 pairs of 3 classes from 4 examples>
    """
    y = column_or_1d(y)
    if classes is None:
        known, codes = label_codes(y)
    else:
        known, codes, _ = _code(y, y, classes)
    n, k = len(y), len(known)
    every = np.tile(np.arange(k), n)
    example = np.repeat(np.arange(n), k)
    wrong = every != codes[example]
    example = example[wrong]
    return LabelPairs(example, codes[example], every[wrong], np.ones(len(example)), known)


def rankings_from_scores(scores: ArrayLike, classes: ArrayLike | None = None) -> np.ndarray:
    """(n, k) labels, best first; equal scores in the order of the classes."""
    scores = np.asarray(scores, dtype=np.float64)
    known = np.arange(scores.shape[1]) if classes is None else np.asarray(classes)
    return known[np.argsort(-scores, axis=1, kind="stable")]


def _named_columns(scores, classes) -> tuple[np.ndarray, object]:
    """The matrix, a frame's columns in the order of the classes, and the classes."""
    matrix = np.asarray(scores, dtype=np.float64)
    if not hasattr(scores, "columns"):
        return matrix, classes
    names = list(scores.columns)
    if classes is None:
        return matrix, names
    wanted = np.asarray(classes).tolist()
    if set(wanted) != set(names) or len(wanted) != len(names):
        raise ValueError(
            f"The columns of scores are {names[:10]}, but the classes are {wanted[:10]}: name the "
            "columns after the classes, or give a plain array with one column per class."
        )
    return matrix[:, [names.index(name) for name in wanted]], classes


def _column(values: list) -> np.ndarray:
    """Labels as an array of their own kind, whatever they are."""
    column = np.asarray(values)
    return column if column.ndim == 1 else np.fromiter(values, dtype=object, count=len(values))


def _code(preferred, other, classes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The classes, and the two columns as places among them."""
    m = len(preferred)
    if classes is None:
        known, codes = label_codes(np.concatenate([preferred, other]))
        return known, codes[:m], codes[m:]
    known = np.asarray(classes)
    place = {label: code for code, label in enumerate(known.tolist())}
    if len(place) < len(known):
        raise ValueError(f"classes names some class twice: {known.tolist()}.")
    columns = []
    for column in (preferred, other):
        codes = np.array([place.get(label, -1) for label in np.asarray(column).tolist()])
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            row = int(unknown[0])
            label = np.asarray(column).tolist()[row]
            advice = f"the classes are {known.tolist()[:10]}"
            refuse_row("pairs", row, f"names an unknown class {label!r}", advice)
        columns.append(codes)
    return known, columns[0], columns[1]
