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
