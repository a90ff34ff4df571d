"""Every mark is drawn where it is and as it is; labels are words, never formulas."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from maxmargin.show.drawers.draw_matplotlib import MATPLOTLIB_MARKERS, draw, draw_board
from maxmargin.show.palette import CLASS_MARKERS as NAMES
from maxmargin.show.palette import colour
from maxmargin.show.scene import (
    Area,
    Axis,
    Bars,
    Board,
    Cells,
    Line,
    Note,
    Points,
    Scene,
    Segments,
)

pytestmark = pytest.mark.usefixtures("no_warning")


def scene(*marks, x=Axis("across"), y=Axis("up"), **more):  # noqa: B008
    return Scene("A picture", x, y, marks, "words", **more)


def shown(ax):
    """The picture as pixels: drawing it must raise nothing."""
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())


def pixel(ax, x, y):
    image = shown(ax)
    column, row = ax.transData.transform((x, y))
    return to_hex(image[int(image.shape[0] - row), int(column), :3] / 255)


def square(a, b):
    return np.array([[a, a], [b, a], [b, b], [a, b]], dtype=float)


@pytest.mark.parametrize("backwards", [0, 1, 2])
def test_rings_inside_rings_are_holes_however_they_are_wound(backwards):
    rings = [square(0, 10), square(2, 8), square(4, 6)]
    rings[backwards] = rings[backwards][::-1]
    ax = draw(scene(Area(tuple(rings), "class 0", opacity=1.0), legend=False))
    blue, white = colour("class 0"), "#ffffff"
    assert [pixel(ax, at, at) for at in (1.0, 3.0, 5.0)] == [blue, white, blue]


def test_neighbours_of_one_area_leave_no_seam():
    left = np.array([[0, 0], [5, 0], [5, 9], [0, 9.0]])
    right = left + np.array([5.0, 0.0])
    ax = draw(scene(Area((left, right[::-1]), "class 1", opacity=1.0), legend=False))
    assert {pixel(ax, x, 4.0) for x in np.linspace(4.8, 5.2, 41)} == {colour("class 1")}


def test_lines_segments_and_points_are_where_they_are():
    line = Line(np.array([0.0, 1.0, np.nan, 2.0]), np.arange(4.0), "class 2", "line", "dashed", 3.0)
    segments = Segments(*np.arange(8.0).reshape(4, 2), paint="bad", label="slack")
    points = Points(np.array([1.0]), np.array([2.0]), "class 1", "dots", "diamond", 7.0)
    rings = Points(np.array([1.0]), np.array([2.0]), "ink", "rings", size=11.0, hollow=True)
    ax = draw(scene(line, segments, points, rings))
    drawn = ax.get_lines()
    assert np.array_equal(drawn[0].get_xdata(), line.x, equal_nan=True)
    assert drawn[0].get_color() == colour("class 2")
    assert drawn[0].get_linewidth() == 3.0
    assert drawn[0].is_dashed()
    assert np.array_equal(drawn[1].get_xdata(), [0, 4, np.nan, 1, 5, np.nan], equal_nan=True)
    assert drawn[2].get_marker() == "D"
    assert drawn[3].get_markerfacecolor() == "none"
    orders = [each.get_zorder() for each in drawn]
    assert orders == sorted(orders)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "line", "slack", "dots", "rings",
    ]  # fmt: skip
    shown(ax)


def test_bars_and_cells():
    ax = draw(scene(Bars(np.arange(2.0), np.array([1.0, -2.0])), y=Axis("", ticks=((0, "a"),))))
    assert [bar.get_width() for bar in ax.patches] == [1.0, -2.0]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a"]
    upright = draw(scene(Bars(np.arange(2.0), np.array([1.0, 2.0]), horizontal=False)))
    assert [bar.get_height() for bar in upright.patches] == [1.0, 2.0]
    ax = draw(scene(Cells(np.array([[0.9, 0.1], [0.2, 0.8]]), (("9", "1"), ("2", "8")))))
    assert [text.get_text() for text in ax.texts] == ["9", "1", "2", "8"]
    assert ax.texts[0].get_color() == colour("paper")
    assert ax.texts[1].get_color() == colour("ink")
    top, bottom = (ax.texts[i].get_window_extent().y0 for i in (0, 2))
    assert top > bottom
    shown(ax)


def test_axes_limits_logs_and_equal_units():
    ax = draw(scene(Note(2.0, 5.0, "here"), x=Axis("C", (1.0, 100.0), log=True)))
    assert ax.get_xscale() == "log"
    assert ax.get_xlim() == (1.0, 100.0)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("C", "up", "A picture")
    assert draw(scene(Note(0.0, 0.0, "here"), equal=True)).get_aspect() == 1.0


@pytest.mark.parametrize("window", [(-1.24, 5.22, -5.2, -1.13), (0, 4, 0, 1), (0, 1, -9, -7)])
def test_nothing_is_cut_off_in_pictures_of_one_unit(window):
    points = Points(np.zeros(1), np.zeros(1), "ink", "inside the margin (16)")
    x, y = Axis("first direction", window[:2]), Axis("second direction", window[2:])
    ax = draw(scene(points, x=x, y=y, equal=True))
    shown(ax)
    frame = ax.figure.bbox
    for part in (ax.yaxis.label, ax.xaxis.label, ax.get_legend()):
        box = part.get_window_extent()
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1


def test_ticks_are_the_same_whatever_the_size():
    """Else the layout, made for some ticks, cuts off the label beside others."""
    part = scene(Note(0, 0, "x"), y=Axis("up", (-5.2, -1.13)))
    found = []
    for size in [(2.0, 1.5), (9.0, 7.0)]:
        _, ax = plt.subplots(figsize=size)
        shown(draw(part, ax))
        found.append(ax.get_yticks().tolist())
    assert found[0] == found[1]


def test_hostile_words_stay_words():
    nasty = ["_hidden", "$x^", "a $1 or $2", "\\frac", "<b>"]
    marks = [Points(np.zeros(1), np.zeros(1), "ink", word) for word in nasty]
    ax = draw(scene(*marks, Note(0, 0, "$"), x=Axis("$_"), y=Axis("$", ticks=((0.0, "$$"),))))
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == nasty
    shown(ax)


def test_every_marker_has_a_shape_and_legends_can_be_left_out():
    assert set(NAMES) == set(MATPLOTLIB_MARKERS)
    assert len(set(MATPLOTLIB_MARKERS.values())) == len(MATPLOTLIB_MARKERS)
    assert draw(scene(Note(0, 0, "x", label="y"), legend=False)).get_legend() is None


def test_boards_wrap_and_given_axes_are_used():
    part = scene(Note(0, 0, "x"))
    figure = draw_board(Board((part,) * 3, columns=2, title="All"))
    assert len(figure.axes) == 4
    assert [ax.axison for ax in figure.axes] == [True, True, True, False]
    assert figure.get_suptitle() == "All"
    _, ax = plt.subplots()
    assert draw(part, ax) is ax


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from maxmargin.show.drawers.draw_matplotlib import draw\n"
        "from maxmargin.show.scene import Axis, Scene\n"
        "draw(Scene('', Axis(''), Axis(''), (), ''))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "maxmargin[plot]"' in done.stderr
