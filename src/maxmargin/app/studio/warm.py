"""Kernels are compiled before anyone waits for them, and never on a question's own time limit.

Where nothing is compiled yet, a thread of the server compiles for a minute.  Until
it is through, questions do not wait for it: what is not there runs as plain Python, which is quick
enough for the page's first pictures.  Afterwards whatever a question needs is compiled before it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ...core.first_use import compiled_at_once
from .methods import PICTURE_KNOBS, STUDIO_METHODS
from .task import StudioTask

_turn = threading.Lock()
_warm: set[tuple] = set()
# The thread that warms all methods, while it does so; and whether it is through.
_warming: list[threading.Thread] = []
_warmed = threading.Event()

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
    ours = threading.current_thread() in _warming
    if key in _warm or (_warming and not ours):
        return
    with _turn, compiled_at_once() if ours or _warmed.is_set() else nullcontext():
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
    _warming.append(threading.current_thread())
    try:
        _warm_methods()
    finally:
        _warming.clear()
    _warmed.set()


def _warm_methods() -> None:
    first = ["svm", *(name for name in STUDIO_METHODS if name != "svm")]
    for classes in (2, 3):
        for name in first:
            defaults = {p.name: p.default for p in STUDIO_METHODS[name].parameters}
            warm(name, classes, defaults)
