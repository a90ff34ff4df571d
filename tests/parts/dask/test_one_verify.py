"""Three doors, one meaning: a claim is worth the same in memory, on a stream and on a cluster."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("distributed")

import maxmargin
from maxmargin import spread as on_dask
from tests.class_helpers import corners
from tests.parts.dask.helpers import spread
from tests.parts.stream.helpers import cut, noisy

CUTS = [40, 130]
CASES = {
    "hinge": ("LinearSVM", {"C": 0.1, "tol": 1e-4}, 2),
    "penalised": ("LinearSVM", {"C": 0.1, "tol": 1e-4, "penalize_bias": True}, 2),
    "squared hinge": ("LinearSVM", {"loss": "squared_hinge", "tol": 1e-5}, 2),
    "max rule": ("LinearSVM", {"C": 0.1, "tol": 1e-3}, 3),
    "pairs": ("LinearSVM", {"C": 0.1, "tol": 1e-3, "multiclass": "pairs"}, 3),
    "hard margin": ("LinearSVM", {"C": np.inf}, 2),
    "logistic": ("LogisticRegression", {"tol": 1e-5}, 2),
    "least squares": ("LeastSquaresClassifier", {"alpha": 2.0}, 3),
    "Fisher": ("FisherDiscriminant", {"shrinkage": 0.1}, 3),
}


def doors(model, X, y):
    """The proofs of memory, of a stream and of a cluster."""
    return (
        maxmargin.verify(model, X, y),
        maxmargin.verify_stream(model, cut(X, y, at=CUTS), memory="16MB"),
        on_dask.verify(model, *spread(X, y, CUTS)),
    )


@pytest.mark.parametrize("name", CASES)
def test_one_meaning_wherever_it_was_fitted_and_is_verified(near, name):
    kind, given, k = CASES[name]
    X, y = corners(300, 3, k=k, gap=5.0) if name == "hard margin" else noisy(n=300, d=3, k=k)
    make = getattr(maxmargin, kind)
    models = (
        make(**given).fit(X, y),
        maxmargin.fit_stream(make(**given), cut(X, y, at=CUTS), memory="16MB"),
        getattr(on_dask, kind)(**given).fit(*spread(X, y, CUTS)),
    )
    tol = given.get("tol", 1e-6)
    for model in models:
        assert all(proof.holds(tol) for proof in doors(model, X, y))
        # A claim that is not true has no proof anywhere, and the same objective everywhere.
        wrong = "scalings_" if name == "Fisher" else "coef_"
        setattr(model, wrong, 1.3 * getattr(model, wrong) + 0.02)
        proofs = doors(model, X, y)
        assert not any(proof.holds(tol) for proof in proofs)
        if hasattr(proofs[0], "primal"):
            assert [proof.primal for proof in proofs] == pytest.approx(
                [proofs[0].primal] * 3, rel=1e-9
            )


def test_a_cluster_uses_the_multipliers_of_the_model(near):
    """Of a model fitted in memory none need be sought, and each part is sent its own only."""
    X, y = noisy(n=300, d=3)
    model = maxmargin.LinearSVM(C=0.1, tol=1e-9).fit(X, y)
    here, _, there = doors(model, X, y)
    assert there.dual == pytest.approx(here.dual, rel=1e-12)
    assert there.holds(1e-9)


def test_other_rows_and_what_has_no_proof(near):
    X, y = noisy(n=300, d=3)
    DX, Dy = spread(X, y, CUTS)
    model = maxmargin.LinearSVM(C=0.1).fit(X, y)
    with pytest.raises(ValueError, match="has 2 features, the model 3"):
        on_dask.verify(model, DX[:, :2], Dy)
    with pytest.raises(ValueError, match="knows 0, 1"):
        on_dask.verify(model, DX, Dy + 1)
    with pytest.raises(TypeError, match=r"LinearSVM.*FisherDiscriminant, got Perceptron"):
        on_dask.verify(maxmargin.Perceptron(), DX, Dy)
