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
