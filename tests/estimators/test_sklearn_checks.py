"""scikit-learn's own checks of estimators, without exemptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import LinearSVM


@parametrize_with_checks(
    [
        LinearSVM(),
        LinearSVM(multiclass="sum", loss="squared_hinge"),
        LinearSVM(penalize_bias=True),
        LinearSVM(solver="newton"),
        LinearSVM(solver="interior", multiclass="rest"),
        LinearSVM(multiclass="sum"),
        LinearSVM(multiclass="pairs"),
        LinearSVM(multiclass="max", loss="squared_hinge"),
        LinearSVM(solver="descent", tol=1e-12),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
