"""Pictures of the lectures: several lines, an update, a projection, a Gram matrix, regression."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from maxmargin import (
    FisherDiscriminant,
    GramDisplay,
    KernelRidge,
    LinearSVM,
    Perceptron,
    ProjectionDisplay,
    RegressionDisplay,
    SeparatorsDisplay,
    UpdateDisplay,
)
from maxmargin.show.scene import Line, Segments
from maxmargin.show.views.separators import _ends

from .drawn import drawn


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
    marks = view.scene().marks
    assert sum(isinstance(mark, Line) for mark in marks) == 4
    assert sum(isinstance(mark, Segments) for mark in marks) == 4
    for line, one in zip([m for m in marks if isinstance(m, Line)], lines, strict=True):
        on = one.decision_function(np.column_stack([line.x, line.y]))
        np.testing.assert_allclose(on, 0, atol=1e-9)
    drawn(display)


def test_a_line_beside_the_picture_is_left_out_and_a_wrong_side_is_told(iris):
    assert _ends(np.array([1.0, 0.0]), -9.0, (0.0, 1.0, 0.0, 1.0)) is None
    np.testing.assert_array_equal(
        _ends(np.array([1.0, 0.0]), -0.5, (0.0, 1.0, 0.0, 1.0)), [[0.5, 0.0], [0.5, 1.0]]
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
