"""Figures end with the test that opened them."""

import pytest


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
