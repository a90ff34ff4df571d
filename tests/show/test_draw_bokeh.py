"""Bokeh draws every mark with its colour, its words and its place."""

import json
import sys

import numpy as np
import pytest
from bokeh.embed import json_item
from bokeh.models import HoverTool

from maxmargin.show.drawers.draw_bokeh import BOKEH_MARKERS, draw, draw_board
from maxmargin.show.palette import CLASS_MARKERS as SHAPES
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

SQUARE = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]])
PAIR = np.array([1.0, 2.0])
MARKS = {
    "multi_polygons": Area((SQUARE, 0.25 * SQUARE + 1), "class 0", "area", 0.3, hatched=True),
    "line": Line(np.array([1.0, np.nan, 2.0]), np.ones(3), "bad", "line", "dashed", 2.0),
    "segment": Segments(PAIR, PAIR, PAIR, PAIR + 1, "class 1", "segments"),
    "scatter": Points(PAIR, PAIR, "class 2", "points", "diamond", names=("<b>one</b>", "two")),
    "h_bar": Bars(PAIR, np.array([3.0, -1.0]), "class 3", "bars", base=1.0),
    "v_bar": Bars(PAIR, PAIR, "class 4", "columns", horizontal=False),
    "text": Note(1.0, 2.0, "here", "muted", "start"),
}


def scene_of(*marks, **given):
    axes = Axis("x", (0.0, 5.0)), Axis("y", (0.0, 10.0))
    return Scene("title", *axes, marks, "what is seen", **given)


def glyphs(figure):
    return [renderer.glyph for renderer in figure.renderers]


def test_marks_are_drawn_in_their_order():
    figure = draw(scene_of(*MARKS.values()))
    kinds = [type(glyph).__name__.lower() for glyph in glyphs(figure)]
    assert kinds == [kind.replace("_", "") for kind in MARKS]
    area, line, segment, points, bars, columns, note = glyphs(figure)
    assert area.fill_color == colour("class 0")
    assert area.hatch_pattern
    assert (line.line_color, line.line_width) == (colour("bad"), 2.0)
    assert line.line_dash
    assert segment.line_color == colour("class 1")
    assert (points.fill_color, points.marker) == (colour("class 2"), "diamond")
    assert note.text_color == colour("muted")
    bar = figure.renderers[4].data_source.data
    np.testing.assert_array_equal(bar["base"], [1.0, 1.0])
    np.testing.assert_array_equal(bar["end"], [4.0, 0.0])
    assert (bars.left, bars.right, columns.top) == ("base", "end", "end")
    json.dumps(json_item(figure))


def test_holes_are_rings_of_the_same_polygon():
    (renderer,) = draw(scene_of(MARKS["multi_polygons"])).renderers
    (polygons,) = renderer.data_source.data["xs"]
    (rings,) = polygons
    assert [list(ring) for ring in rings] == [[0, 4, 4, 0], [1, 2, 2, 1]]


def test_legends_stand_beside_and_hide_what_is_clicked():
    both = Line(PAIR, PAIR, label="same"), Points(PAIR, PAIR, label="same")
    figure = draw(scene_of(*both, Note(0, 0, "unnamed")))
    (legend,) = figure.legend
    assert legend in figure.right
    assert legend.click_policy == "hide"
    (entry,) = legend.items
    assert len(entry.renderers) == 2  # one entry for one label: both are hidden together
    assert not draw(scene_of(*both, legend=False)).legend[0].visible


def test_points_tell_their_names():
    figure = draw(scene_of(MARKS["scatter"]))
    (hover,) = figure.select(HoverTool)
    assert ("", "@name") in hover.tooltips  # Bokeh escapes what it puts there
    assert figure.renderers[0].data_source.data["name"] == ["<b>one</b>", "two"]


def test_distances_are_true_where_the_scene_says_so():
    figure = draw(scene_of(equal=True))
    assert figure.frame_height / figure.frame_width == pytest.approx(10 / 5, rel=0.01)
    loose = Scene("t", Axis("x"), Axis("y"), (), "w", equal=True)
    assert draw(loose).match_aspect


def test_axes_have_limits_logs_and_words():
    x = Axis("C", (0.1, 10.0), log=True)
    y = Axis("", ticks=((1.0, "one $$x$$"), (2.5, "more")))
    figure = draw(Scene("$$t$$", x, y, (MARKS["line"],), "w"))
    assert type(figure.xaxis[0]).__name__ == "LogAxis"
    assert (figure.x_range.start, figure.x_range.end) == (0.1, 10.0)
    assert figure.yaxis[0].ticker.ticks == [1.0, 2.5]
    words = figure.yaxis[0].major_label_overrides
    assert {place: text.text for place, text in words.items()} == {1: "one $$x$$", 2.5: "more"}
    assert figure.title.text.text == "$$t$$"  # plain, not mathematics


def test_cells_have_row_zero_on_top_and_readable_words():
    shade = np.array([[1.0, 0.0, 0.5], [0.0, 0.25, 1.0]])
    figure = draw(scene_of(Cells(shade, (("a", "b", "c"), ("d", "e", "f")), "class 0")))
    assert figure.y_range.start > figure.y_range.end
    cells, words = (renderer.data_source.data for renderer in figure.renderers)
    assert cells["fill_color"][0] == colour("class 0")
    assert cells["fill_color"][1] == colour("paper")
    assert list(words["text"]) == list("abcdef")
    assert words["text_color"][0] == colour("paper")  # light on dark
    assert words["text_color"][1] == colour("ink")


def test_every_marker_of_the_palette_is_known():
    assert set(BOKEH_MARKERS) == set(SHAPES)
    for shape in SHAPES:
        draw(scene_of(Points(PAIR, PAIR, marker=shape)))


def test_what_is_seen_is_said_to_those_who_cannot_see():
    assert draw(scene_of()).html_attributes["aria-label"] == "what is seen"


def test_boards_are_grids_with_escaped_titles():
    board = Board((scene_of(), scene_of(), scene_of()), columns=2, title="<b>")
    head, grid = draw_board(board).children
    assert "&lt;b&gt;" in head.text
    assert [place[1:] for place in grid.children] == [(0, 0), (0, 1), (1, 0)]


def test_without_bokeh_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with pytest.raises(ImportError, match=r'pip install "maxmargin\[bokeh\]"'):
        draw(scene_of())
