"""Scenes as SVG: small, self-contained, clipped to their axes, and readable without seeing.

The picture brings its own paper, so that it looks the same on light and dark pages and in print.
"""

from __future__ import annotations

import zlib
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from ..palette import colour
from ..scene import Area, Axis, Bars, Board, Cells, Line, Mark, Note, Points, Scene, Segments
from ..text import LETTER_PIXELS as TEXT
from ..text import cut, safe, shortened, wrapped
from ..text import width as width_of
from .axis_limits import Scale, limits_of, ticks_of

TITLE_PIXELS = 14.0
BOLD_WIDTH_FACTOR = 1.12  # bold letters are wider
LINE_PIXELS = 18.0  # from one line of text to the next
EDGE_PIXELS = 10.0  # room at the edges
PICTURE_HEIGHT = 340.0
MAX_HEIGHT_PER_WIDTH = 1.1  # of a picture with equal units, as a share of its width
NAMED_ROW_PIXELS = 22.0  # of a bar, or a dot, and its name
DASHES = {"solid": "", "dashed": ' stroke-dasharray="6 4"', "dotted": ' stroke-dasharray="1.5 3"'}
# A cell narrower or lower than this has no words in it.
MIN_CELL_PIXELS = 15.0
# Entries of a legend beyond these are counted, not shown.
MAX_LEGEND_ENTRIES = 24
# Letters of words that are not drawn but told.
MAX_TOLD_LETTERS = 800
# Names of ticks take at most this share of the width.
MAX_TICK_NAME_SHARE = 0.4


def draw(scene: Scene, width: float = 480, height: float | None = None) -> str:
    """The scene as an ``<svg>`` element; its legend, below the picture, adds to ``height``."""
    body, tall = _picture(scene, width, height)
    return _svg(body, width, tall, scene.title, scene.words)


def draw_board(board: Board, width: float = 480, height: float | None = None) -> str:
    """All scenes of a board in one ``<svg>`` element, each ``width`` wide."""
    columns = max(1, min(board.columns, len(board.scenes)))
    title, top = _title(board.title, columns * width) if board.title else ("", 0.0)
    parts = [title]
    for first in range(0, len(board.scenes), columns):
        row = [_picture(scene, width, height) for scene in board.scenes[first : first + columns]]
        for place, (body, _) in enumerate(row):
            parts.append(_moved(body, place * width, top))
        top += max(tall for _, tall in row)
    name = board.title or ", ".join(scene.title for scene in board.scenes)
    words = " ".join(scene.words for scene in board.scenes)
    return _svg("".join(parts), columns * width, top, name, words)


def _svg(body: str, width: float, height: float, title: str, words: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_n(width)} {_n(height)}"'
        f' width="{_n(width)}" height="{_n(height)}" font-family="system-ui,sans-serif"'
        f' font-size="{_n(TEXT)}"><title>{_told(title)}</title><desc>{_told(words)}</desc>'
        f'<rect width="100%" height="100%" fill="{colour("paper")}"/>{body}</svg>'
    )


def _picture(scene: Scene, width: float, height: float | None) -> tuple[str, float]:
    """The scene without its ``<svg>`` element, and how tall it is."""
    height = _usual_height(scene) if height is None else height
    title, top = _title(scene.title, width)
    x_limits, y_limits = limits_of(scene, "x"), limits_of(scene, "y")
    y_ticks = ticks_of(scene.y, *y_limits, most=max(2, int(height // 60)))
    longest = max((width_of(words) for _, words in y_ticks), default=0.0)
    left = (
        EDGE_PIXELS
        + LINE_PIXELS * bool(scene.y.label)
        + min(MAX_TICK_NAME_SHARE * width, longest)
        + 8
    )
    right = width - 2 * EDGE_PIXELS
    x_ticks = ticks_of(scene.x, *x_limits, most=max(2, int((right - left) // 55)))
    turned = _crowded(x_ticks, x_limits, right - left)
    names = LINE_PIXELS
    if turned:
        names = min(110.0, 14 + 0.75 * max(width_of(words) for _, words in x_ticks))
    bottom = height - EDGE_PIXELS - names - LINE_PIXELS * bool(scene.x.label)
    if scene.equal:
        span = (abs(x_limits[1] - x_limits[0]), abs(y_limits[1] - y_limits[0]))
        tall = min(MAX_HEIGHT_PER_WIDTH * (right - left), (right - left) * span[1] / span[0])
        right, bottom = left + tall * span[0] / span[1], top + tall
        x_ticks = ticks_of(scene.x, *x_limits, most=max(2, int((right - left) // 55)))
    x = Scale(*x_limits, 0.0, right - left, scene.x.log)
    y = Scale(*y_limits, bottom - top, 0.0, scene.y.log)
    key = f"h{zlib.crc32((scene.title + scene.words).encode(errors='replace')):x}"
    drawn = "".join(_mark(mark, x, y, key) for mark in scene.marks)
    inner = Inner(left, right, top, bottom)
    parts = [
        title,
        _x_axis(scene, x, x_ticks, inner, turned),
        _y_axis(scene, y, y_ticks, inner),
        f'<svg x="{_n(left)}" y="{_n(top)}" width="{_n(right - left)}"'
        f' height="{_n(bottom - top)}">{drawn}</svg>',
        f'<path d="M{_n(left)} {_n(top)}V{_n(bottom)}H{_n(right)}" fill="none"'
        f' stroke="{colour("muted")}"/>',
    ]
    below = bottom + names + LINE_PIXELS * bool(scene.x.label) + EDGE_PIXELS
    if scene.x.label:
        centre = (left + right) / 2
        room = 2 * min(centre, width - centre)
        parts.append(_text(scene.x.label, (centre, below - EDGE_PIXELS), room, anchor="middle"))
    if scene.legend:
        legend, below = _legend(scene, width, below)
        parts.append(legend)
    return "".join(parts), below


def _usual_height(scene: Scene) -> float:
    """As tall as its named rows need, else ``PICTURE_HEIGHT``."""
    named = scene.y.ticks is not None and not any(isinstance(m, Cells) for m in scene.marks)
    rows = len(scene.y.ticks or ()) if named else 0
    return 5 * LINE_PIXELS + NAMED_ROW_PIXELS * rows if rows else PICTURE_HEIGHT


def _title(words: str, width: float) -> tuple[str, float]:
    """The title on one line or two, and where it ends."""
    if not words:
        return "", EDGE_PIXELS
    style = f'font-size="{_n(TITLE_PIXELS)}" font-weight="600" fill="{colour("ink")}"'
    parts, y = [], EDGE_PIXELS
    for line in wrapped(
        words, (width - 2 * EDGE_PIXELS) * TEXT / (TITLE_PIXELS * BOLD_WIDTH_FACTOR), 2
    ):
        y += LINE_PIXELS
        parts.append(f'<text x="{_n(EDGE_PIXELS)}" y="{_n(y - 4)}" {style}>{safe(line)}</text>')
    return "".join(parts), y + EDGE_PIXELS


def _crowded(ticks, limits, room: float) -> bool:
    """Whether names of ticks would touch if they were written straight."""
    if len(ticks) < 2:
        return False
    places = np.sort([at for at, _ in ticks])
    nearest = float(np.diff(places).min()) / abs(limits[1] - limits[0]) * room
    return any(not _is_number(words) for _, words in ticks) and nearest < 6 + max(
        width_of(words) for _, words in ticks
    )


def _is_number(words: str) -> bool:
    return words.lstrip("−").replace(".", "", 1).isdigit()


class Inner(NamedTuple):
    """Where the marks are drawn, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


def _x_axis(scene: Scene, x: Scale, ticks, inner: Inner, turned: bool) -> str:
    parts = []
    for at, words in ticks:
        place = inner.left + float(x(at))
        parts.append(_rule(place, inner.top, place, inner.bottom) if _ruled(scene, scene.x) else "")
        if turned:
            shown = _text(words, (0, 0), 120, "muted", "end")
            parts.append(_moved(shown, place + 4, inner.bottom + 14, -45))
        else:
            parts.append(_text(words, (place, inner.bottom + 16), 200, "muted", "middle"))
    return "".join(parts)


def _y_axis(scene: Scene, y: Scale, ticks, inner: Inner) -> str:
    parts = []
    # Named rows closer than a line of text show every second, third, … name.
    every = 1
    if len(ticks) > 1:
        nearest = abs(float(y(ticks[1][0]) - y(ticks[0][0])))
        every = max(1, int(np.ceil(0.9 * TEXT / max(nearest, 1e-9))))
    for at, words in ticks[::every]:
        place = inner.top + float(y(at))
        parts.append(_rule(inner.left, place, inner.right, place) if _ruled(scene, scene.y) else "")
        room = inner.left - EDGE_PIXELS - LINE_PIXELS * bool(scene.y.label) - 6
        parts.append(_text(words, (inner.left - 6, place + 4), room, "muted", "end"))
    if scene.y.label:
        middle = inner.top + float(y.start) / 2
        shown = _text(scene.y.label, (0, 0), float(y.start) + 2 * LINE_PIXELS, anchor="middle")
        parts.append(_moved(shown, EDGE_PIXELS + TEXT - 2, middle, -90))
    return "".join(parts)


def _moved(body: str, x: float, y: float, turn: float = 0.0) -> str:
    by = f" rotate({_n(turn)})" if turn else ""
    return f'<g transform="translate({_n(x)} {_n(y)}){by}">{body}</g>'


def _ruled(scene: Scene, axis: Axis) -> bool:
    """Lines at the ticks help to read numbers, but not through filled areas."""
    filled = any(isinstance(mark, Area | Cells) for mark in scene.marks)
    return axis.ticks is None and not filled


def _rule(x, y, x2, y2) -> str:
    return f'<path d="M{_n(x)} {_n(y)}L{_n(x2)} {_n(y2)}" stroke="{colour("faint")}"/>'


def _legend(scene: Scene, width: float, top: float) -> tuple[str, float]:
    """One entry for each label, in lines below the picture; and where they end."""
    entries: dict[str, list[Mark]] = {}
    for mark in scene.marks:
        if mark.label and not isinstance(mark, Note | Cells):
            entries.setdefault(mark.label, []).append(mark)
    if not entries:
        return "", top
    parts, x, y = [], 2 * EDGE_PIXELS, top + TEXT
    for label, marks in list(entries.items())[:MAX_LEGEND_ENTRIES]:
        wide = min(width_of(label), width - 6 * EDGE_PIXELS)
        if x > 2 * EDGE_PIXELS and x + 24 + wide > width - EDGE_PIXELS:
            x, y = 2 * EDGE_PIXELS, y + LINE_PIXELS
        parts += [
            *(_swatch(mark, x, y - 4) for mark in marks[:3]),
            _text(label, (x + 24, y), wide + 1),
        ]
        x += 24 + wide + 16
    if len(entries) > MAX_LEGEND_ENTRIES:
        y += LINE_PIXELS
        more = f"… and {len(entries) - MAX_LEGEND_ENTRIES} more"
        parts.append(_text(more, (2 * EDGE_PIXELS, y), width, "muted"))
    return "".join(parts), y + EDGE_PIXELS


def _swatch(mark: Mark, x: float, y: float) -> str:
    """A small picture of the mark for the legend, 18 wide."""
    ink = colour(mark.paint)
    if isinstance(mark, Points):
        return _points_path(mark, np.array([x + 9]), np.array([y]))
    if isinstance(mark, Line | Segments):
        dash, wide = DASHES[mark.dash], _n(mark.width)
        return f'<path d="M{_n(x)} {_n(y)}h18" stroke="{ink}" stroke-width="{wide}"{dash}/>'
    opacity = max(0.3, mark.opacity) if isinstance(mark, Area) else 0.85
    box = f'x="{_n(x)}" y="{_n(y - 5)}" width="18" height="10"'
    edge = f' stroke="{ink}" stroke-dasharray="2 2"' if getattr(mark, "hatched", False) else ""
    return f'<rect {box} fill="{ink}" fill-opacity="{_n(opacity)}"{edge}/>'


@singledispatch
def _mark(mark, x: Scale, y: Scale, key: str) -> str:
    """One mark in pixels; ``key`` begins the names of what it defines."""
    raise TypeError(f"SVG cannot draw a {type(mark).__name__}.")


@_mark.register
def _(mark: Area, x: Scale, y: Scale, key: str) -> str:
    d = "".join(_line_path(x(ring[:, 0]), y(ring[:, 1])) + "Z" for ring in mark.rings if len(ring))
    if not d:
        return ""
    ink = colour(mark.paint)
    path = f'<path d="{d}" fill-rule="evenodd" fill="{ink}" fill-opacity="{_n(mark.opacity)}"/>'
    if not mark.hatched:
        return path
    name = f"{key}{ink[1:]}"
    return (
        f'<defs><pattern id="{name}" width="7" height="7" patternUnits="userSpaceOnUse"'
        f' patternTransform="rotate(45)"><path d="M0 0V7" stroke="{ink}" stroke-opacity="0.6"/>'
        f'</pattern></defs>{path}<path d="{d}" fill-rule="evenodd" fill="url(#{name})"/>'
    )


@_mark.register
def _(mark: Line, x: Scale, y: Scale, key: str) -> str:
    d = _line_path(x(mark.x), y(mark.y))
    return _stroke(d, mark) if d else ""


@_mark.register
def _(mark: Segments, x: Scale, y: Scale, key: str) -> str:
    ends = np.column_stack([x(mark.x), y(mark.y), x(mark.x2), y(mark.y2)])
    ends = ends[np.isfinite(ends).all(axis=1)]
    d = "".join(f"M{_n(a)} {_n(b)}L{_n(c)} {_n(e)}" for a, b, c, e in ends.tolist())
    return _stroke(d, mark) if d else ""


def _stroke(d: str, mark: Line | Segments) -> str:
    faint = getattr(mark, "opacity", 1.0)
    fade = "" if faint == 1.0 else f' stroke-opacity="{_n(faint)}"'
    return (
        f'<path d="{d}" fill="none" stroke="{colour(mark.paint)}" stroke-linejoin="round"'
        f' stroke-width="{_n(mark.width)}"{DASHES[mark.dash]}{fade}/>'
    )


@_mark.register
def _(mark: Points, x: Scale, y: Scale, key: str) -> str:
    return _points_path(mark, x(mark.x), y(mark.y))


def _points_path(mark: Points, px: np.ndarray, py: np.ndarray) -> str:
    shape, filled = _shape(mark.marker, 0.6 * mark.size)
    ink = colour(mark.paint)
    style = f'fill="{ink}" fill-opacity="0.85" stroke="{colour("paper")}" stroke-width="0.6"'
    if mark.hollow or not filled:
        style = f'fill="none" stroke="{ink}" stroke-width="1.6"'
    there = np.flatnonzero(np.isfinite(px) & np.isfinite(py)).tolist()
    each = [f"M{_n(px[i])} {_n(py[i])}{shape}" for i in there]
    if mark.names is None or len(mark.names) != len(px):
        return f'<path d="{"".join(each)}" {style}/>' if each else ""
    named = zip(each, (mark.names[i] for i in there), strict=True)
    told = "".join(f'<path d="{d}"><title>{_told(name)}</title></path>' for d, name in named)
    return f"<g {style}>{told}</g>"


def _shape(marker: str, r: float) -> tuple[str, bool]:
    """A marker as a path from its centre, and whether it has an inside."""
    s = _n(r)
    if marker == "square":
        q = _n(1.76 * r)
        return f"m-{_n(0.88 * r)} -{_n(0.88 * r)}h{q}v{q}h-{q}z", True
    if marker in ("triangle", "inverted"):
        up = "-" if marker == "triangle" else ""
        down = "" if marker == "triangle" else "-"
        a, b, c = _n(1.15 * r), _n(1.8 * r), _n(1.05 * r)
        return f"m0 {up}{a}l{c} {down}{b}h-{_n(2.1 * r)}z", True
    if marker == "diamond":
        a = _n(1.2 * r)
        return f"m0 -{a}l{a} {a}l-{a} {a}l-{a} -{a}z", True
    if marker == "star":
        angle = np.pi * (np.arange(10) / 5 - 0.5)
        radius = np.where(np.arange(10) % 2, 0.5, 1.3) * r
        at = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
        steps = np.diff(at, axis=0).tolist()
        first = f"m{_n(at[0, 0])} {_n(at[0, 1])}"
        return first + "".join(f"l{_n(a)} {_n(b)}" for a, b in steps) + "z", True
    if marker == "plus":
        return f"m-{s} 0h{_n(2 * r)}m-{s} -{s}v{_n(2 * r)}", False
    if marker == "cross":
        a, b = _n(0.8 * r), _n(1.6 * r)
        return f"m-{a} -{a}l{b} {b}m-{b} 0l{b} -{b}", False
    return f"m-{s} 0a{s} {s} 0 1 0 {_n(2 * r)} 0a{s} {s} 0 1 0 -{_n(2 * r)} 0z", True


@_mark.register
def _(mark: Bars, x: Scale, y: Scale, key: str) -> str:
    at, half = np.asarray(mark.at, dtype=np.float64), mark.thickness / 2
    base = np.asarray(mark.base, dtype=np.float64) + np.zeros(len(at))
    along, across = (x, y) if mark.horizontal else (y, x)
    a, b = along(base), along(base + np.asarray(mark.length))
    c, d = across(at - half), across(at + half)
    corners = np.column_stack([a, c, b, d] if mark.horizontal else [c, a, d, b])
    corners = corners[np.isfinite(corners).all(axis=1)]
    path = "".join(f"M{_n(p)} {_n(q)}H{_n(r)}V{_n(s)}H{_n(p)}z" for p, q, r, s in corners.tolist())
    return f'<path d="{path}" fill="{colour(mark.paint)}" fill-opacity="0.85"/>' if path else ""


@_mark.register
def _(mark: Cells, x: Scale, y: Scale, key: str) -> str:
    shade = np.asarray(mark.shade, dtype=np.float64)
    rows, columns = shade.shape
    xs, ys = x(np.arange(columns + 1) - 0.5), y(np.arange(rows + 1) - 0.5)
    wide, tall = abs(float(xs[1] - xs[0])), abs(float(ys[1] - ys[0]))
    parts = []
    for i, j in np.ndindex(rows, columns):
        left, top = min(xs[j], xs[j + 1]), min(ys[i], ys[i + 1])
        strength = min(max(float(shade[i, j]), 0.0), 1.0)
        if strength > 0.004:
            parts.append(
                f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(wide)}" height="{_n(tall)}"'
                f' fill="{colour(mark.paint)}" fill-opacity="{_n(strength)}"/>'
            )
        words = mark.words[i][j]
        if words and min(wide, tall) >= MIN_CELL_PIXELS:
            paint = "paper" if strength > 0.6 else "ink"
            middle = (left + wide / 2, top + tall / 2 + 4)
            parts.append(_text(words, middle, wide, paint, "middle"))
    return "".join(parts)


@_mark.register
def _(mark: Note, x: Scale, y: Scale, key: str) -> str:
    px, py = float(x(mark.x)), float(y(mark.y))
    if not (np.isfinite(px) and np.isfinite(py)):
        return ""
    halo = f' paint-order="stroke" stroke="{colour("paper")}" stroke-width="3"'
    return _text(mark.words, (px, py + 4), 400, mark.paint, mark.anchor, halo)


def _line_path(px: np.ndarray, py: np.ndarray) -> str:
    """M and L through the points, a new beginning after every hole."""
    out, pen = [], "M"
    for a, b in zip(px.tolist(), py.tolist(), strict=True):
        if a != a or b != b:
            pen = "M"
            continue
        out.append(f"{pen}{_n(a)} {_n(b)}")
        pen = "L"
    return "".join(out)


def _text(words, at, room, paint="ink", anchor="start", more="") -> str:
    """Words at (x, y), cut to the room there is; all of them are shown when pointed at."""
    x, y = at
    shown = cut(words, room)
    whole = f"<title>{_told(words)}</title>" if shown != words else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    ink = colour(paint)
    return f'<text x="{_n(x)}" y="{_n(y)}" fill="{ink}"{place}{more}>{safe(shown)}{whole}</text>'


def _told(words: str) -> str:
    """Words that are read out or shown when pointed at."""
    return safe(shortened(words, MAX_TOLD_LETTERS))


def _n(value: float) -> str:
    """A coordinate, to a hundredth of a pixel."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
