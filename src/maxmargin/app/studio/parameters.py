"""The knobs of the studio's methods: what each may be, said once for server and page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Parameter:
    """One knob.  ``kind`` says what the page draws: a slider (``log``: of its logarithm), a
    choice, or a switch."""

    name: str
    title: str
    kind: Literal["log", "number", "whole", "choice", "switch"]
    default: Any
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    choices: dict[str, str] = field(default_factory=dict)
    words: str = ""
    many: bool = False  # only of interest with more than two classes

    def check(self, value: Any) -> Any:
        """The value, if it is one this knob can have; the message says what it can."""
        if self.kind == "switch":
            if isinstance(value, bool):
                return value
            raise ValueError(f"{self.title} must be true or false, got {_short(value)}.")
        if self.kind == "choice":
            if isinstance(value, str) and value in self.choices:
                return value
            raise ValueError(f"{self.title} must be one of {[*self.choices]}, got {_short(value)}.")
        if type(value) not in (int, float) or value != value:
            raise ValueError(f"{self.title} must be a number, got {_short(value)}.")
        if not self.low <= value <= self.high:
            raise ValueError(
                f"{self.title} must be from {self.low:g} to {self.high:g}, got {_short(value)}."
            )
        if self.kind == "whole" and value != int(value):
            raise ValueError(f"{self.title} must be a whole number, got {value:g}.")
        return int(value) if self.kind == "whole" else float(value)

    def to_dict(self) -> dict:
        return asdict(self)


def _short(value: Any) -> str:
    """Whatever was sent, short enough to be said."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"


KERNEL_CHOICES = {"linear": "linear", "poly": "polynomial", "rbf": "radial (rbf)"}
BASIS_CHOICES = {
    "none": "as they are",
    "quadratic": "quadratic",
    "polynomial": "polynomial",
    "polar": "polar (about mean)",
    "radial": "radial bumps",
}
MULTICLASS_CHOICES = {
    "max": "max: worst rival",
    "sum": "sum: all rivals",
    "rest": "rest: one by one",
    "pairs": "pairs: duels",
}
ORDER_CHOICES = {"cycle": "as drawn", "shuffle": "shuffled once", "random": "at random"}

PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter("C", "C, the price of slack", "log", 1.0, 1e-3, 1e4, 0.05,
                  words="Large: few violations, narrow margin. Small: wide margin."),
        Parameter("hard", "hard margin (C = ∞)", "switch", False),
        Parameter("loss", "Loss", "choice", "hinge",
                  choices={"hinge": "hinge", "squared_hinge": "squared hinge"}),
        Parameter("rule", "A point pays for", "choice", "max", choices=MULTICLASS_CHOICES,
                  many=True),
        Parameter("duels", "Classes by", "choice", "pairs", many=True,
                  choices={"pairs": MULTICLASS_CHOICES["pairs"],
                  "rest": MULTICLASS_CHOICES["rest"]}),
        Parameter("order", "Order of the points", "choice", "cycle", choices=ORDER_CHOICES),
        Parameter("seed", "Seed of the order", "whole", 0, 0, 99),
        Parameter("margin", "Update if score ≤", "number", 1.0, 0.0, 10.0, 0.1),
        Parameter("rate", "Learning rate η", "number", 1.0, 0.05, 5.0, 0.05),
        Parameter("unit", "Unit", "choice", "perceptron",
                  choices={"perceptron": "perceptron", "linear": "linear, delta rule"},
                  words="The linear unit has no threshold; its η is in units of 1/λ."),
        Parameter("least", "Update if score ≤", "number", 0.0, 0.0, 10.0, 0.1),
        Parameter("alpha", "Ridge α", "number", 0.0, 0.0, 100.0, 0.5),
        Parameter("bias", "bias b", "switch", True,
                  words="Without it boundaries go through the origin."),
        Parameter("arrow", "draw w", "switch", False),
        Parameter("sizes", "size by α", "switch", False),
        Parameter("misses", "Misses α of sets", "number", 0.0, 0.0, 0.5, 0.01,
                  words="0: none. Hatched: several labels are left; darker: less probable."),
        Parameter("covariance", "Spread within classes", "choice", "within",
                  choices={"within": "counts", "none": "ignored"}),
        Parameter("kernel", "Kernel", "choice", "rbf", choices=KERNEL_CHOICES),
        Parameter("gamma", "γ, how local", "log", 1.0, 1e-2, 1e2, 0.05),
        Parameter("degree", "Degree", "whole", 3, 2, 6),
        Parameter("basis", "Features", "choice", "none", choices=BASIS_CHOICES,
                  words="The method sees φ(x) instead of x."),
        Parameter("centers", "Bumps", "whole", 20, 2, 50),
    )
}  # fmt: skip
