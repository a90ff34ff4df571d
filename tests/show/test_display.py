"""Displays have scikit-learn's manners, and do not insist on matplotlib."""

import matplotlib.pyplot as plt
import pytest

import maxmargin.show.display as module
from maxmargin import LinearSVM, LossesDisplay, PathDisplay

from .drawn import drawn  # chooses matplotlib's backend too

DATA = [[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [4.0, 4.0]], [0, 0, 1, 1]


def test_a_display_is_drawn_at_once_and_again_when_asked():
    display = LossesDisplay.from_names(["hinge"])
    first = display.figure_
    assert display.ax_.figure is first
    _, ax = plt.subplots()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert LossesDisplay.from_names(["hinge"], ax=ax).figure_ is ax.figure
    drawn(display)


def test_several_pictures_take_as_many_axes():
    _, axes = plt.subplots(2, 2)
    display = PathDisplay.from_estimator(LinearSVM(), *DATA, Cs=[0.1, 1.0], ax=axes)
    assert list(display.ax_) == list(axes.flat)
    with pytest.raises(ValueError, match="draws 4 pictures and needs as many axes, got 1"):
        display.plot(ax=axes[0, 0])
    plt.close("all")


def test_without_matplotlib_a_display_waits_for_another_drawer(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    display = LossesDisplay.from_names()
    assert not hasattr(display, "figure_")
    assert display.bokeh().renderers
