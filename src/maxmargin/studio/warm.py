"""Kernels are compiled before anyone waits for them, and never on a question's own time limit."""

from __future__ import annotations

import threading
import warnings

from sklearn.exceptions import ConvergenceWarning

from .methods import METHODS
from .task import Task

_turn = threading.Lock()
_warm: set[tuple[str, bool, str]] = set()

# Two and three classes, on a line and around it, so that every path through a solver is taken.
CORNERS = [[0.0, 0.0, 0], [1.0, 0.2, 0], [3.0, 3.1, 1], [4.0, 3.0, 1], [0.5, 4.0, 2], [1.0, 5.0, 2],
           [0.9, 0.1, 1], [3.2, 2.9, 0], [0.7, 4.5, 0]]  # fmt: skip


def warm(method: str, many: bool, basis: str) -> None:
    """Fit once without a limit; the first time may compile for seconds, later ones return."""
    if (method, many, basis) in _warm:
        return
    with _turn:
        _fit_once(method, many, basis)
    _warm.add((method, many, basis))


def _fit_once(method: str, many: bool, basis: str) -> None:
    classes = 3 if many else 2
    points = [point for point in CORNERS if point[2] < classes]
    asked = {"points": points, "labels": ["a", "b", "c"][:classes], "method": method}
    task = Task.of(asked | {"values": {"basis": basis}})
    try:
        task.estimator().fit(task.X, task.codes)
    except ValueError:
        return  # a hard margin that does not exist is found out by the same kernels


def warm_all() -> None:
    """The page's first method, then the others.

    What is not proved is said in the page; the terminal need not repeat it at every drag.
    """
    warnings.simplefilter("ignore", ConvergenceWarning)
    first = ["svm", *(name for name in METHODS if name != "svm")]
    for many in (False, True):
        for name in first:
            warm(name, many, "none")
