"""Pictures of the lectures: lines, an update, a close-up, the error surface, a Gram matrix, …"""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from maxmargin import (
    BoundariesDisplay,
    ClosestPointDisplay,
    ErrorSurfaceDisplay,
    FisherDiscriminant,
    GramDisplay,
    KernelRidge,
    LinearSVM,
    LinearUnit,
    LossesDisplay,
    NoMistakeBound,
    Perceptron,
    ProjectionDisplay,
    RegressionDisplay,
    SeparatorsDisplay,
    UpdateCountsDisplay,
    UpdateDisplay,
)
from maxmargin.show.scene import Bars, Line, Segments
from maxmargin.show.views.separators import ends_of

from .drawn import drawn, marks, scenes_of


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[:100][:, [1, 3]], y[:100]


def test_lines_tell_their_room_and_the_widest_is_the_svm(iris):
    X, y = iris
    hard = LinearSVM(C=np.inf).fit(X, y)
    lines = [Perceptron(random_state=k).fit(X, y) for k in range(3)] + [hard]
    display = SeparatorsDisplay.from_estimators(lines, X, y, arrows=True)
    view = display.view
    assert view.room[-1] == pytest.approx(hard.margin_)
    assert view.room.argmax() == 3
    scene = view.scene()
    assert len(marks(scene, Segments)) == 4
    for line, one in zip(marks(scene, Line), lines, strict=True):
        on = one.decision_function(np.column_stack([line.x, line.y]))
        np.testing.assert_allclose(on, 0, atol=1e-9)
    drawn(display)


def test_a_line_beside_the_picture_is_left_out_and_a_wrong_side_is_told(iris):
    assert ends_of(np.array([1.0, 0.0]), -9.0, (0.0, 1.0, 0.0, 1.0)) is None
    np.testing.assert_array_equal(
        ends_of(np.array([1.0, 0.0]), -0.5, (0.0, 1.0, 0.0, 1.0)), [[0.5, 0.0], [0.5, 1.0]]
    )
    X, y = iris
    rough = LinearSVM(C=0.001).fit(X, y)
    words = SeparatorsDisplay.from_estimators([rough], X, y, names=["rough"]).view.words()
    assert "rough has a point" in words


@pytest.mark.parametrize(
    ("X", "y", "names", "words"),
    [
        (np.ones((4, 3)), [0, 0, 1, 1], None, "two features"),
        (np.ones((4, 2)), [0, 1, 2, 2], None, "two classes"),
        (np.ones((4, 2)), [0, 0, 1, 1], ["a", "b"], "one for each line"),
    ],
)
def test_refusals(iris, X, y, names, words):
    line = LinearSVM().fit(*iris)
    with pytest.raises(ValueError, match=words):
        SeparatorsDisplay.from_estimators([line], X, y, names=names)


def test_an_update_adds_yx():
    display = UpdateDisplay.from_update([1.0, 0.0], [[-1.0, 1.0], [2.0, 0.0]], [-1, 1], 0)
    assert display.view.sign == -1.0
    assert "margin of the point is 1 before" in display.view.words()
    drawn(display)


def test_a_projection_shows_what_fisher_gains(iris):
    X, y = iris
    gains = []
    for covariance in ("none", "within"):
        model = FisherDiscriminant(covariance=covariance).fit(X, y)
        display = ProjectionDisplay.from_estimator(model, X, y)
        gains.append(float(display.view.words().split("apart, ")[1].split()[0]))
        drawn(display)
    assert gains[1] > gains[0]
    with pytest.raises(ValueError, match="two classes of two features"):
        ProjectionDisplay.from_estimator(model, np.ones((3, 3)), [0, 0, 1])


def test_a_gram_matrix_is_sorted_by_class_and_bounded(iris):
    display = GramDisplay.from_data(*iris, kernel="rbf", gamma=1.0)
    values = display.view.values
    assert len(values) == 42
    np.testing.assert_allclose(values, values.T)
    assert display.view.starts == (0, 21)
    drawn(display)


def test_curves_of_regression():
    x = np.linspace(-2, 2, 30)[:, None]
    t = np.sin(2 * x[:, 0])
    models = [KernelRidge(0.01, kernel="rbf", gamma=1.0).fit(x, t)]
    display = RegressionDisplay.from_estimators(models, x, t, names=["radial"])
    assert display.view.errors["radial"] < 0.05
    drawn(display)
    with pytest.raises(ValueError, match="one feature"):
        RegressionDisplay.from_estimators(models, np.ones((3, 2)), [1.0, 2.0, 3.0])


def test_models_side_by_side_share_a_window(iris):
    X, y = iris
    models = {f"C = {C:g}": LinearSVM(C=C).fit(X, y) for C in (10.0, 1.0, 0.1)}
    display = BoundariesDisplay.from_estimators(models, X, y)
    scenes = scenes_of(display.view)
    assert [scene.title for scene in scenes] == list(models)
    assert len({(scene.x.limits, scene.y.limits) for scene in scenes}) == 1
    assert [len(view.support) for view in display.view.views] == [3, 8, 37]
    drawn(display)
    with pytest.raises(ValueError, match="one for each model"):
        BoundariesDisplay.from_estimators([*models.values()], X, y, names=["one"])


def test_the_closest_point_is_gamma_away(iris):
    X, y = iris
    hard = LinearSVM(C=np.inf).fit(X, y)
    display = ClosestPointDisplay.from_estimator(hard, X, y)
    view = display.view
    assert view.distance == pytest.approx(hard.margin_)
    assert view.w @ view.z + view.b == pytest.approx(1.0)
    assert view.w @ view.foot + view.b == pytest.approx(0.0, abs=1e-9)
    boundary, *margins = marks(view.scene(), Line)
    for line, level in zip((boundary, *margins), (0.0, 1.0, -1.0), strict=True):
        on = np.column_stack([line.x, line.y]) @ view.w + view.b
        np.testing.assert_allclose(on, level, atol=1e-9)
    (way,) = marks(view.scene(), Segments, "γ")
    assert np.hypot(way.x2 - way.x, way.y2 - way.y)[0] == pytest.approx(hard.margin_)
    drawn(display)
    with pytest.raises(ValueError, match="two classes of two features"):
        ClosestPointDisplay.from_estimator(hard, np.ones((3, 3)), [0, 0, 1])
    with pytest.raises(ValueError, match="No point has a positive score"):
        ClosestPointDisplay.from_estimator(hard, X[:50], y[:50])


def test_updates_over_permutations(iris):
    X, y = iris
    display = UpdateCountsDisplay.from_data(X, y, runs=30)
    counts = display.view.counts
    assert counts.tolist()[:3] == [
        Perceptron(random_state=seed, max_passes=10_000).fit(X, y).updates_ for seed in range(3)
    ]
    assert counts.max() <= display.view.bound
    (bars,) = marks(display.view.scene(), Bars)
    assert bars.length.sum() == 30
    assert len(bars.at) <= 40
    drawn(display)
    with pytest.raises(NoMistakeBound):
        UpdateCountsDisplay.from_data([[0.0], [1.0], [2.0]], [0, 1, 0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("bias", [True, False])
def test_ways_down_the_error_surface(iris, bias):
    X, y = iris
    X = X[:, 1:] if bias else X - X.mean(axis=0)
    limit = LinearUnit(fit_intercept=bias).fit(X, y).stable_below_
    rates = {"crawls": 0.02 * limit, "arrives": 0.5 * limit, "diverges": 1.05 * limit}
    made = {name: {"learning_rate": eta, "trace": True, "fit_intercept": bias, "max_passes": 60}
            for name, eta in rates.items()}  # fmt: skip
    units = {name: LinearUnit(**given).fit(X, y) for name, given in made.items()}
    display = ErrorSurfaceDisplay.from_estimators(units, X, y)
    view = display.view
    assert view.least <= min(view.errors.values()) < 1.01 * view.least
    off = {name: way[-1] - view.minimum for name, way in view.ways.items()}
    for name, last in view.errors.items():  # the bowl is the error that the unit told
        height = view.least + 0.5 * off[name] @ view.H @ off[name]
        assert height == pytest.approx(last, rel=1e-6)
    outermost = view._ellipses()[-1] - view.minimum
    start = view.ways["crawls"][0] - view.minimum
    np.testing.assert_allclose(
        np.einsum("ij,jk,ik->i", outermost, view.H, outermost), start @ view.H @ start
    )
    drawn(display)


def test_an_error_surface_has_two_weights(iris):
    unit = LinearUnit(tol=0.1).fit(*iris)
    with pytest.raises(ValueError, match="over two weights"):
        ErrorSurfaceDisplay.from_estimators([unit], *iris)
    line = LinearUnit(fit_intercept=False, tol=0.1).fit(*iris)
    with pytest.raises(ValueError, match="trace=True"):
        ErrorSurfaceDisplay.from_estimators([line], *iris)


def test_losses_of_regression_beside_those_of_classification():
    display = LossesDisplay.beside_regression()
    left, right = scenes_of(display.view)
    square, absolute = (marks(left, Line, name)[0] for name in ("square", "absolute"))
    np.testing.assert_allclose(square.y, absolute.y**2)
    np.testing.assert_allclose(absolute.y, absolute.y[::-1], atol=1e-12)  # on both sides alike
    assert marks(right, Line, "hinge")[0].y[-1] == 0.0
    drawn(display)
