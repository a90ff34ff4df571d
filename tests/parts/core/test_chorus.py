"""Side by side as one after another: the same bits, and as many rounds as the longest takes."""

from __future__ import annotations

import threading
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.parts import lockstep as chorus
from maxmargin.parts.lockstep import run_in_lockstep
from maxmargin.parts.side_by_side import jobs_at_once, solve_side_by_side
from maxmargin.parts.solve.two_class.driver import solve_hinge
from maxmargin.parts.solve.two_class.newton import MAX_LOCAL_GRAM_COLUMNS
from maxmargin.parts.solve.two_class.tasks import BinarySpec
from tests.parts.core.helpers import Here

K = 6
DUELS = {"rest": [(c, None) for c in range(K)], "pairs": list(combinations(range(K), 2))}
CUTS = [70, 70, 160]  # uneven, and one part is empty


def clouds(n=240, d=5, is_sparse=False):
    rng = np.random.default_rng(0)
    y = np.arange(n) % K
    X = rng.standard_normal((n, d)) + rng.standard_normal((K, d))[y]
    return (sparse.csr_matrix(X * (np.abs(X) > 0.7)) if is_sparse else X), y


def machines(rule="rest", loss="hinge"):
    return [BinarySpec(0.1, LOSSES[loss], positive=a, negative=b) for a, b in DUELS[rule]]


def solvers(some):
    return {machine.key: partial(solve_hinge, spec=machine) for machine in some}


def alone(X, y, machine, monitor=None):
    parts = Here(X, y, CUTS)
    return solve_hinge(parts, machine, monitor or Monitor(tol=1e-3, max_iter=5000)), parts.rounds


def same(fits, others):
    for fit, other in zip(fits, others, strict=True):
        np.testing.assert_array_equal(fit.w, other.w)
        assert (fit.b, fit.certificate, fit.ending, fit.solver) == (
            other.b, other.certificate, other.ending, other.solver,
        )  # fmt: skip


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    assert not [
        thread for thread in threading.enumerate() if thread.name.startswith(chorus.THREAD_NAME)
    ]


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rule", DUELS)
def test_the_same_bits_in_the_rounds_of_the_longest(rule, loss, is_sparse):
    X, y = clouds(is_sparse=is_sparse)
    some = machines(rule, loss)
    known, rounds = zip(*[alone(X, y, machine) for machine in some], strict=True)
    parts, monitor = Here(X, y, CUTS), Monitor(tol=1e-3, max_iter=5000)
    same(solve_side_by_side(parts, solvers(some), monitor, len(some)), known)
    assert parts.rounds == max(rounds)
    # Six machines alone: at least half as many rounds as the longest, each.
    assert sum(rounds) > 0.5 * len(some) * max(rounds)


def test_groups_and_the_order_of_machines_change_nothing():
    X, y = clouds()
    some = machines()
    known = [alone(X, y, machine)[0] for machine in some]
    turned = Here(X, y, CUTS)
    fits = solve_side_by_side(turned, solvers(some[::-1]), Monitor(tol=1e-3), len(some))
    same(fits[::-1], known)
    grouped, ended = Here(X, y, CUTS), []
    fits = solve_side_by_side(
        grouped, solvers(some), Monitor(tol=1e-3), 4, after_group=lambda: ended.append(1)
    )
    same(fits, known)
    assert len(ended) == 2
    assert turned.rounds < grouped.rounds


def test_one_machine_alone_has_the_watch_itself():
    X, y = clouds()
    monitor = Monitor(tol=1e-3)
    [fit] = solve_side_by_side(Here(X, y, CUTS), solvers(machines()[:1]), monitor, 8)
    same([fit], [alone(X, y, machines()[0])[0]])
    assert monitor.history
    assert monitor.solver == fit.solver


# --- budget and history ----------------------------------------------------------------------


def test_history_and_iterations_are_those_of_the_sum():
    X, y = clouds()
    some = machines()
    watches = [Monitor(tol=1e-3) for _ in some]
    for machine, monitor in zip(some, watches, strict=True):
        alone(X, y, machine, monitor)
    whole = Monitor(tol=1e-3)
    fits = solve_side_by_side(Here(X, y, CUTS), solvers(some), whole, len(some))
    assert whole.n_iter == sum(monitor.n_iter for monitor in watches)
    assert len(whole.history) < sum(len(monitor.history) for monitor in watches)
    last = whole.history[-1]
    assert last.primal == pytest.approx(sum(monitor.history[-1].primal for monitor in watches))
    assert last.dual == pytest.approx(sum(monitor.history[-1].dual for monitor in watches))
    assert last.relative_gap <= 1e-2
    assert sum(fit.certificate.dual for fit in fits) <= last.primal
    seconds = [step.seconds for step in whole.history]
    assert seconds == sorted(seconds)


@pytest.mark.parametrize(
    ("monitor", "ending"),
    [(Monitor(max_iter=14), Ending.ITERATIONS), (Monitor(max_seconds=1e-9), Ending.TIME)],
)
def test_all_machines_share_one_budget(monitor, ending):
    X, y = clouds()
    some = machines()
    fits = solve_side_by_side(Here(X, y, CUTS), solvers(some), monitor, len(some))
    assert {fit.ending for fit in fits} == {ending}
    assert monitor.n_iter <= 14
    assert all(fit.certificate.sound for fit in fits)  # each has a model, however rough


def test_few_machines_ask_together_where_answers_are_large():
    assert jobs_at_once(10, 1) == jobs_at_once(10, 8) == 64
    for parts in (1, 4, 10_000):
        most = jobs_at_once(MAX_LOCAL_GRAM_COLUMNS, parts, far=False)
        assert most == 1 or most * parts * 8 * MAX_LOCAL_GRAM_COLUMNS**2 <= 64_000_000
        # One column more, and no matrix is sent.
        assert jobs_at_once(MAX_LOCAL_GRAM_COLUMNS + 1, parts) >= most


# --- voices ----------------------------------------------------------------------------------


def count(block, memory, step):
    """A part's own counter, and how many rows it has."""
    memory = (memory or 0) + step
    return memory, (memory, len(block.y))


def divide(block, memory, by):
    return memory, 1 // by


def times(n):
    def song(parts):
        return [parts.total(count, 1) for _ in range(n)]

    return song


def parts_of(n=5, cuts=(2,)):
    return Here(np.zeros((n, 1)), np.zeros(n, dtype=int), list(cuts))


def test_memories_are_each_voices_own_and_one_that_says_nothing_is_not_waited_for():
    parts = parts_of()
    songs = {"long": times(3), "silent": lambda parts: "done", "short": times(1)}
    long, silent, short = run_in_lockstep(parts, songs)
    assert [a for a, _ in long] == [2, 4, 6]  # one from each of two parts, thrice
    assert (silent, short) == ("done", [(2, 5)])
    assert parts.rounds == 3
    assert run_in_lockstep(parts, {}) == []
    assert run_in_lockstep(parts, {"silent": lambda parts: parts.n_parts}) == [2]
    assert parts.rounds == 3


def test_a_chorus_may_be_a_voice_of_another():
    parts = parts_of()

    def inner(parts):
        return run_in_lockstep(parts, {"a": times(2), "b": times(4)})

    (a, b), c = run_in_lockstep(parts, {"inner": inner, "c": times(3)})
    assert parts.rounds == 4
    assert (a, b, c) == (times(2)(parts_of()), times(4)(parts_of()), times(3)(parts_of()))


def test_a_voice_may_stop_listening():
    parts = parts_of(6, (1, 2, 3))

    def first(parts):
        heard = [next(parts.ask(count, 1)), next(parts.ask(count, 1))]
        return heard, parts.total(count, 1)

    assert run_in_lockstep(parts, {"a": first, "b": times(3)})[1] == times(3)(
        parts_of(6, (1, 2, 3))
    )
    assert parts.rounds == 3
    # With nobody left to hear them the other parts are not asked.
    few = parts_of(6, (1, 2, 3))
    run_in_lockstep(few, {"a": lambda parts: next(parts.ask(count, 1))})
    assert few.memory == [{"a": 1}, None, None, None]


def test_answers_of_two_questions_cannot_be_mixed():
    def mixed(parts):
        return list(zip(parts.ask(count, 1), parts.ask(count, 1), strict=True))

    with pytest.raises(RuntimeError, match="until the next one is asked"):
        run_in_lockstep(parts_of(), {"mixed": mixed, "other": times(9)})


def test_an_error_in_one_ends_all():
    ended = []

    def wrong(parts):
        times(2)(parts)
        raise ValueError("no more")

    def endless(parts):
        try:
            times(10**9)(parts)
        finally:
            ended.append(True)
            with pytest.raises(chorus._Stopped):  # it can ask nothing any more
                times(1)(parts)

    with pytest.raises(ValueError, match="no more"):
        run_in_lockstep(parts_of(), {"a": endless, "wrong": wrong, "b": endless})
    assert ended == [True, True]


def test_an_error_of_the_parts_ends_all():
    with pytest.raises(ZeroDivisionError):
        run_in_lockstep(parts_of(), {"a": times(9), "b": lambda parts: parts.total(divide, 0)})


class Interrupted(Here):
    """Ctrl-C in the fifth round, before its second answer."""

    def ask(self, task, *told):
        for i, answer in enumerate(super().ask(task, *told)):
            if self.rounds == 5 and i == 1:
                raise KeyboardInterrupt
            yield answer


def test_ctrl_c_ends_all_machines_at_once():
    X, y = clouds()
    parts = Interrupted(X, y, CUTS)
    with pytest.raises(KeyboardInterrupt):
        solve_side_by_side(parts, solvers(machines()), Monitor(tol=1e-3), 6)
    assert parts.rounds == 5  # nobody asks for a proof of what is not there


def test_ctrl_c_while_a_voice_is_working(monkeypatch):
    parts, go_on = parts_of(), chorus._JobView.resume

    def interrupted(voice):
        if parts.rounds < 3:
            go_on(voice)
        else:  # as if Ctrl-C were pressed after the voice has been sent on
            voice._turn.put(None)
            raise KeyboardInterrupt

    monkeypatch.setattr(chorus._JobView, "resume", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_in_lockstep(parts, {"a": times(10**9), "b": times(10**9)})


def test_ctrl_c_ends_a_chorus_within_another():
    parts = Interrupted(np.zeros((5, 1)), np.zeros(5, dtype=int), [2])

    def inner(parts):
        return run_in_lockstep(parts, {"a": times(10**9), "b": times(10**9)})

    with pytest.raises(KeyboardInterrupt):
        run_in_lockstep(parts, {"one": inner, "other": inner})
    assert parts.rounds == 5
