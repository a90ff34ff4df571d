"""Others on the same cluster and in the same process: clients, tasks, messages that come late."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import spread as on_dask
from maxmargin.parts.dask import dask_parts
from maxmargin.parts.dask.cluster_wait import heard
from maxmargin.parts.dask.dask_parts import DaskParts
from maxmargin.parts.dask.optional_dask import some_client
from maxmargin.parts.dask.parts_actor import ActorQuestion, PartsActor
from maxmargin.parts.dask.traffic import Traffic, size_of
from maxmargin.parts.parts import Block
from tests.parts.dask.helpers import clouds, spread


def count(block, memory, step):
    asked = (memory or 0) + step
    return asked, asked


def blocks(n=3):
    return [Block(np.full((2, 3), float(i)), np.zeros(2, dtype=int), None) for i in range(n)]


def test_the_fit_stays_with_the_client_that_was_current(near):
    """A newer client of another cluster is none of its business."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as other,
        distributed.Client(other) as newest,
        near.as_current(),
    ):
        model = on_dask.LinearSVM(tol=1e-2).fit(*spread(*clouds(60, 2), [30]))
        assert not newest.futures
    assert model.certificate_.holds(1e-2)
    assert near.scheduler.address in model.where_


def test_a_fit_inside_a_task_lends_its_thread_to_the_parts(near):
    rows, labels = spread(*clouds(60, 2), [30])

    def fit():
        return on_dask.LinearSVM(tol=1e-2).fit(rows, labels).certificate_.relative_gap

    # As many fits as there are threads: were these not lent, no part could ever be computed.
    fits = [near.submit(fit, pure=False) for _ in range(2)]
    assert max(fit.result(timeout=120) for fit in fits) <= 1e-2


def test_an_asynchronous_client_is_refused_in_words(near, monkeypatch):
    monkeypatch.setattr(type(near), "asynchronous", property(lambda self: True))
    with pytest.raises(TypeError, match="asynchronous"), some_client():
        pass


def test_a_message_that_comes_late_is_not_heard():
    """Ctrl-C while a question was on its way: the next one overtakes it."""
    holder = PartsActor(blocks(2), None, 0)
    assert holder.ask(1, 0, ActorQuestion(count, (1,)), True).value == 2
    assert holder.ask(3, 1, ActorQuestion(count, (10,)), True).value == 22
    assert (
        holder.ask(2, 1, ActorQuestion(count, (5,)), True) is None
    )  # nobody waits for it any more
    assert holder.ask(4, 2, ActorQuestion(count, (100,)), True).value == 222


def test_an_actor_that_is_gone_without_a_word(near, monkeypatch):
    """As when all is cancelled just as a question is sent: Dask never answers it."""
    monkeypatch.setattr("maxmargin.parts.dask.cluster_wait.LOOK_EVERY", 0.01)
    parts = DaskParts(near, near.scatter(blocks(), hash=False), 3)
    assert parts.total(count, 1) == 3
    actor = parts._actors[0]

    class Silent:
        def done(self):
            return False

        def result(self, timeout):
            actor._future.cancel()
            raise TimeoutError

    assert heard(actor, Silent()) is None
    assert parts.total(count, 1) == 6  # a new one was told all
    parts.close()


def test_ctrl_c_while_actors_are_made(near, monkeypatch):
    parts = DaskParts(near, near.scatter(blocks(), hash=False), 3)
    make = DaskParts._actor

    def interrupted(*_, **__):
        monkeypatch.setattr(DaskParts, "_actor", make)
        raise KeyboardInterrupt

    monkeypatch.setattr(DaskParts, "_actor", interrupted)
    with pytest.raises(KeyboardInterrupt):
        parts.total(count, 1)
    assert parts.total(count, 1) == 3
    parts._actors[0] = None  # as after Ctrl-C while a lost one was replaced
    assert parts.total(count, 1) == 6
    parts.close()


def test_one_worker_alone_does_not_keep_all_questions(near, monkeypatch):
    monkeypatch.setattr(dask_parts, "JOURNAL_BYTES", 100)
    monkeypatch.setattr(near, "scheduler_info", lambda **_: {"workers": {"alone": {}}})
    parts = DaskParts(near, near.scatter(blocks(), hash=False), 3)
    for asked in range(1, 20):
        assert parts.total(count, 1) == 3 * asked
        assert parts._size <= 100
    parts._actors[0] = None
    assert parts.total(count, 1) == 60  # from the memories kept here and the questions since
    parts.close()


def test_copies_of_memories_stand_for_the_questions_before(near, monkeypatch):
    monkeypatch.setattr(dask_parts, "JOURNAL_BYTES", 100)
    parts = DaskParts(near, near.scatter(blocks(), hash=False), 3)
    for asked in range(1, 12):
        assert parts.total(count, 1) == 3 * asked
    assert parts._kept[0].answered > 0
    parts._actors[0] = None
    assert parts.total(count, 1) == 36
    parts.close()


def test_a_class_that_is_in_one_fold_only_is_named(near):
    X, y = clouds(60, 2, k=2)
    y[7] = "fir"
    search = on_dask.LinearSVMCV(Cs=[0.1, 1.0], cv=3)
    with pytest.raises(ValueError, match=r"All rows of class fir are in fold \d of 3"):
        search.fit(*spread(X, y, [30]))


def test_an_adaptive_cluster_without_workers_starts_them():
    """It does so for tasks only, not for somebody who waits."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        cluster.adapt(minimum=0, maximum=1, interval="10ms", wait_count=10**6)  # up, never down
        model = on_dask.LinearSVM(tol=1e-2).fit(*spread(*clouds(60, 2), [30]))
    assert model.certificate_.holds(1e-2)


def test_rows_are_counted_apart_where_problems_ask_together():
    traffic, rows = Traffic(1), blocks(1)[0]
    traffic.answer(rows)
    traffic.answer((rows, np.zeros(5)))
    assert traffic.sampled == 2 * size_of(rows)
    assert traffic.received == traffic.largest_received == 40
