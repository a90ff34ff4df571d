"""The linear unit in the stepper: a frame for every pass of the delta rule, and its error."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...models.perceptron.linear_unit import LinearUnit
from ...models.regression.least_squares import LeastSquaresClassifier
from ...show.scene import Axis, Line, Scene, to_json
from .task import StudioTask

# Passes that are shown; what has not arrived by then crawls, or diverges.
MAX_STEPPED_PASSES = 100


def unit_steps(task: StudioTask, rate: float) -> dict:
    """The passes of a linear unit with η = rate/λ, as the page steps through a perceptron's."""
    unit = _run(task, rate)
    least = LeastSquaresClassifier().fit(task.X, task.codes).certificate_.objective
    labels = np.unique(task.codes, return_inverse=True)[1]
    return {
        "frames": [_frame(unit, t, least, task.X, labels) for t in range(unit.n_iter_ + 1)],
        "classes": task.present,
        "words": f"{unit.n_iter_} passes of the delta rule with η = {unit.learning_rate_:.3g}: "
        f"{unit.stopping_}. Steps grow above η = {unit.stable_below_:.3g}.",
        "bound": None,
        "radius": None,
        "gamma": None,
        "norms": to_json(_errors(unit.errors_, least)),
    }


def _run(task: StudioTask, rate: float) -> LinearUnit:
    """``rate`` is in units of 1/λ: below 2 it arrives, above it diverges."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the words say how it ended
        half = LinearUnit(max_passes=1).fit(task.X, task.codes).stable_below_ / 2.0
        made = LinearUnit(rate * half, trace=True, max_passes=MAX_STEPPED_PASSES)
        return made.fit(task.X, task.codes)


def _frame(unit: LinearUnit, t: int, least: float, X, labels) -> dict:
    """The weights after t passes, and what the last one did to the error."""
    W, b = unit.path_[t][:, :-1], unit.path_[t][:, -1]
    F = X @ W.T + b
    said = (F[:, 0] > 0).astype(int) if len(W) == 1 else F.argmax(axis=1)
    E = unit.errors_[t]
    return {
        "W": W.tolist(), "b": b.tolist(), "wrong": int(np.sum(said != labels)), "cause": [],
        "why": _why(unit, t), "told": f"E = {E:.4g}; the least error is {least:.4g}.",
    }  # fmt: skip


def _why(unit: LinearUnit, t: int) -> str:
    if t == 0:
        return "Before the first pass every weight is 0, and so is every output o."
    before, now = unit.errors_[t - 1 : t + 1]
    went = "falls" if now <= before else "grows"
    return (
        f"Pass {t}: every point pulls by its error, w gains η Σ (t − o) x and b gains η Σ (t − o), "
        f"with η = {unit.learning_rate_:.3g}. E = ½ Σ (t − o)² {went} from {before:.4g} to "
        f"{now:.4g}."
    )


def _errors(errors: list[float], least: float) -> Scene:
    E = np.array(errors[1:])
    passes = np.arange(1.0, len(E) + 1.0)
    marks = (
        Line(passes, E, "class 0", "E after a pass", width=2.0),
        Line(passes, np.full(len(E), least), "muted", "least error", "dashed"),
    )
    axes = Axis("passes", log=True), Axis("E", log=True)
    words = f"The error of every pass: {E[0]:.4g} after the first, {E[-1]:.4g} after the last."
    return Scene("error", *axes, marks, words)
