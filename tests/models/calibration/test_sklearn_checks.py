"""scikit-learn's own checks of estimators that are asked for probabilities.

With one exemption, that of its own ``SVC``: what is left out is a row.  One step from the optimum
leaves out one unit of a weight, which is one of its repetitions, and there the two agree; so they
do for squares, logistic losses and Fisher's discriminant.  But a hinge shares a multiplier among
repetitions in any way, and folds, which take the place of one step on so few rows (of Fisher's
discriminant where the spread without a row would be singular), leave out a weight as a whole and
repetitions one by one.  To keep repetitions together would make them agree, and rows that are equal
by chance, as in a table of categories, would be judged as if no such row had been seen.
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
