"""Distances of all points to the boundary, by class: a picture for any number of features.

For two classes the distance has the sign of the side; for k it is that of the point's own
class, negative where another class wins.  Models that know probabilities are asked, too,
whether what they call 80 % happens in 80 % of the cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..palette import class_paints
from ..scene import Area, Axis, Board, Line, Mark, Points, Scene, Segments

# Bars of the histogram, and of the calibration curve.
MAX_HISTOGRAM_BINS, CALIBRATION_BINS = 40, 10


@dataclass(frozen=True)
class ReliabilityCurve:
    """In each bin of confidence: the mean confidence, the share right, the points."""

    confidence: np.ndarray
    right: np.ndarray
    count: np.ndarray

    def scene(self) -> Scene:
        error = np.sqrt(self.right * (1.0 - self.right) / self.count)
        names = tuple(
            f"called {c:.1%}, right {r:.1%} of {n}"
            for c, r, n in zip(self.confidence, self.right, self.count, strict=True)
        )
        marks: tuple[Mark, ...] = (
            Line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "muted", "perfect", "dashed"),
            Segments(self.confidence, self.right - error, self.confidence, self.right + error,
                     "class 0", "± one standard error"),
            Line(self.confidence, self.right, "class 0", "predictions"),
            Points(self.confidence, self.right, "class 0", "predictions", size=6, names=names),
        )  # fmt: skip
        low = min(0.5, float(self.confidence.min()), float((self.right - error).min())) - 0.03
        limits = (low, 1.03)
        return Scene("calibration", Axis("confidence of the class predicted", limits),
                     Axis("share that is right", limits), marks, self.words())  # fmt: skip

    def words(self) -> str:
        off = float(np.average(np.abs(self.confidence - self.right), weights=self.count))
        mean = float(np.average(self.confidence, weights=self.count))
        right = float(np.average(self.right, weights=self.count))
        return (
            f"Predictions are made with a mean confidence of {mean:.1%} and {right:.1%} of them "
            f"are right; the two differ by {off:.1%} on average over {len(self.count)} bins."
        )


@dataclass(frozen=True)
class Distances:
    """``distance[i]`` of the point with class ``codes[i]``; margin lines at ± ``margin``."""

    distance: np.ndarray
    codes: np.ndarray
    classes: tuple[str, ...]
    edges: np.ndarray
    margin: float | None
    label: str
    calibration: ReliabilityCurve | None

    @property
    def counts(self) -> np.ndarray:
        """(classes, bins)."""
        own = (self.distance[self.codes == c] for c in range(len(self.classes)))
        return np.array([np.histogram(values, self.edges)[0] for values in own])

    @property
    def wrong(self) -> int:
        if len(self.classes) > 2:
            return int((self.distance < 0).sum())
        return int(((self.distance > 0) != (self.codes == 1)).sum())

    def scene(self) -> Scene | Board:
        marks: list[Mark] = []
        counts = self.counts
        for paint, name, values in zip(
            class_paints(self.classes), self.classes, counts, strict=True
        ):
            outline = _outline(self.edges, values)
            marks.append(Area((outline,), paint, name, opacity=0.25))
            marks.append(Line(outline[:, 0], outline[:, 1], paint, name))
        top = 1.05 * float(counts.max())
        ends = np.array([0.0, top])
        marks.append(Line(np.zeros(2), ends, "ink", "boundary", width=2.0))
        if self.margin is not None:
            sides = [-self.margin, self.margin] if len(self.classes) == 2 else [self.margin]
            x = np.array([part for m in sides for part in (m, m, np.nan)])
            y = np.tile([0.0, top, np.nan], len(sides))
            marks.append(Line(x, y, "ink", f"margin {self.margin:.4g}", "dashed"))
        scene = Scene("where the classes lie", Axis(self.label), Axis("points", (0.0, top)),
                      tuple(marks), self.words())  # fmt: skip
        return scene if self.calibration is None else Board((scene, self.calibration.scene()))

    def words(self) -> str:
        text = f"{self.wrong} of {len(self.distance)} points are on the wrong side of the boundary."
        if self.margin is not None:
            two = len(self.classes) == 2
            inside = np.abs(self.distance) < self.margin if two else self.distance < self.margin
            text += f" {int(inside.sum())} are within the margin of {self.margin:.4g}"
            text += "." if two else " or on the wrong side."
        for c, name in enumerate(self.classes):
            own = self.distance[self.codes == c]
            if len(own):
                text += f" Class {name}: median {np.median(own):.4g}."
        return text


def _outline(edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The steps of a histogram, from the axis and back to it."""
    x = np.repeat(edges, 2)
    y = np.concatenate([[0.0], np.repeat(values.astype(float), 2), [0.0]])
    return np.column_stack([x, y])


def distances_view(estimator, X, y) -> Distances:
    """Distances of the points X, y as a classifier, a Pipeline or a model of tables has them."""
    model, Z = estimator, X
    if hasattr(estimator, "steps"):
        model, Z = estimator[-1], estimator[:-1].transform(X)
    elif hasattr(estimator, "preparation"):
        model, Z = estimator.model, estimator.features(X)
    y, classes = np.asarray(y), model.classes_
    if unknown := sorted(set(np.unique(y).tolist()) - set(classes.tolist())):
        raise ValueError(
            f"y holds the label {unknown[0]!r}, but the model knows {classes.tolist()} only."
        )
    codes = np.searchsorted(classes, y)
    distance, margin, label = _measure(model, Z, codes)
    calibration = _calibration(model, Z, codes) if hasattr(model, "predict_proba") else None
    names, edges = tuple(map(str, classes)), _edges(distance)
    return Distances(distance, codes, names, edges, margin, label, calibration)


def _measure(model, Z, codes) -> tuple[np.ndarray, float | None, str]:
    """Distances where the model has them, else scores; the margin in the same unit."""
    two = len(model.classes_) == 2
    svm = hasattr(model, "margin_") and hasattr(model, "slack_")
    everyone = np.arange(len(codes))
    if (
        not two
        and hasattr(model, "signed_distance")
        and getattr(model, "multiclass", "") != "pairs"
    ):
        return model.signed_distance(Z)[everyone, codes], None, "distance into the own region"
    f = np.asarray(model.decision_function(Z), dtype=float)
    if two:
        length = float(np.linalg.norm(getattr(model, "coef_", 0.0)))
        unit, label = (length, "signed distance to the boundary") if length > 0 else (1.0, "score")
        return f / unit, 1.0 / unit if svm else None, label
    others = f.copy()
    others[everyone, codes] = -np.inf
    return f[everyone, codes] - others.max(axis=1), None, "lead of the own class's score"


def _edges(distance: np.ndarray) -> np.ndarray:
    """Bins of equal width, one edge at zero so that no bar stands on both sides."""
    low, high = float(distance.min()), float(distance.max())
    rough = np.histogram_bin_edges(distance, "auto")
    width = max(float(np.diff(rough).min()), (high - low) / MAX_HISTOGRAM_BINS)
    if not width > 0:
        return np.array([low - 0.5, low + 0.5])
    first, last = int(np.floor(low / width)), int(np.floor(high / width)) + 1
    return width * np.arange(first, last + 1)


def _calibration(model, Z, codes) -> ReliabilityCurve | None:
    """Bins with equally many points, or fewer where many have the same confidence."""
    try:
        P = model.predict_proba(Z)
    except (AttributeError, ValueError):
        return None
    said = P.argmax(axis=1)
    confidence, right = P.max(axis=1), said == codes
    cuts = np.unique(np.quantile(confidence, np.linspace(0, 1, CALIBRATION_BINS + 1)))
    bins = np.clip(np.searchsorted(cuts, confidence, side="right") - 1, 0, max(len(cuts) - 2, 0))
    count = np.bincount(bins)
    full = count > 0
    means = [np.bincount(bins, weights=v)[full] / count[full] for v in (confidence, right)]
    return ReliabilityCurve(means[0], means[1], count[full])


class DistancesDisplay(Display):
    """Histograms of the signed distance by class, with the margins, and calibration where known.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import DistancesDisplay, LinearSVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> svm = LinearSVM().fit(X, y)
    >>> view = DistancesDisplay.from_estimator(svm, X, y).view
    >>> print(view.words())
    21 of 569 points are on the wrong side of the boundary. 49 are within the margin of 0.3227. ...
    """

    view: Distances

    @classmethod
    def from_estimator(cls, estimator: Any, X: MatrixLike, y: ArrayLike, *, ax: Any = None) -> Self:
        """Draw the points X, y as a fitted classifier has them, alone or at a Pipeline's end."""
        return cls.of(distances_view(estimator, X, y), ax)
