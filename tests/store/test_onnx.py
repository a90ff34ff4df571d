"""ONNX graphs say what the models say, in float64."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris, load_wine

import maxmargin as mm
from maxmargin.data.model import with_columns
from maxmargin.store.onnx_graph import compare, inputs_of, write_onnx
from tests.cli.helpers import Program, people, write

onnxruntime = pytest.importorskip("onnxruntime")

MODELS = {
    "svm": mm.LinearSVM(),
    "rest": mm.LinearSVM(multiclass="rest"),
    "logistic": mm.LogisticRegression(),
    "least squares": mm.LeastSquaresClassifier(),
    "fisher": mm.FisherDiscriminant(),
    "perceptron": mm.Perceptron(max_passes=50),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_matrices(name, two, tmp_path):
    X, y = load_wine(return_X_y=True)
    if two:
        X, y = X[y < 2], y[y < 2]
    model = with_columns(MODELS[name].fit(X, y))
    path = write_onnx(model, tmp_path / "m.onnx")
    assert compare(path, model, X) < 1e-12
    if hasattr(model.model, "predict_proba"):
        session = onnxruntime.InferenceSession(path)
        (p,) = session.run(["probabilities"], inputs_of(model, X))
        np.testing.assert_allclose(p, model.model.predict_proba(X), atol=1e-9)


@pytest.fixture
def maxmargin(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Program(capfd)


def test_tables_with_holes_categories_and_words(maxmargin, tmp_path):
    data = write(people(), tmp_path / "people.csv")
    maxmargin("fit", data, "-t", "answer", "-m", "logistic", "--C", 1)
    told = maxmargin.json("export", "model.maxmargin", "--onnx", "m.onnx", "--check", data)
    assert told["agrees"]
    assert told["difference"] < 1e-12
    new = people(20, seed=5).set_column(4, "town", pa.array(["Atlantis"] * 20))
    model = mm.load("model.maxmargin")
    assert compare("m.onnx", model, new) < 1e-12


def test_what_has_no_graph_is_refused(maxmargin):
    X, y = load_iris(return_X_y=True)
    pairs = with_columns(mm.LinearSVM(multiclass="pairs").fit(X, y))
    with pytest.raises(mm.NotStorableError, match="pairs"):
        write_onnx(pairs, "m.onnx")
    maxmargin("fit", "--demo", "circles", "--basis", "polar", "--C", 1)
    assert "change of basis" in maxmargin.complaint("export", "model.maxmargin", "--onnx", "m")


def test_a_missing_extra_is_named(maxmargin, monkeypatch):
    maxmargin("fit", "--C", 1)
    monkeypatch.setitem(sys.modules, "onnx", None)
    said = maxmargin.complaint("export", "model.maxmargin", "--onnx", "m.onnx")
    assert "pip install 'maxmargin[onnx]'" in said
