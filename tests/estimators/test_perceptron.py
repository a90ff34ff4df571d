from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin.estimators.perceptron import Perceptron


@parametrize_with_checks([Perceptron()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
