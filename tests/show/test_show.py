"""``show()``: the interactive picture, in a notebook or on a page of its own."""

import sys
from types import SimpleNamespace

import bokeh.io
import numpy as np
import pytest

from maxmargin import LinearSVM
from maxmargin.show.drawers import window

from .drawn import drawn  # noqa: F401  chooses matplotlib's backend

X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [4.0, 4.0]])
y = np.array(["no", "no", "yes", "yes"])


@pytest.fixture(scope="module")
def model():
    return LinearSVM().fit(X, y)


def test_outside_a_notebook_a_page_is_opened(model, monkeypatch):
    seen = []
    monkeypatch.setattr(window.webbrowser, "open", seen.append)
    path = model.show(X, y)
    assert seen == [path.as_uri()]
    text = path.read_text(encoding="utf-8")
    assert "on the margin" in text
    assert "<script src=" not in text  # nothing is fetched
    path.unlink()


def test_a_page_that_is_named_is_written_and_not_opened(model, monkeypatch, tmp_path):
    monkeypatch.setattr(window.webbrowser, "open", pytest.fail)
    path = model.show(file=tmp_path / "weights.html")
    assert path == tmp_path / "weights.html"
    assert "coefficient per" in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="give y, too"):
        model.show(X)


def test_a_notebook_shows_it_in_place(model, monkeypatch):
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel="running"))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    said = []
    monkeypatch.setattr(bokeh.io, "output_notebook", lambda *a, **k: said.append("scripts"))
    monkeypatch.setattr(bokeh.io, "show", said.append)
    monkeypatch.setattr(window, "_loaded", False)
    assert model.show(X, y) is None
    assert model.show() is None
    assert said[0] == "scripts"
    assert len(said) == 3  # the scripts once, and two pictures
