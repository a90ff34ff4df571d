"""Labels to codes: of a training set, without sorting where possible, and of a stream."""

from __future__ import annotations

import numpy as np

# Widest range of labels for which a table is kept.
MAX_LABEL_RANGE = 1 << 16


def label_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes and each label's index among them, as ``np.unique`` gives them.

    Sorting 100,000 labels takes as long as a pass of the perceptron over them; a table of
    the whole numbers between the smallest and the largest takes a tenth of that.
    """
    if y.dtype.kind in "iu" and len(y) and _narrow(int(y.min()), int(y.max())):
        low = int(y.min())
        place = y.astype(np.int64) - low
        seen = np.bincount(place) > 0
        code = np.cumsum(seen) - 1
        return (np.flatnonzero(seen) + low).astype(y.dtype), code[place]
    if y.dtype.kind in "bf" and len(y):  # two classes are often −1.0 and 1.0
        low, high = y.min(), y.max()
        upper = y == high
        if low < high and np.array_equal(upper, y != low):
            return np.array([low, high], dtype=y.dtype), upper.astype(np.intp)
    return np.unique(y, return_inverse=True)


def two_codes(y: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
    """Where numbers are the second of two known ones; None where that is not all they are."""
    if len(classes) != 2 or y.dtype != classes.dtype or y.dtype.kind not in "biuf":
        return None
    upper = y == classes[1]
    return upper.astype(np.intp) if np.array_equal(upper, y != classes[0]) else None


def _narrow(low: int, high: int) -> bool:
    """Whether a table of the numbers between them fits memory, and they fit 64 signed bits."""
    return high - low < MAX_LABEL_RANGE and high < 2**63


def stream_classes(model, classes) -> np.ndarray:
    """The sorted classes of a stream: named at the first call, and the same ever after."""
    known = getattr(model, "classes_", None)
    if classes is None:
        if known is not None:
            return known
        raise ValueError(
            "The first call of partial_fit needs classes=[…], all labels the stream may bring."
        )
    named = np.unique(classes)
    if known is not None and not np.array_equal(known, named):
        raise ValueError(
            f"partial_fit got classes={named.tolist()}, but began with {known.tolist()}. "
            "Leave classes out, or start a new model."
        )
    if len(named) < 2:
        raise ValueError(f"classes must name at least two classes, got {named.tolist()}.")
    return named


def known_codes(y, classes) -> np.ndarray:
    """Each label's index among ``classes``; an unseen label is named."""
    codes = classes.searchsorted(y)
    strange = classes.take(codes, mode="clip") != y
    if strange.any():
        raise ValueError(
            f"partial_fit got the label {y[strange][0]!r}, which is not among the classes it "
            f"knows: {classes.tolist()}. Name every class in the first call, or start a new model."
        )
    return codes
