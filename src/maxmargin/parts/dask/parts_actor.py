"""The parts on one worker, with what they remember: the actor that ``DaskParts`` asks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from ...core.solve.threads import one_blas_thread
from ..parts import Task, add_all
from .optional_dask import need_dask
from .traffic import size_of


class ActorQuestion(NamedTuple):
    """A task, what all parts are sent, and what each of them is sent besides, if anything."""

    task: Task
    payload: tuple
    pieces: list | None = None

    def of(self, members: list[int]) -> ActorQuestion:
        """The same for some of the parts, without the pieces of others."""
        if self.pieces is None:
            return self
        return self._replace(pieces=[self.pieces[part] for part in members])


class ActorReply(NamedTuple):
    """The answers of all parts here, or their sum."""

    value: Any


class Failed(NamedTuple):
    """What a task raised."""

    error: Exception


class PartsActor:
    """Rows and states of some parts."""

    def __init__(self, blocks: list, states: list | None, answered: int):
        self.blocks = blocks
        self.states = [None] * len(blocks) if states is None else states
        self.before = self.states
        self.answered = answered  # questions that the states know of
        self.latest = 0  # the number of the last message heard
        self.pool = ThreadPoolExecutor(len(blocks)) if len(blocks) > 1 else None

    def ask(
        self, number: int, asked: int, question: ActorQuestion, add: bool
    ) -> ActorReply | Failed | None:
        """Answer the question after ``asked`` others; None if it were others that we know of.

        If we know of one more, nobody has heard our answer to it, and it is forgotten.  Messages
        are numbered: one that was interrupted may come late, when nobody waits for it any more.
        """
        if number < self.latest:
            return None
        self.latest = number
        if asked == self.answered - 1:
            self.states, self.answered = self.before, asked
        if asked != self.answered:
            return None
        try:
            answers = self._ask(question)
            return ActorReply(add_all(iter(answers)) if add else answers)
        except Exception as error:
            return Failed(error)

    def ask_one(self, place: int, question: ActorQuestion) -> ActorReply | Failed:
        """One part's answer, without a memory."""
        try:
            with one_blas_thread():
                return ActorReply(question.task(self.blocks[place], None, *question.payload)[1])
        except Exception as error:
            return Failed(error)

    def hear(self, questions: list[ActorQuestion]) -> int:
        """Remember what the questions leave to remember; how many we know of now."""
        for question in questions:
            self._ask(question)
        return self.answered

    def size(self) -> ActorReply:
        """Bytes that the parts remember."""
        return ActorReply(size_of(self.states))

    def remembered(self) -> ActorReply:
        return ActorReply(self.states)

    def publish(self, name: str) -> ActorReply | Failed:
        """Hand what the parts remember to this worker as data, and their future to a variable."""
        _, distributed = need_dask()
        try:
            client = distributed.get_client()
            [future] = client.scatter([self.states], direct=True, hash=False)
            distributed.Variable(name, client=client).set(future)
            return ActorReply(name)
        except Exception as error:
            return Failed(error)

    def _ask(self, question: ActorQuestion) -> list:
        def one(place: int) -> tuple[Any, Any]:
            piece = () if question.pieces is None else (question.pieces[place],)
            return question.task(self.blocks[place], self.states[place], *piece, *question.payload)

        with one_blas_thread():
            places = range(len(self.blocks))
            found = list(map(one, places) if self.pool is None else self.pool.map(one, places))
        self.before, self.states = self.states, [state for state, _ in found]
        self.answered += 1
        return [answer for _, answer in found]
