"""Oracles for polygons, and classifiers with weights of our own."""

from copy import deepcopy
from functools import cache

import numpy as np

from maxmargin import LinearSVM, LogisticRegression, OneVsOne, OneVsRest

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def ring_area(ring) -> float:
    x, y = np.asarray(ring, dtype=float).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def inside(rings, points) -> np.ndarray:
    """Even-odd: how many edges a ray to the right of each point crosses."""
    crossings = np.zeros(len(points), dtype=int)
    for ring in rings:
        for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            spans = (y0 > points[:, 1]) != (y1 > points[:, 1])
            with np.errstate(divide="ignore", invalid="ignore"):
                x = x0 + (points[:, 1] - y0) / (y1 - y0) * (x1 - x0)
            crossings += spans & (points[:, 0] < x)
    return crossings % 2 == 1


def covered(rings) -> float:
    """The area of rings, holes taken off: the sum of the areas signed by depth."""
    rings = [np.asarray(ring) for ring in rings]
    total = 0.0
    for i, ring in enumerate(rings):
        middle = ring[:1] + 1e-9 * (ring.mean(axis=0) - ring[:1])
        depth = sum(inside([other], middle)[0] for j, other in enumerate(rings) if j != i)
        total += (-1) ** int(depth) * abs(ring_area(ring))
    return total


@cache
def _fitted(kind: str, k: int):
    X = np.vstack([np.eye(2) * (c + 1) for c in range(k)])
    y = np.repeat(np.arange(k), 2)
    return {
        "max": lambda: LinearSVM(),
        "rest": lambda: LinearSVM(multiclass="rest"),
        "pairs": lambda: LinearSVM(multiclass="pairs"),
        "softmax": lambda: LogisticRegression(),
        "one-vs-rest": lambda: OneVsRest(LinearSVM()),
        "one-vs-rest unknown": lambda: OneVsRest(LinearSVM(), unknown=-1),
        "one-vs-rest left": lambda: OneVsRest(LinearSVM(), rest=1),
        "one-vs-rest left unknown": lambda: OneVsRest(LinearSVM(), rest=1, unknown=-1),
        "one-vs-one": lambda: OneVsOne(LinearSVM()),
        "one-vs-one unknown": lambda: OneVsOne(LinearSVM(), unknown=-1),
    }[kind]().fit(X, y)


def with_weights(kind: str, k: int, W: np.ndarray, b: np.ndarray):
    """A fitted classifier of k classes whose machines are given; as many as it needs are used."""
    made = deepcopy(_fitted(kind, k))
    if isinstance(made, OneVsRest | OneVsOne):
        for model, w, c in zip(made.estimators_, W, b, strict=False):
            model.coef_, model.intercept_ = w[None, :], np.array([c])
    else:
        m = len(made.coef_)
        made.coef_, made.intercept_ = W[:m], b[:m]
    return made


RULES = ["max", "rest", "pairs", "softmax", "one-vs-rest", "one-vs-rest unknown",
         "one-vs-rest left", "one-vs-rest left unknown", "one-vs-one",
         "one-vs-one unknown"]  # fmt: skip
