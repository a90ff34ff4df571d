"""Scenes as SVG: well-formed, clipped, told in words, and every coordinate where it belongs."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maxmargin.show.drawers.axis_limits import Scale, limits_of, linear_ticks, log_ticks, written
from maxmargin.show.drawers.draw_svg import draw, draw_board
from maxmargin.show.palette import CLASS_MARKERS
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
from maxmargin.show.text import cut, safe, width, wrapped

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>alert(1)</script>\"'&\x00\ud800\u202eabc"
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def scene(*marks, **given) -> Scene:
    given = {"title": "t", "x": Axis("x"), "y": Axis("y"), "words": "w"} | given
    return Scene(marks=marks, **given)


def read(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def inner(svg: str) -> ElementTree.Element:
    """The part that is clipped to the axes."""
    return read(svg).find(f".//{SVG}svg")


ALL = [
    Area((SQUARE, 0.5 * SQUARE), "class 0", HOSTILE, hatched=True),
    Line(np.array([0.0, np.nan, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 2.0]), label="line"),
    Segments(np.zeros(2), np.zeros(2), np.ones(2), np.ones(2), dash="dotted", label="s"),
    *[Points(np.arange(3.0), np.arange(3.0), marker=m, label=m, hollow=m == "star")
      for m in CLASS_MARKERS],
    Points(np.zeros(2), np.zeros(2), names=(HOSTILE, "b")),
    Bars(np.arange(2.0), np.array([1.0, -1.0]), label="bars"),
    Bars(np.arange(2.0), np.array([1.0, -1.0]), horizontal=False),
    Note(0.5, 0.5, HOSTILE),
]  # fmt: skip


def test_all_marks_make_well_formed_xml_that_nobody_can_break_out_of():
    svg = draw(scene(*ALL, title=HOSTILE, words=HOSTILE, x=Axis(HOSTILE), y=Axis(HOSTILE)))
    root = read(svg)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}desc").text.startswith("</title><script>")
    assert root.findall(f".//{SVG}script") == []
    assert "\u202e" not in svg
    assert "nan" not in svg
    cells = Cells(np.eye(2), (("1", HOSTILE), ("", "2")))
    read(draw(scene(cells, equal=True)))
    both = read(draw_board(Board((scene(*ALL), scene(cells)), title=HOSTILE)))
    assert len(both.findall(f".//{SVG}svg")) == 2


def test_hatches_of_two_pictures_have_names_of_their_own():
    one, two = (draw(scene(ALL[0], title=title)) for title in ("a", "b"))
    names = [re.search(r'pattern id="(\w+)"', svg)[1] for svg in (one, two)]
    assert names[0] != names[1]
    assert f"url(#{names[0]})" in one


def test_points_are_where_the_axes_say():
    """Ticks and points with equal values have equal pixels."""
    marks = Points(np.array([0.0, 5.0, 10.0]), np.array([1.0, 100.0, 10000.0]))
    axes = {"x": Axis("x", (0.0, 10.0)), "y": Axis("y", (1.0, 1e4), log=True)}
    part = inner(draw(scene(marks, **axes)))
    wide, tall = float(part.get("width")), float(part.get("height"))
    at = np.array(re.findall(r"M([\d.-]+) ([\d.-]+)", part[0].get("d")), dtype=float)
    np.testing.assert_allclose(at, [[0, tall], [wide / 2, tall / 2], [wide, 0]], atol=0.011)


def test_equal_units_are_equally_long():
    part = inner(draw(scene(equal=True, x=Axis("", (0.0, 4.0)), y=Axis("", (0.0, 1.0)))))
    assert float(part.get("width")) / float(part.get("height")) == pytest.approx(4.0, rel=1e-3)
    high = inner(draw(scene(equal=True, x=Axis("", (0.0, 1.0)), y=Axis("", (0.0, 9.0)))))
    assert float(high.get("width")) / float(high.get("height")) == pytest.approx(1 / 9, rel=1e-3)


def test_first_row_of_cells_is_on_top():
    part = inner(draw(scene(Cells(np.array([[1.0], [0.5]]), (("top",), ("bottom",))))))
    y = {text.text: float(text.get("y")) for text in part.iter(f"{SVG}text")}
    assert y["top"] < y["bottom"]


def test_legend_has_each_label_once_and_counts_the_rest():
    marks = [Points(np.zeros(1), np.zeros(1), label=f"c{i % 40}") for i in range(80)]
    root = read(draw(scene(*marks)))
    shown = [text.text for text in root.iter(f"{SVG}text")]
    assert shown.count("c0") == 1
    assert "… and 16 more" in shown
    assert len(draw(scene(*marks, legend=False))) < len(draw(scene(*marks)))


def test_nothing_to_draw_is_drawn_too():
    empty = np.empty(0)
    for log in (False, True):
        axes = {"x": Axis("x", log=log), "y": Axis("y", log=log)}
        read(draw(scene(**axes)))
        nowhere = Points(np.array([np.nan, np.inf, -1.0]), np.array([1.0, 1.0, np.nan]))
        read(draw(scene(Points(empty, empty), nowhere, Line(empty, empty), **axes)))
    read(draw(scene(Points(np.ones(2), np.ones(2)))))


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e12), st.integers(2, 12))
def test_linear_ticks_are_round_inside_and_few(low, span, most):
    high = low + span
    if high - low < 1e-6 * max(abs(low), abs(high)):
        return
    ticks = [at for at, _ in linear_ticks(low, high, most)]
    slack = 1e-6 * (high - low)
    assert 1 <= len(ticks) <= most + 1
    assert all(low - slack <= at <= high + slack for at in ticks)
    if len(ticks) > 1:
        digits = f"{ticks[1] - ticks[0]:.3e}"[0]
        assert digits in "125" or ticks[1] - ticks[0] == pytest.approx(0, abs=slack)


@given(st.floats(-12, 12), st.floats(0.05, 20), st.integers(2, 9))
@example(-1.875, 2.75, 2)
def test_log_ticks_are_inside(power, span, most):
    low, high = 10.0**power, 10.0 ** (power + span)
    ticks = log_ticks(low, high, most)
    assert 1 <= len(ticks) <= max(most + 2, 7)
    assert all(low * (1 - 1e-6) <= at <= high * (1 + 1e-6) for at, _ in ticks)
    assert len({words for _, words in ticks}) == len(ticks)


def test_numbers_are_written_for_readers():
    told = [written(v) for v in (0.0, 0.01, -2.5, 1e6, 2e-7, -1e9, 123456789.0)]
    assert told == ["0", "0.01", "−2.5", "10⁶", "2·10⁻⁷", "−10⁹", "1.235·10⁸"]


@given(st.text(max_size=80), st.floats(20, 400))
def test_cut_words_fit(words, room):
    assert width(cut(words, room)) <= max(room, 2.1 * 12.0)
    assert len(wrapped(words, room, 2)) <= 2


@given(st.text(st.characters(), max_size=40))
def test_safe_text_parses_anywhere(words):
    text = safe(words)
    ElementTree.fromstring(f'<a b="{text}">{text}</a>')


def test_limits_reach_around_all_marks():
    low, high = limits_of(scene(*ALL), "x")
    assert low < -1.0
    assert high > 2.0
    scale = Scale(1.0, 100.0, 0.0, 10.0, log=True)
    np.testing.assert_allclose(scale([1.0, 10.0, 100.0]), [0, 5, 10])
    assert np.isnan(scale(-1.0))
