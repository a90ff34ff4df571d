"""Lectures 003 and 004: least squares and its weakness, Fisher, bases, the kernel trick."""

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from maxmargin import (
    FisherDiscriminant,
    FunctionBasis,
    KernelRidge,
    KernelRidgeClassifier,
    LeastSquaresClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsRest,
    Perceptron,
    PolarBasis,
    PolynomialBasis,
    QuadraticBasis,
    RadialBasis,
    separability,
)


def two_clouds(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal([-2, 0], 0.5, (n, 2)), rng.normal([2, 0], 0.5, (n, 2))])
    return X, np.repeat([0, 1], n)


def boundary(model):
    """Where the boundary crosses the line between the clouds, and its direction."""
    w, b = model.coef_[0], float(model.intercept_[0])
    return -b / w[0], w / np.linalg.norm(w)


def test_distant_correct_points_move_least_squares_and_not_the_svm():
    X, y = two_clouds()
    far = np.random.default_rng(1).normal([15, -12], 0.5, (20, 2))
    X_far, y_far = np.vstack([X, far]), np.concatenate([y, np.ones(20, dtype=int)])
    before, after = (LeastSquaresClassifier().fit(*D) for D in ((X, y), (X_far, y_far)))
    assert (before.decision_function(far) > 2).all()  # clear, correct, and yet:
    turned = np.arccos(np.clip(boundary(before)[1] @ boundary(after)[1], -1, 1))
    assert turned > np.radians(20)
    assert (after.predict(X_far) != y_far).sum() > (before.predict(X_far) != y_far).sum() == 0
    svm, svm_far = (LinearSVM().fit(*D) for D in ((X, y), (X_far, y_far)))
    np.testing.assert_allclose(svm.coef_, svm_far.coef_, atol=1e-6)
    np.testing.assert_allclose(svm.intercept_, svm_far.intercept_, atol=1e-6)
    assert (svm_far.predict(X_far) == y_far).all()


def test_least_squares_of_the_notes():
    """W̃ = (X̃ᵀX̃)⁻¹X̃ᵀT, and the class of the largest y_k(x)."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 4, 50)
    tilde, T = np.column_stack([np.ones(50), X]), np.eye(4)[y]
    W = np.linalg.solve(tilde.T @ tilde, tilde.T @ T)
    model = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(np.column_stack([model.intercept_, model.coef_]), W.T, atol=1e-12)
    assert (model.predict(X) == (tilde @ W).argmax(axis=1)).all()
    np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 1)  # as targets do


def tilted(n=300, seed=0):
    """Two long clouds whose means lie side by side along their length."""
    rng = np.random.default_rng(seed)
    shape = np.array([[3.0, 2.7], [2.7, 3.0]])
    X = np.vstack([rng.multivariate_normal(m, shape, n) for m in ([0, 0], [2, 1])])
    return X, np.repeat([0, 1], n)


def test_means_only_and_with_the_covariance():
    X, y = tilted()
    means = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    line = FisherDiscriminant(covariance="none", threshold="midpoint").fit(X, y)
    w = line.scalings_[:, 0]
    assert abs(w @ means) == pytest.approx(np.linalg.norm(w) * np.linalg.norm(means))
    middle = 0.5 * (X[y == 1].mean(axis=0) + X[y == 0].mean(axis=0))
    assert line.decision_function(middle[None])[0] == pytest.approx(0, abs=1e-12)
    fisher = FisherDiscriminant().fit(X, y)
    within = sum(np.cov(X[y == c].T, bias=True) for c in (0, 1))
    best = np.linalg.solve(within, means)
    cosine = abs(fisher.scalings_[:, 0] @ best) / (
        np.linalg.norm(fisher.scalings_) * np.linalg.norm(best)
    )
    assert cosine == pytest.approx(1)
    assert fisher.score(X, y) > line.score(X, y) + 0.1


def test_two_classes_of_equal_size_make_fisher_of_least_squares():
    """Bishop: least squares with targets ±1 has Fisher's direction."""
    X, y = tilted()
    w, v = LeastSquaresClassifier().fit(X, y).coef_[0], FisherDiscriminant().fit(X, y).coef_[0]
    np.testing.assert_allclose(w / np.linalg.norm(w), v / np.linalg.norm(v), atol=1e-10)


@pytest.fixture
def circles():
    return make_circles(300, noise=0.05, factor=0.4, random_state=0)


def test_circles_are_not_separable_and_after_a_change_of_basis_they_are(circles):
    X, y = circles
    answer = separability(X, y)
    assert not answer.separable
    assert answer.residual < 1e-9
    for basis in (PolarBasis(), QuadraticBasis(), RadialBasis(20, gamma=2.0)):
        assert separability(basis.fit_transform(X), y).separable
        hard = make_pipeline(basis, LinearSVM(C=np.inf)).fit(X, y)
        assert hard.score(X, y) == 1.0
        assert hard[-1].certificate_.holds(1e-6)


def test_the_radius_alone_decides(circles):
    X, y = circles
    pipeline = make_pipeline(PolarBasis(), LinearSVM(C=np.inf)).fit(X, y)
    names = pipeline[:-1].get_feature_names_out()
    weight = dict(zip(names, pipeline[-1].coef_[0], strict=True))
    assert abs(weight["r"]) > 100 * abs(weight["theta"])


def test_one_dimension_becomes_two():
    """Points inside an interval against points on both sides: separable by (x, x²)."""
    x = np.array([-4, -3.5, -3, -1, -0.5, 0, 0.7, 1.1, 2.9, 3.3, 4.0])[:, None]
    y = (np.abs(x[:, 0]) < 2).astype(int)
    assert not separability(x, y).separable
    after = QuadraticBasis().fit_transform(x)
    np.testing.assert_allclose(after, np.column_stack([x, x**2]))
    assert separability(after, y).separable


@pytest.mark.parametrize(
    "make",
    [
        LeastSquaresClassifier,
        FisherDiscriminant,
        LinearSVM,
        LogisticRegression,
        Perceptron,
        lambda: OneVsRest(LinearSVM()),
        lambda: KernelRidgeClassifier(1e-3, kernel="poly", degree=1),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_takes_every_basis(make, circles):
    X, y = circles
    for basis in (
        PolarBasis(),
        QuadraticBasis(bias=True),
        PolynomialBasis(4, bias=True),
        RadialBasis(15, gamma=2.0),
        FunctionBasis(lambda X: np.column_stack([np.ones(len(X)), (X**2).sum(axis=1)])),
    ):
        assert make_pipeline(basis, make()).fit(X, y).score(X, y) > 0.95


def by_hand(X, degree, gamma, coef0):
    """φ with φ(x)·φ(z) = (γ x·z + c)^degree for two columns, every root of a binomial by hand."""
    a, b = np.sqrt(gamma) * X.T
    c = np.sqrt(coef0) * np.ones(len(X))
    r = np.sqrt
    if degree == 2:
        return np.column_stack([a * a, b * b, c * c, r(2) * a * b, r(2) * a * c, r(2) * b * c])
    return np.column_stack(
        [a**3, b**3, c**3, r(3) * a * a * b, r(3) * a * a * c, r(3) * b * b * a, r(3) * b * b * c,
         r(3) * c * c * a, r(3) * c * c * b, r(6) * a * b * c]
    )  # fmt: skip


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_kernel_regression_is_regression_in_the_explicit_basis(degree, alpha):
    """ŷ = K̃(K + λI)⁻¹y = Z̃(ZᵀZ + λI)⁻¹Zᵀy."""
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((40, 2)), rng.standard_normal((15, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    Z, Z_new = (by_hand(part, degree, 0.5, 2.0) for part in (X, new))
    kernel = KernelRidge(alpha, kernel="poly", degree=degree, gamma=0.5, coef0=2.0)
    dual = kernel.fit(X, y)
    primal = Ridge(alpha, fit_intercept=False).fit(Z, y)
    np.testing.assert_allclose(dual.predict(new), primal.predict(Z_new), atol=1e-8)
    np.testing.assert_allclose(Z.T @ dual.dual_coef_[:, 0], primal.coef_, atol=1e-8)
    labels = (y > 0).astype(int) + (y > 1)
    classifier = KernelRidgeClassifier(alpha, kernel="poly", degree=degree, gamma=0.5, coef0=2.0)
    explicit = LeastSquaresClassifier(alpha, fit_intercept=False).fit(Z, labels)
    scores = classifier.fit(X, labels).decision_function(new)
    np.testing.assert_allclose(scores, explicit.decision_function(Z_new), atol=1e-8)
    assert dual.leave_one_out(X, y).squared_error[0] == pytest.approx(
        np.mean([
            (Ridge(alpha, fit_intercept=False).fit(np.delete(Z, i, 0), np.delete(y, i))
             .predict(Z[i : i + 1])[0] - y[i]) ** 2 for i in range(40)
        ])
    )  # fmt: skip
