"""A replayed run is the run: weights, causes, counts and bounds agree with the estimator's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

from maxmargin import Perceptron, PerceptronRunDisplay, mistake_bound
from maxmargin.show.geometry.crossing import crossing
from maxmargin.show.scene import Line, Points
from maxmargin.show.views.boundary import window_around
from maxmargin.show.views.perceptron_run import perceptron_run, run_of

from .drawn import drawn, marks

X, Y = load_iris(return_X_y=True)
TWO = X[Y < 2][:, [1, 3]], np.array(["setosa", "versicolor"])[Y[Y < 2]]


@pytest.fixture(scope="module")
def run():
    return perceptron_run(*TWO, random_state=3)


@pytest.mark.parametrize("data", [TWO, (X[:, [2, 3]], Y), (sparse.csr_matrix(X), Y)])
def test_the_last_frame_is_the_fitted_model(data):
    model = Perceptron(random_state=3, trace=True, max_passes=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *a, **k: None)  # five passes are too few for some
        model.fit(*data)
    for run in (perceptron_run(*data, random_state=3, max_passes=5), run_of(model)):
        np.testing.assert_array_equal(run.W[-1], model.coef_)
        np.testing.assert_array_equal(run.b[-1], model.intercept_)
        assert run.made[-1] == model.updates_
        assert run.wrong[-1] == model.certificate_.wrong


def test_every_update_adds_the_point_that_caused_it(run):
    y = np.where(run.codes == 1, 1.0, -1.0)
    for t in range(1, len(run) + 1):
        (i,) = run.points[t - 1]
        assert y[i] * run.scores(t - 1, [i])[0, 0] <= 0.0
        np.testing.assert_allclose(run.W[t][0] - run.W[t - 1][0], y[i] * run.X[i])
        assert run.b[t][0] - run.b[t - 1][0] == y[i]
        said = run.why(t)
        assert f"point {i} " in said
        assert run.classes[run.codes[i]] in said


def test_norms_lie_between_what_the_theorem_promises_and_allows(run):
    bound = mistake_bound(*TWO)
    scene = run.norms()
    (above,), (below,) = marks(scene, Line, "at most tR²"), marks(scene, Line, "at least t²γ²")
    (own,) = marks(scene, Line, "‖w‖² of this run")
    assert scene.x.log
    assert scene.y.log
    assert above.x[-1] == pytest.approx(bound.bound)
    assert above.y[-1] == pytest.approx(below.y[-1])  # they meet where every run has ended
    t = own.x
    assert (own.y <= t * bound.radius**2 * (1 + 1e-9)).all()
    assert (own.y >= (t * bound.margin) ** 2 * (1 - 1e-9)).all()
    np.testing.assert_array_equal(own.y, run.squared_norm[1:])
    assert f"{bound.bound:.4g}" in scene.words


def test_a_frame_shows_the_old_and_the_new_boundary(run):
    frame = run.frame(-1)
    assert frame.equal
    (new,), (old,) = marks(frame, Line, "boundary"), marks(frame, Line, "boundary before")
    for line, t in ((new, -1), (old, -2)):
        score = run.W[t][0] @ np.array([line.x, line.y]) + run.b[t][0]
        np.testing.assert_allclose(score, 0.0, atol=1e-9)
    (ring,) = marks(frame, Points, "the cause of this update")
    np.testing.assert_array_equal([ring.x, ring.y], run.X[run.points[-1]].T)
    assert ring.hollow
    assert [m.label for m in frame.marks[:2]] == ["setosa", "versicolor"]
    assert frame.words.startswith(run.why(len(run)))


def test_there_is_no_bound_on_data_that_are_not_separable():
    run = perceptron_run(X[:, [2, 3]], Y, max_passes=3)
    assert run.bound is None
    assert "not separable" in run.words()
    assert "stopped after 3 passes" in run.words()


@pytest.mark.parametrize("given", [{"batch_size": "all"}, {"margin": 1.0}])
def test_no_bound_is_claimed_where_the_theorem_is_silent(given):
    run = perceptron_run(*TWO, max_passes=4, **given)
    assert run.bound is None
    assert "R²/γ²" in run.words()
    assert "R²/γ² =" not in run.words()


def test_updates_beyond_the_most_are_left_out_and_that_is_said():
    run = perceptron_run(*TWO, random_state=3, most=5)
    assert len(run) == 5
    assert "only the first 5 are shown" in run.words()


def test_a_boundary_of_k_classes_lies_between_the_best_two():
    data, _ = make_blobs(60, centers=4, random_state=2)
    rng = np.random.default_rng(0)
    W, b = rng.standard_normal((4, 2)), rng.standard_normal(4)
    x, y = crossing(W, b, window_around(data))
    known = np.isfinite(x)
    assert known.any()
    F = np.sort(np.column_stack([x, y])[known] @ W.T + b, axis=1)
    np.testing.assert_allclose(F[:, -1], F[:, -2], atol=1e-9)


@pytest.mark.parametrize("data", [TWO, (X[:, [2, 3]], Y), (X[Y < 2], Y[Y < 2])])
def test_it_can_be_drawn(data):
    display = PerceptronRunDisplay.from_data(*data, max_passes=3, updates=[0, 1, 2])
    told = drawn(display)
    assert "updates t" in told
    assert len(display.ax_) == 4


def test_a_model_without_a_recorded_run_is_refused():
    with pytest.raises(ValueError, match="trace=True"):
        PerceptronRunDisplay.from_estimator(Perceptron().fit(*TWO))
