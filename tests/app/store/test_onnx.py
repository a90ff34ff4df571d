"""ONNX graphs say what the models say, in float64."""

import sys
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris, load_wine

import maxmargin as mm
from maxmargin.app.cli.bundled import bundled
from maxmargin.app.store.onnx_graph import build, compare, inputs_of, write_onnx
from maxmargin.parts.files.basis import Basis
from maxmargin.parts.files.model import TableModel, with_columns
from maxmargin.parts.files.preparation import MatrixPreparation
from tests.app.cli.helpers import Program, people, write

onnxruntime = pytest.importorskip("onnxruntime")

MODELS = {
    "svm": mm.LinearSVM(),
    "rest": mm.LinearSVM(multiclass="rest"),
    "pairs": mm.LinearSVM(multiclass="pairs"),
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


@pytest.mark.parametrize(
    "data", ["--demo=circles", "--demo=iris", pytest.param("--demo=wine", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "basis", ["polar", "quadratic", "polynomial:1", "polynomial:3", "radial:20"]
)
def test_changes_of_basis(maxmargin, data, basis):
    maxmargin("fit", data, "--basis", basis, "--C", 1, "-m", "logistic")
    model = mm.load("model.maxmargin")
    rows = bundled(data.removeprefix("--demo=")).rows
    assert compare(write_onnx(model, "m.onnx"), model, rows) < 1e-12


def features_by_onnx(basis: Basis, Z: np.ndarray) -> np.ndarray:
    """What a graph makes of these rows, seen through weights that are the unit matrix."""
    eye = np.eye(basis.outputs)
    model = mm.LinearSVM(multiclass="sum")
    model.classes_, model.n_features_in_ = np.arange(max(2, len(eye))), basis.outputs
    model.coef_, model.intercept_ = eye, np.zeros(len(eye))
    table = TableModel(model, MatrixPreparation(basis.width), basis, "y", {})
    session = onnxruntime.InferenceSession(build(table).SerializeToString())
    return session.run(["scores"], {"X": Z})[0]


@pytest.mark.parametrize("width", [2, 3, 5])
def test_angles_are_right_in_every_direction_and_at_any_distance(width):
    """Axes, both signs of zero, the origin, and lengths from 1e-140 to 1e140."""
    rng = np.random.default_rng(0)
    axes = np.array(list(product([-1.0, -0.0, 0.0, 1.0], repeat=width)))
    flat = rng.standard_normal((500, width)) * 10.0 ** rng.integers(-9, 9, (500, width))
    size = 10.0 ** rng.integers(-140, 140, (500, 1))
    Z = np.vstack([axes, flat, rng.standard_normal((500, width)) * size])
    expected = Basis("polar", width)(Z)
    assert expected[: len(axes)].min() > -3.0  # π, never −π
    found = features_by_onnx(Basis("polar", width), Z)
    np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=1e-15)
    np.testing.assert_allclose(found[:, 1:], expected[:, 1:], rtol=2e-15, atol=0)


def test_bumps_far_from_the_origin():
    Z = 1e6 + np.random.default_rng(0).standard_normal((50, 3))
    basis = Basis("radial", 3, centers=Z[:10] + 0.1, gamma=0.5)
    exact = np.exp(-0.5 * ((Z[:, None] - basis.centers) ** 2).sum(axis=2))
    np.testing.assert_allclose(features_by_onnx(basis, Z), exact, rtol=1e-8)


def test_pairs_with_ties():
    """Duels won, then how clearly; also where every class wins one duel, and a duel is even."""
    X, y = load_iris(return_X_y=True)
    model = mm.LinearSVM(multiclass="pairs").fit(X[:, :2], y)
    model.coef_ = np.array([[1.0, 0.0], [-1.0, 0.5], [1.0, -0.25]])
    model.intercept_ = np.array([0.0, 0.0, 0.0])
    grid = np.array(list(product([-2.0, -1.0, 0.0, 1.0, 2.0, 4.0], repeat=2)))
    table = with_columns(model)
    session = onnxruntime.InferenceSession(build(table).SerializeToString())
    label, scores = session.run(["label", "scores"], {"X": grid})
    won = np.round(model.decision_function(grid))
    assert (won == 1.0).all(axis=1).any()  # a circle: everybody beats somebody
    np.testing.assert_array_equal(label, model.predict(grid))
    np.testing.assert_allclose(scores, model.decision_function(grid), atol=1e-15)


def test_what_has_no_graph_is_refused(maxmargin, tmp_path):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(mm.NotStorableError, match=r"linear models .*KernelSVM"):
        write_onnx(with_columns(mm.KernelSVM().fit(X, y)), "m.onnx")
    table = pa.table({"mail": ["free money", "dear friend"] * 10, "label": ["spam", "ham"] * 10})
    data = write(table, tmp_path / "mail.csv")
    maxmargin("fit", data, "--text", "mail", "--C", 1)
    said = maxmargin.complaint("export", "model.maxmargin", "--onnx", "m.onnx")
    assert "'mail' is text" in said
    assert "--drop mail" in said
    assert not (tmp_path / "m.onnx").exists()


def test_a_missing_extra_is_named(maxmargin, monkeypatch):
    maxmargin("fit", "--C", 1)
    monkeypatch.setitem(sys.modules, "onnx", None)
    said = maxmargin.complaint("export", "model.maxmargin", "--onnx", "m.onnx")
    assert "pip install 'maxmargin[onnx]'" in said


@pytest.mark.parametrize("multiclass", ["max", "pairs"])
@pytest.mark.parametrize("classes", [2, 3])
def test_calibrated_probabilities(classes, multiclass, tmp_path):
    """The same numbers, and the same label is the most probable."""
    from sklearn.datasets import load_iris

    from maxmargin.parts.files.model import with_columns

    X, y = load_iris(return_X_y=True)
    y = y if classes == 3 else y == 1
    model = with_columns(mm.LinearSVM(probability=True, multiclass=multiclass).fit(X, y))
    path = write_onnx(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    P = session.run(["probabilities"], {"X": X})[0]
    np.testing.assert_allclose(P, model.model.predict_proba(X), atol=1e-12)
