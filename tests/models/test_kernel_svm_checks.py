"""scikit-learn's own checks of estimators, without exemptions, for the kernel machine."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import KernelSVM

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks(
    [
        KernelSVM(),
        KernelSVM(multiclass="sum", C=10.0),
        KernelSVM(kernel="precomputed", multiclass="max"),
        KernelSVM(rank=20, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        KernelSVM(kernel="linear", multiclass="rest"),
        KernelSVM(kernel="poly", coef0=1.0, multiclass="max"),
        KernelSVM(kernel="precomputed"),
    ]
)
def test_other_options_pass_them_too(estimator, check):
    check(estimator)
