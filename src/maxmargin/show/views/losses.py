"""The losses of the lectures side by side, as functions of the margin m = y (w·x + b); beside
them those of regression, as functions of y − ŷ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.problem.losses import Hinge, Logistic, PerceptronLoss, SquaredHinge, value
from ..display import Display
from ..scene import Axis, Board, Dash, Line, Scene

# What the solvers minimise, and the count of errors that they stand in for.
LOSS_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "0-1": lambda m: float(m <= 0.0),
    "perceptron": lambda m: value(PerceptronLoss(), m),
    "hinge": lambda m: value(Hinge(), m),
    "squared hinge": lambda m: value(SquaredHinge(), m),
    "logistic": lambda m: value(Logistic(), m),
}
# Of regression: what a prediction pays for being off.
REGRESSION_LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "square": np.square,
    "absolute": np.abs,
}
LOSS_PAINTS = {
    "0-1": "ink", "perceptron": "class 2", "hinge": "class 0", "squared hinge": "class 1",
    "logistic": "class 3",
}  # fmt: skip
LOSS_DASHES: dict[str, Dash] = {"0-1": "dotted", "squared hinge": "dashed"}
# Points of a curve; odd, so that the kinks at whole margins are among them.
CURVE_POINTS = 601
# The squared hinge leaves the picture here: otherwise it flattens all the others.
MAX_SHOWN_LOSS = 4.0


@dataclass(frozen=True)
class Losses:
    """``curves[name][i]`` is the loss at margin ``m[i]``."""

    m: np.ndarray
    curves: dict[str, np.ndarray]

    def scene(self) -> Scene:
        marks = tuple(_line(name, self.m, loss) for name, loss in self.curves.items())
        top = min(MAX_SHOWN_LOSS, 1.05 * max(float(loss.max()) for loss in self.curves.values()))
        x = Axis("margin m = y(w·x + b)", (float(self.m[0]), float(self.m[-1])))
        return Scene("what a point pays", x, Axis("loss ℓ(m)", (-0.05 * top, top)), marks,
                     self.words())  # fmt: skip

    def words(self) -> str:
        told = []
        for place in (-1.0, 0.0, 1.0):
            if self.m[0] <= place <= self.m[-1]:
                values = ", ".join(
                    f"{name} {LOSS_FUNCTIONS[name](place):.4g}" for name in self.curves
                )
                told.append(f"At margin {place:g}: {values}.")
        return "Losses by the margin. " + " ".join(told)


def _line(name: str, m: np.ndarray, loss: np.ndarray) -> Line:
    if name == "0-1" and m[0] <= 0.0 < m[-1]:  # it jumps: the line is broken there
        place = int(np.searchsorted(m, 0.0, side="right"))
        m = np.insert(m, place, [0.0, np.nan, 0.0])
        loss = np.insert(loss, place, [1.0, np.nan, 0.0])
    return Line(m, loss, LOSS_PAINTS[name], name, LOSS_DASHES.get(name, "solid"), 2.0)


def losses_view(names: Sequence[str], low: float, high: float) -> Losses:
    """The losses of these names at margins from ``low`` to ``high``."""
    if unknown := [name for name in names if name not in LOSS_FUNCTIONS]:
        raise ValueError(f"There is no loss {unknown[0]!r} to draw; have {list(LOSS_FUNCTIONS)}.")
    m = np.linspace(low, high, CURVE_POINTS)
    curves = {name: np.array([LOSS_FUNCTIONS[name](float(v)) for v in m]) for name in names}
    return Losses(m, curves)


@dataclass(frozen=True)
class LossesBeside:
    """Losses of regression at ``off`` = y − ŷ, and beside them those of classification."""

    off: np.ndarray
    regression: dict[str, np.ndarray]
    classification: Losses

    def scene(self) -> Board:
        marks = tuple(
            Line(self.off, loss, f"class {number}", name, width=2.0)
            for number, (name, loss) in enumerate(self.regression.items())
        )
        x = Axis("y − ŷ", (float(self.off[0]), float(self.off[-1])))
        left = Scene("regression: how far off", x, Axis("loss", (-0.05 * MAX_SHOWN_LOSS,
                     MAX_SHOWN_LOSS)), marks, self.words())  # fmt: skip
        return Board((left, self.classification.scene()))

    def words(self) -> str:
        return (
            "Losses of regression grow on both sides of zero: being two off costs 4 squared and 2 "
            "absolute, above or below. A large margin costs a classifier nothing."
        )


class LossesDisplay(Display):
    """The 0-1 loss and those that are minimised instead, taken from the solvers' own code.

    Examples
    --------
    >>> from maxmargin import LossesDisplay
    >>> view = LossesDisplay.from_names(["hinge", "squared hinge"]).view
    >>> print(view.words())
    Losses by the margin. At margin -1: hinge 2, squared hinge 4. At margin 0: hinge 1, ...
    """

    view: Losses | LossesBeside

    @classmethod
    def from_names(
        cls,
        names: Sequence[str] = tuple(LOSS_FUNCTIONS),
        *,
        low: float = -2.5,
        high: float = 2.5,
        ax: Any = None,
    ) -> Self:
        """Draw the losses of these names over margins from ``low`` to ``high``."""
        return cls.of(losses_view(names, low, high), ax)

    @classmethod
    def beside_regression(
        cls, names: Sequence[str] = tuple(LOSS_FUNCTIONS), *, reach: float = 2.5, ax: Any = None
    ) -> Self:
        """The losses of regression, and beside them those of these names, ``reach`` each way."""
        off = np.linspace(-reach, reach, CURVE_POINTS)
        curves = {name: loss(off) for name, loss in REGRESSION_LOSSES.items()}
        return cls.of(LossesBeside(off, curves, losses_view(names, -reach, reach)), ax)
