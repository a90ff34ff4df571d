"""``check_estimator`` without a bias: what no plane through the origin can do."""

import pytest
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_sample_weight_equivalence_on_dense_data,
)

from maxmargin import LinearSVM, LogisticRegression


@pytest.mark.parametrize(
    "model",
    [TheirLogisticRegression(fit_intercept=False), LogisticRegression(fit_intercept=False)],
    ids=lambda model: type(model).__module__.split(".")[0],
)
def test_class_weights_alone_cannot_move_it_to_one_side(model):
    """The check wants nearly all rows in the heavy class; scikit-learn's own model fails it too."""
    with pytest.raises(AssertionError):
        check_class_weight_classifiers(type(model).__name__, model)


def test_weights_are_repetitions_without_a_bias():
    check_sample_weight_equivalence_on_dense_data("LinearSVM", LinearSVM(fit_intercept=False))
