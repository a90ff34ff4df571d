"""Before and after a change of basis: a curve in the data's space, a plane in that of φ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from sklearn.pipeline import Pipeline

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..geometry.plane import Kind
from ..scene import Board
from .boundary import BoundaryView, boundary_view


@dataclass(frozen=True)
class BasisView:
    """The same model seen before its basis, and after it."""

    before: BoundaryView
    after: BoundaryView

    def scene(self) -> Board:
        return Board((self.before.scene(), self.after.scene()))


def basis_view(
    pipeline, X, y, *, feature_names: Sequence[str] | None = None, grid: int = 200, **after: Any
) -> BasisView:
    """A fitted Pipeline of a basis (or other steps) and a classifier, from both sides.

    ``after``: ``features`` and ``plane`` of the picture after the basis.
    """
    if not isinstance(pipeline, Pipeline) or len(pipeline) < 2:
        raise TypeError(
            "This picture needs a fitted Pipeline of a basis and a classifier, such as "
            f"make_pipeline(PolarBasis(), LinearSVM()); got {type(pipeline).__name__}."
        )
    before = boundary_view(pipeline, X, y, feature_names=feature_names, grid=grid)
    steps = pipeline[:-1]
    view = boundary_view(
        pipeline[-1], steps.transform(X), y, feature_names=_names(steps, feature_names), grid=grid,
        **after,
    )  # fmt: skip
    last = type(steps[-1]).__name__
    return BasisView(
        replace(before, title="Before: the data's own space"),
        replace(view, title=f"After {last}: {view.title}"),
    )


def _names(steps: Pipeline, given) -> list[str] | None:
    """What the basis calls its columns; None for steps that give no names."""
    if not hasattr(steps, "get_feature_names_out"):
        return None
    names = getattr(steps, "feature_names_in_", given)
    return [str(name) for name in steps.get_feature_names_out(names)]


class BasisDisplay(Display):
    """A classifier behind a change of basis: data and boundary before it and after it.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> from maxmargin import BasisDisplay, LinearSVM, PolarBasis
    >>> X, y = make_circles(100, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(PolarBasis(), LinearSVM()).fit(X, y)
    >>> display = BasisDisplay.from_estimator(model, X, y)
    >>> display.view.after.labels, display.view.after.regions.exact
    (('r', 'theta'), True)
    """

    view: BasisView

    @classmethod
    def from_estimator(
        cls,
        pipeline: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        features: Sequence[int | str] | None = None,
        plane: Kind = "auto",
        feature_names: Sequence[str] | None = None,
        grid: int = 200,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted Pipeline of a basis and a classifier.

        Parameters
        ----------
        pipeline : Pipeline, its last step a classifier
        X, y : the points to be shown, before the basis
        features : two columns that the basis makes, by name or number
        plane : as for ``BoundaryDisplay``, after the basis
        feature_names : list of str, before the basis
        grid : points of the grid in each direction, where the boundary is not linear
        ax : two matplotlib axes, default: a new figure
        """
        view = basis_view(
            pipeline, X, y, features=features, plane=plane, feature_names=feature_names, grid=grid
        )
        return cls.of(view, ax)
