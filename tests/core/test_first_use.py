"""Kernels that run plainly at first: the same bits, and compiled when it pays."""

import hashlib
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from sklearn.datasets import load_iris

from maxmargin import LinearSVM
from maxmargin.core import first_use
from maxmargin.core.first_use import compiled_at_once, plain_at_first


class Pair(NamedTuple):
    """Two numbers: the number of values, and what they add up to."""

    count: int
    total: float


@njit
def _double(x):
    return 2.0 * x


@pytest.fixture
def kernel():
    """A fresh kernel that calls another one; nothing of it is compiled."""
    double = plain_at_first(njit(_double.py_func))

    @plain_at_first
    @njit
    def add(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += double(x[i])
        return Pair(x.shape[0], total)

    return add


def test_little_is_not_compiled_and_numbers_are_pythons(kernel):
    told = kernel(np.arange(4.0))
    assert isinstance(told, Pair)
    assert told == Pair(4, 12.0)
    assert (type(told.count), type(told.total)) == (int, float)
    assert not kernel.signatures


def test_whoever_compiles_for_others_compiles_little(kernel):
    with compiled_at_once():
        assert kernel(np.arange(4.0)).total == 12.0
    assert len(kernel.signatures) == 1
    assert not first_use._nesting.at_once


@pytest.mark.parametrize("x", [np.arange(5_000.0), np.arange(4.0, dtype=np.float32)])
def test_much_and_other_kinds_of_numbers_are_compiled(kernel, x):
    assert kernel(x).total == 2.0 * x.sum(dtype=np.float64)
    assert len(kernel.signatures) == 1


def test_a_kernel_is_compiled_once_it_has_run_long_enough(kernel, monkeypatch):
    kernel(np.arange(4.0))
    monkeypatch.setattr(first_use, "MAX_PLAIN_SECONDS", 0.0)
    assert kernel(np.arange(4.0)) == Pair(4, 12.0)
    assert len(kernel.signatures) == 1


def test_arguments_decide_where_bits_would_differ():
    @plain_at_first(when=lambda x, exact: exact)
    @njit
    def same(x, exact):
        return x[0]

    assert same(np.ones(1), True) == 1.0
    assert not same.signatures
    assert same(np.ones(1), False) == 1.0
    assert same.signatures


def test_errors_leave_nothing_behind():
    @plain_at_first
    @njit
    def fails(x):
        return x[0]

    with pytest.raises(TypeError):
        fails(3.0)
    assert not first_use._nesting.plain


def little_fits():
    """Fits that need no kernel but marked ones, whatever the rule, the loss and the scale."""
    X, y = load_iris(return_X_y=True)
    yield X, y, {"multiclass": "sum"}
    for loss in ("hinge", "squared_hinge"):
        for rule in ("max", "rest"):
            yield X, y, {"loss": loss, "multiclass": rule}
    yield X, y, {"C": 1e-3, "class_weight": "balanced"}
    yield X[:100], y[:100], {"C": np.inf}
    rng = np.random.default_rng(0)
    for k in (2, 3) * 3:
        X = 10.0 ** rng.integers(-3, 3) * rng.standard_normal((60, 3))
        y = (X @ rng.standard_normal((3, k)) + np.std(X) * rng.standard_normal((60, k))).argmax(1)
        yield X, y, {"C": 10.0 ** rng.integers(-2, 3), "fit_intercept": bool(rng.integers(0, 3))}


def bits() -> list[str]:
    """A digest of every model and its certificate."""
    digests = []
    for X, y, parameters in little_fits():
        model = LinearSVM(**parameters).fit(X, y)
        proof = model.certificate_
        told = proof.primal, proof.dual, proof.rounding, *proof.kkt_violation.values()
        parts = model.coef_, model.intercept_, model.alpha_, np.array(told)
        digests.append(hashlib.sha256(b"".join(map(bytes, map(np.asarray, parts)))).hexdigest())
    return digests


def test_plain_and_compiled_kernels_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(first_use, "MAX_PLAIN_SECONDS", 0.0)
    code = "from tests.core.test_first_use import bits; print(*bits())"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == bits()


def test_a_first_fit_compiles_nothing(tmp_path):
    code = (
        "from maxmargin import LinearSVM; from sklearn.datasets import load_iris;"
        "from numba.core import event; from maxmargin.core import first_use;"
        "first_use.MAX_PLAIN_SECONDS = 10.0;"  # however busy the machine is
        "X, y = load_iris(return_X_y=True)\n"
        "with event.install_recorder('numba:compile') as seen:\n"
        "    LinearSVM().fit(X, y)\n"
        "print(len(seen.buffer))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0"]
