from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin.estimators.kernel_perceptron import KernelPerceptron


@parametrize_with_checks([KernelPerceptron()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
