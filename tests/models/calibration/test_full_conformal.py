"""Conformal sets, full or by folds: their coverage is proved, and so may be tested tightly."""

import numpy as np
import pytest

from maxmargin import LeastSquaresClassifier, conformal_sets
from maxmargin.models.calibration.cross_conformal import leads, proved_coverage


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
    with pytest.raises(ValueError, match="Use folds=5, or predict_set"):
        conformal_sets(LeastSquaresClassifier(), X, y, X[:1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        conformal_sets(LeastSquaresClassifier(), X[:9], y[:9], X[:1], alpha=1.5)


@pytest.mark.parametrize(("folds", "draws"), [(4, 40), (11, 15)])
def test_sets_by_folds_cover_what_is_proved(folds, draws):
    """Draws of 22 rows, of which four folds leave two over, and 50 new ones each."""
    rng, shares = np.random.default_rng(folds), []
    for _ in range(draws):
        y = np.append([0, 1, 0, 1], rng.integers(2, size=68))
        x = rng.standard_normal((72, 1)) + y[:, None]
        order = rng.permutation(72)
        rows, new = order[:22], order[22:]
        if np.bincount(y[rows], minlength=2).min() < 6:
            continue  # one fold might hold them all
        model = LeastSquaresClassifier(alpha=1.0)
        sets = conformal_sets(model, x[rows], y[rows], x[new], 0.2, folds=folds)
        shares.append(sets[np.arange(50), y[new]].mean())
    error = np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) >= proved_coverage(0.2, 22, folds)
    assert abs(np.mean(shares) - 0.8) < 0.06 + 2.0 * error  # the practice of 1 − α


def test_what_folds_prove():
    assert proved_coverage(0.1, 1000, 1000) == pytest.approx(0.8)  # the jackknife+
    assert proved_coverage(0.1, 1003, 5) == pytest.approx(0.8 - 2.0 * 0.8 / 201)
    assert proved_coverage(0.6, 10, 2) == 0.0
    assert proved_coverage(0.1, 50, 7) >= 0.8 - np.sqrt(2.0 / 49)


def test_one_fold_out_is_counted_by_hand():
    """The definition, row by row."""
    rng = np.random.default_rng(1)
    y = np.arange(12) % 3
    x, new = rng.standard_normal((12, 2)) + y[:, None], rng.standard_normal((4, 2))
    model = LeastSquaresClassifier(alpha=1.0)
    sets = conformal_sets(model, x, y, new, 0.3, folds=12)
    for j in range(4):
        for c in range(3):
            ahead = 0
            for i in range(12):
                fitted = model.fit(np.delete(x, i, 0), np.delete(y, i))
                own, judged = (leads(fitted.decision_function(v[None]))[0] for v in (x[i], new[j]))
                ahead += own[y[i]] > judged[c]
            assert sets[j, c] == (ahead < 0.7 * 13)


def test_folds_that_cannot_be_are_refused():
    x, y = np.arange(10.0)[:, None], np.append(np.zeros(9), 1.0)
    model = LeastSquaresClassifier(alpha=1.0)
    with pytest.raises(ValueError, match=r"class 1\.0 are in one fold of 5"):
        conformal_sets(model, x, y, x[:1], folds=5)
    with pytest.raises(ValueError, match="folds must be between 2"):
        conformal_sets(model, x, y, x[:1], folds=11)


def test_a_label_leads_the_best_other_one():
    f = np.array([[1.0, 3.0, 2.0], [2.0, 2.0, 0.0]])
    assert np.array_equal(leads(f), [[-2.0, 1.0, -1.0], [0.0, 0.0, -2.0]])
    assert np.array_equal(leads(np.array([0.5])), [[-0.5, 0.5]])
