"""Under the patch scikit-learn's classes find the optimum of scikit-learn's own objectives."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from maxmargin import accelerate

pytestmark = pytest.mark.usefixtures("fresh_patch")


def _two():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:200, :8], np.where(y[:200] == 1, "yes", "no")


def _three():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["a", "b", "c"])[y]


def _both(model, X, y, **more):
    """The model as scikit-learn solves it, tightly, and under the patch; and what was recorded."""
    tight = type(model)(**model.get_params() | {"tol": 1e-9, "max_iter": 1_000_000})
    if isinstance(model, SVC):
        tight.set_params(max_iter=-1)
    theirs = tight.fit(X, y, **more)
    with accelerate.accelerated(load="now"):
        ours = model.fit(X, y, **more)
    return theirs, ours, accelerate.fits()[-1]


LINEAR = [
    LinearSVC(),
    LinearSVC(loss="hinge", C=0.1, intercept_scaling=3.0),
    LinearSVC(fit_intercept=False, class_weight="balanced"),
    LogisticRegression(C=30.0),
    LogisticRegression(solver="newton-cholesky", C=2.0, fit_intercept=False),
    LogisticRegression(solver="newton-cg", C=2.0, class_weight="balanced"),
]


@pytest.mark.parametrize("data", [_two, _three])
@pytest.mark.parametrize("model", LINEAR, ids=str)
def test_linear_models_are_the_same(model, data):
    X, y = data()
    weight = np.linspace(0.5, 2.0, len(y))
    theirs, ours, fit = _both(model, X, y, sample_weight=weight)
    assert fit.solver == "maxmargin"
    assert fit.gap <= 1e-9
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.coef_.dtype == theirs.coef_.dtype
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3 * np.abs(theirs.coef_).max())
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("solver", ["liblinear", "saga"])
def test_penalised_bias_and_saga(solver):
    X, y = _two()
    model = LogisticRegression(solver=solver, C=0.3, random_state=0)
    theirs, ours, fit = _both(model, sparse.csr_matrix(X), y)
    assert fit.solver == "maxmargin"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


def test_crammer_singer():
    X, y = _three()
    theirs, ours, fit = _both(LinearSVC(multi_class="crammer_singer", C=0.1), X, y)
    assert fit.solver == "maxmargin"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("data", [_two, _three])
def test_the_table_of_libsvm(kind, data):
    """Support vectors class by class, signed multipliers of each pair, signs and all."""
    X, y = data()
    model = SVC(kernel="linear", C=0.5, class_weight={y[0]: 2.0})
    theirs, ours, fit = _both(model, kind(X), y)
    assert fit.solver == "maxmargin", fit.why
    assert type(ours.dual_coef_) is type(theirs.dual_coef_)
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    assert ours.support_.dtype == theirs.support_.dtype
    assert ours.n_support_.dtype == theirs.n_support_.dtype
    assert ours._num_iter.dtype == theirs._num_iter.dtype
    assert (np.diff(np.repeat(np.arange(len(ours.classes_)), ours.n_support_)) >= 0).all()
    np.testing.assert_allclose(
        ours.decision_function(kind(X)), theirs.decision_function(kind(X)), atol=1e-4
    )
    np.testing.assert_allclose(_dense(ours.coef_), _dense(theirs.coef_), atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def _dense(A):
    return A.toarray() if sparse.issparse(A) else A


def test_cross_validation_takes_the_warm_path():
    X, y = _three()
    plain = LogisticRegressionCV(
        Cs=[0.01, 1.0],
        l1_ratios=(0,),
        tol=1e-6,
        max_iter=10_000,
        use_legacy_attributes=False,
        scoring="accuracy",
    ).fit(X, y)
    with accelerate.accelerated(load="now"):
        ours = LogisticRegressionCV(
            Cs=[0.01, 1.0], l1_ratios=(0,), use_legacy_attributes=False, scoring="accuracy"
        ).fit(X, y)
    assert {fit.solver for fit in accelerate.fits()} == {"maxmargin"}
    np.testing.assert_allclose(ours.scores_, plain.scores_)
    assert ours.C_ == plain.C_


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_rows_whose_indices_are_not_sorted(kernel):
    """LIBSVM's predictions walk along sorted support vectors; its own fit sorts them."""
    X, y = _two()
    theirs = SVC(kernel=kernel, tol=1e-8).fit(sparse.csr_matrix(X), y)
    rows = sparse.csr_matrix(X)
    mixed = sparse.csr_matrix((rows.data.copy(), rows.indices.copy(), rows.indptr), rows.shape)
    for start, end in zip(rows.indptr, rows.indptr[1:], strict=False):
        mixed.indices[start:end] = mixed.indices[start:end][::-1]
        mixed.data[start:end] = mixed.data[start:end][::-1]
    mixed.has_sorted_indices = False
    with accelerate.accelerated(load="now"):
        ours = SVC(kernel=kernel, tol=1e-8).fit(mixed, y)
    assert accelerate.fits()[-1].solver == "maxmargin"
    np.testing.assert_allclose(
        ours.decision_function(rows), theirs.decision_function(rows), atol=1e-4
    )


def test_single_precision_stays_single():
    X, y = make_classification(300, 6, random_state=0)
    X = (X * np.logspace(-1, 1, 6)).astype(np.float32)
    theirs, ours, fit = _both(LogisticRegression(), X, y)
    assert fit.solver == "maxmargin"
    assert ours.coef_.dtype == theirs.coef_.dtype == np.float32


@pytest.mark.parametrize("data", [_two, _three])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_ridge_classifiers(kind, data):
    X, y = data()
    model = RidgeClassifier(alpha=2.0, class_weight="balanced", tol=1e-12)
    theirs = clone(model).fit(kind(X), y)
    with accelerate.accelerated(load="now"):
        ours = model.fit(kind(X), y)
    (fit,) = accelerate.fits()
    assert fit.solver == "maxmargin"
    assert fit.gap <= 1e-12
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8)
    assert (ours.solver_, ours.n_iter_) == (theirs.solver_, theirs.n_iter_)


@pytest.mark.parametrize("data", [_two, _three])
def test_discriminants(data):
    X, y = data()
    theirs = LinearDiscriminantAnalysis(priors=None).fit(X, y)
    with accelerate.accelerated(load="now"):
        ours = LinearDiscriminantAnalysis().fit(X, y)
    assert accelerate.fits()[0].solver == "maxmargin"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-8)
    assert set(vars(ours)) == set(vars(theirs))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_discriminants_have_every_attribute_that_scikit_learn_leaves(kind):
    X, y = load_digits(return_X_y=True)
    model = LinearDiscriminantAnalysis(store_covariance=True, n_components=2)
    theirs = clone(model).fit(X.astype(kind), y)
    with accelerate.accelerated():
        ours = clone(model).fit(X.astype(kind), y)
    assert accelerate.fits()[0].solver == "maxmargin"
    assert set(vars(ours)) == set(vars(theirs))
    for name, value in vars(theirs).items():
        if isinstance(value, np.ndarray) and name != "scalings_":  # whose signs are LAPACK's choice
            mine = getattr(ours, name)
            assert mine.dtype == value.dtype
            near = np.finfo(kind).eps ** 0.6 * max(1.0, np.abs(value).max())
            np.testing.assert_allclose(mine, value, rtol=0, atol=near, err_msg=name)


def test_discriminants_of_a_column_that_is_constant_but_for_rounding_are_left():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.full(len(X), 7.3)])
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    with accelerate.accelerated():
        ours = LinearDiscriminantAnalysis().fit(X, y)
    (fit,) = accelerate.fits()
    assert fit.solver == "scikit-learn"
    assert "but for rounding" in fit.why
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)


def test_kernel_ridge():
    X, y = load_iris(return_X_y=True)
    weight = np.linspace(0.5, 2.0, len(y))
    theirs = KernelRidge(kernel="rbf", alpha=0.1).fit(X, y, sample_weight=weight)
    with accelerate.accelerated(load="now"):
        ours = KernelRidge(kernel="rbf", alpha=0.1).fit(X, y, sample_weight=weight)
    assert accelerate.fits()[0].solver == "maxmargin"
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-10)
