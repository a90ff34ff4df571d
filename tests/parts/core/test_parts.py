"""What all kinds of parts offer, besides asking: pieces for each, and things handed on."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin.parts.lockstep import run_in_lockstep
from maxmargin.parts.ones import OnesParts
from maxmargin.parts.parts import Parts
from tests.parts.core.helpers import Here

X = np.arange(14.0).reshape(7, 2)
Y = np.array([0, 1, 0, 1, 1, 0, 1])


def keep(block, state, piece):
    """A part's state becomes its piece."""
    return piece, None


def tell(block, state):
    return state, (state, block.X.sum())


def add(block, state, carry, number, factor):
    return state, (*carry, number + factor * len(block.y))


def rows_between(first, n):
    return np.arange(first, first + n)


def test_parts_must_say_how_they_are_asked():
    with pytest.raises(TypeError, match="abstract"):
        Parts()


@pytest.mark.parametrize("cuts", [[3], [0, 3, 3], []], ids=["two", "empty ones", "one"])
def test_every_part_is_dealt_the_numbers_of_its_own_rows(cuts):
    parts = Here(X, Y, cuts)
    for given in (parts, OnesParts(parts)):
        given.deal(keep, rows_between)
        states = [state for state, _ in parts.ask(tell)]
        assert [len(state) for state in states] == [len(block.y) for block in parts.blocks]
        assert np.concatenate(states).tolist() == list(range(7))


def test_what_is_handed_on_meets_the_parts_in_order():
    assert Here(X, Y, [3, 5]).relay(add, (), 10) == (30, 23, 25)


def test_a_column_of_ones_is_seen_by_every_question():
    parts = Here(X, Y, [3])
    ones = OnesParts(parts)
    assert ones.n_features == 3
    assert [total for _, total in ones.ask(tell)] == [X[:3].sum() + 3, X[3:].sum() + 4]


def test_a_job_sees_the_parts_as_they_are():
    parts = Here(X, Y, [3])
    parts.far = True
    [seen] = run_in_lockstep(parts, {"a": lambda parts: (parts.n_parts, parts.far)})
    assert seen == (2, True)
