"""Parts whose rows have a column of ones, the weight of which is a penalised bias."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..models.bias_column import with_ones
from .parts import Block, Parts, Task


class OnesParts(Parts):
    """The same parts; every question is about (x, 1)."""

    def __init__(self, parts: Parts):
        self.parts, self.sparse, self.far = parts, parts.sparse, parts.far
        self.n_parts, self.n_features = parts.n_parts, parts.n_features + 1

    def ask(self, task: Task, *payload: Any) -> Iterator[Any]:
        return self.parts.ask(_about_ones, task, *payload)

    def total(self, task: Task, *payload: Any) -> Any:
        return self.parts.total(_about_ones, task, *payload)

    def deal(self, task: Task, piece_of: Callable[[int, int], Any]) -> None:
        self.parts.deal(partial(_dealt, task), piece_of)

    def forget(self) -> None:
        self.parts.forget()


def _dealt(task: Task, block: Block, state: Any, piece: Any):
    return _about_ones(block, state, task, piece)


def _about_ones(block: Block, state: Any, task: Task, *payload: Any):
    return task(block._replace(X=with_ones(block.X)), state, *payload)
