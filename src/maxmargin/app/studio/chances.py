"""Where labels are doubtful: shades of probability, and prediction sets of several labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from contourpy import FillType, contour_generator

from ...show.scene import Area, Mark
from .task import StudioTask

# Below these probabilities of the label predicted the window is shaded, once for each.
SHADED_PROBABILITIES = (0.9, 0.7)
SHADE_OPACITY = 0.1


def chance_marks(model: Any, task: StudioTask, grid: int) -> list[Mark]:
    """Shades where the label is less probable; hatched where a set has several labels, and
    marked where it has none."""
    left, right, bottom, top = task.window
    x, y = np.linspace(left, right, grid), np.linspace(bottom, top, grid)
    places = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    last, rows = model, places
    if hasattr(model, "steps"):
        last, rows = model[-1], model[:-1].transform(places)
    if not hasattr(last, "calibration_"):
        return []
    S, _ = last._class_scores(rows)
    usual = np.sort(last.calibration_.p_values(S, per_class=False), axis=1)
    best = last.predict_proba(rows).max(axis=1)
    alpha = float(task.values["misses"])

    def below(values: np.ndarray, level: float) -> tuple[np.ndarray, ...]:
        return _rings(x, y, level - values.reshape(grid, grid))

    marks: list[Mark] = [
        Area(below(best, p), "unknown", None, SHADE_OPACITY) for p in SHADED_PROBABILITIES
    ]
    several = _rings(x, y, usual[:, -2].reshape(grid, grid) - alpha)
    marks.append(Area(several, "unknown", "several labels", 0.15, hatched=True))
    marks.append(Area(below(usual[:, -1], alpha), "bad", "no label", 0.15))
    return [mark for mark in marks if isinstance(mark, Area) and mark.rings]


def _rings(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, ...]:
    """Outlines of where z is positive, holes among them."""
    if not (z > 0).any():
        return ()
    made = contour_generator(x, y, z, fill_type=FillType.OuterOffset)
    filled: Any = made.filled(0.0, max(float(z.max()), 1e-12) * 2.0)
    points, offsets = filled
    return tuple(
        ring[start:end]
        for ring, cuts in zip(points, offsets, strict=True)
        for start, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    )
