"""The frame of a picture: limits from its marks, scales from units to pixels, and nice ticks."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

import numpy as np

from ..scene import Area, Axis, Cells, Line, Mark, Note, Points, Scene, Segments

# Room left around the data, as a share of their span.
AXIS_PAD_SHARE = 0.05
# Nothing is drawn farther away than this many pixels: viewers lose precision there.
MAX_PIXEL_DISTANCE = 1e5
# From this size on, and below its inverse, ticks are written as powers of ten.
POWER_TICK_SIZE = 1e5
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

Tick = tuple[float, str]


@dataclass(frozen=True)
class Scale:
    """From units (``low`` … ``high``, which may run backwards) to pixels (``start`` … ``end``)."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, values) -> np.ndarray:
        """Pixels; NaN where a logarithm has none."""
        v, low, high = np.asarray(values, dtype=np.float64), self.low, self.high
        if self.log:
            v = np.log10(np.where(v > 0, v, np.nan))
            low, high = log10(low), log10(high)
        share = (v - low) / (high - low)
        return np.clip(
            self.start + share * (self.end - self.start), -MAX_PIXEL_DISTANCE, MAX_PIXEL_DISTANCE
        )


def limits_of(scene: Scene, which: str) -> tuple[float, float]:
    """The limits of axis "x" or "y": as given, or around all marks."""
    axis: Axis = getattr(scene, which)
    if axis.limits is not None:
        low, high = axis.limits
        return float(low), float(high)
    seen = [np.ravel(part) for mark in scene.marks for part in _extent(mark, which)]
    values = np.concatenate([*seen, np.empty(0)]).astype(np.float64)
    values = values[np.isfinite(values) & ((values > 0) | (not axis.log))]
    if len(values) == 0:
        return (1.0, 10.0) if axis.log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    cells = any(isinstance(mark, Cells) for mark in scene.marks)
    if axis.log:
        room = max(AXIS_PAD_SHARE * log10(high / low), 0.1)
        return low / 10**room, high * 10**room
    if cells:
        return (high, low) if which == "y" else (low, high)
    room = AXIS_PAD_SHARE * (high - low) or 0.5 * abs(low) or 0.5
    return low - room, high + room


def _extent(mark: Mark, which: str) -> list:
    """Values of the mark along an axis."""
    x = which == "x"
    if isinstance(mark, Area):
        return [ring[:, 0 if x else 1] for ring in mark.rings]
    if isinstance(mark, Segments):
        return [mark.x, mark.x2] if x else [mark.y, mark.y2]
    if isinstance(mark, Line | Points):
        return [mark.x if x else mark.y]
    if isinstance(mark, Note):
        return [np.array([mark.x if x else mark.y])]
    if isinstance(mark, Cells):
        return [np.array([-0.5, np.shape(mark.shade)[1 if x else 0] - 0.5])]
    half = mark.thickness / 2
    if mark.horizontal == x:
        return [mark.base + np.zeros(len(mark.at)), mark.base + np.asarray(mark.length)]
    return [np.asarray(mark.at) - half, np.asarray(mark.at) + half]


def ticks_of(axis: Axis, low: float, high: float, most: int) -> list[Tick]:
    """Places and words of about ``most`` ticks; all of them where the axis names its own."""
    low, high = min(low, high), max(low, high)
    if axis.ticks is not None:
        return [(at, words) for at, words in axis.ticks if low <= at <= high]
    return log_ticks(low, high, most) if axis.log else linear_ticks(low, high, most)


def linear_ticks(low: float, high: float, most: int) -> list[Tick]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    if not (isfinite(low) and isfinite(high) and high > low):
        return [(low, written(low))]
    step = nice_step((high - low) / max(1, most))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    if last - first > 4 * most + 4:  # the span is within rounding of its ends
        return [(low, written(low))]
    decimals = max(0, -floor(log10(step) + 1e-9))
    largest = max(abs(first), abs(last)) * step
    short = largest < POWER_TICK_SIZE and decimals <= 5
    places = [n * step for n in range(first, last + 1)]
    return [(at, _minus(f"{at:.{decimals}f}") if short else written(at)) for at in places]


def nice_step(rough: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below ``rough``."""
    power = 10.0 ** floor(log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))


def log_ticks(low: float, high: float, most: int) -> list[Tick]:
    """Powers of ten, some left out if they are many; 1, 2 and 5 times them if they are few."""
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    found = [
        (m * 10.0**k, written(m * 10.0**k))
        for k in range(floor(log10(low)), last + 1)
        for m in (1, 2, 5)
        if low <= m * 10.0**k <= high
    ]
    if last - first >= 2 or len(found) > max(most, 6):
        every = max(1, ceil((last - first + 1) / max(2, most)))
        return [(10.0**k, written(10.0**k)) for k in range(first, last + 1) if k % every == 0]
    return found if len(found) >= 2 else linear_ticks(low, high, most)


def written(value: float) -> str:
    """A number as a reader likes it: 0.01, 250, 10⁻⁶, 2·10⁷."""
    if value == 0 or not isfinite(value) or 1 / POWER_TICK_SIZE < abs(value) < POWER_TICK_SIZE:
        return _minus(f"{value:.6g}")
    power = floor(log10(abs(value)) + 1e-12)
    factor = f"{value / 10.0**power:.4g}"
    ten = "10" + str(power).translate(SUPERSCRIPTS)
    return {"1": ten, "-1": f"−{ten}"}.get(factor, _minus(f"{factor}·{ten}"))


def _minus(number: str) -> str:
    return number.replace("-", "−")
