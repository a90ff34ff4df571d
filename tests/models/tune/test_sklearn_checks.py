"""scikit-learn's own checks of estimators, without exemptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import KernelSVMCV, LinearSVMCV, LogisticRegressionCV


@parametrize_with_checks(
    [
        LinearSVMCV(Cs=3, cv=3),
        LinearSVMCV(Cs=3, cv=3, multiclass="pairs", n_jobs=2),
        LogisticRegressionCV(Cs=3, cv=3, rule="one_se"),
        KernelSVMCV(Cs=3, cv=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
