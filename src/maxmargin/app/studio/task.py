"""What a page asks: points, classes, a method and its knobs, checked before anything is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .methods import STUDIO_METHODS, StudioMethod

MAX_DRAWN_POINTS = 2000
MAX_DRAWN_CLASSES = 5
MAX_LABEL_LETTERS = 60
# Coordinates beyond this are no drawing, and their cubes leave float64's comfortable range.
MAX_COORDINATE = 1e9


@dataclass(frozen=True)
class StudioTask:
    """A checked request.  ``codes`` are class numbers, as the page counts them."""

    X: np.ndarray
    codes: np.ndarray
    labels: list[str]
    names: tuple[str, str]
    window: tuple[float, float, float, float]  # x from, x to, y from, y to
    method: StudioMethod
    values: dict[str, Any]
    beside: StudioMethod | None = None
    line: bool = False  # one feature only: every point at height 0, and scores above and below
    hurry: bool = False  # a point is being dragged: what costs time can wait until it is let go

    @classmethod
    def of(cls, asked: Any) -> StudioTask:
        if not isinstance(asked, dict):
            raise ValueError("A request must be an object with points, labels and a method.")
        labels = _words(asked.get("labels"), "labels", MAX_DRAWN_CLASSES)
        X, codes = _points(asked.get("points"), len(labels))
        line = asked.get("line") is True
        if line:
            X[:, 1] = 0.0
        first, second = _words(asked.get("names", ["x", "y"]), "names", 2, least=2)
        method = _method(asked.get("method"))
        beside = asked.get("beside") or None
        return cls(
            X, codes, labels, (first, second), _window(asked.get("window"), X),
            method, _values(asked.get("values", {}), method),
            None if beside is None else _method(beside), line, asked.get("hurry") is True,
        )  # fmt: skip

    @property
    def present(self) -> list[int]:
        """The classes that have points."""
        return np.unique(self.codes).tolist()

    def estimator(self) -> Any:
        return self.method.estimator(self.values)

    def rival(self) -> Any:
        """The method to compare with, with its own defaults but for the price of slack."""
        assert self.beside is not None
        values = {p.name: p.default for p in self.beside.parameters}
        values |= {name: self.values[name] for name in ("C",) if name in self.values}
        return self.beside.estimator(values)


def _method(name: Any) -> StudioMethod:
    if not isinstance(name, str) or name not in STUDIO_METHODS:
        raise ValueError(f"There is no method {str(name)[:40]!r}; have {[*STUDIO_METHODS]}.")
    return STUDIO_METHODS[name]


def _values(given: Any, method: StudioMethod) -> dict[str, Any]:
    """Checked values of the method's knobs; those not given have their defaults."""
    if not isinstance(given, dict):
        raise ValueError("values must be an object of knobs and their values.")
    return {p.name: p.check(given.get(p.name, p.default)) for p in method.parameters}


def _words(given: Any, what: str, most: int, least: int = 1) -> list[str]:
    if what == "labels" and isinstance(given, list) and len(given) > most:
        raise ValueError(
            f"The playground draws {most} classes at most and got {len(given)}: labels must be a "
            f"list of {least} to {most} words. “Your data” takes any number of classes."
        )
    if not isinstance(given, list) or not least <= len(given) <= most:
        raise ValueError(f"{what} must be a list of {least} to {most} words.")
    if not all(isinstance(word, str) and len(word) <= MAX_LABEL_LETTERS for word in given):
        raise ValueError(f"{what} must be words of at most {MAX_LABEL_LETTERS} letters.")
    return given


def _number(value: Any) -> bool:
    """True and false are no coordinates, though Python counts them among the numbers."""
    # Compared and not converted: a whole number of JSON may be beyond float64's range.
    return type(value) in (int, float) and abs(value) <= MAX_COORDINATE


def _points(given: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(given, list) or len(given) > MAX_DRAWN_POINTS:
        raise ValueError(
            f"points must be a list of at most {MAX_DRAWN_POINTS} points [x, y, class]."
        )
    for place, point in enumerate(given):
        if not isinstance(point, list) or len(point) != 3:
            raise ValueError(f"Point {place + 1} must be [x, y, class].")
        if not (_number(point[0]) and _number(point[1])):
            raise ValueError(
                f"Point {place + 1} must lie at two finite numbers of at most {MAX_COORDINATE:g}."
            )
        if type(point[2]) is not int or not 0 <= point[2] < k:
            raise ValueError(f"The class of point {place + 1} must be a number from 0 to {k - 1}.")
    table = np.array(given, dtype=np.float64).reshape(-1, 3)
    return np.ascontiguousarray(table[:, :2]), table[:, 2].astype(np.int64)


def _window(given: Any, X: np.ndarray) -> tuple[float, float, float, float]:
    if given is None:
        low, high = (X.min(axis=0), X.max(axis=0)) if len(X) else (np.zeros(2), np.ones(2))
        pad = 0.1 * np.maximum(high - low, 1e-6)
        low, high = low - pad, high + pad
        return float(low[0]), float(high[0]), float(low[1]), float(high[1])
    if not isinstance(given, list) or len(given) != 4 or not all(map(_number, given)):
        raise ValueError("window must be four finite numbers: x from, x to, y from, y to.")
    left, right, bottom, top = map(float, given)
    if not (left < right and bottom < top):
        raise ValueError("window must go from left to right and from bottom to top.")
    return left, right, bottom, top
