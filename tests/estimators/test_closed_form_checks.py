"""scikit-learn's own checks of the closed forms and the bases, without exemptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import (
    FisherDiscriminant,
    KernelRidge,
    KernelRidgeClassifier,
    LeastSquaresClassifier,
)


@parametrize_with_checks(
    [
        LeastSquaresClassifier(),
        LeastSquaresClassifier(alpha=0.5),
        LeastSquaresClassifier(alphas=[1.0]),
        FisherDiscriminant(),
        FisherDiscriminant(covariance="none", threshold="midpoint"),
        FisherDiscriminant(shrinkage=0.2),
        KernelRidge(),
        KernelRidge(alphas=[0.5], kernel="poly"),
        KernelRidgeClassifier(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
