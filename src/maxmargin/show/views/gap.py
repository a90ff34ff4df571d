"""Gap against time: how far a fit could still have been from the optimum at every check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..display import Display
from ..loaded import is_pipeline
from ..scene import Axis, Line, Mark, Points, Scene

# A log axis has no zero: smaller gaps, and none, are drawn here.
MIN_DRAWN_GAP = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class GapCurve:
    """Relative gap at every check of one fit; ``parts`` where machines were solved in turn."""

    name: str
    seconds: np.ndarray
    gap: np.ndarray
    final: float  # of the certificate, recomputed from the data
    parts: bool = False


@dataclass(frozen=True)
class Gaps:
    """One curve for each fit."""

    curves: tuple[GapCurve, ...]

    def scene(self) -> Scene:
        marks: list[Mark] = []
        for number, curve in enumerate(self.curves):
            paint, gap = f"class {number}", np.maximum(curve.gap, MIN_DRAWN_GAP)
            names = tuple(
                f"gap {g:.2g} after {s:.3g} s" for s, g in zip(curve.seconds, gap, strict=True)
            )
            if not curve.parts:
                marks.append(Line(curve.seconds, gap, paint, curve.name))
            marks.append(Points(curve.seconds, gap, paint, curve.name, names=names))
        return Scene(
            "gap against time", Axis("seconds"), Axis("relative gap", log=True), tuple(marks),
            self.words(),
        )  # fmt: skip

    def words(self) -> str:
        return " ".join(
            f"{curve.name}: {len(curve.gap)} checks in {curve.seconds[-1]:.3g} s"
            f"{' of machines solved one after another' if curve.parts else ''}, the last gap "
            f"{curve.gap[-1]:.2g}; the certificate says {curve.final:.2g}."
            for curve in self.curves
        )


def gap_curve(estimator, name: str | None = None) -> GapCurve:
    """The curve of a fitted estimator's ``history_``."""
    model = estimator[-1] if is_pipeline(estimator) else estimator
    history = getattr(model, "history_", None)
    if not history or not hasattr(history[0], "dual"):
        raise ValueError(
            f"{type(model).__name__} has no gaps to draw. LinearSVM, KernelSVM, "
            "LogisticRegression and the rankers keep them in history_ when they are fitted."
        )
    many = len(getattr(model, "classes_", ())) > 2
    return GapCurve(
        name or type(model).__name__,
        np.array([step.seconds for step in history]),
        np.array([step.relative_gap for step in history]),
        float(model.certificate_.relative_gap),
        many and getattr(model, "multiclass", "") in ("rest", "pairs"),
    )


class GapDisplay(Display):
    """The proved relative gap at every check of a fit, or of several.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import GapDisplay, LogisticRegression
    >>> model = LogisticRegression().fit(*load_breast_cancer(return_X_y=True))
    >>> (curve,) = GapDisplay.from_estimator(model).view.curves
    >>> len(curve.gap) == len(model.history_), bool(curve.gap[-1] < 1e-6)
    (True, True)
    """

    view: Gaps

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None) -> Self:
        """Draw the fit of one estimator."""
        return cls.of(Gaps((gap_curve(estimator, name),)), ax)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, object], *, ax: Any = None) -> Self:
        """Draw several fits by their names."""
        return cls.of(Gaps(tuple(gap_curve(model, name) for name, model in estimators.items())), ax)
