"""How many bytes were sent to the parts, and how many came back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...core.certify.conclude import Tally
from ..parts import Block
from ..solve.many_class.cells import Sent
from ..solve.two_class.sample import Chosen

# A number, a name or a small object, roughly, as it travels.
SMALL_OBJECT_BYTES = 16


@dataclass
class Traffic:
    """Questions and answers between the driver and the parts.

    A question goes to every worker once, and where sums are wanted one answer comes back from it.
    Rows do not travel, but for a sample of bounded size that shapes a model of the curvature, and
    for those that decide: near their margin, at C = ∞, or of k classes at once.
    Bytes are those of arrays and numbers, without what Dask adds to wrap them.
    """

    parts: int
    rounds: int = 0
    sent: int = 0
    received: int = 0
    largest_sent: int = 0  # the largest question and answer in one round
    largest_received: int = 0
    sampled: int = 0  # bytes of the rows that were fetched, not among those received

    def ask(self, told: Any, times: int) -> None:
        """A question was sent so many times."""
        size = size_of(told)
        self.rounds += 1
        self.sent += size * times
        self.largest_sent = max(self.largest_sent, size)

    def answer(self, answer: Any) -> None:
        """One answer has come."""
        rows = rows_of(answer)
        size = size_of(answer) - rows
        self.sampled += rows
        self.received += size
        self.largest_received = max(self.largest_received, size)

    @property
    def per_round(self) -> tuple[float, float]:
        """Bytes sent to one part in one round, and received from it, on average."""
        count = max(1, self.rounds * self.parts)
        return self.sent / count, self.received / count

    def __str__(self) -> str:
        sent, received = self.per_round
        return (
            f"{self.rounds} rounds with {self.parts} parts; per round and part "
            f"{sent:,.0f} bytes sent (at most {self.largest_sent:,}) and "
            f"{received:,.0f} received (at most {self.largest_received:,}); "
            f"{self.sampled:,} bytes of sampled rows in all"
        )


def rows_of(answer: Any) -> int:
    """Bytes of the rows in an answer; where problems ask together, those of each of them."""
    if isinstance(answer, Block | Chosen | Sent):
        return size_of(answer)
    return sum(map(rows_of, answer)) if isinstance(answer, tuple) else 0


def size_of(value: Any) -> int:
    """Bytes of the arrays and numbers in a question or an answer."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sparse.issparse(value):
        return value.data.nbytes + value.indices.nbytes + value.indptr.nbytes
    if isinstance(value, tuple | list):
        return sum(size_of(item) for item in value)
    if isinstance(value, dict):
        return sum(size_of(item) for item in value.values())
    if isinstance(value, Tally):
        return sum(size_of(item) for item in vars(value).values())
    return SMALL_OBJECT_BYTES
