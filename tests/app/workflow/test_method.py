"""Which method is taken where none was named."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris

from maxmargin.app.workflow.fit import fit_table
from maxmargin.app.workflow.method import missed_class
from maxmargin.app.workflow.plan import Plan
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import label_table


def fitted(X, y, **plan):
    columns = {f"x{j}": column for j, column in enumerate(np.transpose(X))}
    data = label_table(pa.table({**columns, "label": y}), "label", None, "here")
    return fit_table(data, Plan(threads=1, **plan), Choices())


@pytest.fixture(scope="module")
def overlapping():
    """Four corners, in each of which one class of four has two fifths of the rows."""
    rng = np.random.default_rng(0)
    corner = rng.integers(4, size=400)
    y = np.where(rng.random(400) < 0.2, corner, rng.integers(4, size=400))
    X = np.column_stack([corner % 2, corner // 2]) + 0.3 * rng.standard_normal((400, 2))
    return X, np.array(["a", "b", "c", "d"])[y]


def test_softmax_is_taken_where_the_svm_misses_a_class_and_folds_tell(overlapping):
    found = fitted(*overlapping, method="auto")
    assert found.method == "logistic" == found.model.summary["method"]
    assert type(found.model.model).__name__ == "LogisticRegression"
    (note,) = [note for note in found.notes if "logistic was taken" in note]
    assert "misses most of" in note
    assert "--method svm" in note


def test_who_names_the_svm_gets_it(overlapping):
    found = fitted(*overlapping, method="svm")
    assert found.method == "svm"
    assert missed_class(found.model.model) is not None


def test_where_every_class_is_found_nothing_else_is_tried(monkeypatch):
    from maxmargin.app.workflow import method

    tried = []
    tune = method.tune
    monkeypatch.setattr(
        method, "tune", lambda plan, *rest: [tried.append(plan.method), tune(plan, *rest)][1]
    )
    X, y = load_iris(return_X_y=True)
    found = fitted(X, np.array(["s", "e", "v"])[y], method="auto")
    assert found.method == "svm"
    assert tried == ["auto"]


@pytest.fixture(scope="module")
def rare():
    """One row in twelve, hidden among the others: by errors nobody names it."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(240) % 12 == 0, "rare", "common")
    return rng.standard_normal((240, 2)) + (y == "rare")[:, None] * [1.2, 0.0], y


def test_classes_weigh_the_same_in_the_fit_as_in_the_score_that_is_named(overlapping):
    X, y = overlapping
    for score, weighs in {"balanced_accuracy": "balanced", "accuracy": None}.items():
        found = fitted(X, y, method="svm", score=score)
        assert found.model.model.class_weight == weighs
    every_row = fitted(X, y, method="svm", score="balanced_accuracy", balanced=False)
    assert every_row.model.model.class_weight is None


def test_weights_find_a_rare_class_that_is_missed_without(rare):
    without = fitted(*rare, method="svm", balanced=False)
    assert missed_class(without.model.model) == "rare"
    found = fitted(*rare, method="svm")
    assert missed_class(found.model.model) is None
    assert found.verdict.balanced > without.verdict.balanced
    (note,) = [note for note in found.notes if "every class weighs the same, as svm" in note]
    assert "misses most of 'rare'" in note
    assert "--weights none" in note
    assert any("C was chosen by balanced accuracy" in note for note in found.notes)


def test_weights_of_rows_that_are_given_stay_as_they_are(rare):
    X, y = rare
    columns = {"x0": X[:, 0], "x1": X[:, 1], "label": y, "mass": np.ones(len(y))}
    data = label_table(pa.table(columns), "label", "mass", "here")
    found = fit_table(data, Plan("svm", score="balanced_accuracy", threads=1), Choices())
    assert found.model.model.class_weight is None


def test_where_the_svm_would_take_long_it_is_not_asked(monkeypatch):
    from maxmargin.app.workflow import method

    X, y = load_iris(return_X_y=True)
    y = np.array(["s", "e", "v"])[y]
    monkeypatch.setattr(method, "MAX_SVM_SEARCH_SIZE", X.size * 3 - 1)
    found = fitted(X, y, method="auto")
    assert found.method == "logistic"
    assert "svm takes several times as long" in found.notes[0]
    assert fitted(X, y, method="svm").method == "svm"
    two = y != "v"
    assert fitted(X[two], y[two], method="auto").method == "svm"
