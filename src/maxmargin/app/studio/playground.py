"""The playground's questions: solve what is drawn, and say it as a Python program."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.certify.separability import NotSeparableError
from .code import program
from .findings import MAX_FIT_SECONDS, MAX_HURRIED_SECONDS, findings, inseparable
from .picture import picture_of, proof_picture
from .task import StudioTask
from .warm import warm


def solve(asked: dict) -> dict:
    """Fit, and answer with the scene, the numbers beside it and the certificate."""
    task = StudioTask.of(asked)
    if len(task.present) < 2:
        raise ValueError("Draw points of at least two classes.")
    warm(task.method.name, len(task.present), task.values)
    model = limited(task.estimator(), task.hurry)
    try:
        model.fit(task.X, task.codes)
    except NotSeparableError as error:
        return inseparable(error.proof, task) | {"scene": proof_picture(error.proof, task)}
    except RuntimeError as error:  # neither an answer nor a proof, which is said in its words
        raise ValueError(str(error)) from error
    return findings(model, task) | {"scene": picture_of(model, task, rival(task))}


def rival(task: StudioTask) -> Any:
    """The fitted method to compare with; one that has no answer is left out of the picture."""
    if task.beside is None:
        return None
    warm(task.beside.name, len(task.present))
    try:
        return limited(task.rival(), task.hurry).fit(task.X, task.codes)
    except NotSeparableError:
        return None


def limited(model: Any, hurry: bool) -> Any:
    """The same estimator, and its inner ones, with a limit on their time.

    In a hurry a perceptron does without its proof, which takes longer than its run, and a hard
    margin without the end of its search.
    """
    given = model.get_params()
    names = {name: name.split("__")[-1] for name in given}
    hard = any(end == "C" and np.isinf(given[name]) for name, end in names.items())
    last: dict[str, Any] = {
        "max_seconds": MAX_HURRIED_SECONDS if hurry and hard else MAX_FIT_SECONDS
    }
    if hurry:
        last["explain"] = False
    return model.set_params(**{name: last[end] for name, end in names.items() if end in last})


def code(asked: dict) -> dict:
    """The program that makes this fit again."""
    task = StudioTask.of(asked)
    if not np.size(task.X):
        raise ValueError("Draw some points first: a program without data has nothing to fit.")
    return {"program": program(task)}
