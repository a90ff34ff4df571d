"""Boundaries side by side: the same points and the same window, one picture for every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..scene import Board
from .boundary import BoundaryView, boundary_view

# Pictures in a row: more are too small to tell a slack from a dot.
PICTURES_PER_ROW = 3


@dataclass(frozen=True)
class Boundaries:
    """A view for every model, and what to call it."""

    views: tuple[BoundaryView, ...]
    names: tuple[str, ...]

    def scene(self) -> Board:
        """Without legends: they would be the same for all, and larger than the pictures."""
        scenes = tuple(
            replace(view.scene(), title=name, legend=False)
            for view, name in zip(self.views, self.names, strict=True)
        )
        return Board(scenes, PICTURES_PER_ROW)


class BoundariesDisplay(Display):
    """Several classifiers of the same points, side by side; each as ``BoundaryDisplay`` draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import BoundariesDisplay, LinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[:100, [1, 3]], y[:100]
    >>> models = {f"C = {C:g}": LinearSVM(C=C).fit(X, y) for C in (10.0, 0.1)}
    >>> display = BoundariesDisplay.from_estimators(models, X, y)
    >>> [len(view.support) for view in display.view.views]
    [3, 37]
    """

    view: Boundaries

    @classmethod
    def from_estimators(
        cls,
        estimators: dict[str, Any] | Sequence[Any],
        X: MatrixLike,
        y: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        ax: Any = None,
        **how: Any,
    ) -> Self:
        """Draw fitted classifiers, given by name or in a list; ``how`` is that of
        ``BoundaryDisplay.from_estimator``."""
        if isinstance(estimators, dict):
            names, estimators = tuple(estimators), tuple(estimators.values())
        views = tuple(boundary_view(one, X, y, **how) for one in estimators)
        told = tuple(view.title for view in views) if names is None else tuple(names)
        if len(told) != len(views):
            raise ValueError(f"names must be {len(views)}, one for each model, got {len(told)}.")
        return cls.of(Boundaries(views, told), None if ax is None else np.ravel(ax))
