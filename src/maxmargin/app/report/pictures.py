"""Which pictures belong to a result.  Views are imported where they are made: no picture costs
anything to a report that has none of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...parts.files.columns import Text
from ...show.drawers.axis_limits import limits_of
from ...show.scene import Board, Points, Scene
from ..workflow.fit import Fitted
from .figures import Maker

if TYPE_CHECKING:
    from ...models.probe import ProbeResult
    from ...models.tune.comparison import Comparison
    from ...models.tune.path import CPath

Pictures = list[tuple[str, Maker]]

# Rows from which pictures of all rows are made, and of how many classes at most.
MAX_PICTURE_ROWS = 20_000
MAX_PICTURE_CLASSES = 30
# Outlines of more classes than this hide one another.
MAX_CLASS_OUTLINES = 5
# Rings around support vectors beyond these hide the points.
MAX_SUPPORT_RINGS = 150
# A picture longer than this many times its width has no room: its axes get units of their own.
MAX_ASPECT_RATIO = 2.5
# Bars for each class, and classes that have any.
BARS_PER_CLASS = 12
MAX_CLASSES_WITH_BARS = 4
# Columns that are shown alone; of models without weights so many are tried, on so many rows.
PARTIAL_VIEWS, MAX_PARTIAL_COLUMNS, MAX_PARTIAL_ROWS = 3, 8, 1_000


def choice(fitted: Fitted) -> Pictures:
    """The cross-validation curve."""
    tuning = fitted.tuning

    def curve() -> Scene | Board:
        from ...show.views.cross_validation import CrossValidation

        assert tuning is not None
        if tuning.score == "accuracy":
            return CrossValidation(tuning.Cs, tuning.errors, tuning.best, None).scene()
        scores, measure = 1.0 - tuning.errors, tuning.score.replace("_", " ")
        return CrossValidation(
            tuning.Cs, scores, tuning.best, None, "C", measure, larger_is_better=True
        ).scene()

    return [] if tuning is None else [("errors by C", curve)]


def probe_choice(found: ProbeResult, at: int) -> Pictures:
    """The accuracy of the rows that chose C; ``at`` is the place of the one chosen."""

    def curve() -> Scene | Board:
        from ...show.views.cross_validation import CrossValidation

        errors = 1.0 - found.choice_accuracy[None, :]
        return CrossValidation(found.Cs, errors, at, None, measure="error of the choice").scene()

    return [("errors by C", curve)]


def judgement(fitted: Fitted) -> Pictures:
    """Which class was taken for which by a model that had not seen it; how well scores tell two
    classes apart; how far all rows are from the boundary."""
    which, counted = fitted.unseen or ("training", fitted.training.table)
    classes = fitted.model.model.classes_

    def counts() -> Scene | Board:
        from ...show.views.confusion import Confusion

        assert counted is not None
        scene = Confusion(counted, tuple(map(str, classes))).scene()
        return replace(scene, title=f"{which} rows: {scene.title}")

    def distances() -> Scene | Board:
        from ...show.views.distances import distances_view

        some = _some(fitted)
        found = distances_view(fitted.model.model, fitted.X[some], fitted.data.y[some])
        if hasattr(fitted.model.model, "calibration_"):  # left-out rows tell more of it
            found = replace(found, calibration=None)
        return _of_some(found.scene(), fitted)

    made: Pictures = []
    if counted is not None and len(classes) <= MAX_PICTURE_CLASSES:
        made.append(("confusion", counts))
    made += _detection(fitted)
    if len(classes) <= MAX_CLASS_OUTLINES and not np.isinf(_margin(fitted)):
        made.append(("distances", distances))
    return made


def _margin(fitted: Fitted) -> float:
    """Infinite where all weights are zero: there is no boundary to be far from."""
    return fitted.model.summary.get("margin", 0.0)


def _detection(fitted: Fitted) -> Pictures:
    """Of two classes, what finding more of one costs."""
    known = getattr(fitted.model.model, "calibration_", None)
    if known is None or known.classes != 2 or len(np.unique(known.codes)) < 2:
        return []

    def curves() -> Scene | Board:
        from ...show.views.detection import detection_view

        labels = fitted.model.model.classes_
        return detection_view(known.scores, known.codes, labels, known.way).scene()

    return [("what finding more costs", curves)]


def chances(fitted: Fitted) -> Pictures:
    """How far probabilities and sets can be trusted, where rows were left out."""
    known = getattr(fitted.model.model, "calibration_", None)

    def curves() -> Scene | Board:
        from ...show.views.chances import chances_view

        assert known is not None
        return chances_view(known).scene()

    return [] if known is None or not known.rows else [("probabilities and sets", curves)]


def proof(fitted: Fitted) -> Pictures:
    """The gap along the way, where there was one."""
    model = fitted.model.model
    history = getattr(model, "history_", None) or []
    if len(history) < 2 or not hasattr(history[0], "dual"):
        return []

    def gap() -> Scene | Board:
        from ...show.views.gap import Gaps, gap_curve

        return Gaps((gap_curve(model),)).scene()

    return [("gap against time", gap)]


def shapes(fitted: Fitted) -> Pictures:
    """Regions and boundary in the most telling plane."""
    if len(fitted.model.model.classes_) > MAX_PICTURE_CLASSES:
        return []

    def boundary() -> Scene | Board:
        from ...show.views.boundary import boundary_view

        some = _some(fitted)
        part = fitted.data if len(some) == len(fitted.data) else fitted.data.take(some)
        return _of_some(_readable(boundary_view(fitted.model, part.rows, part.y).scene()), fitted)

    return [("regions and boundary", boundary)]


def _readable(scene: Scene) -> Scene:
    """Without rings where they would cover the points, and not as thin as a ribbon."""
    rings = [mark for mark in scene.marks if isinstance(mark, Points) and mark.hollow]
    if sum(len(ring.x) for ring in rings) > MAX_SUPPORT_RINGS:
        kept = tuple(m for m in scene.marks if not (isinstance(m, Points) and m.hollow))
        words = f"{scene.words} The support vectors are too many to be ringed."
        scene = replace(scene, marks=kept, words=words)
    (left, right), (bottom, top) = limits_of(scene, "x"), limits_of(scene, "y")
    shape = (right - left) / (top - bottom)
    return (
        scene if 1 / MAX_ASPECT_RATIO <= shape <= MAX_ASPECT_RATIO else replace(scene, equal=False)
    )


def weights(fitted: Fitted) -> Pictures:
    """The strongest coefficients of each row of weights, where these are few."""
    rows = len(np.atleast_2d(fitted.model.model.coef_))
    if rows > MAX_CLASSES_WITH_BARS:
        return []

    def bars(row: int) -> Scene | Board:
        from ...show.views.coefficients import coefficients_view

        return coefficients_view(fitted.model, n=BARS_PER_CLASS, rows=[row]).scene()

    return [("coefficients", partial(bars, row)) for row in range(rows)]


def partials(fitted: Fitted) -> Pictures:
    """The three columns that change the answers most, each alone."""
    model = fitted.model
    if not fitted.data.is_table or not hasattr(model.preparation, "columns"):
        return []

    def drawn() -> Scene | Board:
        from ...show.views.partial import partial_view

        some = fitted.data.take(_some(fitted)[:MAX_PARTIAL_ROWS]).rows
        prepared = model.prepared(some)
        prepared = prepared.toarray() if hasattr(prepared, "toarray") else prepared
        views = [partial_view(model, prepared, *asked) for asked in _strongest(fitted)]
        views.sort(key=lambda view: -view.spread)
        return Board(tuple(view.scene() for view in views[:PARTIAL_VIEWS] if view.spread > 0))

    return [("one column at a time", drawn)]


def _strongest(fitted: Fitted) -> list:
    """Columns, with the place of their first feature, that count most; of a model without weights
    the first ones, to be looked at."""
    model = fitted.model
    columns = model.preparation.columns
    starts = np.cumsum([0, *(column.width for column in columns)])[:-1]
    asked = [
        (int(start), column)
        for start, column in zip(starts, columns, strict=True)
        if not isinstance(column, Text)
    ]
    if model.basis is not None or not hasattr(model.model, "coef_"):
        return asked[:MAX_PARTIAL_COLUMNS]
    W = np.abs(np.atleast_2d(model.model.coef_) * model.preparation.units()[1]).max(axis=0)
    return sorted(asked, key=lambda pair: -W[pair[0] : pair[0] + pair[1].width].max())[
        :PARTIAL_VIEWS
    ]


def comparison(found: Comparison) -> Pictures:
    def dots() -> Scene | Board:
        from ...show.views.comparison import comparison_view

        return comparison_view(found).scene()

    return [("accuracies", dots)]


def path(found: CPath) -> Pictures:
    def curves() -> Scene | Board:
        from ...show.views.path_curves import path_view

        return path_view(found).scene()

    return [("path over C", curves)]


def _sampled(fitted: Fitted) -> bool:
    return min(len(fitted.data), MAX_PICTURE_ROWS) < fitted.rows


def _some(fitted: Fitted) -> np.ndarray:
    """All rows, or as many as pictures are made from, drawn evenly and always the same."""
    n = len(fitted.data)
    if n <= MAX_PICTURE_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MAX_PICTURE_ROWS, replace=False))


def _of_some(found: Scene | Board, fitted: Fitted) -> Scene | Board:
    """The words say so where a picture is not of all rows."""
    if not _sampled(fitted):
        return found
    shown = (
        f"Drawn from {min(len(fitted.data), MAX_PICTURE_ROWS):,} of {fitted.rows:,} rows, by lot"
    )
    if isinstance(found, Board):
        return replace(found, scenes=tuple(_said(scene, shown) for scene in found.scenes))
    return _said(found, shown)


def _said(scene: Scene, shown: str) -> Scene:
    return replace(scene, words=f"{shown}: {scene.words}")
