"""Least squares and Fisher's discriminant on tensors are those on arrays."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: see `make test-torch`")

from maxmargin import FisherDiscriminant, LeastSquaresClassifier  # noqa: E402

from .test_logistic import data  # noqa: E402


def host(value):
    return np.asarray(value.tolist())


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_least_squares_is_that_on_arrays(k, alpha, bias, weighted, device):
    X, y = data(k=k)
    weight = np.random.default_rng(3).uniform(0.1, 5, len(y)) if weighted else None
    settings = {"alpha": alpha, "fit_intercept": bias}
    ours = LeastSquaresClassifier(**settings).fit(X.to(device, torch.bfloat16), y, weight)
    theirs = LeastSquaresClassifier(**settings).fit(X.numpy(), y, weight)
    np.testing.assert_allclose(host(ours.coef_), theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(host(ours.intercept_), theirs.intercept_, atol=1e-9)
    assert ours.certificate_.holds(1e-10)
    assert ours.certificate_.objective == pytest.approx(theirs.certificate_.objective, rel=1e-9)
    assert ours.certificate_.null_objective == pytest.approx(theirs.certificate_.null_objective)
    assert bool(
        (ours.predict(X.to(device)).cpu() == torch.from_numpy(theirs.predict(X.numpy()))).all()
    )


def test_least_squares_of_a_repeated_column_is_the_smallest(device):
    X, y = data()
    X = torch.cat([X, X[:, :1]], dim=1)
    ours = LeastSquaresClassifier().fit(X.to(device), y)
    theirs = LeastSquaresClassifier().fit(X.numpy(), y)
    np.testing.assert_allclose(host(ours.coef_), theirs.coef_, atol=1e-7)
    assert ours.certificate_.rank == 12


def test_least_squares_of_several_labels(device):
    X, y = data()
    Y = np.column_stack([y > 0, y > 1]).astype(int)
    both = LeastSquaresClassifier().fit(X.to(device), Y)
    alone = [LeastSquaresClassifier().fit(X.numpy(), column) for column in Y.T]
    np.testing.assert_allclose(host(both.coef_), np.vstack([m.coef_ for m in alone]), atol=1e-9)
    assert tuple(both.predict(X.to(device)).shape) == Y.shape


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    "settings",
    [{}, {"shrinkage": 0.3}, {"covariance": "none"}, {"threshold": "midpoint"}],
    ids=str,
)
def test_fisher_is_that_on_arrays(k, settings, device):
    X, y = data(k=k)
    ours = FisherDiscriminant(**settings).fit(X.to(device, torch.float16), y)
    theirs = FisherDiscriminant(**settings).fit(X.numpy(), y)
    for name in ("coef_", "intercept_", "means_", "scalings_"):
        np.testing.assert_allclose(host(getattr(ours, name)), getattr(theirs, name), atol=1e-7)
    assert ours.certificate_.holds(1e-7)
    Z = ours.transform(X.to(device))
    np.testing.assert_allclose(host(Z), theirs.transform(X.numpy()), atol=1e-6)


def test_fisher_with_priors_and_weights(device):
    X, y = data(k=3)
    weight = np.random.default_rng(3).uniform(0.1, 5, len(y))
    priors = [0.5, 0.3, 0.2]
    ours = FisherDiscriminant(priors=priors).fit(X.to(device), y, weight)
    theirs = FisherDiscriminant(priors=priors).fit(X.numpy(), y, weight)
    np.testing.assert_allclose(host(ours.coef_), theirs.coef_, atol=1e-7)


def test_refusals_name_what_works():
    X, y = data()
    with pytest.raises(ValueError, match="Give one alpha"):
        LeastSquaresClassifier(alphas=[0.1, 1.0]).fit(X, y)
    with pytest.raises(ValueError, match="Give shrinkage a number"):
        FisherDiscriminant(shrinkage="auto").fit(X, y)
