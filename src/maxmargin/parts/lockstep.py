"""Several problems over the same parts, side by side: one question carries those of all.

Reading a file once more, or a round trip to a cluster, costs the same for one problem as for many.
So every solver, which is plain sequential code, runs as a voice: its ``ask`` waits until all other
voices have asked too, or have ended.  Then all parts are asked once, the questions of all voices
together, and every voice hears its own answers.  There are as many rounds as the longest of the
problems takes alone, not their sum.

A voice has a thread of its own for its stack only.  One runs at a time, the others wait; so what
each of them computes is what it would compute alone, bit by bit, and the order is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..core.solve.threads import one_blas_thread
from .parts import Block, Parts, Task, add_all, far, total

# What the threads of voices are called, with their own name after it.
NAME = "maxmargin voice"
T = TypeVar("T")
# What a voice does: parts in, anything out.
Job = Callable[[Parts], T]


class JobQuestion(NamedTuple):
    """One voice's part of what all parts are asked."""

    voice: Hashable
    task: Task
    told: tuple


# One round: the answers to all questions, part by part, or at once if only sums are wanted.
AskAll = Callable[[tuple[JobQuestion, ...], bool], Iterator[tuple]]


def in_turn(block: Block, memory: Any, *questions: JobQuestion) -> tuple[dict, tuple]:
    """The task of a chorus: every voice's own, each with a memory of its own."""
    memories, answers = dict(memory or {}), []
    for voice, task, told in questions:
        memories[voice], answer = task(block, memories.get(voice), *told)
        answers.append(answer)
    return memories, tuple(answers)


def run_in_lockstep(
    parts: Parts,
    songs: Mapping[Hashable, Job[T]],
    ask_all: AskAll | None = None,
    after_round: Callable[[], None] = lambda: None,
) -> list[T]:
    """What every song returns, in their order.

    An error in one ends all and is raised; so does Ctrl-C.  ``ask_all`` asks the parts in another
    way than as one task, for parts that keep every voice's memory apart.
    """

    def together(questions: tuple[JobQuestion, ...], add: bool) -> Iterator[tuple]:
        # Sums of tuples are the tuples of the voices' sums.
        return iter([total(parts, in_turn, *questions)]) if add else parts.ask(in_turn, *questions)

    voices = [_Job(parts, name, song) for name, song in songs.items()]
    # A limit on BLAS holds for all threads: were it a voice's own, it would end with that voice.
    with one_blas_thread(), np.errstate(all="ignore"):
        try:
            for voice in voices:
                voice.go_on()
            while singing := [voice for voice in voices if voice.waits_for is not None]:
                _round(ask_all or together, singing)
                after_round()
            return [voice.result for voice in voices]
        finally:
            for voice in voices:
                voice.fall_silent()
            for voice in voices:
                with suppress(RuntimeError):  # it was never started
                    voice.thread.join()


def _round(ask_all: AskAll, singing: list[_Job]) -> None:
    """Ask all parts once; answers are handed on part by part, so that few are held at a time."""
    asked = [voice.waits_for for voice in singing]
    questions = tuple(each.open() for each in asked if each is not None)
    answers = ask_all(questions, all(each.add for each in asked if each is not None))
    try:
        for some in answers:
            for voice, each, answer in zip(singing, asked, some, strict=True):
                voice.hear(each, answer)
            if not any(voice.waits_for is each for voice, each in zip(singing, asked, strict=True)):
                return  # nobody wants to hear more
    finally:
        if isinstance(answers, Generator):
            answers.close()  # now, not when the traceback of an error is forgotten
    for voice, each in zip(singing, asked, strict=True):
        voice.hear(each, _END)


_END = object()


class _Silenced(BaseException):
    """Raised in a voice when the chorus is over."""


class _Asked:
    """A voice's question, and the answer it hears next."""

    def __init__(self, question: JobQuestion, add: bool):
        self.question, self.add = question, add
        self.answer, self.opened = None, False

    def open(self) -> JobQuestion:
        if self.opened:
            raise RuntimeError(
                "The answers to a question can be read until the next one is asked, not later."
            )
        self.opened = True
        return self.question


class _Job(Generic[T]):
    """The parts as one song sees them."""

    def __init__(self, parts: Parts, name: Hashable, song: Job[T]):
        self.parts, self.name, self.song = parts, name, song
        self.waits_for: _Asked | None = None  # None: it has ended
        self.result: Any = None
        self.error: BaseException | None = None
        self._silent = False
        self._turn: SimpleQueue = SimpleQueue()
        self._done: SimpleQueue = SimpleQueue()
        # Settings of the caller, such as numpy's for errors, hold in the thread too.
        run = copy_context().run
        self.thread = Thread(target=run, args=(self._sing,), name=f"{NAME} {name}", daemon=True)

    @property
    def n_parts(self) -> int:
        return self.parts.n_parts

    @property
    def n_features(self) -> int:
        return self.parts.n_features

    @property
    def far(self) -> bool:
        return far(self.parts)

    # --- in the voice's thread -------------------------------------------------------------

    def ask(self, task: Task, *told: Any) -> Iterator[Any]:
        """Every part's answer; waits for the other voices to ask."""
        return self._ask(task, told, add=False)

    def total(self, task: Task, *told: Any) -> Any:
        """The sum of the answers, added up where the parts are if all voices want sums."""
        return add_all(self._ask(task, told, add=True))

    def _ask(self, task: Task, told: tuple, add: bool) -> Iterator[Any]:
        asked = _Asked(JobQuestion(self.name, task, told), add)
        while True:
            self._wait(asked)
            answer, asked.answer = asked.answer, None
            if answer is _END:
                return
            yield answer

    def _wait(self, asked: _Asked) -> None:
        if self._silent:
            raise _Silenced
        self.waits_for = asked
        self._done.put(None)
        self._turn.get()
        if self._silent:
            raise _Silenced

    def _sing(self) -> None:
        try:
            self._turn.get()
            if not self._silent:
                self.result = self.song(self)
        except _Silenced:
            pass
        except BaseException as error:  # Ctrl-C among them: raised where all are waited for
            self.error = error
        finally:
            self.waits_for = None
            self._done.put(None)

    # --- in the thread of all --------------------------------------------------------------

    def hear(self, asked: _Asked | None, answer: Any) -> None:
        """One more answer, unless the voice has turned to something else."""
        if asked is not None and self.waits_for is asked:
            asked.answer = answer
            self.go_on()

    def go_on(self) -> None:
        """Let it run until it waits again or ends."""
        if self.thread.ident is None:
            self.thread.start()
        self._turn.put(None)
        self._done.get()
        if self.error is not None:
            raise self.error

    def fall_silent(self) -> None:
        """Whatever it does now, it ends where it would wait next."""
        self._silent = True
        self._turn.put(None)
