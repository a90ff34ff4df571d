"""The registry: every door reads it, and an estimator is added by its file and a line there."""

import ast
import inspect
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import maxmargin as mm
from maxmargin.app.report.words import objective
from maxmargin.app.workflow.fit import fit_files, fit_table
from maxmargin.app.workflow.plan import Plan
from maxmargin.core.certify.mistakes import PerceptronCertificate
from maxmargin.models.registry import ESTIMATORS, METHODS, Home, Method, estimator_class
from maxmargin.models.stored import LINEAR
from maxmargin.models.validation import check_rows, check_training
from maxmargin.parts.files.form import FileOptions
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import label_table


class NearestMean(ClassifierMixin, BaseEstimator):
    """Two classes, the plane half way between their means."""

    _stored = LINEAR | {"certificate_": "PerceptronCertificate"}

    def __init__(self, bold=False):
        self.bold = bold

    def fit(self, X, y):
        X, self.classes_, codes = check_training(self, X, y)
        low, high = X[codes == 0].mean(axis=0), X[codes == 1].mean(axis=0)
        self.coef_ = (high - low)[None]
        self.intercept_ = -self.coef_ @ (high + low) / 2
        wrong = int((self.predict(X) != y).sum())
        self.certificate_ = PerceptronCertificate(
            len(y), wrong, wrong, 0.0, 0, 1, "done", False, None, 2
        )
        return self

    def decision_function(self, X):
        return (check_rows(self, X, reset=False) @ self.coef_.T + self.intercept_)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _in_words(self):
        return "The plane half way between the means.", "w = x̄₁ − x̄₀"


@pytest.fixture
def toy(monkeypatch):
    """What CONTRIBUTING asks for: a file with the class, a line for it, and one for its method."""
    module = ModuleType("maxmargin.models.nearest_mean")
    module.NearestMean = NearestMean
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(ESTIMATORS, "NearestMean", Home("models.nearest_mean"))
    monkeypatch.setitem(
        METHODS, "nearest-mean", Method("nearest-mean", "NearestMean", C=None, weights=False)
    )
    yield NearestMean
    vars(mm).pop("NearestMean", None)


def cloud(n=120):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, 2)) + 4.0 * y[:, None]
    return pa.table({"a": X[:, 0], "b": X[:, 1], "label": np.where(y, "far", "near")}), X, y


def test_an_estimator_is_added_by_its_file_and_a_line(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, X, y = cloud()
    assert mm.NearestMean is toy
    assert "NearestMean" in mm.__all__
    fitted = fit_table(label_table(table, "label", None, "here"), Plan("nearest-mean"), Choices())
    assert fitted.proved == (fitted.training.wrong == 0)
    assert objective(fitted.model.model, False)[1] == "w = x̄₁ − x̄₀"
    again = mm.load(mm.save(fitted.model, "m.maxmargin"))
    assert again.predict(table).tolist() == fitted.model.predict(table).tolist()
    assert type(again.model) is toy
    found = mm.compare(X, y, ["nearest-mean", "fisher"], cv=3)
    assert {row["method"] for row in found.rows} == {"nearest-mean", "fisher"}


def test_what_it_does_not_support_is_refused_in_words(toy, tmp_path, monkeypatch):
    table, X, y = cloud()
    data = label_table(table, "label", None, "here")
    with pytest.raises(ValueError, match="nearest-mean has no C"):
        fit_table(data, Plan("nearest-mean", C=1.0), Choices())
    weighted = label_table(table.append_column("w", [np.ones(120)]), "label", "w", "here")
    with pytest.raises(ValueError, match="takes no weights"):
        fit_table(weighted, Plan("nearest-mean"), Choices())
    with pytest.raises(TypeError, match="got NearestMean"):
        mm.fit_stream(toy(), [(X, y)])
    with pytest.raises(ValueError, match="nearest-mean needs all rows in memory"):
        fit_files(
            FileOptions("none.csv"), Plan("nearest-mean"), Choices(), "50MB", tmp_path / "resume"
        )
    monkeypatch.delattr(toy, "_stored")
    with pytest.raises(mm.NotStorableError, match="does not declare what a model file keeps"):
        mm.save(toy().fit(X, y), tmp_path / "m.maxmargin")


def test_what_is_not_listed_is_not_looked_up(tmp_path):
    _, X, y = cloud()
    with pytest.raises(mm.NotStorableError, match="got NearestMean"):
        mm.save(NearestMean().fit(X, y), tmp_path / "m.maxmargin")
    with pytest.raises(AttributeError):
        mm.NearestMean


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_says_what_is_kept_of_it(name):
    cls = estimator_class(name)
    assert getattr(mm, name) is cls
    assert "n_features_in_" in cls._stored
    if hasattr(cls, "_chosen"):
        assert cls._chosen[1] in cls._stored


@pytest.mark.parametrize("name", METHODS)
def test_a_search_is_the_estimator_with_a_choice_of_C(name):
    """So that parameters made for one can be given to the other."""
    method = METHODS[name]
    own = inspect.signature(method.estimator_class()).parameters
    assert set(method.fixed) | set(method.compared) <= set(own)
    assert method.C is None or method.C in own
    if method.tuned:
        search = inspect.signature(method.search_class()).parameters
        assert set(own) - set(search) == {"C", "warm_start", "probability"}
        assert all(search[key].default == own[key].default for key in search if key in own)


def test_nobody_in_the_package_asks_the_root_for_a_class():
    """Imports run one way; only the version lives at the top."""
    root = Path(mm.__file__).parent
    for path in root.rglob("*.py"):
        above = len(path.relative_to(root).parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert all(alias.name != "maxmargin" for alias in node.names), path
            if isinstance(node, ast.ImportFrom) and node.module is None and node.level == above:
                asked = {alias.name for alias in node.names}
                assert asked <= {"__version__", "core", "models", "parts", "show", "app"}, path
