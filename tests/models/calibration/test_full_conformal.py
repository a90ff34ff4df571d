"""Full conformal sets: their coverage is proved, and so may be tested tightly."""

import numpy as np
import pytest

from maxmargin import LeastSquaresClassifier, conformal_sets


def test_sets_cover_the_true_label():
    """Over 150 draws of 19 rows: at least 1 − α, and no more than 1/(n + 1) beyond."""
    rng, covered = np.random.default_rng(0), 0
    for _ in range(150):
        y = np.append([0, 1], rng.integers(2, size=18))
        x = rng.standard_normal((20, 1)) + y[:, None]
        order = rng.permutation(20)
        y, x = y[order], x[order]
        if len(np.unique(y[:-1])) < 2:
            covered += 1
            continue
        model = LeastSquaresClassifier(alpha=1.0)
        covered += conformal_sets(model, x[:-1], y[:-1], x[-1:], 0.2)[0, y[-1]]
    share = covered / 150
    assert 0.8 - 2 * 0.033 <= share <= 0.85 + 2 * 0.033


def test_too_many_rows_are_refused():
    X, y = np.arange(6000.0)[:, None], np.arange(6000) % 2
    with pytest.raises(ValueError, match="Use predict_set"):
        conformal_sets(LeastSquaresClassifier(), X, y, X[:1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        conformal_sets(LeastSquaresClassifier(), X[:9], y[:9], X[:1], alpha=1.5)
