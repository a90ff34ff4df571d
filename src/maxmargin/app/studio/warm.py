"""Kernels are compiled before anyone waits for them, and never on a question's own time limit."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .methods import PICTURE_KNOBS, STUDIO_METHODS
from .task import StudioTask

_turn = threading.Lock()
_warm: set[tuple] = set()

# Two and three classes that overlap, so that every path through a solver is taken.
WARM_UP_POINTS = [
    [0.0, 0.0, 0], [1.0, 0.2, 0], [3.0, 3.1, 1], [4.0, 3.0, 1], [0.5, 4.0, 2], [1.0, 5.0, 2],
    [0.9, 0.1, 1], [3.2, 2.9, 0], [0.7, 4.5, 0],
]  # fmt: skip


def warm(method: str, classes: int, values: Mapping[str, Any] | None = None) -> None:
    """Fit once without a limit; the first time may compile for seconds, later ones return.

    What is compiled depends on choices (loss, rule, kernel, basis), not on numbers.
    """
    chosen = {
        name: v
        for name, v in (values or {}).items()
        if isinstance(v, str | bool) and name not in PICTURE_KNOBS
    }
    key = (method, classes > 2, *sorted(chosen.items()))
    if key in _warm:
        return
    with _turn:
        _fit_once(method, 3 if classes > 2 else 2, chosen)
    _warm.add(key)


def _fit_once(method: str, classes: int, chosen: dict[str, Any]) -> None:
    points = [point for point in WARM_UP_POINTS if point[2] < classes]
    task = StudioTask.of(
        {"points": points, "labels": ["a", "b", "c"], "method": method, "values": chosen}
    )
    try:
        task.estimator().fit(task.X, task.codes)
    except ValueError:
        return  # a hard margin that does not exist is found out by the same kernels


def warm_all() -> None:
    """The page's first method, then the others, as they are offered.

    What is not proved is said in the page; the terminal need not repeat it at every drag.
    """
    warnings.simplefilter("ignore", ConvergenceWarning)
    first = ["svm", *(name for name in STUDIO_METHODS if name != "svm")]
    for classes in (2, 3):
        for name in first:
            defaults = {p.name: p.default for p in STUDIO_METHODS[name].parameters}
            warm(name, classes, defaults)
