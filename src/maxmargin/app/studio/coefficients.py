"""Coefficients that a command has told, as scenes for the page: no model is loaded for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

MAX_COEFFICIENT_BARS = 12
MAX_COEFFICIENT_SCENES = 6


def scenes(result: dict) -> dict:
    """A scene for each of the first rows of weights."""
    from ...show.scene import Scene, to_json
    from ...show.views.coefficients import Coefficients

    unit = "unit of the basis" if result.get("basis") else "standard deviation"
    drawn = []
    for title, rows in list((result.get("coefficients") or {}).items())[:MAX_COEFFICIENT_SCENES]:
        rows = rows[:MAX_COEFFICIENT_BARS]
        weights = np.array([[row["per_deviation"] for row in rows]], dtype=float)
        names = tuple(row["feature"] for row in rows)
        scene = Coefficients(weights, names, (title,), unit, MAX_COEFFICIENT_BARS).scene()
        assert isinstance(scene, Scene)
        strongest = ", ".join(f"{r['feature']} {r['per_deviation']:+.3g}" for r in rows[:5])
        words = f"What speaks for {title}, the strongest first: {strongest}."
        drawn.append(to_json(replace(scene, words=words)))
    return {"scenes": drawn}
