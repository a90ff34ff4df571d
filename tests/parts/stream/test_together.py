"""Several two-class machines on a stream: one pass serves all of them."""

from __future__ import annotations

import threading
from itertools import combinations

import numpy as np
import pytest

from maxmargin import LinearSVM, fit_stream
from maxmargin.parts.files.sources import open_source
from maxmargin.parts.lockstep import THREAD_NAME
from maxmargin.parts.stream.folder import WorkFolder
from maxmargin.parts.stream.lockstep_budget import STATE_BYTES_PER_ROW, problems_in_a_pass
from maxmargin.parts.stream.memory_limit import MemoryLimit
from maxmargin.parts.stream.part_states import PartStates
from maxmargin.parts.stream.rows import StreamedRows

from .helpers import cut, noisy

K = 6
AT = (300, 300, 700)


def fitted(model, X, y, memory="16MB", told=None):
    """The model, and how many passes it took."""
    passes = []
    fit_stream(
        model, cut(X, y, at=AT), memory=memory, told=told or (lambda p, *_: passes.append(p))
    )
    return model, max(passes, default=0)


def machine_by_machine(monkeypatch):
    monkeypatch.setattr("maxmargin.parts.stream.data.problems_in_a_pass", lambda *_: 1)


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("rule", ["rest", "pairs"])
def test_the_same_model_in_fewer_passes(monkeypatch, rule, loss, is_sparse):
    X, y = noisy(n=1000, d=6, k=K, is_sparse=is_sparse)
    given = {"C": 0.1, "multiclass": rule, "loss": loss, "tol": 1e-3}
    ours, few = fitted(LinearSVM(**given), X, y)
    machine_by_machine(monkeypatch)
    theirs, many = fitted(LinearSVM(**given), X, y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    assert ours.certificate_ == theirs.certificate_
    assert ours.n_iter_ == theirs.n_iter_
    if loss == "hinge":  # multipliers are kept with the model, machine by machine
        np.testing.assert_array_equal(ours._alpha_rows, theirs._alpha_rows)
        np.testing.assert_array_equal(ours._alpha_values, theirs._alpha_values)
        np.testing.assert_array_equal(ours._alpha_machines, theirs._alpha_machines)
    assert few < many / (0.5 * len(ours.coef_))


def test_as_many_passes_as_the_longest_machine_takes():
    X, y = noisy(n=1000, d=6, k=K)
    given = {"C": 0.1, "loss": "squared_hinge", "tol": 1e-3}
    _, passes = fitted(LinearSVM(multiclass="rest", **given), X, y)
    alone = [fitted(LinearSVM(**given), X, (y == c).astype(int))[1] for c in range(K)]
    assert passes == max(alone)


def test_what_machines_remember_may_lie_on_the_disk(monkeypatch, tmp_path):
    X, y = noisy(n=1000, d=6, k=K)
    model = LinearSVM(C=0.1, multiclass="rest", tol=1e-3)
    known, _ = fitted(model, X, y)
    coef, certificate = known.coef_, known.certificate_
    away = set()
    put = PartStates.put

    def noted(self, i, memory, problem=None):
        put(self, i, memory, problem)
        away.update(path.name for path in self.away.values())

    monkeypatch.setattr(PartStates, "put", noted)
    monkeypatch.setattr(MemoryLimit, "kept", property(lambda self: 3 * STATE_BYTES_PER_ROW * 1000))
    monkeypatch.setattr("maxmargin.parts.stream.data.problems_in_a_pass", lambda *_: K)
    fitted(model, X, y)
    assert away
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.certificate_ == certificate


def test_memories_are_told_apart_and_fit_their_limit(tmp_path):
    states = PartStates(tmp_path, 100)
    rows = {key: np.full(5, hash(key)) for key in [(0, "a"), (0, "b"), (1, "a"), (1, "b")]}
    for (i, problem), row in rows.items():
        states.put(i, row, problem)
        assert states.used == sum(states.sizes.values()) <= 100
    assert len(states.held) == 2
    assert len(list(tmp_path.iterdir())) == len(states.away) == 2
    for (i, problem), row in rows.items():
        np.testing.assert_array_equal(states.get(i, problem), row)
    states.put(0, np.zeros(0), "a")  # there is room for another
    states.put(1, rows[1, "b"], "b")
    assert len(states.away) == len(list(tmp_path.iterdir())) == 1
    np.testing.assert_array_equal(states.get(1, "b"), rows[1, "b"])
    assert states.get(2, "a") is None
    states.clear()
    assert not list(tmp_path.iterdir())
    assert states.get(1, "b") is None


def test_what_has_not_changed_is_not_written_again(tmp_path):
    states = PartStates(tmp_path, 0)
    states.put(0, {"a": np.ones(3)}, "p")
    known = states.get(0, "p")
    [path] = tmp_path.iterdir()
    path.unlink()
    states.put(0, dict(known), "p")
    assert not path.exists()
    for changed in ({"a": np.zeros(3)}, known | {"b": np.ones(1)}):
        states.put(0, changed, "p")
        assert states.get(0, "p").keys() == changed.keys()
        np.testing.assert_array_equal(states.get(0, "p")["a"], changed["a"])
    # Another's memory in between: no mistake about whose it was.
    states.put(1, {"a": np.ones(3)}, "p")
    one = states.get(0, "p")
    states.put(1, one, "p")
    assert states.get(1, "p").keys() == one.keys()


def test_how_many_share_a_pass(tmp_path, monkeypatch):
    X, y = noisy(n=1000, d=6, k=K)
    rest, pairs = [(c, None) for c in range(K)], list(combinations(range(K), 2))
    with WorkFolder(tmp_path / "work", False) as folder:
        rows = StreamedRows(open_source(cut(X, y, at=AT)), MemoryLimit(16_000_000), folder)

        def with_room_for(machines, row_bytes, cached=True):
            kept = property(lambda self: int(machines * STATE_BYTES_PER_ROW * rows.n))
            monkeypatch.setattr(MemoryLimit, "kept", kept)
            monkeypatch.setattr(type(reader), "size", row_bytes * rows.n)
            rows.reader = reader if cached else None
            return [problems_in_a_pass(rows, duels) for duels in (rest, pairs)]

        reader = rows.reader
        assert with_room_for(100, 8) == [6, 15]
        # Rows are short, memories long: what fits memory.  Five rounds of pairs see all rows.
        assert with_room_for(2, 8) == [2, 6]
        assert with_room_for(0.1, 8) == [1, 1]
        # Rows are long: rather memories from the disk than rows once more.
        assert with_room_for(2, 8_000) == [6, 15]
        assert with_room_for(2, 8_000, cached=False) == [2, 6]
        # … if the disk has room for them.
        monkeypatch.setattr("maxmargin.parts.stream.lockstep_budget.DISK_RESERVE_BYTES", 1 << 60)
        assert with_room_for(2, 8_000) == [2, 6]
        rows.reader = reader
        rows.close()


def test_ctrl_c_ends_all_machines_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    X, y = noisy(n=1000, d=6, k=K)

    def pressed(number, done, n):
        if number == 9:
            raise KeyboardInterrupt

    model = LinearSVM(multiclass="pairs")
    with pytest.raises(KeyboardInterrupt):
        fitted(model, X, y, told=pressed)
    assert not hasattr(model, "coef_")
    assert not list(tmp_path.iterdir())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)]
