"""scikit-learn's own checks of estimators, without exemptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import LabelRanker, LinearSVM, PairwiseRanker


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
        PairwiseRanker(),
        PairwiseRanker(solver="descent", tol=1e-10),
        LabelRanker(),
        LabelRanker(fit_intercept=False),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
