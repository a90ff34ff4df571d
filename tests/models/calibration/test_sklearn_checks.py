"""scikit-learn's own checks of estimators that are asked for probabilities.

With one exemption, that of its own ``SVC``: a hinge has rows whose multipliers are shared by their
repetitions in any way, so that a weight of two and two rows are left out with other scores.
"""

from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import (
    FisherDiscriminant,
    KernelSVM,
    LeastSquaresClassifier,
    LinearSVM,
    LogisticRegression,
)

REPEATED = "a weight is not the same as repetitions when one of them is left out"


def exemptions(model):
    if not isinstance(model, LinearSVM | KernelSVM | FisherDiscriminant):
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": REPEATED for kind in kinds}


@parametrize_with_checks(
    [
        LinearSVM(probability=True),
        KernelSVM(probability=True),
        LogisticRegression(probability=True),
        LeastSquaresClassifier(probability=True, alpha=1.0),
        FisherDiscriminant(probability=True),
    ],
    expected_failed_checks=exemptions,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
