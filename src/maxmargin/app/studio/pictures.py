"""The lectures' pictures and classic data sets, one click away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Drawn = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Picture:
    """Points, and the method with which the lecture shows them."""

    name: str
    title: str
    words: str
    draw: Callable[[], Drawn]
    labels: tuple[str, ...]
    names: tuple[str, str] = ("x", "y")
    method: str = "svm"
    values: dict[str, Any] = field(default_factory=dict)
    beside: str = ""
    line: bool = False  # one feature only


def picture(name: str) -> dict:
    """A picture as the page keeps it.  Three decimals: the page's addresses stay short."""
    found = PICTURES[name]
    X, codes = found.draw()
    points = [
        [round(float(x), 3), round(float(y), 3), int(c)] for (x, y), c in zip(X, codes, strict=True)
    ]
    return {
        "points": points, "labels": list(found.labels), "names": list(found.names),
        "method": found.method, "values": found.values, "beside": found.beside,
        "line": found.line,
    }  # fmt: skip


def _clouds(centres, counts, spread, seed) -> Drawn:
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(counts)), counts)
    X = np.asarray(centres, dtype=float)[codes] + spread * rng.standard_normal((len(codes), 2))
    return _mixed(X, codes)


def _mixed(X: np.ndarray, codes: np.ndarray) -> Drawn:
    """In some order: a perceptron should not meet one class after the other."""
    order = np.random.default_rng(1).permutation(len(codes))
    return X[order], codes[order]


def eighty_five() -> Drawn:
    """85 points that a line separates with a little room, as the lecture draws them."""
    rng = np.random.default_rng(6)
    w, b, room = np.array([0.8, -0.6]), -1.9, 0.12
    X = rng.uniform([0, -2], [6, 4], (400, 2))  # away from the origin: the bias has to be learned
    distance = X @ w + b
    X, distance = X[np.abs(distance) > room], distance[np.abs(distance) > room]
    return X[:85], (distance[:85] > 0).astype(int)


def iris(kinds, columns) -> Callable[[], Drawn]:
    def draw() -> Drawn:
        from sklearn.datasets import load_iris

        X, y = load_iris(return_X_y=True)
        chosen = np.isin(y, kinds)
        return _mixed(X[chosen][:, columns], np.searchsorted(kinds, y[chosen]))

    return draw


def wine() -> Drawn:
    """Two kinds of wine that no line separates: alcohol and flavanoids."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    chosen = y < 2
    return _mixed(X[chosen][:, [0, 6]], y[chosen])


def circles() -> Drawn:
    rng = np.random.default_rng(2)
    codes = np.arange(100) % 2
    radius = np.where(codes == 1, 2.2, 0.9) + 0.22 * rng.standard_normal(100)
    angle = rng.uniform(-np.pi, np.pi, 100)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), codes


def triangle() -> Drawn:
    return _clouds([[-2.2, -1.3], [2.2, -1.3], [0.0, 2.4]], [25, 25, 25], 0.55, 4)


def five() -> Drawn:
    angle = 2 * np.pi * np.arange(5) / 5 + 0.3
    return _clouds(3 * np.column_stack([np.cos(angle), np.sin(angle)]), [20] * 5, 0.8, 5)


def outliers() -> Drawn:
    """Two clouds and some distant points that are right by any account."""
    left, right = [-1.5, 0.0], [1.5, 0.0]
    X, codes = _clouds([left, right, [6.5, -4.5]], [35, 35, 12], 0.5, 0)
    return X, np.minimum(codes, 1)


def overlapping() -> Drawn:
    return _clouds([[-1.0, -0.6], [1.0, 0.6]], [45, 45], 1.0, 8)


def on_a_line() -> Drawn:
    """One feature: a threshold, with some points on the wrong side of it."""
    X, codes = _clouds([[-1.2, 0.0], [1.2, 0.0]], [14, 14], 0.9, 7)
    return X * [1.0, 0.0], codes


def spirals() -> Drawn:
    rng = np.random.default_rng(3)
    codes = np.arange(120) % 2
    turn = np.sqrt(rng.uniform(0.03, 1, 120)) * 2.6 * np.pi
    angle = turn + np.pi * codes
    X = 0.35 * turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + 0.07 * rng.standard_normal(X.shape), codes


IRIS_AXIS_NAMES = ("sepal width (cm)", "petal width (cm)")

PICTURES = {
    picture.name: picture
    for picture in (
        Picture("85-points", "85 points", "Separable: the perceptron's example.",
                eighty_five, ("minus", "plus"), method="hard"),
        Picture("line", "Line", "One feature: a threshold, and the score along the line.",
                on_a_line, ("minus", "plus"), line=True),
        Picture("iris-pair", "Iris pair",
                "Two kinds of iris, a wide street between them.",
                iris([0, 1], [1, 3]), ("setosa", "versicolor"), IRIS_AXIS_NAMES,
                values={"C": 10.0}),
        Picture("iris-hard", "Iris overlap",
                "Not separable: the hard margin answers with a proof.",
                iris([1, 2], [1, 3]), ("versicolor", "virginica"), IRIS_AXIS_NAMES),
        Picture("iris-three", "Irises", "One weight vector for each kind.",
                iris([0, 1, 2], [1, 3]), ("setosa", "versicolor", "virginica"), IRIS_AXIS_NAMES),
        Picture("wine", "Wine", "Two wines that overlap: slack is needed.",
                wine, ("Barolo", "Grignolino"), ("alcohol (%)", "flavanoids")),
        Picture("overlap", "Clouds", "Move C and watch the street widen.",
                overlapping, ("left", "right")),
        Picture("outliers", "Outliers",
                "Distant points, all of them right, pull the least-squares line.",
                outliers, ("left", "right"), method="svm", beside="least-squares"),
        Picture("triangle", "Unknown regions",
                "Three yes-or-no questions leave regions that nobody claims.",
                triangle, ("left", "right", "top"), method="one-vs-rest"),
        Picture("five", "Five classes", "Convex regions that meet in points.",
                five, ("a", "b", "c", "d", "e")),
        Picture("circles", "Circles", "No line, but a conic: change the basis.",
                circles, ("inside", "outside"), values={"basis": "quadratic"}),
        Picture("spirals", "Spirals", "For kernels.",
                spirals, ("one", "other"), method="kernel-svm", values={"C": 100.0, "gamma": 2.0}),
    )
}  # fmt: skip
