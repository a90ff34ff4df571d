"""compare: honest folds, honest differences, and a table that survives interruption."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVMCV, LinearSVMCV, PolarBasis, compare
from maxmargin.app.workflow.plan import Plan
from maxmargin.models.registry import METHODS, Shape
from maxmargin.models.tune.candidates import make
from maxmargin.models.tune.comparison import Comparison, p_value
from maxmargin.models.tune.scoring import constant_score

X, Y = load_iris(return_X_y=True)


def test_accuracy_is_that_of_a_loop_over_the_same_folds():
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    row = compare(X, Y, ["svm"], ["as given"], cv=folds, inner_cv=3).best
    model = make_pipeline(StandardScaler(), LinearSVMCV(cv=3))
    scores = cross_val_score(model, X, Y, cv=folds)
    assert row["accuracy"] == pytest.approx(scores.mean())
    assert row["standard_error"] == pytest.approx(scores.std(ddof=1) / 2)
    assert row["gap"] <= 1e-6
    assert row["separable"] is False


def test_methods_are_ranked_by_the_score_asked_for_and_choose_their_C_by_it():
    some = np.r_[50:100, 100:108]  # one class of iris, and a few of another
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    found = compare(
        X[some], Y[some], ["svm", "least-squares"], ["as given"], cv=folds,
        scoring="balanced_accuracy",
    )  # fmt: skip
    assert found.score == "balanced_accuracy"
    row = next(row for row in found.rows if row["method"] == "svm")
    model = make_pipeline(StandardScaler(), LinearSVMCV(cv=3, scoring="balanced_accuracy"))
    scores = cross_val_score(model, X[some], Y[some], cv=folds, scoring="balanced_accuracy")
    assert row["balanced_accuracy"] == pytest.approx(scores.mean())
    assert row["standard_error"] == pytest.approx(scores.std(ddof=1) / np.sqrt(3))
    assert row["accuracy"] > row["balanced_accuracy"]
    ranked = [row["balanced_accuracy"] for row in found.rows]
    assert ranked == sorted(ranked, reverse=True)
    assert "balanced accuracy" in found.recommendation


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [(0.50, "No method is better"), (0.53, "No method is clearly better"), (0.60, "Use fisher")],
)
def test_the_best_by_chance_is_not_recommended(accuracy, words):
    row = {"method": "fisher", "basis": "as given", "accuracy": accuracy, "standard_error": 0.02,
           "p_value": 1.0, "fit_seconds": 0.0}  # fmt: skip
    assert Comparison([row], constant=0.5).recommendation.startswith(words)


def test_methods_no_better_than_one_answer_are_not_recommended():
    y = np.arange(60) % 3 == 0
    found = compare(np.random.default_rng(0).standard_normal((60, 2)), y, ["fisher"], cv=3)
    assert found.constant == pytest.approx(2 / 3)
    assert (found.best["accuracy"] <= 2 / 3) == found.recommendation.startswith("No method is")
    assert found.recommendation.startswith("No method is better than always giving the commonest")
    assert constant_score("balanced_accuracy", y) == 0.5
    assert constant_score("roc_auc", y) is None


def test_a_change_of_basis_is_recommended_where_it_is_needed():
    points, y = make_circles(150, factor=0.5, noise=0.08, random_state=1)
    found = compare(points, y, ["svm", "fisher"], ["as given", "polar"], cv=3)
    assert {row["basis"] for row in found.rows[:2]} == {"polar"}
    assert found.recommended["basis"] == "polar"
    assert "polar" in found.recommendation
    assert all(row["p_value"] < 0.05 for row in found.rows if row["basis"] == "as given")


def test_kernels_take_the_features_as_given_and_all_know_what_suits():
    points, y = make_circles(60, factor=0.3, random_state=0)
    found = compare(points, y, cv=3)
    pairs = {(row["method"], row["basis"]) for row in found.rows}
    assert ("kernel-svm", "as given") in pairs
    assert not any(method.startswith("kernel") and basis != "as given" for method, basis in pairs)
    assert not any(method.startswith("svm-") for method, _ in pairs)  # two classes: all the same
    assert {basis for _, basis in pairs} == {"as given", "polar", "quadratic", "radial"}


def test_own_estimators_and_bases_join():
    found = compare(
        X, Y, methods=["fisher", ("guess", DummyClassifier())],
        bases=["as given", ("mine", PolarBasis())], cv=3,
    )  # fmt: skip
    named = [(row["method"], row["basis"]) for row in found.rows]
    assert sorted(named) == [("fisher", "as given"), ("fisher", "mine"), ("guess", "as given")]
    assert found.rows[-1]["method"] == "guess"
    assert found.rows[-1]["p_value"] < 0.05
    assert found.rows[0]["log_loss"] < found.rows[-1]["log_loss"]


class Interrupted(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise KeyboardInterrupt


def test_an_interrupt_keeps_what_is_done():
    told = []
    found = compare(
        X, Y, methods={"fisher": None, "stop": Interrupted()}, bases=["as given"], cv=3,
        on_row=told.append,
    )  # fmt: skip
    assert found.interrupted
    assert [row["method"] for row in found.rows] == ["fisher"]
    assert told == found.rows
    assert "interrupted" in str(found)
    with pytest.raises(KeyboardInterrupt):
        compare(X, Y, methods={"stop": Interrupted()}, bases=["as given"], cv=3)


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise ValueError("no way")


def test_a_method_that_fails_is_left_out_and_named():
    found = compare(X, Y, methods={"fisher": None, "bad": Broken()}, bases=["as given"], cv=3)
    assert found.skipped == ["bad (as given) was left out: no way"]
    with pytest.raises(ValueError, match="Nothing could be compared"):
        compare(X, Y, methods={"bad": Broken()}, bases=["as given"], cv=3)


def test_sparse_rows_and_string_labels():
    points, codes = make_blobs(90, centers=3, n_features=6, random_state=0)
    names = np.array(["low", "middle", "high"])[codes]
    found = compare(sparse.csr_matrix(points), names, ["svm", "logistic"], cv=3)
    assert {row["basis"] for row in found.rows} == {"as given"}
    assert found.best["accuracy"] > 0.9


@pytest.mark.parametrize("what", ["methods", "bases"])
def test_unknown_names_are_refused(what):
    with pytest.raises(ValueError, match=f"{what} must be 'all' or name some of"):
        compare(X, Y, **{what: ["nonsense"]})


def test_p_value_grows_with_shared_rows_and_knows_no_difference():
    differences = np.array([0.02, 0.05, 0.01, 0.04, 0.03])
    assert p_value(differences, 0.0) < p_value(differences, 0.25) < 1.0
    assert p_value(np.zeros(5), 0.25) == 1.0
    assert p_value(np.full(5, 0.1), 0.25) == 0.0
    assert p_value(differences, 0.25) == p_value(-differences, 0.25)


def test_tables_are_escaped_and_framed():
    found = compare(X, Y, methods={"<b>": DummyClassifier()}, bases=["as given"], cv=KFold(3))
    assert "<b>" not in found._repr_html_().replace("<table>", "")
    assert found.to_frame().shape[0] == 1


def test_kernel_svm_cv_is_the_kernel_svm_of_its_c():
    points, y = make_circles(80, factor=0.5, noise=0.15, random_state=0)
    model = KernelSVMCV(Cs=[0.1, 1.0, 10.0], cv=3).fit(points, y)
    assert model.C_ in (0.1, 1.0, 10.0)
    assert model.scores_.shape == (3, 3)
    plain = model._tuned(C=model.C_).fit(points, y)
    np.testing.assert_allclose(
        model.decision_function(points), plain.decision_function(points), atol=1e-4
    )
    with pytest.raises(ValueError, match="precomputed"):
        KernelSVMCV(kernel="precomputed").fit(points @ points.T, y)


def test_one_table_serves_compare_and_the_command_line():
    """Whatever compare recommends, fit can be asked for; the estimators are the same."""
    shape = Shape(100, 4, 3, False)
    for name, method in METHODS.items():
        theirs = make(method, 3, shape)
        ours = Plan(name).estimator(1.0 if method.C else None, 9.0)
        assert isinstance(theirs, type(ours))
        for parameter in method.fixed:
            if parameter not in method.compared:
                assert getattr(theirs, parameter) == getattr(ours, parameter)
    with pytest.raises(ValueError, match="--method svm-sum is --multiclass sum, not rest"):
        Plan("svm-sum", multiclass="rest").resolved


def test_large_data_get_an_approximate_kernel():
    model = make(METHODS["kernel-svm"], 3, Shape(50_000, 4, 2, False))
    assert type(model).__name__ == "KernelSVM"
    assert model.rank == 500
