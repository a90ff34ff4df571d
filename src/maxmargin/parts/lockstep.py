"""Several problems over the same parts in lockstep: one question carries those of all.

Reading a file once more, or a round trip to a cluster, costs the same for one problem as for many.
So every solver, which is plain sequential code, runs as a job: its ``ask`` waits until all other
jobs have asked too, or have ended.  Then all parts are asked once, the questions of all jobs
together, and every job gets its own responses.  There are as many rounds as the longest of the
problems takes alone, not their sum.

A job has a thread of its own for its stack only.  One runs at a time, the others wait; so what
each of them computes is what it would compute alone, bit by bit, and the order is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

import numpy as np

from ..core.solve.threads import one_blas_thread
from .parts import Parts, Question, Task, add_all

# What the threads of jobs are called, with their own name after it.
THREAD_NAME = "maxmargin job"
T = TypeVar("T")
# What a job does: parts in, anything out.
Job = Callable[[Parts], T]


def run_in_lockstep(
    parts: Parts, jobs: Mapping[Hashable, Job[T]], after_round: Callable[[], None] = lambda: None
) -> list[T]:
    """What every job returns, in their order.

    An error in one ends all and is raised; so does Ctrl-C.
    """
    views = [_JobView(parts, name, job) for name, job in jobs.items()]
    # A limit on BLAS holds for all threads: were it a job's own, it would end with that job.
    with one_blas_thread(), np.errstate(all="ignore"):
        try:
            for view in views:
                view.resume()
            while waiting := [view for view in views if view.waits_for is not None]:
                _round(parts, waiting)
                after_round()
            return [view.result for view in views]
        finally:
            for view in views:
                view.stop()
            for view in views:
                with suppress(RuntimeError):  # it was never started
                    view.thread.join()


def _round(parts: Parts, waiting: list[_JobView]) -> None:
    """Ask all parts once; responses are handed on part by part, so that few are held at a time."""
    asked = [view.waits_for for view in waiting]
    questions = tuple(each.open() for each in asked if each is not None)
    responses = parts.ask_all(questions, all(each.add for each in asked if each is not None))
    try:
        for some in responses:
            for view, each, response in zip(waiting, asked, some, strict=True):
                view.receive(each, response)
            if not any(view.waits_for is each for view, each in zip(waiting, asked, strict=True)):
                return  # nobody wants to hear more
    finally:
        if isinstance(responses, Generator):
            responses.close()  # now, not when the traceback of an error is forgotten
    for view, each in zip(waiting, asked, strict=True):
        view.receive(each, _END_SIGNAL)


_END_SIGNAL = object()


class _Stopped(BaseException):
    """Raised in a job when all of them are over."""


class _Asked:
    """A job's question, and the response it receives next."""

    def __init__(self, question: Question, add: bool):
        self.question, self.add = question, add
        self.response, self.opened = None, False

    def open(self) -> Question:
        if self.opened:
            raise RuntimeError(
                "The answers to a question can be read until the next one is asked, not later."
            )
        self.opened = True
        return self.question


class _JobView(Parts, Generic[T]):
    """The parts as one job sees them."""

    def __init__(self, parts: Parts, name: Hashable, job: Job[T]):
        self.name, self.job = name, job
        self.n_parts, self.n_features = parts.n_parts, parts.n_features
        self.far, self.sparse = parts.far, parts.sparse
        self.waits_for: _Asked | None = None  # None: it has ended
        self.result: Any = None
        self.error: BaseException | None = None
        self._stopped = False
        self._turn: SimpleQueue = SimpleQueue()
        self._done: SimpleQueue = SimpleQueue()
        # Settings of the caller, such as numpy's for errors, hold in the thread too.
        run = copy_context().run
        self.thread = Thread(
            target=run, args=(self._run,), name=f"{THREAD_NAME} {name}", daemon=True
        )

    # --- in the job's thread ---------------------------------------------------------------

    def ask(self, task: Task, *payload: Any) -> Iterator[Any]:
        """Every part's response; waits for the other jobs to ask."""
        return self._ask(task, payload, add=False)

    def total(self, task: Task, *payload: Any) -> Any:
        """The sum of the responses, added up where the parts are if all jobs want sums."""
        return add_all(self._ask(task, payload, add=True))

    def _ask(self, task: Task, payload: tuple, add: bool) -> Iterator[Any]:
        asked = _Asked(Question(self.name, task, payload), add)
        while True:
            self._wait(asked)
            response, asked.response = asked.response, None
            if response is _END_SIGNAL:
                return
            yield response

    def _wait(self, asked: _Asked) -> None:
        if self._stopped:
            raise _Stopped
        self.waits_for = asked
        self._done.put(None)
        self._turn.get()
        if self._stopped:
            raise _Stopped

    def _run(self) -> None:
        try:
            self._turn.get()
            if not self._stopped:
                self.result = self.job(self)
        except _Stopped:
            pass
        except BaseException as error:  # Ctrl-C among them: raised where all are waited for
            self.error = error
        finally:
            self.waits_for = None
            self._done.put(None)

    # --- in the driver's thread ------------------------------------------------------------

    def receive(self, asked: _Asked | None, response: Any) -> None:
        """One more response, unless the job has turned to something else."""
        if asked is not None and self.waits_for is asked:
            asked.response = response
            self.resume()

    def resume(self) -> None:
        """Let it run until it waits again or ends."""
        if self.thread.ident is None:
            self.thread.start()
        self._turn.put(None)
        self._done.get()
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """Whatever it does now, it ends where it would wait next."""
        self._stopped = True
        self._turn.put(None)
