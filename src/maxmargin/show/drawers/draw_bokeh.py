"""Scenes drawn by Bokeh (extra ``bokeh``): to be moved, zoomed, pointed at; legends hide marks."""

from __future__ import annotations

from functools import singledispatch
from html import escape

import numpy as np

from ..palette import colour
from ..scene import Area, Axis, Bars, Board, Cells, Line, Note, Points, Scene, Segments

BOKEH_MARKERS = {
    "circle": "circle", "square": "square", "triangle": "triangle", "diamond": "diamond",
    "cross": "x", "inverted": "inverted_triangle", "star": "star", "plus": "cross",
}  # fmt: skip
# Markers of strokes only, which a white outline would hide.
STROKE_MARKERS = ("x", "cross")
# Pixels of one picture without its legend, and of a point of matplotlib's size one.
PICTURE_WIDTH, PIXELS_PER_POINT = 480, 1.4
# The same where three stand side by side, and the usual height for a width.
NARROW_PICTURE_WIDTH, HEIGHT_PER_WIDTH = 340, 0.75
# Where units are as long on both axes the height follows, within these.
HEIGHT_RANGE = (200, 480)
# A shade darker than this carries white words.
MIN_DARK_SHADE = 0.55


def draw(scene: Scene, width: int = PICTURE_WIDTH):
    """The scene as a Bokeh figure, its frame ``width`` pixels wide."""
    plotting = _bokeh()
    figure = plotting.figure(
        title="", tools="pan,wheel_zoom,box_zoom,reset,save",
        **_frame(scene, width), **_scales(scene),
    )  # fmt: skip
    for mark in scene.marks:
        _put(mark, figure)
    _set_axes(scene, figure)
    _set_legend(scene, figure)
    if "html_attributes" in figure.properties():  # older Bokeh has none
        figure.html_attributes = {"role": "img", "aria-label": scene.words}
    return figure


def draw_board(board: Board):
    """All scenes of a board in a grid, below its title if it has one."""
    _bokeh()
    from bokeh.layouts import column, gridplot
    from bokeh.models.widgets import Div

    columns = min(board.columns, len(board.scenes))
    width = PICTURE_WIDTH if columns < 3 else NARROW_PICTURE_WIDTH
    grid = gridplot([draw(scene, width) for scene in board.scenes], ncols=columns)
    if board.title is None:
        return grid
    return column(Div(text=f"<b>{escape(board.title)}</b>"), grid)


def _bokeh():
    try:
        from bokeh import plotting
    except ImportError as error:
        raise ImportError(
            "Drawing this picture needs Bokeh, which is not installed: "
            'pip install "maxmargin[bokeh]". Without it, .svg() draws the same picture.'
        ) from error
    return plotting


def _plain(words: str):
    """Words that are shown as they are, whatever dollar signs are in them."""
    from bokeh.models import PlainText

    return PlainText(text=words)


def _frame(scene: Scene, width: int) -> dict:
    """Sizes in pixels; with true distances the height follows from the limits."""
    usual = {"frame_width": width, "frame_height": round(HEIGHT_PER_WIDTH * width)}
    if not scene.equal:
        return usual
    if scene.x.limits is None or scene.y.limits is None:
        return usual | {"match_aspect": True}
    (x0, x1), (y0, y1) = scene.x.limits, scene.y.limits
    ratio = (y1 - y0) / (x1 - x0)
    height = int(np.clip(width * ratio, *HEIGHT_RANGE))
    return {"frame_width": round(height / ratio), "frame_height": height}


def _scales(scene: Scene) -> dict:
    out: dict = {}
    cells = next((mark for mark in scene.marks if isinstance(mark, Cells)), None)
    for name, axis in (("x", scene.x), ("y", scene.y)):
        if axis.log:
            out[f"{name}_axis_type"] = "log"
        if axis.limits is not None:
            out[f"{name}_range"] = axis.limits
    if cells is not None:  # row 0 is on top
        rows, columns = cells.shade.shape
        out |= {"x_range": (-0.5, columns - 0.5), "y_range": (rows - 0.5, -0.5)}
    return out


def _set_axes(scene: Scene, figure) -> None:
    from bokeh.models import FixedTicker

    figure.title.text = _plain(scene.title)
    figure.title.text_font_style = "normal"
    for axis, drawn in ((scene.x, figure.xaxis), (scene.y, figure.yaxis)):
        drawn.axis_label = _plain(axis.label)
        drawn.axis_label_text_font_style = "normal"
        drawn.axis_line_color = drawn.major_tick_line_color = colour("muted")
        drawn.minor_tick_line_color = None
        if axis.ticks is not None:
            drawn.ticker = FixedTicker(ticks=[float(place) for place, _ in axis.ticks])
            drawn.major_label_overrides = _overrides(axis)
    filled = any(isinstance(mark, Area | Cells) for mark in scene.marks)
    figure.grid.grid_line_color = None if filled else colour("faint")
    figure.outline_line_color = colour("muted")


def _overrides(axis: Axis) -> dict:
    """Words by place; whole places are found under whole keys only."""
    return {
        int(place) if float(place).is_integer() else float(place): _plain(words)
        for place, words in axis.ticks or ()
    }


def _set_legend(scene: Scene, figure) -> None:
    if not figure.legend:
        return
    legend = figure.legend[0]
    legend.visible = scene.legend
    legend.click_policy = "hide"
    legend.border_line_color = None
    legend.background_fill_alpha = 0.0  # or it covers the frame of the picture
    legend.label_text_font_size = "9pt"
    if scene.legend:
        figure.add_layout(legend, "right")  # beside the picture, not over it


def _named(mark) -> dict:
    return {} if mark.label is None else {"legend_label": mark.label}


def _point_at(figure, renderer, tooltips) -> None:
    from bokeh.models import HoverTool

    figure.add_tools(HoverTool(renderers=[renderer], tooltips=tooltips, visible=False))


@singledispatch
def _put(mark, figure) -> None:
    """Draw one mark."""
    raise TypeError(f"Bokeh cannot draw a {type(mark).__name__}.")


@_put.register
def _(mark: Area, figure) -> None:
    if not mark.rings:
        return
    # All rings of one polygon: Bokeh fills the first and cuts out the others, even-odd.
    xs, ys = ([[[ring[:, j] for ring in mark.rings]]] for j in (0, 1))
    hatch = {"hatch_pattern": "/", "hatch_color": colour(mark.paint), "hatch_alpha": 0.6}
    figure.multi_polygons(
        xs, ys, fill_color=colour(mark.paint), fill_alpha=mark.opacity, line_color=None,
        **(hatch if mark.hatched else {}), **_named(mark),
    )  # fmt: skip


@_put.register
def _(mark: Line, figure) -> None:
    drawn = figure.line(
        mark.x, mark.y, line_color=colour(mark.paint), line_dash=mark.dash, line_width=mark.width,
        **_named(mark),
    )  # fmt: skip
    if mark.label is not None:
        _point_at(figure, drawn, [(mark.label, "(@x, @y)")])


@_put.register
def _(mark: Segments, figure) -> None:
    figure.segment(
        mark.x, mark.y, mark.x2, mark.y2, line_color=colour(mark.paint), line_dash=mark.dash,
        line_width=mark.width, line_alpha=mark.opacity, **_named(mark),
    )  # fmt: skip


@_put.register
def _(mark: Points, figure) -> None:
    from bokeh.models import ColumnDataSource

    shape, paint = BOKEH_MARKERS[mark.marker], colour(mark.paint)
    data: dict = {"x": mark.x, "y": mark.y}
    if mark.names is not None:
        data["name"] = list(mark.names)
    solid = mark.hollow or shape in STROKE_MARKERS
    drawn = figure.scatter(
        "x", "y", source=ColumnDataSource(data), marker=shape, size=mark.size * PIXELS_PER_POINT,
        fill_color=None if mark.hollow else paint, line_color=paint if solid else colour("paper"),
        line_width=1.6 if solid else 0.5, **_named(mark),
    )  # fmt: skip
    if mark.names is not None:
        _point_at(figure, drawn, [("", "@name"), ("at", "(@x, @y)")])


@_put.register
def _(mark: Bars, figure) -> None:
    from bokeh.models import ColumnDataSource

    base = np.broadcast_to(np.asarray(mark.base, dtype=float), np.shape(mark.at))
    data = {"at": mark.at, "base": base, "end": base + mark.length, "length": mark.length}
    place = ("y", "left", "right", "height") if mark.horizontal else ("x", "bottom", "top", "width")
    at, start, end, thickness = place
    drawn = (figure.hbar if mark.horizontal else figure.vbar)(
        **{at: "at", start: "base", end: "end", thickness: mark.thickness},
        source=ColumnDataSource(data), color=colour(mark.paint), **_named(mark),
    )  # fmt: skip
    _point_at(figure, drawn, [(mark.label or "", "@length")])


@_put.register
def _(mark: Cells, figure) -> None:
    rows, columns = np.indices(mark.shade.shape).reshape(2, -1)
    shade = mark.shade.ravel()
    figure.rect(
        columns, rows, 1, 1, fill_color=_mixed(shade, mark.paint), line_color=colour("paper"),
        **_named(mark),
    )  # fmt: skip
    inks = [colour("paper") if dark else colour("ink") for dark in shade > MIN_DARK_SHADE]
    figure.text(
        columns, rows, [word for row in mark.words for word in row], text_color=inks,
        text_align="center", text_baseline="middle", text_font_size="10pt",
    )  # fmt: skip


def _mixed(shade: np.ndarray, paint: str) -> list[str]:
    """Colours between paper (0) and paint (1)."""
    low, high = (
        np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)])
        for code in (colour("paper"), colour(paint))
    )
    mixed = np.rint(low + np.clip(shade, 0, 1)[:, None] * (high - low)).astype(int)
    return ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in mixed.tolist()]


@_put.register
def _(mark: Note, figure) -> None:
    side = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
    figure.text(
        [mark.x], [mark.y], [mark.words], text_color=colour(mark.paint), text_align=side,
        text_baseline="middle", text_font_size="9pt", **_named(mark),
    )  # fmt: skip
