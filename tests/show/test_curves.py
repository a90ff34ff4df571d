"""Curves show the numbers of the estimators they are drawn from."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_circles
from sklearn.metrics import confusion_matrix, ndcg_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    ComparisonDisplay,
    ConfusionDisplay,
    CrossValidationDisplay,
    DistancesDisplay,
    GapDisplay,
    KernelRidgeClassifier,
    KernelSVM,
    KernelSVMCV,
    LabelRanker,
    LeastSquaresClassifier,
    LinearSVM,
    LinearSVMCV,
    LogisticRegression,
    LogisticRegressionCV,
    LossesDisplay,
    OneVsRest,
    PairwiseRanker,
    PathDisplay,
    RankingDisplay,
    c_path,
    compare,
)
from maxmargin.app.workflow.tuning import Tuning
from maxmargin.core.problem.losses import Logistic, value
from maxmargin.models.tune.best import best_index
from maxmargin.show.scene import Cells, Line, Points, Segments
from maxmargin.show.views.comparison import comparison_view
from maxmargin.show.views.confusion import confusion_view
from maxmargin.show.views.cross_validation import cross_validation_view, search_view
from maxmargin.show.views.distances import distances_view
from maxmargin.show.views.gap import gap_curve
from maxmargin.show.views.path_curves import MIN_DRAWN_GAP, path_view
from maxmargin.show.views.ranking import graded_view, ranking_view

from .drawn import drawn, marks, scenes_of

X, Y = load_iris(return_X_y=True)
PAIR = X[Y > 0][:, [2, 3]], Y[Y > 0]


def test_losses_are_the_solvers_own():
    display = LossesDisplay.from_names(low=-2, high=2)
    scene = display.view.scene()
    assert [m.label for m in scene.marks] == [
        "0-1", "perceptron", "hinge", "squared hinge", "logistic",
    ]  # fmt: skip
    m = display.view.m
    by_name = {mark.label: mark for mark in scene.marks}
    np.testing.assert_allclose(by_name["hinge"].y, np.maximum(0, 1 - m), atol=1e-15)
    np.testing.assert_array_equal(by_name["logistic"].y, [value(Logistic(), v) for v in m])
    jump = by_name["0-1"]
    known = np.isfinite(jump.y)
    np.testing.assert_array_equal(np.unique(jump.y[known]), [0.0, 1.0])
    # Every loss that bounds errors from above does so.
    for name in ("hinge", "squared hinge"):
        assert (display.view.curves[name] >= display.view.curves["0-1"]).all()
    assert "logistic 0.6931" in scene.words
    drawn(display)
    with pytest.raises(ValueError, match="no loss 'huber'"):
        LossesDisplay.from_names(["huber"])


def test_a_path_is_drawn_as_it_is_tabulated():
    path = c_path(LinearSVM(), *PAIR, Cs=[0.01, 0.1, 1.0, 10.0])
    margin, error, support, gap = scenes_of(path_view(path))
    assert all(scene.x.log for scene in (margin, error, support, gap))
    for scene, label, column in (
        (margin, "margin", path.column("margin")),
        (error, "training error", 100 * path.column("training_error")),
        (support, "on the margin", path.column("on_margin")),
        (support, "inside the margin", path.column("inside")),
        (support, "misclassified", path.column("misclassified")),
        (gap, "relative gap", np.maximum(path.column("gap"), MIN_DRAWN_GAP)),
    ):
        for kind in (Line, Points):
            (mark,) = marks(scene, kind, label)
            np.testing.assert_array_equal(mark.x, path.Cs)
            np.testing.assert_allclose(mark.y, column, rtol=1e-12)
    assert margin.y.log
    assert gap.y.log
    assert gap.y.limits[1] >= 1e-5  # rounding does not fill the picture
    assert "which is rounding" in gap.words
    assert f"{path.column('margin')[-1]:.4g}" in margin.words
    assert path.ending in margin.words
    drawn(PathDisplay.from_path(path))


def test_a_path_without_support_vectors_has_no_picture_of_them():
    display = PathDisplay.from_estimator(LogisticRegression(), X, Y, Cs=[0.1, 1.0])
    assert [s.title for s in scenes_of(display.view)] == [
        "margin", "training error", "distance to the optimum",
    ]  # fmt: skip
    drawn(display)


def test_cross_validation_shows_means_errors_and_both_choices():
    model = LinearSVMCV(Cs=7, cv=4).fit(X, Y)
    view = search_view(make_pipeline(StandardScaler(), model))
    scene = view.scene()
    errors = 1.0 - model.scores_
    (mean,) = marks(scene, Line, "mean")
    (bars,) = marks(scene, Segments, "± one standard error")
    np.testing.assert_array_equal(mean.x, model.Cs_)
    np.testing.assert_allclose(mean.y, errors.mean(axis=0))
    half = errors.std(axis=0, ddof=1) / 2.0
    np.testing.assert_allclose(bars.y2 - bars.y, 2 * half, atol=1e-15)
    assert view.chosen == model.best_index_
    assert view.simplest == best_index(model.scores_, "one_se")
    assert f"C = {model.C_:.4g}" in scene.title
    assert f"{errors.mean(axis=0)[view.chosen]:.4g}" in scene.words
    assert scene.x.log
    drawn(CrossValidationDisplay.from_estimator(model))


def test_the_simpler_choice_is_marked_where_it_differs():
    errors = np.array([[0.3, 0.11, 0.10, 0.2], [0.3, 0.09, 0.08, 0.2], [0.3, 0.13, 0.12, 0.2]])
    view = cross_validation_view([0.1, 1.0, 10.0, 100.0], errors)
    assert (view.chosen, view.simplest) == (2, 1)
    scene = view.scene()
    (simple,) = marks(scene, Points, "one standard error: C = 1")
    (chosen,) = marks(scene, Points, "chosen: C = 10")
    assert (simple.x[0], chosen.x[0]) == (1.0, 10.0)
    assert "smallest C within one standard error of the best is 1, with 0.11" in scene.words
    drawn(CrossValidationDisplay.from_arrays([0.1, 1.0, 10.0, 100.0], errors, 3))
    with pytest.raises(ValueError, match="a column for each of the 2 values of C"):
        cross_validation_view([1.0, 2.0], errors)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegressionCV(Cs=3, cv=3, scoring="neg_log_loss"),
        KernelSVMCV(Cs=3, cv=3),
        LeastSquaresClassifier(alphas=[0.1, 1.0, 10.0]),
        KernelRidgeClassifier(alphas=[0.1, 1.0, 10.0]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_search_can_be_drawn(model):
    model.fit(X, Y)
    view = search_view(model)
    best = model.C_ if hasattr(model, "C_") else model.alpha_
    assert view.grid[view.chosen] == best
    assert view.best == view.chosen
    drawn(CrossValidationDisplay.from_estimator(model))


def test_the_tuning_of_the_command_line_fits_the_picture():
    errors = np.array([[0.3, 0.1, 0.2], [0.2, 0.1, 0.2]])
    tuning = Tuning(np.array([0.1, 1.0, 10.0]), errors, 1)
    view = cross_validation_view(tuning.Cs, tuning.errors, tuning.best)
    np.testing.assert_array_equal(view.mean, tuning.mean)
    np.testing.assert_allclose(view.standard_error, tuning.standard_error)
    assert view.grid[view.chosen] == tuning.C


def test_an_interrupted_search_shows_what_was_done():
    model = LinearSVMCV(Cs=5, cv=3).fit(X, Y)
    model.scores_[:, 3:] = np.nan
    model.best_index_ = 2
    view = search_view(model)
    assert len(view.grid) == 3
    assert view.chosen == 2


def test_a_model_without_a_search_is_refused():
    with pytest.raises(ValueError, match=r"LinearSVM has no cross-validation.*LinearSVMCV"):
        search_view(LinearSVM().fit(X, Y))


def test_gaps_are_those_of_the_history():
    fits = {name: LinearSVM(solver=name).fit(*PAIR) for name in ("newton", "descent")}
    display = GapDisplay.from_estimators(fits)
    scene = display.view.scene()
    assert scene.y.log
    for name, model in fits.items():
        (line,) = marks(scene, Line, name)
        np.testing.assert_array_equal(line.x, [step.seconds for step in model.history_])
        gaps = [step.relative_gap for step in model.history_]
        np.testing.assert_allclose(line.y, np.maximum(gaps, np.finfo(float).eps))
        assert f"{model.certificate_.relative_gap:.2g}" in scene.words
    drawn(display)


def test_machines_solved_in_turn_are_not_joined_by_a_line():
    curve = gap_curve(LinearSVM(multiclass="pairs").fit(X, Y))
    assert curve.parts
    display = GapDisplay.from_estimator(LinearSVM(multiclass="pairs").fit(X, Y), name="pairs")
    assert not [m for m in display.view.scene().marks if isinstance(m, Line)]
    drawn(display)
    with pytest.raises(ValueError, match="LeastSquaresClassifier has no gaps"):
        gap_curve(LeastSquaresClassifier().fit(X, Y))


def test_confusion_is_counted_by_scikit_learn():
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    model = LinearSVM(C=0.01).fit(X, names)
    view = confusion_view(names, model.predict(X))
    counts = confusion_matrix(names, model.predict(X))
    (cells,) = marks(view.scene(), Cells)
    np.testing.assert_array_equal(np.array(cells.words, dtype=int), counts)
    np.testing.assert_allclose(cells.shade, counts / 50)
    scene = view.scene()
    assert [word for _, word in scene.y.ticks] == ["setosa", "versicolor", "virginica"]
    assert f"{np.trace(counts)} of 150" in scene.words
    drawn(ConfusionDisplay.from_estimator(model, X, names))


def test_weights_of_rows_count():
    view = confusion_view([0, 1, 1], [0, 0, 1], sample_weight=[0.1, 0.2, 0.5])
    (cells,) = marks(view.scene(), Cells)
    assert cells.words == (("0.1", "0"), ("0.2", "0.5"))
    np.testing.assert_allclose(cells.shade, [[1, 0], [2 / 7, 5 / 7]])
    assert "0.6 of 0.8" in view.words()


def test_a_class_that_only_predictions_know_has_its_row():
    model = OneVsRest(LinearSVM(), unknown=-1).fit(X[:, [1, 3]], Y)
    view = confusion_view(Y, model.predict(X[:, [1, 3]]))
    assert view.labels == ("-1", "0", "1", "2")
    assert view.counts.sum() == 150


def test_a_comparison_is_drawn_best_on_top():
    data = make_circles(80, factor=0.5, noise=0.1, random_state=0)
    found = compare(*data, ["svm", "fisher"], ["as given", "polar"], cv=3)
    scene = comparison_view(found).scene()
    names = [word for _, word in sorted(scene.y.ticks, reverse=True)]
    assert len(names) == len(found.rows) == 4
    for row, name in zip(found.rows, names, strict=True):
        assert name.startswith(str(row["method"]))
        assert f"{row['accuracy']:.3f} ± {row['standard_error']:.3f}" in scene.words
    dots = [m for m in marks(scene, Points) if m.names]
    shown = sorted(((-y, x) for m in dots for x, y in zip(m.x, m.y, strict=True)))
    assert [x for _, x in shown] == [row["accuracy"] for row in found.rows]
    (ring,) = marks(scene, Points, "recommended")
    assert ring.x[0] == found.recommended["accuracy"]
    assert found.recommendation in scene.words
    drawn(ComparisonDisplay.from_comparison(found))


def test_ndcg_is_scikit_learns():
    rng = np.random.default_rng(1)
    grades, scores = rng.integers(0, 4, 60).astype(float), rng.standard_normal(60)
    view = graded_view(grades, scores)
    for n in (1, 2, 7, 30, 60):
        expected = ndcg_score([grades], [scores], k=n, ignore_ties=True)
        assert view.ndcg[n - 1] == pytest.approx(expected)
    groups = np.repeat([0, 1], 30)
    both = graded_view(grades, scores, groups)
    expected = [ndcg_score([grades[groups == g]], [scores[groups == g]], k=5) for g in (0, 1)]
    assert both.ndcg[4] == pytest.approx(np.mean(expected))


def test_rankings_show_the_rankers_own_score():
    rng = np.random.default_rng(0)
    items = rng.standard_normal((80, 4))
    worth = items @ [2.0, -1.0, 0.0, 0.0] + rng.standard_normal(80)
    grades = np.round(worth)
    ranker = PairwiseRanker().fit(items, grades)
    view = ranking_view(ranker, items, grades)
    assert view.pair_accuracy == ranker.score(items, grades)
    assert f"{view.pair_accuracy:.2%}" in view.words()
    drawn(RankingDisplay.from_estimator(ranker, items, grades))

    pairs = np.array([(a, b) for a in range(80) for b in (3, 9) if worth[a] > worth[b]])
    ranker.fit(items, pairs)
    view = ranking_view(ranker, items, pairs)
    assert view.pair_accuracy == pytest.approx(ranker.score(items, pairs))
    assert view.accuracy_from(np.zeros(1))[0] == view.pair_accuracy
    assert view.tau == pytest.approx(2 * view.pair_accuracy - 1)
    drawn(RankingDisplay.from_estimator(ranker, items, pairs))

    labels = LabelRanker().fit(X, Y)
    view = ranking_view(labels, X, Y)
    assert view.pair_accuracy == pytest.approx(labels.score(X, Y))
    drawn(RankingDisplay.from_estimator(labels, X, Y))


def test_distances_are_the_models_and_margins_are_marked():
    svm = LinearSVM(C=1.0).fit(*PAIR)
    view = distances_view(svm, *PAIR)
    np.testing.assert_allclose(view.distance, svm.signed_distance(PAIR[0]))
    assert view.margin == pytest.approx(svm.margin_)
    assert view.wrong == int((svm.predict(PAIR[0]) != PAIR[1]).sum())
    assert 0.0 in view.edges  # no bar stands on both sides of the boundary
    assert view.counts.sum() == 100
    (margins,) = marks(view.scene(), Line, f"margin {svm.margin_:.4g}")
    np.testing.assert_allclose(np.unique(np.abs(margins.x[np.isfinite(margins.x)])), svm.margin_)
    drawn(DistancesDisplay.from_estimator(svm, *PAIR))


@pytest.mark.parametrize(
    "model",
    [LinearSVM(), LinearSVM(multiclass="pairs"), LogisticRegression(), KernelSVM()],
    ids=["max", "pairs", "softmax", "kernel"],
)
def test_distances_of_k_classes_are_negative_where_the_model_is_wrong(model):
    model.fit(X, Y)
    view = distances_view(model, X, Y)
    assert view.wrong == int((model.predict(X) != Y).sum())
    drawn(DistancesDisplay.from_estimator(model, X, Y))


def test_calibration_counts_every_prediction_once():
    data = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(*data)
    calibration = distances_view(model, *data).calibration
    assert calibration.count.sum() == 569
    right = float(calibration.right @ calibration.count) / 569
    assert right == pytest.approx(model.score(*data))
    mean = float(calibration.confidence @ calibration.count) / 569
    assert mean == pytest.approx(model.predict_proba(data[0]).max(axis=1).mean())
    with pytest.raises(ValueError, match="the label 'x'"):
        distances_view(model, data[0][:2], ["x", "x"])
