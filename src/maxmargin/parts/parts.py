"""Parts: rows that are visited piece by piece, wherever the pieces are.

A solver over parts sends the same small question to every part and adds the small answers up.
It does not know whether the parts are files read one after another or partitions on machines of
a cluster, so the two share their algorithms and their certificates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np


class Block(NamedTuple):
    """The rows of one part: dense or CSR rows, labels as codes 0 … k−1, weights or None."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None


# What a part is asked: its rows, what it remembers of earlier questions (None at first) and what
# all parts are told; it answers with what to remember and with an answer that is small.  A task
# is a plain function of its arguments: asked again, when a machine was lost, it says the same.
Task = Callable[..., tuple[Any, Any]]


class Parts(Protocol):
    """Rows in parts, each with a memory of its own that stays where the part is."""

    @property
    def n_parts(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def ask(self, task: Task, *told: Any) -> Iterator[Any]:
        """``task(block, memory, *told)`` for every part; the answers in the order of the parts."""
        ...


def far(parts: Parts) -> bool:
    """Whether answers travel, so that small ones count for more than few rounds.

    Parts of a file are read anew for every question, and their answers go nowhere.
    """
    return bool(getattr(parts, "far", False))


def total(parts: Parts, task: Task, *told: Any) -> Any:
    """The sum of the answers: arrays, numbers, or tuples of them.

    Parts that can add up where they are offer ``total`` themselves, and fewer answers travel.
    """
    there = getattr(parts, "total", None)
    return add_all(parts.ask(task, *told)) if there is None else there(task, *told)


def need_weight(by_class: Any, classes: int) -> None:
    """Refuse data in which fewer than ``classes`` classes have a row of positive weight.

    Estimators know the labels and ask first; here classes are codes.
    """
    alive = int(np.count_nonzero(np.asarray(by_class) > 0))
    if alive < classes:
        raise ValueError(
            f"Of {len(by_class)} classes at least {classes} must have rows of positive weight, but "
            f"{alive or 'none'} of them has. Weigh some rows of the others, or remove these "
            "classes from y."
        )


def add_all(answers: Iterator[Any]) -> Any:
    """Σ over answers, held one at a time and always added in the same order."""
    sums = next(answers)
    for answer in answers:
        sums = _add(sums, answer)
    return sums


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        parts = [_add(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return a + b
