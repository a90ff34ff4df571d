"""Masks, and values whose squares are no numbers: said in words, at the door."""

import numpy as np
import pytest
from scipy import sparse

import maxmargin as mm

X = np.array([[-1.0, 0.5], [-2.0, 0.0], [1.0, 0.25], [2.0, 1.0]])
y = np.array([0, 0, 1, 1])
QUESTIONS = {
    "hard margin": lambda X, y: mm.LinearSVM(C=np.inf).fit(X, y),
    "separability": mm.separability,
    "mistake_bound": mm.mistake_bound,
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("scale", [1e160, 1e-310, 1e300])
def test_no_margin_is_told_where_squares_are_no_numbers(question, scale):
    labels = np.array([0, 1, 2, 2])
    for data in (X, sparse.csr_matrix(X)):
        for target in (y, labels):
            with pytest.raises(ValueError, match="Scale the features first"):
                QUESTIONS[question](data * scale, target)


def test_margins_of_large_and_small_values_are_told():
    for scale in (1e100, 1e-100):
        found = mm.separability(X * scale, y)
        assert found.separable
        np.testing.assert_allclose(found.margin, mm.separability(X, y).margin * scale, rtol=1e-6)


def test_rows_of_zeros_have_no_scale():
    assert not mm.separability(np.zeros((4, 2)), y).separable


ESTIMATORS = [
    mm.LinearSVM,
    mm.KernelSVM,
    mm.LogisticRegression,
    mm.LeastSquaresClassifier,
    mm.FisherDiscriminant,
    mm.Perceptron,
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_masked_values_are_missing(estimator):
    hidden = np.ma.array(X, mask=np.eye(4, 2, dtype=bool))
    with pytest.raises(ValueError, match=r"X has 2 masked values.*X.filled"):
        estimator().fit(hidden, y)
    with pytest.raises(ValueError, match="y has 1 masked values"):
        estimator().fit(X, np.ma.array(y, mask=[0, 0, 0, 1]))
    model = estimator().fit(np.ma.array(X), np.ma.array(y))  # nothing is masked
    with pytest.raises(ValueError, match="masked"):
        model.predict(hidden)


def test_masked_weights_and_chunks():
    with pytest.raises(ValueError, match="sample_weight has 1 masked values"):
        mm.LinearSVM().fit(X, y, np.ma.array(np.ones(4), mask=[1, 0, 0, 0]))
    chunks = [(np.ma.array(X, mask=np.eye(4, 2, dtype=bool)), y)]
    with pytest.raises(ValueError, match="masked values"):
        mm.fit_stream(mm.LinearSVM(), mm.open_source(chunks))
