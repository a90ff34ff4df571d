"""Parts whose rows have a column of ones, the weight of which is a penalised bias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..models.bias_column import with_ones
from .parts import Block, Parts, Task


class OnesParts(Parts):
    """The same parts; every question is about (x, 1)."""

    def __init__(self, parts: Any):
        self.parts, self.sparse, self.far = parts, parts.sparse, parts.far
        self.n_parts, self.n_features = parts.n_parts, parts.n_features + 1

    def ask(self, task: Task, *payload: Any) -> Iterator[Any]:
        return self.parts.ask(_about_ones, task, *payload)

    def total(self, task: Task, *payload: Any) -> Any:
        return self.parts.total(_about_ones, task, *payload)

    def fork(self) -> OnesParts:
        return OnesParts(self.parts.fork())


def _about_ones(block: Block, state: Any, task: Task, *payload: Any):
    return task(block._replace(X=with_ones(block.X)), state, *payload)
