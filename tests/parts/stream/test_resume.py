"""Fits that were ended in the middle go on from their multipliers, and need fewer passes for it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LinearSVM, fit_stream, open_source
from maxmargin.parts.stream.folder import CHECKPOINT_PREFIX

from .helpers import agree, noisy

SMALL = "16MB"


class Ended(Exception):
    """What a test throws into a fit."""


def passes(model, source, until=None, **given):
    """The fitted model and how many passes it took; ended when pass ``until`` begins."""
    last = [0]

    def told(number, done, n):
        last[0] = number
        if until is not None and number >= until:
            raise Ended

    fitted = fit_stream(clone(model), source, memory=SMALL, told=told, **given)
    return fitted, last[0]


def npy(tmp_path, X, y):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    return open_source(tmp_path / "X.npy")


def svmlight(tmp_path, X, y):
    from sklearn.datasets import dump_svmlight_file

    dump_svmlight_file(X, y, str(tmp_path / "t.svm"))
    return open_source(tmp_path / "t.svm")


def text_like(n=500, d=2500, seed=0):
    """Sparse rows of many columns."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.01, random_state=0, format="csr")
    return X, (X @ rng.standard_normal(d) + 0.05 * rng.standard_normal(n) > 0).astype(int)


CASES = {
    "max": (LinearSVM(C=0.1, tol=1e-5), lambda: noisy(n=600, d=5, k=3), npy),
    "sum": (LinearSVM(C=0.1, tol=1e-5, multiclass="sum"), lambda: noisy(n=600, d=5, k=3), npy),
    "wide": (LinearSVM(C=1, tol=1e-3), text_like, svmlight),
    "squared": (
        LinearSVM(C=0.1, tol=1e-5, loss="squared_hinge"),
        lambda: noisy(n=600, d=5, k=3),
        npy,
    ),
    "rest": (LinearSVM(C=1, tol=1e-6, multiclass="rest"), lambda: noisy(n=600, d=5, k=3), npy),
}


@pytest.fixture(autouse=True)
def no_room_for_rows(monkeypatch):
    """k classes at once by ascent, as where more rows matter than can be held."""
    monkeypatch.setattr("maxmargin.parts.stream.solve.HELD_ROWS_SHARE", 0.0)


@pytest.mark.parametrize("name", CASES)
def test_it_goes_on_with_fewer_passes_to_the_same_optimum(tmp_path, name):
    model, data, write = CASES[name]
    X, y = data()
    source, kept = write(tmp_path, X, y), tmp_path / "kept"
    whole, anew = passes(model, source)
    with pytest.raises(Ended):
        passes(model, source, until=int(0.8 * anew), checkpoint=kept)
    assert list(kept.glob(f"{CHECKPOINT_PREFIX}*.npz"))
    again, fewer = passes(model, source, checkpoint=kept, resume=True)
    assert fewer < anew
    agree(again, whole, 2 * model.tol)
    assert not kept.exists()


def test_another_problem_starts_anew(tmp_path):
    """Multipliers of another C would be a start, too; but the checkpoint is not of this fit."""
    model, data, write = CASES["max"]
    source, kept = write(tmp_path, *data()), tmp_path / "kept"
    other = clone(model).set_params(C=0.2)
    _, anew = passes(other, source)
    with pytest.raises(Ended):
        passes(model, source, until=20, checkpoint=kept)
    _, again = passes(other, source, checkpoint=kept, resume=True)
    assert again == anew


def test_files_half_written_by_a_killed_process_are_ours(tmp_path):
    model, data, write = CASES["max"]
    source, kept = write(tmp_path, *data()), tmp_path / "kept"
    kept.mkdir()
    for name in ("state.npz.1a2b3c4d", f"{CHECKPOINT_PREFIX}classes.npz.1a2b3c4d"):
        (kept / f".{name}.part").write_bytes(b"half")
    passes(model, source, checkpoint=kept, resume=True)
    assert not kept.exists()


def test_too_little_memory_for_the_rows_that_matter_is_told():
    X, y = noisy(n=600, d=5, k=3)
    model = LinearSVM(C=0.1, tol=1e-9, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="did not fit the memory limit: with more memory"):
        fit_stream(model, [(X, y)], memory=SMALL)
