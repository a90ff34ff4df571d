"""A round on a cluster: told once, answered in order, added up where the parts are."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin.parts.dask.dask_parts import DaskParts
from maxmargin.parts.parts import Block


def count(block, memory, step):
    """Remembers how often it was asked; answers with that and with its rows."""
    asked = (memory or 0) + step
    return asked, (asked, block.X.sum(axis=0))


def fail(block, memory):
    raise ZeroDivisionError("of a task")


@pytest.fixture
def parts(client):
    blocks = [Block(np.full((2, 3), float(i)), np.zeros(2, dtype=int), None) for i in range(3)]
    parts = DaskParts(client, client.scatter(blocks, hash=False), 3)
    yield parts
    parts.close()


def test_answers_in_the_order_of_the_parts_and_their_sum(parts):
    answers = list(parts.ask(count, 1))
    assert [answer[1][0] for answer in answers] == [0.0, 2.0, 4.0]
    asked, sums = parts.total(count, 1)
    assert asked == 6  # every part remembers the question before
    assert sums.tolist() == [6.0, 6.0, 6.0]
    # One question and one answer for every worker, however many parts it holds.
    workers = len(parts._teams)
    assert workers < 3
    assert parts.traffic.sent == 2 * workers * 16
    assert parts.traffic.received == (3 + workers) * (16 + 24)


def test_states_are_kept_until_they_are_forgotten(parts):
    parts.total(count, 5)
    assert parts.total(count, 1)[0] == 18
    parts.forget()
    assert parts.total(count, 1)[0] == 3
    assert parts.ask_one(2, count, 7)[0] == 7  # without a state


def test_what_a_task_raises_is_raised_here_and_the_parts_go_on(parts):
    parts.total(count, 1)
    with pytest.raises(ZeroDivisionError, match="of a task"):
        parts.total(fail)
    assert parts.total(count, 1)[0] == 6


def test_a_question_that_only_some_have_heard_is_asked_anew(parts):
    """As after Ctrl-C: the journal counts, not what an actor happened to hear."""
    parts.total(count, 1)
    parts._actors[0].hear([parts._journal[0]]).result()
    assert parts.total(count, 1)[0] == 6
