"""What a notebook shows of a model: scikit-learn's diagram, the certificate, the weights."""

import re

import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris

from maxmargin import KernelSVM, LinearSVM


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
