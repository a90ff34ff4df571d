"""The fit on the page as a Python program that makes it again."""

from __future__ import annotations

from typing import Any

from .task import StudioTask

# Numbers are written to the last bit, so many points and classes on a line.
POINTS_PER_LINE, CODES_PER_LINE = 5, 30


def program(task: StudioTask) -> str:
    """Python code with the points and the estimator; labels are data in it, never code."""
    model = task.estimator()
    pipeline = hasattr(model, "steps")
    last, fitted = (model[-1], "model[-1]") if pipeline else (model, "model")
    proof = "certificates_" if hasattr(last, "unknown") else "certificate_"
    names = sorted({type(piece).__name__ for piece in _pieces(model)} - {"Pipeline"})
    lines = [
        f'"""{task.method.title} on {len(task.X)} points, drawn in the maxmargin studio."""',
        "",
        "import numpy as np",
        *(["from sklearn.pipeline import Pipeline"] if pipeline else []),
        f"from maxmargin import {', '.join(names)}",
        "",
        *(["inf = np.inf"] if "inf" in repr(model) else []),
        f"features = {list(task.names)!r}",
        f"classes = {task.labels!r}",
        "X = np.array([",
        *_lines([f"[{x!r}, {y!r}]" for x, y in task.X.tolist()], POINTS_PER_LINE),
        "])",
        "y = np.array([  # numbers of the classes",
        *_lines([str(c) for c in task.codes.tolist()], CODES_PER_LINE),
        "])",
        "",
        f"model = {model!r}",
        "model.fit(X, y)",
        f"print({fitted}.{proof})",
        'print(f"{model.score(X, y):.1%} of the points are right")',
    ]
    return "\n".join(lines) + "\n"


def _pieces(model: Any) -> list[Any]:
    inside = [v for v in model.get_params(deep=True).values() if hasattr(v, "get_params")]
    return [model, *inside]


def _lines(items: list[str], per_line: int) -> list[str]:
    return [
        "    " + ", ".join(items[i : i + per_line]) + "," for i in range(0, len(items), per_line)
    ]
