"""Laws of the closed forms: both normal equations, leaving one out, paths, weights, units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import FisherDiscriminant, KernelRidge, LeastSquaresClassifier, verify
from maxmargin.core.rows.design import Design
from maxmargin.core.solve.closed_form import least_squares as solver


def data(n, d, k, seed=0, scale=0.0, shift=0.0):
    """Random points and labels, every class at least twice."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(-scale, scale, d) + shift
    y = rng.integers(0, k, n)
    y[: 2 * k] = np.repeat(np.arange(k), 2)
    return X, y


def objective(X, y, W, b, alpha, weight=None):
    """½ Σ s ‖W x + b − t‖² + ½ α‖W‖², written as plainly as can be."""
    classes = np.unique(y)
    T = (y[:, None] == classes).astype(float)
    if len(classes) == 2:
        T = 2 * T[:, 1:] - 1
    s = np.ones(len(y)) if weight is None else weight
    R = X @ W.T + b - T
    return 0.5 * (s[:, None] * R * R).sum() + 0.5 * alpha * (W * W).sum()


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 12), d=st.integers(1, 12), k=st.integers(1, 3),
    log_alpha=st.floats(-3, 3), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_the_other_normal_equations(n, d, k, log_alpha, seed):
    """(XᵀX + λI)⁻¹Xᵀ = Xᵀ(XXᵀ + λI)⁻¹."""
    rng = np.random.default_rng(seed)
    X, T, lam = rng.standard_normal((n, d)), rng.standard_normal((n, k)), 10.0**log_alpha
    columns = np.linalg.solve(X.T @ X + lam * np.eye(d), X.T @ T)
    rows = X.T @ np.linalg.solve(X @ X.T + lam * np.eye(n), T)
    np.testing.assert_allclose(columns, rows, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("shape", [(40, 5), (20, 19), (12, 30)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("k", [2, 3])
def test_nobody_does_better(shape, alpha, intercept, k):
    X, y = data(*shape, k, shift=2.0)
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    model = LeastSquaresClassifier(alpha, fit_intercept=intercept).fit(X, y, weight)
    W, b = model.coef_, model.intercept_
    best = objective(X, y, W, b, alpha, weight)
    assert model.certificate_.objective == pytest.approx(best, abs=1e-12)
    assert model.certificate_.holds(1e-10)
    assert model.certificate_.relative_gap < 1e-12
    rng = np.random.default_rng(2)
    for size in (1e-4, 1e-2, 1.0):
        step, shift = rng.standard_normal(W.shape), rng.standard_normal(b.shape) * intercept
        assert objective(X, y, W + size * step, b + size * shift, alpha, weight) > best


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_both_systems_and_iterations_give_the_same_weights(shape, alpha, make, monkeypatch):
    X, y = data(*shape, 3, shift=1.0)
    found = {}
    for name in ("columns", "rows", "iterations"):
        monkeypatch.setattr(solver, "side", lambda design, name=name: name)
        found[name] = LeastSquaresClassifier(alpha).fit(make(X), y)
    for name in ("rows", "iterations"):
        np.testing.assert_allclose(found[name].coef_, found["columns"].coef_, atol=1e-8)
        assert found[name].certificate_.holds(1e-9)
    assert found["iterations"].certificate_.factorisation == "conjugate gradients"


@pytest.mark.parametrize("shape", [(30, 4), (9, 20), (20, 19), (20, 20)])
@pytest.mark.parametrize("intercept", [True, False])
def test_pseudo_inverse(shape, intercept):
    """W = pinv(X) T, of centred data where there is a bias; pinv(X̃) T at full column rank."""
    X, y = data(*shape, 3)
    T = np.eye(3)[y]
    model = LeastSquaresClassifier(fit_intercept=intercept).fit(X, y)
    mean, t = (X.mean(axis=0), T.mean(axis=0)) if intercept else (0.0, 0.0)
    np.testing.assert_allclose(model.coef_.T, np.linalg.pinv(X - mean) @ (T - t), atol=1e-9)
    if intercept and shape[0] > shape[1] + 1:
        everything = np.linalg.pinv(np.column_stack([np.ones(len(X)), X])) @ T
        np.testing.assert_allclose(model.intercept_, everything[0], atol=1e-12)


def literally(make, X, y, weight, i):
    keep = np.arange(len(y)) != i
    rest = None if weight is None else weight[keep]
    model = make().fit(X[keep], y[keep], rest)
    score = getattr(model, "decision_function", model.predict)
    return np.ravel(score(X[i : i + 1]))


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("case", [(30, 4, 2), (30, 4, 3), (20, 40, 3), (20, 19, 2), (15, 15, 2)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_leaving_one_out_in_closed_form_is_leaving_one_out(case, alpha, intercept, weighted):
    n, d, k = case
    X, y = data(n, d, k, shift=1.0)
    weight = np.random.default_rng(1).random(n) + 0.1 if weighted else None
    make = lambda: LeastSquaresClassifier(alpha, fit_intercept=intercept)  # noqa: E731
    loo = make().fit(X, y, weight).leave_one_out(X, y, weight)
    literal = np.array([literally(make, X, y, weight, i) for i in range(n)])
    np.testing.assert_allclose(loo.scores[0], literal, rtol=1e-6, atol=1e-6 * np.ptp(literal))
    guess = (literal[:, 0] > 0).astype(int) if k == 2 else literal.argmax(axis=1)
    s = np.ones(n) if weight is None else weight
    assert loo.error[0] == pytest.approx(s @ (guess != y) / s.sum())


def test_leaving_one_out_of_repeated_rows_and_of_rows_without_weight():
    """Rank below the number of rows, rows that alone reach a direction, and rows left out."""
    X, y = data(12, 30, 2)
    X = np.vstack([X, X[:4]])
    y = np.concatenate([y, y[:4]])
    weight = np.ones(16)
    weight[7] = 0.0
    make = LeastSquaresClassifier
    loo = make().fit(X, y, weight).leave_one_out(X, y, weight)
    literal = [literally(make, X, y, weight, i)[0] for i in range(16)]
    np.testing.assert_allclose(loo.scores[0, :, 0], literal, atol=1e-7)


@pytest.mark.parametrize("alpha", [0.0, 1e-2, 1.0])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("weighted", [True, False])
def test_leaving_one_out_of_kernel_ridge(alpha, kernel, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((35, 3))
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])
    weight = rng.random(35) + 0.1 if weighted else None
    make = lambda: KernelRidge(alpha, kernel=kernel, gamma=0.5)  # noqa: E731
    loo = make().fit(X, y, weight).leave_one_out(X, y, weight)
    literal = np.array([literally(make, X, y, weight, i) for i in range(35)])
    np.testing.assert_allclose(loo.scores[0], literal, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(40, 6), (15, 30)])
def test_a_path_is_all_its_fits(shape):
    X, y = data(*shape, 3)
    alphas = [0.0, 0.01, 1.0, 100.0]
    path = LeastSquaresClassifier(alphas=alphas).fit(X, y)
    errors = []
    for i, alpha in enumerate(alphas):
        one = LeastSquaresClassifier(alpha).fit(X, y)
        np.testing.assert_allclose(path.path_.coef[i], one.coef_, atol=1e-9)
        np.testing.assert_allclose(path.path_.intercept[i], one.intercept_, atol=1e-9)
        errors.append(one.leave_one_out(X, y).squared_error[0])
    np.testing.assert_allclose(path.path_.loo.squared_error, errors, rtol=1e-8)
    assert path.alpha_ == alphas[int(np.argmin(errors))]
    assert path.certificate_.holds(1e-11)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(25, 4), (8, 15)]))
def test_weights_are_repetitions(seed, shape):
    X, y = data(*shape, 2, seed)
    counts = np.random.default_rng(seed).integers(0, 4, len(y))
    counts[:4] = 1, 2, 1, 2
    once = LeastSquaresClassifier(0.5).fit(X, y, counts)
    again = LeastSquaresClassifier(0.5).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(once.coef_, again.coef_, atol=1e-9)
    more, labels = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    fisher = FisherDiscriminant(shrinkage=0.1).fit(X, y, counts)
    twice = FisherDiscriminant(shrinkage=0.1).fit(more, labels)
    np.testing.assert_allclose(fisher.coef_, twice.coef_, atol=1e-8 * np.abs(twice.coef_).max())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.sampled_from([2, 3]))
def test_units_and_origin_do_not_matter(seed, k):
    """Without a ridge, w scales against its feature and nothing depends on the origin."""
    X, y = data(30, 4, k, seed)
    rng = np.random.default_rng(seed)
    units, origin = 10.0 ** rng.integers(-6, 7, 4), 100 * rng.standard_normal(4)
    for model in (LeastSquaresClassifier(), FisherDiscriminant()):
        plain = model.fit(X, y).decision_function(X)
        assert model.certificate_.holds(1e-9)
        moved = model.fit(X * units + origin * units, y).decision_function((X + origin) * units)
        np.testing.assert_allclose(moved, plain, atol=1e-6 * np.ptp(plain))


@pytest.mark.parametrize("shape", [(3000, 20), (60, 900), (450, 450)])
def test_float32_data_give_float64_answers(shape):
    X, y = data(*shape, 3, shift=3.0)
    X = X.astype(np.float32)
    for make in (lambda: LeastSquaresClassifier(0.1), FisherDiscriminant):
        single, double = make().fit(X, y), make().fit(X.astype(np.float64), y)
        size = np.abs(double.coef_).max()
        np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-8 * size)
        assert single.coef_.dtype == np.float64


def test_products_with_the_design():
    """apply, adjoint, outer, normal and both Gram matrices are those of the matrix written out."""
    rng = np.random.default_rng(0)
    codes, weight = np.arange(20) % 3, rng.random(20)
    for d in (7, 31):
        X = rng.standard_normal((20, d)) + 5
        for given_codes, groups in ((None, 1), (codes, 3)):
            for scale in (None, np.logspace(-1, 1, d)):
                for make in (np.asarray, sparse.csr_array):
                    design = Design(make(X), weight, True, given_codes, groups, scale)
                    rows = np.zeros(20, dtype=int) if given_codes is None else codes
                    means = [np.average(X[rows == g], axis=0, weights=weight[rows == g])
                             for g in range(groups)]  # fmt: skip
                    A = np.sqrt(weight)[:, None] * (X - np.array(means)[rows])
                    A = A if scale is None else A * scale
                    W, R = rng.standard_normal((d, 2)), rng.standard_normal((20, 2))
                    np.testing.assert_allclose(design.apply(W), A @ W, atol=1e-10)
                    np.testing.assert_allclose(design.adjoint(R), A.T @ R, atol=1e-10)
                    np.testing.assert_allclose(design.normal(W), A.T @ A @ W, atol=1e-9)
                    out, back = design.outer(R)
                    np.testing.assert_allclose(out, A.T @ R, atol=1e-10)
                    np.testing.assert_allclose(back, A @ A.T @ R, atol=1e-9)
                    np.testing.assert_allclose(
                        np.tril(design.column_gram()), np.tril(A.T @ A), atol=1e-9
                    )
                    np.testing.assert_allclose(
                        np.tril(design.row_gram()), np.tril(A @ A.T), atol=1e-9
                    )


@pytest.mark.parametrize("shape", [(60, 4), (200, 30), (25, 60)])
@pytest.mark.parametrize("shrinkage", [None, 0.2, "auto"])
@pytest.mark.parametrize("k", [2, 4])
def test_no_direction_has_a_larger_criterion(shape, shrinkage, k):
    X, y = data(*shape, k)
    X = X + 0.7 * np.eye(k, shape[1])[y]
    model = FisherDiscriminant(shrinkage=shrinkage).fit(X, y)
    proof = model.certificate_
    assert proof.holds(1e-9)
    np.testing.assert_allclose(proof.criterion, model.criterion_, rtol=1e-9)
    np.testing.assert_allclose(model.criterion_.max(), proof.bound, rtol=1e-9)
    # Written out: random directions, with Σ as scikit-learn's covariances give it.
    from sklearn.discriminant_analysis import _class_cov

    priors = np.bincount(y) / len(y)
    S = _class_cov(X, y, priors, shrinkage)
    apart = model.means_ - priors @ model.means_
    rng = np.random.default_rng(0)
    V = np.column_stack([model.scalings_, rng.standard_normal((shape[1], 200))])
    if shape[0] <= shape[1] and shrinkage is None:  # stay where the classes have a spread
        V = S @ V
    between = (priors[:, None] * (apart @ V) ** 2).sum(axis=0)
    J = between / np.einsum("ij,ij->j", V, S @ V)
    if shape[0] > shape[1] or shrinkage is not None:
        np.testing.assert_allclose(J[: len(model.criterion_)], model.criterion_, rtol=1e-7)
        assert J.max() <= proof.bound * (1 + 1e-9)
    m = len(model.criterion_)
    if shrinkage != "auto" or shape[0] > 30:
        inner = model.scalings_.T @ S @ model.scalings_
        np.testing.assert_allclose(inner, np.eye(m), atol=1e-7)


@pytest.mark.parametrize("shape", [(50, 5), (20, 40)])
def test_verify_recomputes_every_certificate(shape):
    X, y = data(*shape, 3)
    for model in (LeastSquaresClassifier(0.3), FisherDiscriminant(shrinkage=0.3)):
        model.fit(X, y)
        again = verify(model, X, y)
        assert again.holds(1e-10)
        assert again.rank == model.certificate_.rank
        model.coef_ = model.coef_ * 1.01
        if hasattr(model, "scalings_"):
            model.scalings_ = model.scalings_ + 0.1
        assert not verify(model, X, y).holds(1e-4)
    ridge = KernelRidge(0.1).fit(X, y)
    assert verify(ridge, X, y).holds(1e-11)
    ridge.dual_coef_ = 1.01 * ridge.dual_coef_
    assert not verify(ridge, X, y).holds(1e-4)
    with pytest.raises(ValueError, match="training rows only"):
        verify(ridge, X[:-1], y[:-1])
