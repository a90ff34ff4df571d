"""Displays of the geometric views: scikit-learn's manners, and no warning while drawing."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.pipeline import make_pipeline

import maxmargin as mm
from maxmargin import BasisDisplay, BoundaryDisplay, LinearSVM, UnknownRegionsDisplay
from maxmargin.show.scene import Area, Board, Scene
from maxmargin.show.views.basis import basis_view
from maxmargin.show.views.unknown import unknown_regions_view

mpl.use("Agg")
from matplotlib import pyplot as plt

pytestmark = pytest.mark.usefixtures("no_warning")


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, centers=[[0, 0], [6, 0], [3, 5]], random_state=0)


@pytest.mark.parametrize("model", [LinearSVM(), LinearSVM(multiclass="pairs"), mm.KernelSVM()])
def test_a_boundary_is_drawn_and_redrawn(model, blobs):
    X, y = blobs
    display = BoundaryDisplay.from_estimator(model.fit(X, y), X, y)
    assert display.ax_.figure is display.figure_
    display.figure_.canvas.draw()
    _, ax = plt.subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    areas = [mark for mark in display.view.scene().marks if isinstance(mark, Area)]
    assert len(areas) == 3
    assert len(ax.patches) == 3
    ax.figure.canvas.draw()


def test_the_discriminant_plane_is_drawn():
    X, y = load_iris(return_X_y=True)
    display = BoundaryDisplay.from_estimator(LinearSVM().fit(X[:100], y[:100]), X[:100], y[:100])
    assert display.ax_.get_xlabel() == "distance to the boundary"
    assert display.ax_.get_aspect() == 1.0
    display.figure_.canvas.draw()


def test_unknown_regions_side_by_side(blobs):
    X, y = blobs
    models = [mm.OneVsRest(LinearSVM()).fit(X, y), mm.OneVsOne(LinearSVM()).fit(X, y)]
    display = UnknownRegionsDisplay.from_estimators(models, X, y)
    assert display.ax_.shape == (2,)
    display.figure_.canvas.draw()
    board = display.view.scene()
    assert isinstance(board, Board)
    hatched = [any(getattr(mark, "hatched", 0) for mark in s.marks) for s in board.scenes]
    assert hatched == [bool(p.regions.unknown) for p in display.view.pictures]
    assert hatched[0]
    alone = UnknownRegionsDisplay.from_estimator(LinearSVM(multiclass="rest").fit(X, y), X, y)
    assert len(alone.view.pictures) == 1
    rest = unknown_regions_view([LinearSVM(multiclass="rest").fit(X, y), models[0]], X, y)
    one, two = (sorted(map(len, p.regions.unknown)) for p in rest.pictures)
    assert one == two  # the same machines, the same doubt
    with pytest.raises(ValueError, match="never undecided"):
        unknown_regions_view([LinearSVM().fit(X, y)], X, y)
    with pytest.raises(ValueError, match="draws 2 pictures and needs as many axes, got 1"):
        display.plot(plt.subplots()[1])


def test_a_basis_before_and_after():
    X, y = make_circles(80, factor=0.4, noise=0.05, random_state=0)
    model = make_pipeline(mm.PolarBasis(), LinearSVM(C=10)).fit(X, y)
    _, axes = plt.subplots(1, 2)
    display = BasisDisplay.from_estimator(model, X, y, ax=axes)
    assert [ax.get_xlabel() for ax in axes] == ["x₁", "r"]
    before, after = display.view.before, display.view.after
    assert not before.regions.exact
    assert after.regions.exact
    assert np.allclose(after.points, mm.PolarBasis().fit_transform(X))
    assert np.array_equal(before.support, after.support)
    display.figure_.canvas.draw()
    quadratic = make_pipeline(mm.QuadraticBasis(), LinearSVM(C=10)).fit(X, y)
    view = basis_view(quadratic, X, y, features=["a^2", "b^2"], feature_names=["a", "b"])
    assert view.before.labels == ("a", "b")
    assert view.after.labels == ("a^2", "b^2")
    assert np.allclose(view.after.points, X**2)
    with pytest.raises(TypeError, match="Pipeline of a basis"):
        basis_view(LinearSVM().fit(X, y), X, y)


def test_scenes_are_plain_and_labelled(blobs):
    from maxmargin.show.scene import to_json

    X, y = blobs
    scene = BoundaryDisplay.from_estimator(LinearSVM().fit(X, y), X, y).view.scene()
    assert isinstance(scene, Scene)
    told = to_json(scene)
    assert told["x"]["label"]
    assert told["y"]["label"]
    assert {mark["kind"] for mark in told["marks"]} >= {"Area", "Line", "Points"}
