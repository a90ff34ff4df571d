"""Parts on a Dask cluster.

The parts on one worker are held by an actor there: it is told a question once, asks its parts side
by side, and adds their answers up where sums are wanted.  A round is one message to every worker
and one back; no task passes through the scheduler's graph.

An actor dies with its worker, and what its parts remember with it.  But tasks are plain functions,
so a memory follows from the rows and the questions so far: these are kept here, and told again to
a new actor, whose rows Dask computes again.  When they have grown large, states are copied to a
second worker instead, or here if there is only one, and the questions before are forgotten.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..parts import Block, Parts, Task, add_all
from .cluster_wait import ClusterLost, gather, heard, wait_for
from .optional_dask import need_dask
from .parts_actor import ActorQuestion, Failed, PartsActor
from .traffic import Traffic, size_of

# Bytes of questions after which states are copied and the questions forgotten.
JOURNAL_BYTES = 1 << 26
# Times that the parts of one worker may be lost in one round.
MOST_LOSSES = 5


class Team(NamedTuple):
    """Parts that are asked together: their numbers, their rows and the worker these were on."""

    members: list[int]
    blocks: list
    home: str


class StateCopy(NamedTuple):
    """States of a team, copied, and how many questions they had been asked."""

    states: Any
    answered: int


def _rows(block: Block, state: Any) -> tuple[Any, int]:
    return state, len(block.y)


class DaskParts(Parts):
    """Rows on a cluster, one part for every thread of its workers."""

    far = True

    def __init__(self, client: Any, blocks: list, n_features: int, traffic: Traffic | None = None):
        self.client, self.blocks = client, blocks
        self.n_parts, self.n_features = len(blocks), n_features
        self.traffic = traffic or Traffic(len(blocks))
        self._teams: list[Team] = []
        self._actors: list[Any] = []
        self._kept: list[StateCopy] = []
        self._variables: list[Any] = []
        self._journal: list[ActorQuestion] = []
        self._size = 0
        self._remembered = 0
        self._messages = 0

    def ask(self, task: Task, *payload: Any) -> Iterator[Any]:
        """Ask all parts at once; the answers come in the order of the parts."""
        answers: list[Any] = [None] * self.n_parts
        for team, some in zip(self._teams_now(), self._round(task, payload, False), strict=True):
            for part, answer in zip(team.members, some, strict=True):
                self.traffic.answer(answer)
                answers[part] = answer
        return iter(answers)

    def total(self, task: Task, *payload: Any) -> Any:
        """The sum of all answers: every worker adds up those of its parts, and one comes back.

        The order of the additions is that of the teams, which a lost worker does not change.
        """
        sums = self._round(task, payload, True)
        for one in sums:
            self.traffic.answer(one)
        return add_all(iter(sums))

    def relay(self, task: Task, carry: Any, *payload: Any) -> Any:
        for part in range(self.n_parts):
            carry = self.ask_one(part, task, carry, part, *payload)
        return carry

    def deal(self, task: Task, piece_of: Callable[[int, int], Any]) -> None:
        """Every part is sent its own piece only."""
        first, pieces = 0, []
        for n in self.ask(_rows):
            pieces.append(piece_of(first, n))
            first += n
        self._round(task, (), False, pieces)

    def ask_one(self, part: int, task: Task, *payload: Any) -> Any:
        """Ask one part, without a memory."""
        self.traffic.ask(payload, 1)
        for number, team in enumerate(self._teams_now()):
            if part in team.members:
                question = ActorQuestion(task, payload)
                answer = self._answer(number, "ask_one", team.members.index(part), question)
                self.traffic.answer(answer)
                return answer
        raise IndexError(part)

    def alive(self, client: Any) -> bool:
        """Whether rows, and so what follows from them, are there on this client's cluster."""
        there = all(block.status == "finished" for block in self.blocks)
        return client is self.client and there

    def forget(self) -> None:
        """Let go of what the cluster keeps for these parts besides their rows."""
        self._delete_variables()
        self._teams, self._actors, self._kept, self._journal, self._size = [], [], [], [], 0

    def close(self) -> None:
        self.forget()

    # --- rounds -------------------------------------------------------------------------------

    def _round(self, task: Task, payload: tuple, add: bool, pieces: list | None = None) -> list:
        """One question to all; the answers by team.

        A question that was interrupted was not asked: who has answered it goes back a step.
        """
        teams, question = self._teams_now(), ActorQuestion(task, payload, pieces)
        self.traffic.ask(payload, len(teams))
        self.traffic.sent += size_of(pieces or ())
        asked = self._kept[0].answered + len(self._journal)
        self._messages += 1
        messages = [(self._messages, asked, question.of(team.members), add) for team in teams]
        sent = [self._send(number, "ask", *message) for number, message in enumerate(messages)]
        found = [
            self._answer(number, "ask", *message, sent=future)
            for number, (message, future) in enumerate(zip(messages, sent, strict=True))
        ]
        self._journal.append(question)
        self._size += size_of(payload) + size_of(pieces or ())
        if self._size > max(JOURNAL_BYTES, self._remembered):
            self._forget()
        return found

    def _send(self, number: int, method: str, *args: Any) -> Any:
        """A message under way, or None where the worker is known to be lost."""
        actor = self._actors[number]
        try:
            return None if actor is None else getattr(actor, method)(*args)
        except RuntimeError:
            return None

    def _answer(self, number: int, method: str, *args: Any, sent: Any = None) -> Any:
        """A team's answer; if its worker is lost, that of a new actor that was told the same."""
        sent = sent or self._send(number, method, *args)
        why: Exception | None = None
        for _ in range(MOST_LOSSES):
            try:
                answer = None if sent is None else heard(self._actors[number], sent)
            except Exception as error:  # Dask's word for a lost worker: those of tasks are returned
                answer, why = None, error
            if isinstance(answer, Failed):
                raise answer.error
            if answer is not None:
                return answer.value
            self._actors[number] = None  # or Dask would make it again, without its memory
            self._actors[number] = self._actor(number, again=True)
            if self._variables:  # a copy may have been lost with the worker
                self.client.replicate([kept.states for kept in self._kept], n=2)
            sent = self._send(number, method, *args)
        raise ClusterLost(
            f"Workers were lost {MOST_LOSSES} times while one question was asked. Most often they "
            "had too little memory: use smaller partitions, or more workers."
        ) from why

    # --- actors -------------------------------------------------------------------------------

    def _teams_now(self) -> list[Team]:
        """The parts by the worker that holds them, found out at the first question."""
        if not self._teams:
            wait_for(self.client, self.blocks)
            where = self.client.who_has(self.blocks)
            by_home: dict[str, list[int]] = {}
            for part, block in enumerate(self.blocks):
                by_home.setdefault(min(where[block.key], default=""), []).append(part)
            self._teams = [
                Team(members, [self.blocks[part] for part in members], home)
                for home, members in by_home.items()
            ]
            self._kept = [StateCopy(None, 0) for _ in self._teams]
            self._actors = [None] * len(self._teams)  # Ctrl-C may come before all are there
            for number in range(len(self._teams)):
                self._actors[number] = self._actor(number)
        return self._teams

    def _actor(self, number: int, again: bool = False) -> Any:
        """An actor with the states kept, told all that was asked since."""
        team, kept = self._teams[number], self._kept[number]
        where = {} if again else {"workers": [team.home], "allow_other_workers": True}
        where = where if team.home else {}
        for attempt in range(MOST_LOSSES):
            future = self.client.submit(
                PartsActor,
                team.blocks,
                kept.states,
                kept.answered,
                actor=True,
                pure=False,
                **where,
            )
            try:
                [actor] = gather(self.client, [future])
                # Dask lets an actor belong to the newest client, which may be another's.
                actor._client, actor._future = self.client, future
                journal = [question.of(team.members) for question in self._journal]
                if journal and heard(actor, actor.hear(journal)) is None:
                    raise RuntimeError("The worker was lost.")
                return actor
            except Exception as error:
                # A worker lost meanwhile; but what cannot be made at all is told as it is.
                lost = isinstance(error, OSError | RuntimeError)
                if attempt == MOST_LOSSES - 1 or isinstance(error, ClusterLost) or not lost:
                    raise
        raise AssertionError

    def _forget(self) -> None:
        """Copy the states, and forget how they came about."""
        asked = self._kept[0].answered + len(self._journal)
        alone = len(self.client.scheduler_info(n_workers=-1)["workers"]) < 2
        variables, copies = ([], self._fetched()) if alone else self._copied()
        if copies:
            # Variables hold the copies, which have no history: nobody needs their actor.
            self._delete_variables()
            self._variables = variables
            self._kept = [StateCopy(copy, asked) for copy in copies]
            self._journal, self._size = [], 0

    def _copied(self) -> tuple[list, list]:
        """States on two workers each, and the variables that hold them."""
        _, distributed = need_dask()
        names = [f"maxmargin-{uuid.uuid4().hex}" for _ in self._teams]
        variables = [distributed.Variable(name, client=self.client) for name in names]
        for number, name in enumerate(names):
            self._answer(number, "publish", name)
        copies = [variable.get() for variable in variables]
        self.client.replicate(copies, n=2)
        return variables, copies

    def _fetched(self) -> list:
        """The states here, where no second worker is, unless the questions are smaller."""
        teams = range(len(self._teams))
        self._remembered = sum(self._answer(number, "size") for number in teams)
        small = self._remembered < self._size
        return [self._answer(number, "remembered") for number in teams] if small else []

    def _delete_variables(self) -> None:
        for variable in self._variables:
            variable.delete()
        self._variables = []
