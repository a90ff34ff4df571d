"""Figures end with the test that opened them."""

import warnings

import pytest


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")


@pytest.fixture
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
