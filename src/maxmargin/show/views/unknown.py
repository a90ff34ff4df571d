"""Unknown regions: what one-vs-rest and one-vs-one leave undecided, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ..display import Display
from ..geometry.decision_rule import UNDECIDED
from ..geometry.model_adapter import doubtful_election, subject_of
from ..geometry.plane import choose_plane, places_of
from ..geometry.regions import Regions, regions_of
from ..scene import Axis, Board, Scene
from .boundary import class_points, codes_of, region_marks, similar, window_around


@dataclass(frozen=True)
class UnknownPicture:
    """One model: the regions of the classes that win by themselves, and what none wins."""

    title: str
    classes: tuple[str, ...]
    labels: tuple[str, str]
    equal: bool
    regions: Regions
    points: np.ndarray
    codes: np.ndarray
    words: str

    def scene(self) -> Scene:
        left, right, bottom, top = self.regions.window
        return Scene(
            self.title,
            Axis(self.labels[0], (left, right)),
            Axis(self.labels[1], (bottom, top)),
            (*region_marks(self.regions, "boundary"),
             *class_points(self.points, self.codes, self.classes)),
            self.words,
            equal=self.equal,
        )  # fmt: skip


@dataclass(frozen=True)
class UnknownRegionsView:
    """A picture for every model."""

    pictures: tuple[UnknownPicture, ...]

    def scene(self) -> Board:
        return Board(tuple(picture.scene() for picture in self.pictures))


def unknown_picture(
    estimator, X, y, *, feature_names=None, grid: int = 200, **columns
) -> UnknownPicture:
    """Where a model of two-class machines is sure, whether or not it guesses elsewhere.

    ``columns``: ``features`` shown, and the values of others that are ``fixed``.
    """
    subject = subject_of(estimator, X, feature_names)
    election = doubtful_election(subject.model)
    if election is None:
        raise ValueError(
            f"{subject.title} is never undecided. Unknown regions belong to OneVsRest, OneVsOne, "
            "and to multiclass='rest' and 'pairs', with more than two classes."
        )
    codes = codes_of(subject, y)
    plane = choose_plane(subject, codes, "auto", **columns)
    points = places_of(subject.rows, codes, plane)
    window = window_around(points, plane.metric)
    regions = regions_of(subject, plane, window, election, grid)
    unknown = int(np.sum(election.decide(subject.answers(subject.rows)) == UNDECIDED))
    words = (
        f"Where the machines of {subject.title} agree on one class, and hatched where they do "
        f"not: {unknown} of {len(codes)} points. {plane.words} {regions.words}"
    )
    title = f"{subject.title}: {unknown} of {len(codes)} points unknown"
    names = tuple(str(label) for label in subject.classes.tolist())
    equal = plane.metric or similar((window[1] - window[0], window[3] - window[2]))
    return UnknownPicture(title, names, plane.labels, equal, regions, points, codes, words)


def unknown_regions_view(estimators, X, y, **how) -> UnknownRegionsView:
    """One picture for every fitted model."""
    return UnknownRegionsView(tuple(unknown_picture(model, X, y, **how) for model in estimators))


class UnknownRegionsDisplay(Display):
    """The regions that one-vs-rest and one-vs-one leave undecided.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from maxmargin import LinearSVM, OneVsOne, OneVsRest, UnknownRegionsDisplay
    >>> X, y = make_blobs(90, centers=3, random_state=1)
    >>> models = [OneVsRest(LinearSVM()).fit(X, y), OneVsOne(LinearSVM()).fit(X, y)]
    >>> display = UnknownRegionsDisplay.from_estimators(models, X, y)
    >>> [len(picture.regions.unknown) > 0 for picture in display.view.pictures]
    [True, True]
    """

    view: UnknownRegionsView

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        features: Sequence[int | str] | None = None,
        fixed: dict | None = None,
        feature_names: Sequence[str] | None = None,
        grid: int = 200,
        ax: Any = None,
    ) -> Self:
        """Draw fitted models of two-class machines side by side.

        Parameters
        ----------
        estimators : list of OneVsRest, OneVsOne, or SVMs with multiclass="rest" or "pairs"
        X, y : the points to be shown
        features, fixed, feature_names, grid : as for ``BoundaryDisplay``
        ax : as many matplotlib axes, default: a new figure
        """
        view = unknown_regions_view(
            estimators, X, y, features=features, fixed=fixed, feature_names=feature_names, grid=grid
        )
        return cls.of(view, ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: MatrixLike, y: ArrayLike, **how: Any) -> Self:
        """The same for one model."""
        return cls.from_estimators([estimator], X, y, **how)
