"""Columns that number the rows, or name them by number: they are no measurements.

Programs write them unasked, as the first column and often without a name; on new rows they mean
nothing, and a model that uses them has learned the order of its file.
"""

from __future__ import annotations

import re

import numpy as np

# Names of columns that are keys, where all their values differ.
_KEY_NAME = re.compile(
    r"|unnamed: ?\d+|row_?names?|row_?(number|nr|no|id)?|index|(.*[_ .-])?(id|uuid|guid|key)"
    r"|[A-Za-z]*[a-z]I[dD]"
)
# Fewer rows count up by chance.
MIN_COUNTED_ROWS = 20


class RowNumbers:
    """Looks at the numbers of a column, in the order of the rows."""

    def __init__(self, name: str, first: bool):
        self.is_key = bool(_KEY_NAME.fullmatch(name.strip()) or _KEY_NAME.fullmatch(name.lower()))
        self.first, self.last, self.rows = first, -np.inf, 0
        self.rising = self.by_one = True

    def add(self, x: np.ndarray) -> None:
        """The next numbers; NaN is none."""
        if not self.rising or not len(x):
            return
        steps = np.diff(x, prepend=self.last if self.rows else x[0] - 1.0)
        self.rising = bool((steps > 0.0).all() and (x == np.round(x)).all())
        self.by_one = (
            self.by_one and bool((steps == 1.0).all()) and (self.rows > 0 or x[0] in (0, 1))
        )
        self.last, self.rows = float(x[-1]), self.rows + len(x)

    @property
    def found(self) -> bool:
        """Whether the numbers only tell the rows apart."""
        enough = self.rows >= MIN_COUNTED_ROWS
        return enough and self.rising and (self.is_key or (self.first and self.by_one))
