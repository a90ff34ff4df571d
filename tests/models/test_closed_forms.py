"""Behaviour of the closed forms: bad input, near-singular systems, certificates, memory."""

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from maxmargin import (
    FisherDiscriminant,
    KernelRidge,
    KernelRidgeClassifier,
    LeastSquaresClassifier,
    verify,
)
from maxmargin.app.report.words import in_short

ALL = [LeastSquaresClassifier(), FisherDiscriminant(), KernelRidge(), KernelRidgeClassifier()]


def cloud(n=80, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int)


# --- near-singular systems ----------------------------------------------------------------


@pytest.mark.parametrize("repeat", [1.0, 1.0 + 1e-13, -3.0])
def test_a_column_twice(repeat):
    """Rank one short: the W of least norm, shared between the two, and the rank told."""
    X, y = cloud()
    twice = np.column_stack([X, repeat * X[:, 1]])
    model = LeastSquaresClassifier().fit(twice, y)
    proof = model.certificate_
    assert (proof.rank, proof.size) == (4, 5)
    assert proof.factorisation == "QR and SVD"
    assert "rank 4 of 5" in str(proof)
    assert proof.holds(1e-12)
    plain = LeastSquaresClassifier().fit(X, y)
    expected = plain.decision_function(X)
    np.testing.assert_allclose(model.decision_function(twice), expected, atol=1e-8)
    w = model.coef_[0]
    assert w[4] == pytest.approx(repeat * w[1], rel=1e-6)  # least norm
    fisher = FisherDiscriminant().fit(twice, y)
    assert fisher.certificate_.rank == 4
    expected = FisherDiscriminant().fit(X, y).decision_function(X)
    np.testing.assert_allclose(fisher.decision_function(twice), expected, atol=1e-6)


@pytest.mark.parametrize("level", [0.0, 1.0, 1e6, -0.1])
def test_a_constant_column_gets_no_weight(level):
    X, y = cloud()
    wide = np.column_stack([X, np.full(len(X), level)])
    for make in (LeastSquaresClassifier, FisherDiscriminant):
        model, plain = make().fit(wide, y), make().fit(X, y)
        assert model.coef_[0, 4] == 0.0
        np.testing.assert_allclose(model.coef_[0, :4], plain.coef_[0], atol=1e-9)


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_far_from_the_origin(kind):
    X, y = cloud(200)
    shift = 1e6 if kind == "float64" else 1e3
    far = (X + shift).astype(kind)
    near = far.astype(np.float64) - shift
    for make in (LeastSquaresClassifier, FisherDiscriminant):
        model, plain = make().fit(far, y), make().fit(near, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6)
        assert model.certificate_.holds(1e-9)


def test_nearly_collinear_columns_are_solved_as_well_as_they_can_be():
    """Condition 1e9 in X, 1e18 in XᵀX: the normal equations alone would be lost."""
    rng = np.random.default_rng(0)
    U, _ = np.linalg.qr(rng.standard_normal((100, 6)) - 0.0)
    U -= U.mean(axis=0)
    U, _ = np.linalg.qr(U)
    V, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    X = (U * np.logspace(0, -9, 6)) @ V.T
    y = (U[:, 0] + 0.01 * rng.standard_normal(100) > 0).astype(int)
    model = LeastSquaresClassifier().fit(X, y)
    assert model.certificate_.factorisation == "QR and SVD"
    assert model.certificate_.rank == 6
    assert model.certificate_.condition > 1e15
    t = 2.0 * y - 1.0
    best = U @ (U.T @ (t - t.mean())) + t.mean()  # the projection, computed without X
    np.testing.assert_allclose(model.decision_function(X), best, atol=1e-5)


@pytest.mark.parametrize("scale", [1e100, 1e-100])
def test_extreme_units(scale):
    X, y = cloud()
    model, plain = (LeastSquaresClassifier().fit(Z, y) for Z in (X * scale, X))
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-9)
    assert model.certificate_.holds(1e-12)


def test_squares_too_large_for_float32_go_to_float64():
    rng = np.random.default_rng(0)
    X = (1e25 * rng.standard_normal((600, 450))).astype(np.float32)
    model = LeastSquaresClassifier().fit(X, rng.integers(0, 2, 600))
    assert model.certificate_.factorisation == "Cholesky"
    assert model.certificate_.holds(1e-11)


@pytest.mark.parametrize(
    ("scale", "alphas"),
    [(1e-300, None), (1e-170, None), (1e160, [1.0, 2.0]), (1e290, None)],
)
def test_squares_that_are_no_numbers_are_those_of_other_units(scale, alphas):
    """The data are multiplied by a power of two first, exactly, and so is the ridge."""
    X, y = cloud()
    model = LeastSquaresClassifier(alphas=alphas).fit(scale * X, y)
    assert model.certificate_.holds(1e-12)
    assert verify(model, scale * X, y).holds(1e-12)
    if alphas is None:
        assert model.certificate_.relative_gap < 1e-12
        plain = LeastSquaresClassifier().fit(X, y)
        np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-9)
        ours, theirs = (m.leave_one_out(Z, y) for m, Z in ((model, scale * X), (plain, X)))
        np.testing.assert_allclose(ours.squared_error, theirs.squared_error, rtol=1e-9)


def test_squares_that_vanish_beside_others_are_not_called_a_proof():
    """No unit serves columns of 1e-200 and 1e150 both; of few rows fractions do."""
    X, y = cloud(600)
    X *= np.geomspace(1e-200, 1e150, X.shape[1])
    with pytest.warns(ConvergenceWarning):
        model = LeastSquaresClassifier().fit(X, y)
    assert not model.certificate_.holds(1e-3)
    assert "nothing is proved" in str(model.certificate_)
    few = LeastSquaresClassifier().fit(X[:80], y[:80])
    assert few.certificate_.holds(1e-12)
    assert "rational" in few.certificate_.method


def test_no_number_is_no_proof():
    X, y = cloud()
    proof = LeastSquaresClassifier().fit(X, y).certificate_
    assert not replace(proof, relative_residual=np.nan).holds(1.0)
    assert not replace(proof, excess=np.nan).holds(1.0)


@pytest.mark.parametrize("offset", [1e8, 1e11, 1e14])
def test_far_from_the_origin_the_bias_is_nearly_a_float(offset):
    """A bias of 1e14 is rounded by 0.01: W is moved by 1e-11 to one whose bias is not."""
    X, y = cloud()
    model = LeastSquaresClassifier().fit(X + offset, y)
    assert model.certificate_.holds(1e-6)
    assert verify(model, X + offset, y).holds(1e-6)


def test_kernel_ridge_without_a_ridge_on_repeated_points():
    X, y = cloud(30)
    X, y = np.vstack([X, X[:5]]), np.concatenate([y, 1 - y[:5]])
    model = KernelRidge(0.0, gamma=0.5).fit(X, y.astype(float))
    assert model.certificate_.rank == 30
    assert model.certificate_.holds(1e-9)
    np.testing.assert_allclose(model.predict(X[:5]), 0.5, atol=1e-6)  # the mean of both


def test_iterations_are_told(monkeypatch):
    """Neither Gram matrix fits: conjugate gradients, and the certificate says so."""
    from maxmargin.core.solve.closed_form import least_squares as solver

    monkeypatch.setattr(solver, "MAX_SPARSE_GRAM_SIZE", 50)
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 300), density=0.05, rng=rng, format="csr")
    y = rng.integers(0, 3, 400)
    model = LeastSquaresClassifier(0.1).fit(X, y)
    assert "conjugate gradients" in str(model.certificate_)
    assert model.certificate_.holds(1e-10)
    dense = LeastSquaresClassifier(0.1).fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-8)
    monkeypatch.setattr(solver, "MAX_CG_STEPS", 3)
    with pytest.warns(ConvergenceWarning, match="use a ridge"):
        early = LeastSquaresClassifier(0.1).fit(X, y)
    assert early.certificate_.refinements == 3
    with pytest.raises(ValueError, match="too large"):
        LeastSquaresClassifier(alphas=[0.1, 1.0]).fit(X, y)
    with pytest.raises(ValueError, match="both are too large"):
        FisherDiscriminant().fit(X, y)


def test_classes_without_any_spread():
    X, y = [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="no spread within the classes"):
        FisherDiscriminant().fit(X, y)
    assert FisherDiscriminant(covariance="none").fit(X, y).score(X, y) == 1.0


# --- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LeastSquaresClassifier(alpha=-1), "alpha must be a finite number"),
        (LeastSquaresClassifier(alpha=np.inf), "alpha must be a finite number"),
        (LeastSquaresClassifier(alphas=[]), "alphas must be a list"),
        (LeastSquaresClassifier(alphas=[1.0, np.nan]), "alphas must be a list"),
        (KernelRidge(alpha="big"), "alpha must be a finite number"),
        (KernelRidge(gamma=0), "gamma must be"),
        (KernelRidge(kernel="cubic"), "kernel must be one of"),
        (KernelRidgeClassifier(kernel="poly", degree=-2), "degree must be"),
        (FisherDiscriminant(covariance="full"), "covariance must be one of"),
        (FisherDiscriminant(threshold=0.5), "threshold must be one of"),
        (FisherDiscriminant(shrinkage=1.5), "shrinkage must be"),
        (FisherDiscriminant(shrinkage="some"), "shrinkage must be"),
        (FisherDiscriminant(priors=[0.5, 0.6]), "add up to 1"),
        (FisherDiscriminant(priors=[1.0]), "2 positive numbers"),
        (FisherDiscriminant(n_components=2), "n_components must be at most 1"),
    ],
)
def test_bad_parameters(model, words):
    X, y = cloud()
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "certificate_")  # fitted, or as before


def test_automatic_shrinkage_wants_plain_dense_data():
    X, y = cloud()
    auto = FisherDiscriminant(shrinkage="auto")
    with pytest.raises(ValueError, match="needs dense data"):
        auto.fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="equal weight"):
        auto.fit(X, y, np.ones(len(y)))


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_negative_weights(model):
    X, y = cloud()
    with pytest.raises(ValueError, match="must not be negative"):
        clone(model).fit(X, y, np.full(len(y), -1.0))


# --- habits -------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_certificates_print_and_travel(model):
    X, y = cloud()
    model = clone(model).fit(pd.DataFrame(X, columns=list("abcd")), y)
    proof = model.certificate_
    assert proof.holds(1e-10)
    assert str(proof) == str(pickle.loads(pickle.dumps(model)).certificate_)
    assert "<table>" in proof._repr_html_()
    assert "<caption>Certificate</caption>" in proof._repr_html_()
    assert proof.to_dict()["rank"] == proof.rank
    assert list(model.feature_names_in_) == list("abcd")


def test_strings_and_class_weights():
    X, y = cloud()
    names = np.array(["no", "yes"])[y]
    weight = {"no": 3.0, "yes": 1.0}
    for make in (LeastSquaresClassifier, KernelRidgeClassifier):
        model = make(class_weight=weight).fit(X, names)
        assert set(model.predict(X)) <= {"no", "yes"}
        same = make().fit(X, y, np.where(y == 0, 3.0, 1.0))
        np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("shape", [(100_000, 40), (600, 10_000)])
@pytest.mark.parametrize("make", [LeastSquaresClassifier, FisherDiscriminant])
def test_float32_data_are_not_converted(shape, make):
    X = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    y = np.arange(shape[0]) % 2
    make().fit(X[:500], y[:500])  # imports and compilation
    tracemalloc.start()
    make().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * X.nbytes


# --- what verify looks at -------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("threshold", ["priors", "midpoint"])
@pytest.mark.parametrize("scale", [1.0, 1e155, 1e-170])
def test_verify_sees_everything_that_predictions_depend_on(k, threshold, scale):
    X, _ = cloud()
    y = np.arange(len(X)) % k
    X = scale * (X + y[:, None])
    model = FisherDiscriminant(threshold=threshold).fit(X, y)
    assert model.certificate_.holds(1e-9)
    assert model.certificate_.criterion[0] > 0
    assert verify(model, X, y).holds(1e-9)
    rng = np.random.default_rng(0)
    for name in ("coef_", "intercept_", "scalings_", "xbar_"):
        forged, noise = clone(model).fit(X, y), getattr(model, name)
        setattr(forged, name, noise * (1.0 + 0.1 * rng.standard_normal(noise.shape)))
        assert not verify(forged, X, y).holds(1e-4), name


@pytest.mark.parametrize("shrinkage", [None, 0.3])
def test_fisher_of_equal_rows_has_no_spread_whatever_their_mean_rounds_to(shrinkage):
    X, y = np.full((25, 5), 0.3704859), np.arange(25) % 5 // 2
    with pytest.raises(ValueError, match="no spread within the classes"):
        FisherDiscriminant(shrinkage=shrinkage).fit(X, y)


def test_a_bound_that_tells_nothing_is_not_told():
    """Two columns that are the same: no eigenvalue is bounded, and f ≥ 0 is all that is known."""
    X, y = cloud()
    single, twice = X[:, :1], X[:, [0, 0]]
    known = LeastSquaresClassifier(fit_intercept=False).fit(single, y).certificate_
    assert not known.only_objective
    assert "at most" in in_short(known, True)
    proof = LeastSquaresClassifier(fit_intercept=False).fit(twice, y).certificate_
    assert proof.holds(1e-12)
    assert proof.only_objective
    assert in_short(proof, True) == "Proved"
    assert "no bound but the objective" in proof._repr_html_()
