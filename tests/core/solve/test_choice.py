"""Which solver two classes get on sparse rows."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LinearSVM
from maxmargin.core.problem.losses import Hinge, SquaredHinge
from maxmargin.core.problem.problem import Problem
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.two_class.form import choose

HINGE = Hinge()


def chosen(n, d, each, C, loss=HINGE, one_in=2):
    """The solver of n rows with so many ones each, one in so many of the rarer class."""
    columns = np.arange(n * each, dtype=np.int32) % d
    X = sparse.csr_matrix((np.ones(n * each), columns, np.arange(0, n * each + 1, each)), (n, d))
    y = np.where(np.arange(n) % one_in, -1.0, 1.0)
    return choose(Problem(as_rows(X), y, np.full(n, C), loss))[0]


@pytest.mark.parametrize(
    ("rows", "C", "solver"),
    [
        ((32_000, 123, 14), 0.01, "descent"),  # a9a
        ((32_000, 123, 14), 1.0, "newton"),
        ((11_000, 1900, 100), 1.0, "descent"),  # words of newsgroups
        ((750, 4500, 10), 1.0, "descent"),  # few texts of many words
        ((750, 4500, 10), np.inf, "descent"),
        ((32_000, 123, 14), np.inf, "newton"),
        ((50_000, 300, 12), 1.0, "descent"),
        ((50_000, 300, 12), 100.0, "newton"),
    ],
)
def test_epochs_of_all_values_are_weighed_against_systems_of_all_columns(rows, C, solver):
    assert chosen(*rows, C) == solver


def test_where_a_class_is_rare_epochs_read_few_rows():
    assert chosen(50_000, 300, 12, 100.0, one_in=33) == "descent"
    assert chosen(50_000, 300, 12, 10_000.0, one_in=33) == "newton"
    assert chosen(50_000, 300, 12, np.inf, one_in=33) == chosen(50_000, 300, 12, np.inf)
    assert chosen(50_000, 300, 12, 100.0, SquaredHinge(), one_in=33) == "newton"


def test_the_squared_hinge_needs_fewer_systems():
    assert chosen(30_000, 300, 10, 1.0) == "descent"
    assert chosen(30_000, 300, 10, 1.0, SquaredHinge()) == "newton"


def test_few_texts_of_many_words_take_epochs_and_no_systems():
    """750 sentences of 4,500 words took Newton's method 1.2 s, where descent takes 4 ms."""
    rng = np.random.default_rng(0)
    X = sparse.random(600, 3000, 0.004, "csr", random_state=0, data_rvs=lambda n: np.ones(n))
    y = X @ rng.standard_normal(3000) > 0
    model = LinearSVM(C=3.0).fit(X, y)
    assert model.solver_ == "descent"
    assert model.certificate_.holds(model.tol)
