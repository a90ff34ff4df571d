"""Bases: the coordinates they promise, their names, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import FunctionBasis, PolarBasis, PolynomialBasis, QuadraticBasis, RadialBasis


def back(P):
    """Hyperspherical coordinates to Cartesian ones."""
    r, angles = P[:, 0], P[:, 1:]
    out, sines = [], np.ones(len(P))
    for angle in angles.T:
        out.append(r * sines * np.cos(angle))
        sines = sines * np.sin(angle)
    return np.column_stack([*out, r * sines])


@settings(max_examples=50, deadline=None)
@given(d=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_polar_coordinates_lose_nothing(d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, d)) * 10.0 ** rng.integers(-3, 4)
    P = PolarBasis().fit_transform(X)
    np.testing.assert_allclose(back(P), X, atol=1e-12 * np.abs(X).max())
    np.testing.assert_allclose(P[:, 0], np.linalg.norm(X, axis=1))
    assert (P[:, 1:-1] >= 0).all()
    assert (P[:, 1:-1] <= np.pi).all()
    assert (np.abs(P[:, -1]) <= np.pi).all()


def test_polar_centre_and_names():
    X = np.array([[1.0, 1.0], [3.0, 1.0]])
    polar = PolarBasis(center="mean").fit(X)
    np.testing.assert_allclose(polar.transform(X)[:, 0], [1, 1])
    np.testing.assert_allclose(PolarBasis([1, 1]).fit(X).transform(X)[:, 0], [0, 2])
    assert polar.get_feature_names_out().tolist() == ["r", "theta"]
    four = PolarBasis().fit(np.ones((2, 4)))
    assert four.get_feature_names_out().tolist() == ["r", "phi1", "phi2", "theta"]
    huge = PolarBasis().fit_transform(np.full((1, 2), 1e300))
    assert np.isfinite(huge).all()


@pytest.mark.parametrize(
    ("basis", "X", "words"),
    [
        (PolarBasis(), [[1.0], [2.0]], "at least two columns"),
        (PolarBasis(center="middle"), [[1.0, 2.0]], "center must be"),
        (PolarBasis(center=[1.0]), [[1.0, 2.0]], "center must be 2 finite numbers"),
        (RadialBasis(0), [[1.0, 2.0]], "centers must be a whole number"),
        (RadialBasis([[1.0]]), [[1.0, 2.0]], "centers must be finite, of shape"),
        (RadialBasis(gamma=-1), [[1.0, 2.0]], "gamma must be"),
        (FunctionBasis(3), [[1.0]], "phi must be a function"),
        (FunctionBasis(lambda X: X.sum()), [[1.0]], "as many rows"),
        (FunctionBasis(np.log), [[-1.0]], "not finite"),
        (FunctionBasis(np.tanh, names=["a", "b"]), [[1.0]], "names must name the 1 columns"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_refused(basis, X, words):
    with pytest.raises(ValueError, match=words):
        basis.fit(X)


def test_names_of_a_frame():
    frame = pd.DataFrame({"width": [1.0, 2.0], "height": [3.0, 4.0]})
    names = QuadraticBasis().fit(frame).get_feature_names_out().tolist()
    assert names == ["width", "height", "width^2", "width height", "height^2"]
    only = PolynomialBasis(2, interaction_only=True).fit(frame).get_feature_names_out()
    assert only.tolist() == ["width", "height", "width height"]
    assert FunctionBasis().fit(frame).get_feature_names_out().tolist() == ["width", "height"]
    assert FunctionBasis(np.tanh).fit(frame).get_feature_names_out().tolist() == ["phi0", "phi1"]
    out = RadialBasis(2).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["radial0", "radial1"]


def test_centres_are_spread_out_and_few_where_rows_repeat():
    rng = np.random.default_rng(0)
    clumps = np.repeat(rng.standard_normal((6, 3)) * 10, 50, axis=0)
    for data in (clumps, sparse.csr_array(clumps)):
        centers = RadialBasis(20, gamma=1.0).fit(data).centers_
        assert len(centers) == 6
        assert len(np.unique(centers.round(9), axis=0)) == 6
    X = clumps + 0.1 * rng.standard_normal(clumps.shape)
    near = RadialBasis(6, gamma=0.1).fit(X)
    assert (near.transform(X).max(axis=1) > 0.5).all()  # no row is far from every centre


def test_float32_stays():
    X = np.random.default_rng(0).standard_normal((9, 3)).astype(np.float32)
    for basis in (PolarBasis(), QuadraticBasis(), RadialBasis(4), FunctionBasis(np.tanh)):
        assert basis.fit_transform(X).dtype == np.float32
