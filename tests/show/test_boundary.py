"""The boundary's view: margins, slacks and support vectors where the lectures put them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import maxmargin as mm
from maxmargin import KernelSVM, LinearSVM, OneVsRest, PolarBasis, QuadraticBasis
from maxmargin.app.workflow.fit import fit_table
from maxmargin.app.workflow.plan import Plan
from maxmargin.parts.files.model import with_columns
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import label_table
from maxmargin.show.scene import Area, Line, Points, Segments
from maxmargin.show.views.boundary import (
    CUT_SLACK_SHARE,
    MIN_SLACK_OPACITY,
    SUPPORT_WORDS,
    boundary_view,
)

SLACK = "slack ξ"
IRIS, SPECIES = load_iris(return_X_y=True)


def overlapping(seed, d=2, k=2, n=40):
    rng = np.random.default_rng(seed)
    centres = 1.5 * rng.standard_normal((k, d))
    y = np.arange(n) % k
    return centres[y] + rng.standard_normal((n, d)), y


def ends_of(line):
    return line[~np.isnan(line[:, 0])]


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 5), C=st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=15, deadline=None)
def test_margins_and_slacks_of_two_classes_are_true_distances(seed, d, C):
    X, y = overlapping(seed, d)
    svm = LinearSVM(C=C).fit(X, y)
    view = boundary_view(svm, X, y)
    norm = float(np.linalg.norm(svm.coef_))
    assume(norm > 1e-6)
    g, t = _line_of(view, svm, X)
    assert np.hypot(*g) == pytest.approx(norm)
    for line, value in zip(view.regions.margins, (-1.0, 1.0), strict=True):
        # score ±1, so 1/‖w‖ from the boundary
        assert ends_of(line) @ g + t == pytest.approx(np.full(len(ends_of(line)), value), abs=1e-7)
    start, end = view.slacks[:, :2], view.slacks[:, 2:]
    xi = svm.slack_[view.index[view.slack_of]]
    sign = np.where(y[view.index[view.slack_of]] == 1, 1.0, -1.0)
    assert np.allclose(start, view.points[view.slack_of])
    assert np.linalg.norm(end - start, axis=1) == pytest.approx(xi / norm, abs=1e-8)
    assert np.allclose(end @ g + t, sign, atol=1e-7)
    short = np.flatnonzero(svm.slack_ > 1e-7)
    if not len(view.cut):
        assert set(view.index[view.slack_of]) == set(short)


def _line_of(view, svm, X):
    """The score as a function of the picture, from the data alone."""
    A = np.column_stack([view.points, np.ones(len(X))])
    *g, t = np.linalg.lstsq(A, svm.decision_function(X), rcond=None)[0]
    return np.array(g), t


@pytest.mark.parametrize("rule", ["max", "sum", "rest", "pairs"])
@pytest.mark.parametrize("kernel", [False, True])
def test_slacks_of_many_classes_add_up(rule, kernel):
    X, y = make_blobs(60, centers=[[0, 0], [4, 0], [2, 3]], cluster_std=1.2, random_state=0)
    svm = (KernelSVM(kernel="linear") if kernel else LinearSVM()).set_params(multiclass=rule)
    svm.fit(X, y)
    view = boundary_view(svm, X, y, window=(-100.0, 100.0, -100.0, 100.0))
    W = svm.dual_coef_ @ svm.support_vectors_ if kernel else svm.coef_
    # Each segment is at right angles to a margin line; its slack is length times ‖gradient‖.
    gradients = [W[a] - W[b] for a in range(3) for b in range(3) if a != b]
    if rule in ("rest", "pairs"):
        gradients = [sign * w for w in W for sign in (1, -1)]
    step = view.slacks[:, 2:] - view.slacks[:, :2]
    total = np.zeros(60)
    for move, place in zip(step, view.slack_of, strict=True):
        cosine = [move @ g / np.linalg.norm(move) / np.linalg.norm(g) for g in gradients]
        assert max(cosine) == pytest.approx(1.0, abs=1e-9)
        total[place] += np.linalg.norm(move) * np.linalg.norm(gradients[int(np.argmax(cosine))])
    assert total == pytest.approx(svm.slack_, abs=1e-5)


@pytest.mark.parametrize(
    "model",
    [LinearSVM(C=0.5), LinearSVM(C=0.5, multiclass="pairs"), LinearSVM(loss="squared_hinge"),
     KernelSVM(C=0.5), KernelSVM(multiclass="max"), mm.LinearSVMCV(Cs=3, cv=3)],
    ids=lambda model: repr(model)[:40],
)  # fmt: skip
def test_rings_are_the_support_vectors_and_their_kinds(model):
    X, y = IRIS[:, [0, 2]], SPECIES
    model.fit(X, y)
    view = boundary_view(model, X, y)
    assert np.array_equal(view.index[view.support], model.support_)
    assert np.array_equal(view.kinds, model.support_kind_)
    rings = {m.paint: m for m in view.scene().marks if isinstance(m, Points) and m.hollow}
    for kind, paint in SUPPORT_WORDS.items():
        own = X[model.support_[model.support_kind_ == kind]]
        if len(own):
            assert np.allclose(np.column_stack([rings[paint].x, rings[paint].y]), own)
        else:
            assert paint not in rings


def test_long_slacks_are_cut_at_the_window_and_much_ink_is_pale():
    X, y = overlapping(3)
    wide = LinearSVM(C=1e-4).fit(X, y)
    view = boundary_view(wide, X, y)
    left, right, bottom, top = view.regions.window
    inside = (view.slacks[:, 2:] >= [left, bottom]) & (view.slacks[:, 2:] <= [right, top])
    assert inside.all()
    assert len(view.cut) + len(view.slacks) == np.sum(wide.slack_ > 1e-7)
    length = np.hypot(*(view.cut[:, 2:] - view.cut[:, :2]).T)
    assert np.allclose(length, CUT_SLACK_SHARE * np.hypot(right - left, top - bottom))
    assert "are cut short" in view.words
    X, y = overlapping(3, n=300)
    narrow, wider = LinearSVM(C=100.0).fit(X[:40], y[:40]), LinearSVM(C=0.001).fit(X, y)
    window = (-9.0, 9.0, -9.0, 9.0)
    faint, full = (
        next(
            m
            for m in boundary_view(svm, X[:n], y[:n], window=window).scene().marks
            if m.label == SLACK
        )
        for svm, n in ((wider, 300), (narrow, 40))
    )
    assert MIN_SLACK_OPACITY <= faint.opacity < full.opacity == 1.0


def test_other_rows_than_the_training_rows_have_no_rings():
    X, y = IRIS[:, [0, 2]], SPECIES
    svm = LinearSVM().fit(X, y)
    assert len(boundary_view(svm, X[::2], y[::2]).support) == 0
    mixed = np.random.default_rng(0).permutation(150)
    view = boundary_view(svm, X[mixed], y[mixed])
    assert len(view.support) == len(view.slacks) == 0


def test_a_slice_draws_no_slacks_and_counts_what_it_misplaces():
    svm = LinearSVM().fit(IRIS, SPECIES)
    view = boundary_view(svm, IRIS, SPECIES, features=(0, 1))
    assert len(view.support) == len(svm.support_)
    assert len(view.slacks) == 0
    at = IRIS.copy()
    at[:, 2:] = IRIS[:, 2:].mean(axis=0)
    away = int(np.sum(svm.predict(at) != svm.predict(IRIS)))
    assert f"{away} points are drawn in a region of a class" in view.words


def test_many_points_are_sampled_and_it_is_said():
    X, y = make_blobs(500, centers=2, random_state=0)
    svm = LinearSVM().fit(X, y)
    view = boundary_view(svm, X, y, max_points=100)
    assert view.points.shape == (100, 2)
    assert np.allclose(view.points, X[view.index])
    assert "100 points, drawn by lot" in view.words
    assert set(view.index[view.support]) <= set(svm.support_)


def test_the_scene_says_what_it_shows():
    X, y = make_blobs(60, centers=[[0, 0], [2, 2]], random_state=0)
    words = np.array(["left", "right"])[y]
    scene = boundary_view(LinearSVM(C=10).fit(X, words), X, words).scene()
    kinds = [type(mark) for mark in scene.marks]
    assert kinds[:2] == [Area, Area]
    assert Segments in kinds
    labels = [mark.label for mark in scene.marks if mark.label]
    assert labels[:5] == ["decision boundary", "margins", "slack ξ", "left", "right"]
    assert scene.title == "LinearSVM, C = 10"
    dashes = [mark.dash for mark in scene.marks if isinstance(mark, Line)]
    assert dashes == ["solid", "dashed", "dashed"]
    assert scene.equal
    assert "support vectors: " in scene.words


MODELS = {
    "svm": LinearSVM(), "sum": LinearSVM(multiclass="sum"),
    "logistic": mm.LogisticRegression(), "perceptron": mm.Perceptron(pocket=True, tol=0.01),
    "average": mm.Perceptron(average=True, max_passes=500, tol=0.01),
    "least squares": mm.LeastSquaresClassifier(), "fisher": mm.FisherDiscriminant(),
    "cv": mm.LogisticRegressionCV(Cs=3, cv=3),
    "rest": OneVsRest(LinearSVM(), unknown=-1), "pairs": mm.OneVsOne(mm.LogisticRegression()),
    "scaled": make_pipeline(StandardScaler(), LinearSVM(multiclass="pairs")),
    "pca": make_pipeline(StandardScaler(), PCA(2), LinearSVM()),
    "search": GridSearchCV(LinearSVM(), {"C": [0.1, 1.0]}, cv=3),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_linear_models_have_exact_regions(name, k):
    some = np.isin(SPECIES, range(k))
    X, y = IRIS[some][:, [0, 2]], SPECIES[some]
    model = MODELS[name].fit(X, y)
    view = boundary_view(model, X, y)
    assert view.regions.exact
    _agrees(view, model, 1e-6)


CURVED = {
    "rbf": KernelSVM(), "kernel perceptron": mm.KernelPerceptron(pocket=True, max_passes=50),
    "kernel ridge": mm.KernelRidgeClassifier(), "kernel cv": mm.KernelSVMCV(Cs=2, cv=3),
    "quadratic": make_pipeline(StandardScaler(), QuadraticBasis(), LinearSVM()),
    "polar": make_pipeline(PolarBasis(center="mean"), LinearSVM()),
    "function": make_pipeline(mm.FunctionBasis(np.sin), LinearSVM()),
    "rest of kernels": OneVsRest(KernelSVM(), unknown=-1),
    "SVC": SVC(), "forest": RandomForestClassifier(5, random_state=0),
}  # fmt: skip


@pytest.mark.parametrize("name", CURVED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_models_have_contours(name):
    X, y = IRIS[:, [0, 2]], SPECIES
    model = CURVED[name].fit(X, y)
    view = boundary_view(model, X, y, grid=100)
    assert not view.regions.exact
    _agrees(view, model, 0.12)  # a diagonal of the grid and a little


def test_a_curve_that_looks_straight_on_zeros_and_ones_is_a_curve():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [0, 0.0]]), np.array([0, 1, 1, 0])
    model = make_pipeline(QuadraticBasis(), LinearSVM()).fit(X, y)
    view = boundary_view(model, X, y)
    assert not view.regions.exact
    _agrees(view, model, 0.02)


def _agrees(view, model, distance):
    from .shapes import inside
    from .test_regions import clear_of_borders, places

    points = places(window=view.regions.window)
    points = points[clear_of_borders(view.regions, points, distance)]
    assert len(points) > 50
    said = model.predict(points)
    for label, rings in zip(model.classes_, view.regions.rings, strict=True):
        assert np.array_equal(inside(rings, points), said == label)


@pytest.mark.parametrize("name", ["linear", "scaled", "kernel", "basis", "columns", "pairs"])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.filterwarnings("error")
def test_frames_are_given_back_as_frames(name, kind):
    """No step complains of missing names, and the picture is that of the plain array."""
    model = {
        "linear": LinearSVM(),
        "scaled": make_pipeline(StandardScaler(), LinearSVM()),
        "kernel": KernelSVM(),
        "basis": make_pipeline(QuadraticBasis(), LinearSVM()),
        "columns": make_pipeline(
            make_column_transformer((StandardScaler(), [0]), remainder="passthrough"), LinearSVM()
        ),
        "pairs": mm.OneVsOne(KernelSVM()),
    }[name]
    X, y = IRIS[:, [0, 2]], SPECIES
    plain = boundary_view(model.fit(X, y), X, y, grid=40)
    frame = kind({"length": X[:, 0], "petal": X[:, 1]})
    framed = boundary_view(model.fit(frame, y), frame, y, grid=40)
    assert framed.labels == ("length", "petal")
    assert framed.regions.exact == plain.regions.exact == (name in ("linear", "scaled", "columns"))
    assert np.allclose(framed.regions.border, plain.regions.border, equal_nan=True, atol=1e-6)


def test_models_from_files_are_shown_like_others():
    frame = load_iris(as_frame=True)
    X, y = frame.data, frame.target
    model = LinearSVM().fit(X, y)
    view = boundary_view(model, X, y, features=["petal length (cm)", "petal width (cm)"])
    assert view.labels == ("petal length (cm)", "petal width (cm)")
    stored = with_columns(model)
    same = boundary_view(stored, X, y, features=["petal length (cm)", "petal width (cm)"])
    assert same.labels == view.labels
    assert np.allclose(same.regions.border, view.regions.border, equal_nan=True)


@pytest.mark.parametrize("basis", [None, "quadratic"])
def test_a_model_of_a_table_shows_its_columns_in_their_units(basis):
    rng = np.random.default_rng(0)
    size, colour = 100 + 20 * rng.standard_normal(80), rng.choice(["red", "blue"], 80)
    weight = 1e-3 * rng.standard_normal(80)
    label = np.where(size / 20 - 5 + 1e3 * weight + (colour == "red") > 0, "yes", "no")
    table = pa.table({"size": size, "colour": colour, "weight": weight, "y": label})
    data = label_table(table, "y", None, "here")
    model = fit_table(data, Plan(C=1.0, basis=basis), Choices()).model
    view = boundary_view(model, table, label, features=["size", "weight"])
    assert view.labels == ("size", "weight")
    assert np.allclose(view.points, np.column_stack([size, weight]))
    assert view.regions.exact == (basis is None)
    assert not view.equal
    assert np.array_equal(view.index[view.support], model.model.support_)
    assert "colour=" in view.words


def test_refusals():
    X, y = make_circles(40, random_state=0)
    gram = KernelSVM(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="Gram matrix"):
        boundary_view(gram, X @ X.T, y)
    with pytest.raises(TypeError, match="has no classes_"):
        boundary_view(mm.KernelRidge().fit(X, y), X, y)
    svm = LinearSVM().fit(X, y)
    with pytest.raises(ValueError, match="one label of"):
        boundary_view(svm, X, y + 5)
    with pytest.raises(ValueError, match="feature_names has 3 names for 2"):
        boundary_view(svm, X, y, feature_names=["a", "b", "c"])
    words = pd.DataFrame({"a": ["x", "y"] * 20, "b": X[:, 0]})
    with pytest.raises(ValueError, match="numeric features"):
        boundary_view(svm, words, y)
