"""Which plane is looked at, and what stays true in it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from maxmargin import KernelSVM, LinearSVM, LogisticRegression
from maxmargin.show.geometry.model_adapter import subject_of
from maxmargin.show.geometry.plane import choose_plane, discriminant_plane, features_plane
from maxmargin.show.views.boundary import boundary_view


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 7), sparsely=st.booleans())
@settings(max_examples=15, deadline=None)
def test_distances_to_the_boundary_are_true_in_the_discriminant_plane(seed, d, sparsely):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, d)) + rng.standard_normal(d)
    y = (X @ rng.standard_normal(d) + rng.standard_normal(30) > 0).astype(int)
    y[:2] = 0, 1
    svm = LinearSVM().fit(X, y)
    assume(np.linalg.norm(svm.coef_) > 1e-6)
    subject = subject_of(svm, sparse.csr_matrix(X) if sparsely else X)
    plane = discriminant_plane(subject)
    assert np.allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-9)
    assert plane.project(subject.rows)[:, 0] == pytest.approx(svm.signed_distance(X), abs=1e-9)
    places = rng.standard_normal((10, 2))
    assert np.allclose(plane.project(plane.embed(places)), places)
    norm = np.linalg.norm(svm.coef_)
    assert svm.decision_function(plane.embed(places)) == pytest.approx(
        norm * places[:, 0], abs=1e-8 * norm
    )


def test_the_second_direction_has_the_largest_variance_along_the_boundary():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    svm = LinearSVM().fit(X, y)
    plane = discriminant_plane(subject_of(svm, X))
    w = svm.coef_[0] / np.linalg.norm(svm.coef_)
    across = (X - X.mean(axis=0)) @ (np.eye(30) - np.outer(w, w))
    best = np.linalg.svd(across)[1][0]
    assert np.linalg.norm(across @ plane.axes[1]) == pytest.approx(best, rel=1e-6)
    assert abs(plane.axes[1] @ w) < 1e-12


@pytest.mark.parametrize("rule", ["max", "rest"])
def test_three_classes_lose_nothing_in_the_plane_of_their_weights(rule):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    svm = LinearSVM(multiclass=rule).fit(X, y)
    plane = discriminant_plane(subject_of(svm, X))
    assert plane.true
    flat = plane.embed(plane.project(X))
    f, g = svm.decision_function(X), svm.decision_function(flat)
    assert np.allclose(f - f[:, [0]], g - g[:, [0]], atol=1e-9)


def test_more_classes_are_a_shadow_and_it_is_said():
    X, y = make_blobs(60, n_features=6, centers=5, random_state=0)
    plane = discriminant_plane(subject_of(LogisticRegression().fit(X, y), X))
    assert not plane.true
    assert "projected" in plane.words


def test_features_are_in_their_own_units_and_the_others_fixed():
    frame = load_iris(as_frame=True)
    X, y = frame.data, frame.target
    model = make_pipeline(StandardScaler(), LinearSVM()).fit(X, y)
    subject = subject_of(model, X)
    plane = features_plane(subject, y, ["petal width (cm)", 0], {"sepal width (cm)": 3.5})
    assert plane.labels == ("petal width (cm)", "sepal length (cm)")
    assert np.allclose(plane.project(subject.rows), X.to_numpy()[:, [3, 0]])
    row = pd.DataFrame([[5.0, 3.5, X["petal length (cm)"].mean(), 1.0]], columns=X.columns)
    at = plane.embed(np.array([[1.0, 5.0]]))
    assert np.allclose(subject.answers(at), model.decision_function(row))
    assert "sepal width (cm) = 3.5" in plane.words
    assert "petal length (cm) = 3.758" in plane.words
    assert not plane.true


def test_two_scalers_in_a_row_keep_the_units():
    X, y = make_blobs(40, centers=2, random_state=0)
    model = make_pipeline(MinMaxScaler(), StandardScaler(), LinearSVM()).fit(X, y)
    subject = subject_of(model, X)
    assert np.allclose(subject.rows * subject.scale + subject.shift, X)
    plane = choose_plane(subject, y)
    assert np.allclose(plane.project(subject.rows), X)
    assert np.allclose(subject.answers(subject.rows)[:, 0], model.decision_function(X))


def test_features_without_weight_may_be_left_out():
    """A slice is true where the other features do not count."""
    X, y = make_blobs(40, centers=3, random_state=0)
    svm = LinearSVM().fit(np.column_stack([X, np.zeros(40)]), y)
    subject = subject_of(svm, np.column_stack([X, np.zeros(40)]))
    assert features_plane(subject, y, (0, 1)).true


def test_weights_of_zero_have_no_direction():
    X = np.random.default_rng(800).standard_normal((30, 5)) * [1, 5, 1, 3, 1]
    svm = LinearSVM().fit(X, np.arange(30) % 2)
    svm.coef_, svm.intercept_ = np.full((1, 5), 1e-17), np.array([1.0])
    plane = discriminant_plane(subject_of(svm, X))
    assert "zero" in plane.words
    widest = np.linalg.svd(X - X.mean(axis=0))[2][:2]
    assert np.abs(np.linalg.det(plane.axes @ widest.T)) == pytest.approx(1.0, abs=1e-4)


def test_automatic_choices():
    X, y = load_iris(return_X_y=True)
    linear, kernel = LinearSVM().fit(X, y), KernelSVM().fit(X, y)
    assert choose_plane(subject_of(linear, X), y).metric
    by_features = choose_plane(subject_of(kernel, X), y)
    assert by_features.labels == ("x₃", "x₄")  # petals tell irises apart
    assert "tell the classes apart" in by_features.words
    flat = LinearSVM().fit(X[:, :2], y)
    assert choose_plane(subject_of(flat, X[:, :2]), y).labels == ("x₁", "x₂")


def test_one_feature_has_a_lane_for_every_class():
    X, y = load_iris(return_X_y=True)
    x, y = X[50:, 2:3], y[50:]
    model = make_pipeline(StandardScaler(), LinearSVM()).fit(x, y)
    view = boundary_view(model, x, y)
    np.testing.assert_allclose(view.points[:, 0], x[:, 0], rtol=1e-12)
    assert np.array_equal(np.rint(view.points[:, 1]), view.codes)
    scaler, svm = model[0], model[-1]
    in_units = scaler.inverse_transform(-svm.intercept_[:, None] / svm.coef_)
    np.testing.assert_allclose(view.regions.border[:, 0], in_units[0, 0])
    across = np.hypot(*(view.slacks[:, 2:] - view.slacks[:, :2]).T)
    slack = svm.slack_[view.index[view.slack_of]]
    np.testing.assert_allclose(across, slack * scaler.scale_[0] / np.abs(svm.coef_[0, 0]))
    assert view.labels[1] == "class, spread out to be seen"


def test_what_cannot_be_shown_is_said():
    X, y = load_iris(return_X_y=True)
    svm = LinearSVM().fit(X, y)
    subject = subject_of(svm, X)
    with pytest.raises(ValueError, match="plane must be"):
        choose_plane(subject, y, "sideways")
    with pytest.raises(ValueError, match="no feature 'petal'; there are x₁, x₂"):
        choose_plane(subject, y, features=["petal", 1])
    with pytest.raises(ValueError, match="two different features"):
        choose_plane(subject, y, features=[1, 1])
    with pytest.raises(ValueError, match="leave features out"):
        choose_plane(subject, y, "discriminant", [0, 1])
    with pytest.raises(ValueError, match="linear in the features"):
        choose_plane(subject_of(KernelSVM().fit(X, y), X), y, "discriminant")
