"""KernelPerceptron: the same run as Perceptron, seen from the dual side."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin.core.kernels.kernel_rows import KERNEL_BATCH_ROWS, KernelRows
from maxmargin.core.kernels.kernels import Kernel
from maxmargin.models.perceptron.kernel_perceptron import KernelPerceptron
from maxmargin.models.perceptron.perceptron import Perceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks([KernelPerceptron(max_passes=50)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow  # a thousand passes over what no kernel separates
@parametrize_with_checks([KernelPerceptron()])
def test_scikit_learn_checks_at_defaults(estimator, check):
    check(estimator)


def whole_numbers(k):
    rng = np.random.default_rng(5)
    return rng.integers(-3, 4, (400, 4)).astype(float), rng.integers(0, k, 400)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("order", ["cycle", "shuffle", "random"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"margin": 4.0},
        {"fit_intercept": False},
        {"average": True},
        {"pocket": True},
        {"class_weight": {0: 2.0, 1: 1.0, 2: 4.0, 3: 1.0}},
    ],
)
def test_linear_kernel_makes_the_same_updates(k, order, settings):
    X, y = whole_numbers(k)
    if "class_weight" in settings:
        weights = {c: w for c, w in settings["class_weight"].items() if c < k}
        settings = {"class_weight": weights}
    settings = {"order": order, "max_passes": 4, "random_state": 8, **settings}
    primal = Perceptron(trace=True, **settings).fit(X, y)
    dual = KernelPerceptron("linear", **settings).fit(X, y)
    assert np.array_equal(dual.updated_, primal.trace_.point)
    assert np.array_equal(dual.alpha_, primal.alpha_)
    w = dual.dual_coef_ @ X[dual.support_]
    np.testing.assert_allclose(w, primal.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(dual.intercept_, primal.intercept_, rtol=1e-9, atol=1e-9)
    assert dual.certificate_.wrong == primal.certificate_.wrong


def test_gram_matrix_in_place_of_points():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    points = KernelPerceptron(gamma=2.0).fit(X, y)
    gram = KernelPerceptron("precomputed").fit(rbf_kernel(X, gamma=2.0), y)
    assert points.certificate_.separates
    assert np.array_equal(points.updated_, gram.updated_)
    new = np.random.default_rng(0).standard_normal((50, 2))
    np.testing.assert_allclose(
        points.decision_function(new), gram.decision_function(rbf_kernel(new, X, gamma=2.0))
    )
    callable_ = KernelPerceptron(lambda a, b: float(np.exp(-2 * ((a - b) ** 2).sum()))).fit(X, y)
    assert np.array_equal(points.updated_, callable_.updated_)
    thin = KernelPerceptron(gamma=2.0).fit(sparse.csr_matrix(X), y)
    assert np.array_equal(points.alpha_, thin.alpha_)
    with pytest.raises(ValueError, match="square Gram matrix"):
        KernelPerceptron("precomputed").fit(X, y)


def test_cache_is_bounded_and_changes_nothing():
    X, y = make_circles(300, noise=0.2, factor=0.6, random_state=0)
    small = KernelPerceptron(gamma=5.0, cache_megabytes=1e-3, max_passes=5).fit(X, y)
    large = KernelPerceptron(gamma=5.0, max_passes=5).fit(X, y)
    assert np.array_equal(small.updated_, large.updated_)
    rows = KernelRows(X, Kernel("rbf", 5.0), 1e-3)
    for i in range(100):
        expected = rbf_kernel(X[i : i + 1], X, 5.0)[0]
        np.testing.assert_allclose(rows.row(i, range(i, i + 9)), expected)
    assert len(rows._kept) <= KERNEL_BATCH_ROWS


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"kernel": "cubic"}, "kernel must be one of"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": "wide"}, "gamma must be one of"),
        ({"kernel": "poly", "degree": 0}, "degree must be"),
        ({"kernel": "poly", "degree": 2.5}, "degree must be"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0 must not be negative"),
        ({"coef0": np.inf}, "coef0 must be"),
        ({"kernel": lambda a, b: np.nan}, "not a finite number"),
        ({"cache_megabytes": 0}, "cache_megabytes must be"),
    ],
)
def test_bad_parameters(wrong, words):
    with pytest.raises(ValueError, match=words):
        KernelPerceptron(**wrong).fit([[0.0], [1.0]], [0, 1])
