"""Rounding of Σαy: weights that are no round numbers must not cost the proof."""

import numpy as np
import pytest

from maxmargin import LinearSVM
from maxmargin.core.solve.two_class.vertex import vertex

from ...helpers import problem as make_problem


def overlapping(seed, n=3000):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 5)), rng.integers(2, size=n)
    X[:, 0] += 1.5 * y
    return X, y


@pytest.mark.parametrize("seed", [0, 1, 7, 12])
def test_balanced_classes_are_proved(seed):
    svm = LinearSVM(class_weight="balanced").fit(*overlapping(seed))
    assert svm.certificate_.relative_gap <= 1e-9
    # A free multiplier bears the rounding: one at its cap would leave it, far from the margin.
    assert max(svm.certificate_.kkt_violation.values()) <= 1e-6


def test_a_multiplier_a_rounding_below_its_cap_is_not_free():
    """Moved along with the free ones, which lie on the margin, it would lower the dual."""
    X, y = overlapping(0)
    svm = LinearSVM(C=1.3).fit(X, y)
    problem = make_problem(X, np.where(y == 1, 1.0, -1.0), C=1.3)
    for i in np.flatnonzero(svm.slack_ > 0.1)[:20]:
        alpha = svm.alpha_.copy()
        alpha[i] -= 5e-12
        assert vertex(problem, alpha).sum() >= alpha.sum() - 1e-9


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(12, 3), (30, 8), (6, 6)])
def test_free_points_end_independent_and_w_stays(seed, shape):
    """Rows on few lines, all free: the rest of them have a combination of no other."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, shape).astype(float)
    y = np.where(np.arange(len(X)) % 2, 1.0, -1.0)
    problem = make_problem(X, y, C=1.0)
    alpha = np.repeat(rng.uniform(0.2, 0.8, len(X) // 2), 2)  # Σαy = 0
    found = vertex(problem, alpha)
    if found.sum() != alpha.sum():  # they were not on one margin: left as they are, or no less
        assert found.sum() >= alpha.sum() * (1 - 1e-9)
    np.testing.assert_allclose(X.T @ (found * y), X.T @ (alpha * y), atol=1e-12)
    assert abs(found @ y) < 1e-12
    free = (found > 0) & (found < 1 - 1e-9)
    if not (found == alpha).all():
        A = np.column_stack([X, np.ones(len(X))])[free]
        assert np.linalg.matrix_rank(A) == len(A)


def test_a_rough_answer_to_many_values_is_not_made_exact():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 20))
    y = np.where(X @ rng.standard_normal(20) + 2 * rng.standard_normal(1000) > 0, 1, -1)
    rough, exact = LinearSVM(tol=1e-3).fit(X, y), LinearSVM(tol=1e-6).fit(X, y)
    assert rough.solver_ == exact.solver_ == "tiny"
    assert rough.certificate_.holds(1e-3)
    assert exact.certificate_.relative_gap < 1e-11
    assert rough.n_iter_ < 0.7 * exact.n_iter_
    few = LinearSVM(tol=1e-3).fit(X[:300], y[:300])
    assert few.certificate_.relative_gap < 1e-11
