"""Coefficients by class: the strongest, with the names of their features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ...core.types import MatrixLike
from ...parts.files.model import TableModel, row_titles
from ..display import Display
from ..loaded import is_pipeline
from ..scene import Axis, Bars, Board, Mark, Scene

# Rows of weights drawn when the caller does not choose: k classes have k, or k(k − 1)/2.
MAX_WEIGHT_ROWS = 9
# Characters of a feature's name that are shown.
MAX_FEATURE_LETTERS = 28


@dataclass(frozen=True)
class Coefficients:
    """``weights[row, j]`` of ``features[j]`` for what ``titles[row]`` says; ``unit`` of what."""

    weights: np.ndarray
    features: tuple[str, ...]
    titles: tuple[str, ...]
    unit: str
    strongest: int
    left_out: int = 0  # rows of weights that are not drawn

    def order(self, row: int) -> np.ndarray:
        """The features drawn, strongest first."""
        return np.argsort(-np.abs(self.weights[row]), kind="stable")[: self.strongest]

    def scene(self) -> Scene | Board:
        scenes = tuple(self._row(row) for row in range(len(self.titles)))
        return scenes[0] if len(scenes) == 1 else Board(scenes, columns=min(3, len(scenes)))

    def _row(self, row: int) -> Scene:
        order = self.order(row)
        w, place = self.weights[row][order], -np.arange(len(order), dtype=float)
        against, towards = _sides(self.titles[row])
        marks: list[Mark] = []
        for own, paint, label in ((w > 0, "for", towards), (w <= 0, "against", against)):
            if own.any():
                marks.append(Bars(place[own], w[own], paint, label))
        ticks = tuple((p, _short(self.features[j])) for p, j in zip(place, order, strict=True))
        y = Axis("", (float(place[-1]) - 0.6, 0.6), ticks=ticks)
        x = Axis(f"coefficient per {self.unit}")
        title = f"what speaks for {self.titles[row]}"
        return Scene(title, x, y, tuple(marks), self.words(row))

    def words(self, row: int) -> str:
        """The strongest five, and how many there are."""
        told = ", ".join(
            f"{self.features[j]} {self.weights[row, j]:+.4g}" for j in self.order(row)[:5]
        )
        count = len(self.features)
        text = (
            f"{self.titles[row]}: the strongest of {count} coefficients per {self.unit} are {told}."
        )
        if self.left_out:
            text += f" {self.left_out} more rows of weights are not drawn."
        return text


def _sides(title: str) -> tuple[str, str]:
    """What negative and positive coefficients speak for."""
    towards, rather, against = title.partition(" rather than ")
    return (f"for {against}", f"for {towards}") if rather else (f"against {title}", f"for {title}")


def _short(name: str) -> str:
    return name if len(name) <= MAX_FEATURE_LETTERS else f"{name[: MAX_FEATURE_LETTERS - 1]}…"


def coefficients_view(estimator, X=None, n=10, rows=None, feature_names=None) -> Coefficients:
    """The weights of a linear model, a Pipeline or a model of tables, and what they speak for."""
    model, names, spread, unit = _look(estimator, X)
    check_is_fitted(model)
    if not hasattr(model, "coef_"):
        raise ValueError(
            f"{type(model).__name__} has no coefficients of features to draw; linear models do."
        )
    W = np.atleast_2d(np.asarray(model.coef_, dtype=float)) * spread
    names = tuple(map(str, names if feature_names is None else feature_names))
    if len(names) != W.shape[1]:
        raise ValueError(f"There are {W.shape[1]} features but {len(names)} names for them.")
    titles = row_titles(model, len(W)) if hasattr(model, "classes_") else ["being preferred"]
    chosen = list(range(len(W)))[:MAX_WEIGHT_ROWS] if rows is None else list(rows)
    left = len(W) - len(chosen) if rows is None else 0
    shown = tuple(titles[row] for row in chosen)
    return Coefficients(W[chosen], names, shown, unit, int(n), left)


def _look(estimator, X):
    """The model, the names of its features, their spread, and what a coefficient is per."""
    if isinstance(estimator, TableModel):
        if estimator.basis is not None:
            return estimator.model, estimator.feature_names, 1.0, "unit of the basis"
        _, spread = estimator.preparation.units()
        return estimator.model, estimator.feature_names, spread, "standard deviation"
    model, given = estimator, X
    if is_pipeline(estimator):
        model = estimator[-1]
        given = None if X is None else estimator[:-1].transform(X)
    spread = 1.0 if given is None else _deviations(given)
    if given is not None:
        unit = "standard deviation"
    else:
        unit = "unit of the scaled feature" if is_pipeline(estimator) else "unit"
    return model, _names(estimator, model, X), spread, unit


def _deviations(X) -> np.ndarray:
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0.0))
    return np.asarray(X, dtype=float).std(axis=0)


def _names(estimator, model, X) -> Sequence[str]:
    if is_pipeline(estimator):
        try:
            return list(estimator[:-1].get_feature_names_out())
        except (AttributeError, ValueError, TypeError):
            pass
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        known = getattr(X, "columns", None)
    if known is not None and len(known) == model.n_features_in_:
        return list(known)
    return [f"x{j}" for j in range(model.n_features_in_)]


class CoefficientsDisplay(Display):
    """The strongest coefficients of every class, or every pair, by the names of their features.

    Coefficients of features in different units cannot be compared: scale the features in a
    Pipeline, or give X, and they are told per standard deviation of each feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from maxmargin import CoefficientsDisplay, LinearSVM
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), LinearSVM()).fit(X, y)
    >>> view = CoefficientsDisplay.from_estimator(model, n=3).view
    >>> [view.features[j] for j in view.order(0)]
    ['proline', 'alcalinity_of_ash', 'flavanoids']
    """

    view: Coefficients

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike | None = None,
        *,
        n: int = 10,
        rows: Sequence[int] | None = None,
        feature_names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the ``n`` strongest coefficients of the chosen ``rows`` of ``coef_``.

        X (optional): the rows from which standard deviations are taken.
        """
        return cls.of(coefficients_view(estimator, X, n, rows, feature_names), ax)
