"""Reports of comparisons and paths, and the one door to all of them from Python."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import maxmargin as mm

from .reading import read


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def written(result, folder, *data, **named) -> str:
    path = mm.write_report(result, folder / "page.html", *data, **named)
    assert [file.name for file in folder.iterdir()] == ["page.html"]
    return read(path.read_text(encoding="utf-8")).text


def test_a_comparison(iris, tmp_path):
    X, y = iris
    found = mm.compare(X, y, ["svm", "fisher"], ["as given", "quadratic"], cv=3)
    found.skipped.append("<b>mine was left out")
    text = written(found, tmp_path, X, y, name="<i>ris")
    assert found.recommendation in text
    assert "<b>mine was left out" in text
    for row in found.rows:
        assert f"{row['accuracy']:.2%}".replace("%", " %") in text
    assert "150 rows with 4 features" in text
    assert "could not be drawn" not in text


def test_a_path(iris, tmp_path):
    X, y = iris
    path = mm.c_path(mm.LinearSVM(), X[:100], y[:100])
    text = written(path, tmp_path)
    assert path.ending in text
    assert f"{path.rows[3]['objective']:.6g}" in text
    assert "could not be drawn" not in text
    soft = mm.c_path(mm.LogisticRegression(), X.to_numpy(), y, Cs=4)
    assert "support vectors" not in written(soft, tmp_path)


def test_models_of_python(iris, tmp_path):
    X, y = iris
    svm = mm.LinearSVM().fit(X, y)
    text = written(svm, tmp_path, X, y)
    assert "petal length (cm)" in text
    assert f"{svm.certificate_.primal:.10g}" in text
    named = pd.Series(np.array(["a", "b", "c"])[y], name="kind")
    text = written(mm.KernelSVM().fit(X.to_numpy(), named), tmp_path, X.to_numpy(), named)
    assert "could not be drawn" not in text
    search = mm.LinearSVMCV(cv=3).fit(X, y)
    assert f"C = {search.C_:.4g} has the fewest errors" in written(search, tmp_path, X, y)


def test_what_cannot_be_told_of(iris, tmp_path):
    X, y = iris
    with pytest.raises(ValueError, match="give X and y"):
        mm.write_report(mm.LinearSVM().fit(X, y), tmp_path / "page.html")
    with pytest.raises(TypeError, match="fitted classifier"):
        mm.write_report(mm.LinearSVM(), tmp_path / "page.html", X, y)
    assert list(tmp_path.iterdir()) == []
