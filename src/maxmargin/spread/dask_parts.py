"""Parts on a Dask cluster.

A part is a future of its rows and a future of what it remembers.  A question is a task on both,
so it runs where they are; only its answer is fetched.  Tasks are plain functions, so when a
worker is lost Dask runs again what was lost, from the data on.  Now and then memories are copied
to a second worker and their history forgotten, or it would grow with every question.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from ..solve.threads import one_blas_thread
from .extra import need_dask
from .patience import gather
from .traffic import Traffic

# Questions after which the parts' memories are copied and their history is forgotten.
FORGET = 40


class Told:
    """A task and what it is told, opaque to Dask, which would look for futures inside."""

    __slots__ = ("args", "task")

    def __init__(self, task: Callable, args: tuple):
        self.task, self.args = task, args


class DaskParts:
    """Rows on a cluster, one part for every thread of its workers."""

    def __init__(self, client: Any, blocks: list, n_features: int, traffic: Traffic | None = None):
        self.client, self.blocks = client, blocks
        self.n_parts, self.n_features = len(blocks), n_features
        self.state: list[Any] = [None] * len(blocks)
        self.traffic = traffic or Traffic(len(blocks))
        self._shelves: list[Any] = []
        self._asked = 0

    def ask(self, task: Callable, *told: Any) -> Iterator[Any]:
        """Ask all parts at once; the answers come in the order of the parts."""
        question = Told(task, told)
        self.traffic.ask(told)
        submit, before = self.client.submit, self.state
        self.state = [
            submit(_run, block, state, question, pure=False)
            for block, state in zip(self.blocks, self.state, strict=True)
        ]
        answers = [submit(_answer, state, pure=False) for state in self.state]
        try:
            found = gather(self.client, answers)
        except BaseException:  # a question without an answer was not asked
            self.state = before
            raise
        self._asked += 1
        if self._asked % FORGET == 0:
            self._forget()
        for answer in found:
            self.traffic.answer(answer)
            yield answer

    def ask_one(self, part: int, task: Callable, *told: Any) -> Any:
        """Ask one part, without a memory."""
        self.traffic.ask(told)
        future = self.client.submit(_run, self.blocks[part], None, Told(task, told), pure=False)
        [answer] = gather(self.client, [self.client.submit(_answer, future, pure=False)])
        self.traffic.answer(answer)
        return answer

    def fork(self) -> DaskParts:
        """The same rows with a memory of their own."""
        return DaskParts(self.client, self.blocks, self.n_features, self.traffic)

    def alive(self, client: Any) -> bool:
        """Whether rows and memories are still there, on this client's cluster."""
        held = [future for future in (*self.blocks, *self.state) if future is not None]
        return client is self.client and all(future.status == "finished" for future in held)

    def _forget(self) -> None:
        """Give the memories names without a history, and each a copy on a second worker."""
        _, distributed = need_dask()
        names = [f"maxmargin-{uuid.uuid4().hex}" for _ in self.state]
        shelves = [distributed.Variable(name, client=self.client) for name in names]
        placed = [
            self.client.submit(_place, state, name, pure=False)
            for state, name in zip(self.state, names, strict=True)
        ]
        gather(self.client, placed)
        state = [shelf.get() for shelf in shelves]
        if len(self.client.scheduler_info()["workers"]) > 1:
            self.client.replicate(state, n=2)
        # Variables keep the copies until the next time, whichever worker dies: what is lost after
        # now is computed again from here.
        self.close()
        self.state, self._shelves = state, shelves

    def close(self) -> None:
        """Let go of what the cluster keeps for these parts besides the futures."""
        for shelf in self._shelves:
            shelf.delete()
        self._shelves = []


def _run(block: Any, state: Any, question: Told) -> tuple[Any, Any]:
    memory = None if state is None else state[0]
    with one_blas_thread():
        return question.task(block, memory, *question.args)


def _answer(state: tuple[Any, Any]) -> Any:
    return state[1]


def _place(state: tuple[Any, Any], name: str) -> int:
    """Hand the memory to the worker this runs on as data, and its future to a variable."""
    _, distributed = need_dask()
    client = distributed.get_client()
    [future] = client.scatter([(state[0], None)], direct=True, hash=False)
    distributed.Variable(name, client=client).set(future)
    return 0
