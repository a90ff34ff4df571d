"""scikit-learn's own checks of the closed forms and the bases, without exemptions.

Not with kernel="precomputed": the checks pass matrices that are not positive semidefinite, which
we refuse.
"""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import (
    FisherDiscriminant,
    FunctionBasis,
    KernelRidge,
    KernelRidgeClassifier,
    LeastSquaresClassifier,
    LinearUnit,
    PolarBasis,
    PolynomialBasis,
    QuadraticBasis,
    QuadraticDiscriminant,
    RadialBasis,
)


@parametrize_with_checks(
    [
        LeastSquaresClassifier(),
        LeastSquaresClassifier(alpha=0.5),
        LeastSquaresClassifier(alphas=[1.0]),
        FisherDiscriminant(),
        FisherDiscriminant(covariance="none", threshold="midpoint"),
        FisherDiscriminant(shrinkage=0.2),
        QuadraticDiscriminant(shrinkage=0.1),
        LinearUnit(tol=1e-2),
        KernelRidge(),
        KernelRidge(alphas=[0.5], kernel="poly"),
        KernelRidgeClassifier(),
        PolarBasis(),
        PolarBasis(center="mean"),
        QuadraticBasis(),
        PolynomialBasis(degree=2, bias=True),
        RadialBasis(centers=7),
        FunctionBasis(),
        FunctionBasis(np.tanh),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
