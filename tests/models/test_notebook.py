"""What a notebook shows: of a model scikit-learn's diagram, the report's first lines, the proof,
the weights; of comparisons and paths a sentence, a picture and the table."""

import html
import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris

from maxmargin import KernelSVM, LinearSVM, c_path, compare


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y


def test_certificate_and_weights_stand_below_the_diagram(iris):
    svm = LinearSVM().fit(*iris)
    for page in (svm._repr_html_(), svm._repr_mimebundle_()["text/html"]):
        assert page.count("maxmargin-proof") == 1
        assert "proved within" in page
        assert page.count("<rect") == 4
        assert "petal length (cm)" in page
    assert svm._repr_mimebundle_()["text/plain"] == "LinearSVM()"


def test_first_come_the_first_lines_of_the_report(iris):
    below = LinearSVM(probability=True).fit(*iris)._repr_html_().split("maxmargin-proof")[1]
    lines = re.findall(r"<p [^>]*>([^<]*)</p>", below)
    assert lines[0].startswith("Better than always “0”: ")
    assert lines[1].startswith("It finds ")
    assert "“2” (" in lines[1]
    assert "proved within" in lines[2]


def test_comparisons_and_paths_begin_with_a_sentence_and_a_picture(iris):
    found = compare(*iris, ["fisher", "least-squares"], ["as given"], cv=3)
    page = found._repr_html_()
    assert page.startswith("<p ")
    assert html.unescape(page).count(found.recommendation) == 1
    assert page.count("<circle") == 2
    assert page.index("<svg") < page.index("<table")
    path = c_path(LinearSVM(), *iris, [0.1, 1.0, 10.0])
    drawn = ET.fromstring(re.search("<svg.*</svg>", path._repr_html_()).group())
    line = drawn.find("{http://www.w3.org/2000/svg}polyline").get("points").split()
    assert len(line) == 3
    down = [float(point.split(",")[1]) for point in line]
    errors = path.column("training_error")
    assert (np.argsort(down, kind="stable") == np.argsort(-errors, kind="stable")).all()
    assert "C = 0.1" in path._repr_html_()


def test_names_cannot_become_markup_and_are_cut(iris):
    X, y = iris
    X = X.rename(columns={X.columns[0]: "<script>alert(1)</script>"})
    below = LinearSVM().fit(X, y)._repr_html_().split("maxmargin-proof")[1]
    assert "<script" not in below
    assert "&lt;script&gt;alert(1)&lt;…" in below


def test_unfitted_models_and_models_without_weights(iris):
    assert "maxmargin-proof" not in LinearSVM()._repr_html_()
    below = KernelSVM().fit(*iris)._repr_html_().split("maxmargin-proof")[1]
    assert "proved within" in below
    assert "<svg" not in below
    with config_context(display="text"):
        assert "text/html" not in LinearSVM()._repr_mimebundle_()
        assert not hasattr(LinearSVM(), "_repr_html_")


def test_only_the_strongest_weights_are_drawn(iris):
    X, y = iris
    wide = pd.concat([X.add_suffix(f" {k}") for k in range(5)], axis=1)
    page = LinearSVM().fit(wide, y)._repr_html_()
    sizes = [float(w) for w in re.findall(r'<rect[^>]*width="([\d.]+)"', page)]
    assert len(sizes) == 8
    assert sizes == sorted(sizes, reverse=True)
