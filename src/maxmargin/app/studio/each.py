"""What a fitted model says of every point, for the one that is pointed at; and sums over all."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...show.geometry.model_adapter import subject_of
from .task import StudioTask

# Digits of what is told of a point: nobody reads more beside a picture.
POINT_DIGITS = 4
# The least probability whose logarithm is taken.
MIN_PROBABILITY = 1e-300


def each_point(model: Any, task: StudioTask) -> dict[str, list]:
    """Margins, slacks, multipliers and probabilities, those that the model has.

    The margin is the least contrast of the point's own class: y f(x) with two classes, else the
    score of its class less that of the next; below 1 a point has slack.
    """
    last = model[-1] if hasattr(model, "steps") else model
    subject = subject_of(model, task.X)
    codes = np.searchsorted(subject.classes, task.codes)
    contrasts = subject.election.clear or subject.election.wins
    answers = subject.answers(subject.rows)
    margins = [float((contrasts[c] @ a).min()) for c, a in zip(codes, answers, strict=True)]
    found: dict[str, Any] = {"margin": margins}
    if np.shape(getattr(last, "slack_", 0.0)) == task.codes.shape:
        found["slack"] = last.slack_
    if len(np.atleast_1d(getattr(last, "alpha_", 0.0))) == len(task.X):
        found["alpha"] = _multipliers(last.alpha_)
    if hasattr(last, "predict_proba"):
        found["probability"] = model.predict_proba(task.X)
    return {name: _short(np.asarray(values)) for name, values in found.items()}


def _multipliers(alpha: np.ndarray) -> np.ndarray:
    """One number for each point: with k classes, all that is charged to it."""
    return alpha if alpha.ndim == 1 else np.maximum(alpha, 0.0).sum(axis=1)


def _short(values: np.ndarray) -> list:
    """As lists, with as many digits as are read."""
    size = float(np.abs(values).max(initial=0.0))
    places = POINT_DIGITS - (int(np.floor(np.log10(size))) if size > 0 else 0)
    return np.round(values, places).tolist()


def measures(model: Any, task: StudioTask) -> list[list]:
    """[name, value, remark] of methods that know no margin: how well and how sharply they fit."""
    last = model[-1] if hasattr(model, "steps") else model
    known = ("margin_", "updates_", "estimators_")  # these have numbers of their own
    if any(hasattr(last, name) for name in known) or not hasattr(last, "coef_"):
        return []
    length = float(np.linalg.norm(last.coef_))
    steepness = length if len(task.present) == 2 else np.sqrt(2.0) * length
    if hasattr(last, "predict_proba"):
        return [*_likelihood(model, task), _temperature(float(steepness), len(task.present))]
    return [_squared_error(model, task), ["length ‖w‖", length, ""]]


def _likelihood(model: Any, task: StudioTask) -> list[list]:
    P = model.predict_proba(task.X)
    own = P[np.arange(len(P)), np.searchsorted(model.classes_, task.codes)]
    losses = -np.log(np.maximum(own, MIN_PROBABILITY))
    return [
        ["log-loss", float(losses.mean()), f"sum {losses.sum():.4g}"],
        ["probability of own class", float(own.mean()), "mean"],
    ]


def _temperature(steepness: float, classes: int) -> list:
    """p = softmax(scores of unit length / T): T from the boundary p has gone from 50 to 73 %."""
    words = "1/‖w‖" if classes == 2 else "1/(√2 ‖W‖)"
    return ["temperature T", 1.0 / steepness if steepness > 0 else None, words]


def _squared_error(model: Any, task: StudioTask) -> list:
    """Of ±1, or with k classes of 1 for the own class and 0 for the others."""
    f = np.asarray(model.decision_function(task.X))
    own = np.searchsorted(model.classes_, task.codes)
    targets, words = 2.0 * own - 1.0, "of targets ±1"
    if f.ndim > 1:
        targets, words = np.eye(f.shape[1])[own], "of targets 1 and 0"
    return ["mean squared error", float(np.mean((f - targets) ** 2)), words]
