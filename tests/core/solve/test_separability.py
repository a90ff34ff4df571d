"""separability: an exact margin, or a proof, on the whole range of data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from maxmargin import separability

from ...helpers import cloud, separable_cloud


def truly_separable(X, y) -> bool:
    """A linear programme: is there (w, b) with y(w·x + b) ≥ 1?"""
    A = -y[:, None] * np.column_stack([X, np.ones(len(y))])
    answer = linprog(np.zeros(A.shape[1]), A, -np.ones(len(y)), bounds=(None, None))
    return answer.status == 0


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.booleans()), min_size=3, max_size=14
    )
)
def test_agrees_with_linear_programming(rows):
    table = np.array(rows, dtype=float)
    X, y = table[:, :2], np.where(table[:, 2] > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    answer = separability(X, y)
    assert answer.separable == truly_separable(X, y)
    if answer.separable:
        assert (y * (X @ answer.w + answer.b)).min() == pytest.approx(1.0, abs=1e-6)
        assert answer.certificate.holds(1e-6)
    else:
        lam = answer.weights
        assert (lam >= 0).all()
        assert lam[y > 0].sum() == pytest.approx(1.0)
        assert lam[y < 0].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(lam[y > 0] @ X[y > 0], lam[y < 0] @ X[y < 0], atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(30, 2), (500, 10), (5000, 30)])
def test_both_answers_on_larger_data(n, d):
    X, y = separable_cloud(n, d, gap=0.1)
    yes = separability(X, y)
    assert yes.separable
    assert yes.margin >= 0.1 * (1 - 1e-6)
    assert yes.margin == pytest.approx(1 / np.linalg.norm(yes.w))
    X, y = cloud(n, d, noise=2.0)
    no = separability(X, y)
    assert not no
    assert no.residual < 1e-9
    assert "not separable" in str(no)


def test_badly_scaled_and_sparse():
    X, y = separable_cloud(200, 5)
    assert separability(X * np.logspace(-4, 4, 5), y).separable
    assert separability(sparse.csr_matrix(X), y).separable
    X, y = cloud(200, 5, noise=2.0)
    assert not separability(X * np.logspace(-4, 4, 5), y).separable
    assert not separability(sparse.csr_matrix(X), y).separable


def test_wide_data_is_separable_and_a_conflict_makes_it_not():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 200))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    assert separability(X, y).separable
    answer = separability(np.vstack([X, X[:1]]), np.append(y, -y[0]))
    assert not answer.separable
    assert np.count_nonzero(answer.weights) == 2


def test_without_a_bias():
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    assert separability(X, y).separable
    assert not separability(X, y, fit_intercept=False).separable


def test_an_unknown_solver_is_refused_in_words():
    with pytest.raises(ValueError, match="solver must be one of"):
        separability(np.eye(2), [0, 1], solver="magic")
