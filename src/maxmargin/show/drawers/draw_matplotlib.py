"""Scenes drawn by matplotlib (extra ``plot``)."""

from __future__ import annotations

from functools import singledispatch
from textwrap import fill

import numpy as np

from ..palette import colour
from ..scene import Area, Axis, Bars, Board, Cells, Line, Note, Points, Scene, Segments

MATPLOTLIB_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "X",
           "inverted": "v", "star": "*", "plus": "P"}  # fmt: skip
DASHES = {"solid": "-", "dashed": (0, (5, 3)), "dotted": (0, (1, 1.6))}
# Inches of one picture; legends stand beside it, so it is wider than high.
PICTURE_INCHES = (6.4, 4.2)
# Dots per inch: of a page that is read on paper or a sharp screen.
PICTURE_DPI = 160
# A shade darker than this carries white words.
MIN_DARK_SHADE = 0.55
# Characters of a title's line.
MAX_TITLE_LETTERS = 70
MAX_AXIS_TICKS = 7


def draw(scene: Scene, ax=None):
    """The scene on ``ax``, or on a new figure of its own; returns the axes."""
    if ax is None:
        _, ax = _pyplot().subplots(figsize=PICTURE_INCHES, dpi=PICTURE_DPI, layout="constrained")
    else:
        _pyplot()
    handles: dict[str, list] = {}
    for order, mark in enumerate(scene.marks):
        # Above the grid, below the frame; scenes have far fewer than a thousand marks.
        handle = _put(mark, ax, 2.0 + 1e-4 * order)
        if mark.label is not None and handle is not None:
            handles.setdefault(mark.label, []).append(handle)
    _set_axes(scene, ax)
    if scene.legend and handles:
        _legend(ax, handles)
    return ax


def draw_board(board: Board):
    """All scenes of a board on one new figure; returns the figure."""
    columns = min(board.columns, len(board.scenes))
    rows = -(-len(board.scenes) // columns)
    figure, axes = _pyplot().subplots(
        rows, columns, squeeze=False, layout="constrained", dpi=PICTURE_DPI,
        figsize=(PICTURE_INCHES[0] * columns, PICTURE_INCHES[1] * rows),
    )  # fmt: skip
    for ax, scene in zip(axes.flat, board.scenes, strict=False):
        draw(scene, ax)
    for ax in axes.flat[len(board.scenes) :]:
        ax.set_axis_off()
    if board.title is not None:
        figure.suptitle(board.title, parse_math=False)
    return figure


def _pyplot():
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Drawing this picture needs matplotlib, which is not installed: "
            'pip install "maxmargin[plot]". Without it, .svg() draws the same picture.'
        ) from error
    return pyplot


@singledispatch
def _put(mark, ax, order: float):
    """Draw one mark; returns what stands for it in the legend, if anything."""
    raise TypeError(f"matplotlib cannot draw a {type(mark).__name__}.")


@_put.register
def _(mark: Area, ax, order: float):
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    paint = colour(mark.paint)
    rings = _wound([np.asarray(ring, dtype=float) for ring in mark.rings])
    closed = [Path(np.vstack([ring, ring[:1]]), closed=True) for ring in rings]
    patch = PathPatch(
        Path.make_compound_path(*closed) if closed else Path(np.zeros((0, 2))),
        facecolor=(paint, mark.opacity), edgecolor=(paint, 0.6), linewidth=0.0,
        hatch="////" if mark.hatched else None, zorder=order,
    )  # fmt: skip
    ax.add_patch(patch)
    ax.autoscale_view()  # patches alone do not ask for it
    return patch


def _wound(rings: list[np.ndarray]) -> list[np.ndarray]:
    """Rings wound so that matplotlib, which fills by winding number, fills them even-odd."""
    from matplotlib.path import Path

    paths = [Path(ring) for ring in rings]
    out = []
    for i, ring in enumerate(rings):
        depth = sum(bool(path.contains_points(ring).all()) for path in paths[:i] + paths[i + 1 :])
        x, y = ring.T
        anticlockwise = np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) > 0
        out.append(ring if anticlockwise == (depth % 2 == 0) else ring[::-1])
    return out


@_put.register
def _(mark: Line, ax, order: float):
    return ax.plot(
        mark.x, mark.y, color=colour(mark.paint), linestyle=DASHES[mark.dash],
        linewidth=mark.width, zorder=order,
    )[0]  # fmt: skip


@_put.register
def _(mark: Segments, ax, order: float):
    gap = np.full(len(mark.x), np.nan)
    x, y = (np.column_stack([a, b, gap]).ravel() for a, b in [(mark.x, mark.x2), (mark.y, mark.y2)])
    drawn = _put(Line(x, y, mark.paint, mark.label, mark.dash, mark.width), ax, order)
    drawn.set_alpha(mark.opacity)
    return drawn


@_put.register
def _(mark: Points, ax, order: float):
    paint = colour(mark.paint)
    return ax.plot(
        mark.x, mark.y, linestyle="none", marker=MATPLOTLIB_MARKERS[mark.marker],
        markersize=mark.size,
        markerfacecolor="none" if mark.hollow else paint,
        markeredgecolor=paint if mark.hollow else colour("paper"),
        markeredgewidth=1.3 if mark.hollow else 0.5, zorder=order,
    )[0]  # fmt: skip


@_put.register
def _(mark: Bars, ax, order: float):
    bar, start = (ax.barh, "left") if mark.horizontal else (ax.bar, "bottom")
    return bar(
        mark.at, mark.length, mark.thickness, **{start: mark.base}, color=colour(mark.paint),
        zorder=order,
    )  # fmt: skip


@_put.register
def _(mark: Cells, ax, order: float):
    from matplotlib.colors import LinearSegmentedColormap

    ramp = LinearSegmentedColormap.from_list("shade", [colour("paper"), colour(mark.paint)])
    ax.imshow(mark.shade, cmap=ramp, vmin=0.0, vmax=1.0, aspect="auto", zorder=order)
    for row, words in enumerate(mark.words):
        for column, word in enumerate(words):
            ink = "paper" if mark.shade[row, column] > MIN_DARK_SHADE else "ink"
            ax.text(
                column, row, word, ha="center", va="center", color=colour(ink), parse_math=False,
                zorder=order,
            )  # fmt: skip


@_put.register
def _(mark: Note, ax, order: float):
    side = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
    ax.text(
        mark.x, mark.y, mark.words, color=colour(mark.paint), ha=side, va="center",
        parse_math=False, fontsize="small", zorder=order,
    )  # fmt: skip


def _set_axes(scene: Scene, ax) -> None:
    # matplotlib's own wrapping reads dollar signs as mathematics, whatever parse_math says.
    title = fill(scene.title, MAX_TITLE_LETTERS)
    ax.set_title(title, loc="left", fontsize="medium", parse_math=False)
    for axis, which in [(scene.x, "x"), (scene.y, "y")]:
        _set_axis(axis, ax, which)
    if scene.equal:
        ax.set_aspect("equal", adjustable="box")
    filled = any(isinstance(mark, Area | Cells) for mark in scene.marks)
    if not filled:
        ax.grid(color=colour("faint"), linewidth=0.6)
    ax.set_axisbelow(True)
    for spine in ax.spines.values():
        spine.set_color(colour("muted"))
    ax.tick_params(color=colour("muted"))


def _set_axis(axis: Axis, ax, which: str) -> None:
    if axis.log:
        getattr(ax, f"set_{which}scale")("log")
    if axis.limits is not None:
        getattr(ax, f"set_{which}lim")(*axis.limits)
    if axis.ticks is not None:
        places, words = zip(*axis.ticks, strict=True)
        getattr(ax, f"set_{which}ticks")(places, words, minor=False)
        for text in getattr(ax, f"get_{which}ticklabels")():
            text.set_parse_math(False)
    elif not axis.log:
        # As many whatever the size: else layout and ticks chase one another, and labels are cut.
        ax.locator_params(axis=which, nbins=MAX_AXIS_TICKS)
    getattr(ax, f"set_{which}label")(axis.label, parse_math=False)


def _legend(ax, handles: dict[str, list]) -> None:
    """Beside the picture where the figure makes room for it; else where it covers least."""
    makes_room = ax.figure.get_layout_engine() is not None
    place = {"loc": "best", "fontsize": "x-small", "framealpha": 0.8}
    if makes_room:
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "fontsize": "small"}
    # Marks of one label are one entry, laid over one another.
    marks = [each[0] if len(each) == 1 else tuple(each) for each in handles.values()]
    # matplotlib leaves out labels that begin with an underscore; a class may well be called so.
    shown = [f" {label}" if label.startswith("_") else label for label in handles]
    legend = ax.legend(marks, shown, **place, frameon=not makes_room, borderaxespad=0.3)
    for text in legend.get_texts():
        text.set_parse_math(False)
