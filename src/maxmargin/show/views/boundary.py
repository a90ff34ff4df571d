"""The picture of the lectures: regions, boundary, margins, support vectors and slacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.solve.threads import one_blas_thread
from ...core.types import ArrayLike, MatrixLike
from ...models.svm.two_class import ON_MARGIN_SLACK
from ..display import Display
from ..geometry.decision_rule import UNDECIDED
from ..geometry.model_adapter import ModelAdapter, subject_of
from ..geometry.plane import Kind, Plane, answers_at, choose_plane, places_of
from ..geometry.regions import Regions, Window, regions_of
from ..palette import marker
from ..scene import Area, Axis, Line, Mark, Points, Scene, Segments

SUPPORT_WORDS = {
    "margin": "on the margin",
    "inside": "inside the margin",
    "misclassified": "misclassified",
}
# Errors are boxed, not ringed: they stand out in grey print, too.
SUPPORT_MARKERS = {"margin": "circle", "inside": "circle", "misclassified": "square"}
# Room around the points, as a share of their range.
WINDOW_PAD_SHARE = 0.08
# More points than this hide one another, and make pictures slow to draw.
MAX_SHOWN_POINTS = 2000
# Axes whose ranges differ by less than this share one unit: right angles look right.
MAX_RANGE_RATIO = 3.0
# With one unit on both axes, the shorter side is at least this share of the longer.
MIN_SIDE_SHARE = 0.6
# Slacks together longer than so many diagonals are faded, down to this: they would cover the rest.
FULL_SLACK_DIAGONALS, MIN_SLACK_OPACITY = 4.0, 0.2
# A slack that leaves the picture is drawn this long, as a share of the diagonal: whole, many of
# them would cover what is to be seen.
CUT_SLACK_SHARE = 0.025
# A model's slacks and those of the rows shown agree this closely if the rows are its own.
OWN_ROWS_TOL = 1e-3


@dataclass(frozen=True)
class BoundaryView:
    """All arrays of the picture, in its own coordinates.

    ``points`` (n, 2) with ``codes``, the index of each one's class, and ``index``, its row in
    the data.  ``support`` are places among the points, ``kinds`` their ``support_kind_``;
    ``slacks`` (m, 4) lead from a point (x, y) to its margin line (x2, y2), and ``slack_of`` are
    the points' places.  ``cut`` (m, 4) are the beginnings of those that leave the picture.
    """

    title: str
    classes: tuple[str, ...]
    labels: tuple[str, str]
    equal: bool
    regions: Regions
    points: np.ndarray
    codes: np.ndarray
    index: np.ndarray
    support: np.ndarray
    kinds: np.ndarray
    slacks: np.ndarray
    slack_of: np.ndarray
    cut: np.ndarray
    words: str

    def scene(self) -> Scene:
        left, right, bottom, top = self.regions.window
        return Scene(
            self.title,
            Axis(self.labels[0], (left, right)),
            Axis(self.labels[1], (bottom, top)),
            (*region_marks(self.regions), *_margin_marks(self.regions), *self._slack_marks(),
             *class_points(self.points, self.codes, self.classes, self.index),
             *self._support_marks()),
            self.words,
            equal=self.equal,
        )  # fmt: skip

    def _slack_marks(self) -> list[Mark]:
        marks: list[Mark] = []
        if len(self.slacks):
            faint = _slack_opacity(self.slacks, self.regions.window)
            x, y, x2, y2 = self.slacks.T
            marks.append(Segments(x, y, x2, y2, "bad", "slack ξ", opacity=faint))
        if len(self.cut):
            x, y, x2, y2 = self.cut.T
            marks.append(Segments(x, y, x2, y2, "muted", "slack ξ, cut short", "dotted"))
        return marks

    def _support_marks(self) -> list[Mark]:
        marks: list[Mark] = []
        for kind, words in SUPPORT_WORDS.items():
            some = self.support[self.kinds == kind]
            if len(some):
                label = f"{words} ({len(some)})"
                x, y = self.points[some].T
                marks.append(Points(x, y, words, label, SUPPORT_MARKERS[kind], 11.0, hollow=True))
        return marks


def boundary_view(
    estimator,
    X,
    y,
    *,
    plane: Kind = "auto",
    features: Sequence[int | str] | None = None,
    fixed: dict | None = None,
    feature_names: Sequence[str] | None = None,
    window: Window | None = None,
    max_points: int = MAX_SHOWN_POINTS,
    grid: int = 200,
) -> BoundaryView:
    """The view of a fitted classifier and points X with labels y; see ``BoundaryDisplay``."""
    with one_blas_thread():
        subject = subject_of(estimator, X, feature_names)
        codes = codes_of(subject, y)
        seen = choose_plane(subject, codes, plane, features, fixed)
        points = places_of(subject.rows, codes, seen)
        window = window or window_around(points, seen.metric)
        regions = regions_of(subject, seen, window, grid=grid)
        return _view(subject, seen, regions, points, codes, max_points)


def _view(subject: ModelAdapter, plane: Plane, regions: Regions, points, codes, most: int):
    left, right, bottom, top = regions.window
    width, height = right - left, top - bottom
    shown = _sample(len(points), most)
    place = np.full(len(points), -1)
    place[shown] = np.arange(len(shown))
    support, kinds, slack_of, ends = _training(subject, plane, points, codes, regions.exact)
    starts = points[slack_of]
    fits = ((ends >= [left, bottom]) & (ends <= [right, top])).all(axis=1)
    ringed, shown_slacks = place[support] >= 0, place[slack_of] >= 0
    drawn, cut = fits & shown_slacks, ~fits & shown_slacks
    short = _beginnings(starts[cut], ends[cut], CUT_SLACK_SHARE * float(np.hypot(width, height)))
    words = _words(subject, plane, regions, codes, points, len(shown), support)
    if not fits.all():
        words += f" {int(np.sum(~fits))} slacks leave the picture and are cut short."
    return BoundaryView(
        title=_title(subject),
        classes=tuple(str(label) for label in subject.classes.tolist()),
        labels=plane.labels,
        equal=plane.metric or similar((width, height)),
        regions=regions,
        points=points[shown],
        codes=codes[shown],
        index=shown,
        support=place[support][ringed],
        kinds=kinds[ringed],
        slacks=np.hstack([starts, ends])[drawn],
        slack_of=place[slack_of][drawn],
        cut=short,
        words=words,
    )


def _slack_opacity(slacks: np.ndarray, window: Window) -> float:
    """The more ink, the paler."""
    left, right, bottom, top = window
    x, y, x2, y2 = slacks.T
    ink = float(np.hypot(x2 - x, y2 - y).sum()) / float(np.hypot(right - left, top - bottom))
    return round(max(MIN_SLACK_OPACITY, min(1.0, FULL_SLACK_DIAGONALS / max(ink, 1e-12))), 3)


def _beginnings(starts: np.ndarray, ends: np.ndarray, length: float) -> np.ndarray:
    """(m, 4): the first bit of every segment, of this length or the segment's if it is shorter."""
    along = ends - starts
    size = np.hypot(*along.T)[:, None]
    step = along * np.minimum(1.0, length / np.where(size > 0, size, 1.0))
    return np.hstack([starts, starts + step])


# --- pieces other pictures use ----------------------------------------------------------


def region_marks(regions: Regions, line: str = "decision boundary") -> list[Mark]:
    """Shaded regions, hatched where nothing is known, and the lines between them."""
    marks: list[Mark] = [
        Area(rings, f"class {c}") for c, rings in enumerate(regions.rings) if rings
    ]
    if regions.unknown:
        marks.append(Area(regions.unknown, "unknown", "unknown", opacity=0.15, hatched=True))
    if len(regions.border):
        x, y = regions.border.T
        marks.append(Line(x, y, "ink", line, width=1.6))
    return marks


def class_points(points, codes, classes, index=None) -> list[Mark]:
    """The points of every class, with its colour and marker."""
    marks: list[Mark] = []
    for c, name in enumerate(classes):
        some = np.flatnonzero(codes == c)
        if len(some):
            rows = some if index is None else index[some]
            names = tuple(f"row {row}: {name}" for row in rows.tolist())
            x, y = points[some].T
            marks.append(Points(x, y, f"class {c}", name, marker(c), names=names))
    return marks


def codes_of(subject: ModelAdapter, y) -> np.ndarray:
    """Each label's index among the classes."""
    y = np.asarray(y)
    codes = np.searchsorted(subject.classes, y)
    found = subject.classes.take(codes, mode="clip") == y
    if y.shape != (subject.rows.shape[0],) or not np.all(found):
        raise ValueError(
            f"y must have one label of {subject.classes.tolist()} for each of the "
            f"{subject.rows.shape[0]} rows of X."
        )
    return codes


def window_around(points: np.ndarray, metric: bool = False) -> Window:
    """The range of the points, with some room around them.

    Where both axes have one unit the shorter side is lengthened: a strip shows little.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    length = np.where(high > low, (1.0 + 2.0 * WINDOW_PAD_SHARE) * (high - low), 1.0)
    if metric or similar(length):
        length = np.maximum(length, MIN_SIDE_SHARE * length.max())
    centre = 0.5 * (low + high)
    (left, bottom), (right, top) = (centre - length / 2).tolist(), (centre + length / 2).tolist()
    return left, right, bottom, top


def similar(lengths) -> bool:
    """Whether two sides may share one unit without making a strip of the picture."""
    return bool(max(lengths) <= MAX_RANGE_RATIO * min(lengths))


def _margin_marks(regions: Regions) -> list[Mark]:
    """Two classes share one look; of more, every class's margin has its colour."""
    two = len(regions.margins) == 2
    label: str | None = "margins" if two else "margin of the class"
    marks: list[Mark] = []
    for c, line in enumerate(regions.margins):
        if len(line):
            x, y = line.T
            marks.append(Line(x, y, "ink" if two else f"class {c}", label, "dashed", width=1.1))
            label = None
    return marks


def _sample(n: int, most: int) -> np.ndarray:
    """All rows, or as many as asked for, drawn evenly and always the same."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


# --- what training points tell ----------------------------------------------------------


def _training(subject: ModelAdapter, plane: Plane, points, codes, exact: bool):
    """Support vectors with their kinds, and slacks as (places, ends); empty for other rows."""
    nothing = np.empty(0, dtype=int), np.empty(0, dtype="U13"), np.empty(0, dtype=int)
    model, clear = subject.model, subject.election.clear
    slack = getattr(model, "slack_", None)
    if clear is None or slack is None or np.shape(slack) != codes.shape:
        return *nothing, np.empty((0, 2))
    answers = subject.answers(subject.rows)
    support, kinds = np.asarray(model.support_), np.asarray(model.support_kind_)
    total = _slacks(subject, answers[support], codes[support])
    if not np.allclose(total, slack[support], rtol=OWN_ROWS_TOL, atol=OWN_ROWS_TOL):
        return *nothing, np.empty((0, 2))
    if not (exact and plane.true and subject.W is not None):
        return support, kinds, nothing[2], np.empty((0, 2))
    assert subject.b is not None
    U, _ = plane.restrict(subject.W, subject.b)
    places, ends = [], []
    for c, M in enumerate(clear):
        some = np.flatnonzero((codes == c) & (slack > ON_MARGIN_SLACK))
        xi = 1.0 - answers[some] @ M.T
        paid = xi > ON_MARGIN_SLACK
        if not subject.election.pays_all:
            paid &= xi == xi.max(axis=1, keepdims=True)
        row, contrast = np.nonzero(paid)
        g = M[contrast] @ U
        size = np.einsum("ij,ij->i", g, g)
        step = xi[row, contrast] / np.where(size > 0, size, 1.0)
        places.append(some[row])
        ends.append(points[some[row]] + np.where(size > 0, step, 0.0)[:, None] * g)
    return support, kinds, np.concatenate(places), np.concatenate(ends)


def _slacks(subject: ModelAdapter, answers, codes) -> np.ndarray:
    """ξ of rows, recomputed from the answers."""
    assert subject.election.clear is not None
    out = np.zeros(len(codes))
    for c, M in enumerate(subject.election.clear):
        xi = np.maximum(0.0, 1.0 - answers[codes == c] @ M.T)
        out[codes == c] = xi.sum(axis=1) if subject.election.pays_all else xi.max(axis=1)
    return out


# --- words ------------------------------------------------------------------------------


def _title(subject: ModelAdapter) -> str:
    model = subject.model
    C = getattr(model, "C", None)
    parts = [subject.title]
    if isinstance(C, float | int):
        parts.append("hard margin" if np.isinf(C) else f"C = {C:g}")
    if len(subject.classes) > 2 and isinstance(getattr(model, "multiclass", None), str):
        parts.append(f"“{model.multiclass}” rule")
    return ", ".join(parts)


def _words(subject, plane: Plane, regions: Regions, codes, points, shown: int, support) -> str:
    names = ", ".join(str(label) for label in subject.classes.tolist())
    parts = [f"Regions of {_title(subject)}, for the classes {names}.", plane.words, regions.words]
    answers = subject.answers(subject.rows)
    given = subject.election.decide(answers)
    unknown = int(np.sum(given == UNDECIDED))
    parts.append(f"{int(np.sum(given == codes))} of {len(codes)} points are classified correctly.")
    if unknown:
        parts.append(f"{unknown} are unknown.")
    if not plane.true:
        there = subject.election.decide(answers_at(subject, plane, points))
        away = int(np.sum(there != given))
        parts.append(f"{away} points are drawn in a region of a class they are not given.")
    if len(support):
        kinds = np.asarray(subject.model.support_kind_)
        counts = [f"{int(np.sum(kinds == kind))} {words}" for kind, words in SUPPORT_WORDS.items()]
        parts.append(f"{len(support)} support vectors: {', '.join(counts)}.")
        if not (plane.true and regions.exact):
            parts.append("Slacks are not drawn: they are no distances in this plane.")
    if shown < len(codes):
        parts.append(f"{shown} points, drawn by lot, are shown.")
    return " ".join(parts)


class BoundaryDisplay(Display):
    """The boundary of a classifier with its regions, margins, support vectors and slacks.

    Linear models have exact polygons for regions, whatever the number of classes; others are
    contours on a grid.  Rings around support vectors are coloured by kind.  Slacks are drawn
    where they are true distances: ξ/‖w‖ long, from the point to its margin line.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import BoundaryDisplay, LinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> svm = LinearSVM(C=10).fit(X, y)
    >>> display = BoundaryDisplay.from_estimator(svm, X, y)
    >>> display.figure_.savefig("iris.png")  # doctest: +SKIP
    >>> display.view.regions.exact, len(display.view.support) == len(svm.support_)
    (True, True)
    """

    view: BoundaryView

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        plane: Kind = "auto",
        features: Sequence[int | str] | None = None,
        fixed: dict | None = None,
        feature_names: Sequence[str] | None = None,
        window: Window | None = None,
        max_points: int = MAX_SHOWN_POINTS,
        grid: int = 200,
        ax: Any = None,
    ) -> Self:
        """Look at a fitted classifier and draw it.

        Parameters
        ----------
        estimator : a fitted classifier of this package or scikit-learn, or a Pipeline
        X, y : the points to be shown.  Support vectors and slacks are shown for training points.
        plane : {"auto", "features", "discriminant"}
            "features": two features, the others fixed at their means or at ``fixed``.
            "discriminant": the score against the best direction at right angles to it (linear
            models).  "auto": the data's own plane, or else the discriminant one where there is
            one.
        features : two names or numbers of features
        fixed : dict, the values of other features, by name or number
        feature_names : list of str, default: those the estimator was fitted with, or x₁, x₂, …
        window : (left, right, bottom, top), default: around the points
        max_points : most points that are drawn, chosen by lot
        grid : points of the grid in each direction, for models that are not linear
        ax : matplotlib axes, default: a new figure
        """
        view = boundary_view(
            estimator, X, y, plane=plane, features=features, fixed=fixed,
            feature_names=feature_names, window=window, max_points=max_points, grid=grid,
        )  # fmt: skip
        return cls.of(view, ax)
