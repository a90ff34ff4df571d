"""Random numbers that scikit-learn's solvers draw: a program's generator moves on as it would."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np


class Draws:
    """The draws that one solver makes from ``random_state``, made once, whoever solves."""

    def __init__(self, random_state: Any):
        self.given = random_state
        self.state: Any = None

    def draw(self, low: int, high: int) -> None:
        """What the original would draw: one whole number."""
        if isinstance(self.given, Integral) or self.state is not None:
            return
        generator = np.random.mtrand._rand if self.given is None else self.given
        self.state = generator.get_state(legacy=False)
        generator.randint(low, high)

    def source(self) -> Any:
        """For the original: what it was given, or, after ``draw``, a copy that is not moved on."""
        if self.state is None:
            return self.given
        copy = np.random.RandomState()
        copy.set_state(self.state)
        return copy
