"""Parts: rows that are visited piece by piece, wherever the pieces are.

A solver over parts sends the same small question to every part and adds the small responses up.
It does not know whether the parts are files read one after another or partitions on machines of
a cluster, so the two share their algorithms and their certificates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Block(NamedTuple):
    """The rows of one part: dense or CSR rows, labels as codes 0 … k−1, weights or None."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None


# What a part is asked: ``task(block, state, *payload)`` of its rows, the state it keeps from
# earlier questions (None at first) and what the driver sends to all parts; it returns the new
# state and a response that is small.  A task is a plain function of its arguments: asked again,
# when a machine was lost, it says the same.
Task = Callable[..., tuple[Any, Any]]


class Question(NamedTuple):
    """One job's part of what all parts are asked, where several ask together."""

    job: Hashable
    task: Task
    payload: tuple


def in_turn(block: Block, states: Any, *questions: Question) -> tuple[dict, tuple]:
    """The task of several jobs: every job's own, each with a state of its own."""
    states, responses = dict(states or {}), []
    for job, task, payload in questions:
        states[job], response = task(block, states.get(job), *payload)
        responses.append(response)
    return states, tuple(responses)


class Parts(ABC):
    """Rows in parts, each with a state of its own that stays where the part is."""

    n_parts: int
    n_features: int
    # Whether responses travel, so that small ones count for more than few rounds.  Parts of a
    # file are read anew for every question, and their responses go nowhere.
    far: bool = False
    # Whether rows are stored without their zeros, and should stay so.
    sparse: bool = False

    @abstractmethod
    def ask(self, task: Task, *payload: Any) -> Iterator[Any]:
        """``task(block, state, *payload)`` for every part; the responses in the parts' order."""

    def total(self, task: Task, *payload: Any) -> Any:
        """The sum of the responses: arrays, numbers, or tuples of them."""
        return add_all(self.ask(task, *payload))

    def ask_all(self, questions: tuple[Question, ...], add: bool) -> Iterator[tuple]:
        """One round of several jobs: all their responses part by part, or summed at once."""
        # Sums of tuples are the tuples of the jobs' sums.
        return iter([self.total(in_turn, *questions)]) if add else self.ask(in_turn, *questions)

    def deal(self, task: Task, piece_of: Callable[[int, int], Any]) -> None:
        """``task(block, state, piece)`` for every part, with ``piece_of(first, n)`` of its own n
        rows, the first of which has the number ``first`` among all."""
        first = 0

        def own(block: Block, state: Any) -> tuple[Any, Any]:
            nonlocal first
            start, first = first, first + len(block.y)
            return task(block, state, piece_of(start, len(block.y)))

        for _ in self.ask(own):
            pass

    def relay(self, task: Task, carry: Any, *payload: Any) -> Any:
        """``carry`` handed from part to part: ``task(block, None, carry, number, *payload)``
        returns it as its response.  ``number``: the part's, the same in every pass."""
        number = 0

        def step(block: Block, state: Any) -> tuple[Any, Any]:
            nonlocal carry, number
            _, carry = task(block, None, carry, number, *payload)
            number += len(block.y)
            return state, None

        for _ in self.ask(step):
            pass
        return carry

    def forget(self) -> None:
        """Let go of the states of all parts, where they are kept for long."""
        return None

    def close(self) -> None:
        """Let go of everything that is kept for these parts."""
        return None


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


def add_all(responses: Iterator[Any]) -> Any:
    """Σ over responses, held one at a time and always added in the same order."""
    sums = next(responses)
    for response in responses:
        sums = _add(sums, response)
    return sums


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        parts = [_add(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return a + b
