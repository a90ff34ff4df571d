"""The stepper's question: every update of a run, why it was made, and the bound."""

from __future__ import annotations

from dataclasses import replace

from ...show.scene import to_json
from ...show.views.perceptron_run import PerceptronRun, perceptron_run
from .methods import MAX_PERCEPTRON_PASSES
from .parameters import PARAMETERS
from .task import StudioTask
from .unit_stepper import unit_steps

# More updates than anyone will step through; the run says in words that it went on.
MAX_STEPPED_UPDATES = 500
STEPPER_KNOBS = ("unit", "order", "seed", "rate", "least")


def steps(asked: dict) -> dict:
    """The whole run at once: the page then steps to and fro without asking again."""
    task = StudioTask.of(asked | {"method": "perceptron", "beside": None})
    if len(task.present) < 2:
        raise ValueError("Draw points of at least two classes in the playground first.")
    given = asked.get("values", {})
    unit, order, seed, rate, least = (
        PARAMETERS[name].check(given.get(name, PARAMETERS[name].default)) for name in STEPPER_KNOBS
    )
    if unit == "linear":
        return unit_steps(task, rate)
    run = perceptron_run(
        task.X, task.codes, most=MAX_STEPPED_UPDATES, feature_names=task.names,
        order=order, random_state=seed, learning_rate=rate, margin=least,
        max_passes=MAX_PERCEPTRON_PASSES,
    )  # fmt: skip
    run = replace(run, classes=tuple(task.labels[c] for c in task.present))
    return {
        "frames": [_frame(run, t) for t in range(len(run) + 1)],
        "classes": task.present,
        "words": run.words(),
        "bound": None if run.bound is None else run.bound.bound,
        "radius": None if run.bound is None else run.bound.radius,
        "gamma": None if run.bound is None else run.bound.margin,
        "norms": to_json(run.norms()),
    }


def _frame(run: PerceptronRun, t: int) -> dict:
    """The weights after t updates, and the reason for the last one."""
    return {
        "W": run.W[t].tolist(), "b": run.b[t].tolist(), "wrong": int(run.wrong[t]),
        "cause": run.points[t - 1].tolist() if t else [], "why": run.why(t),
    }  # fmt: skip
