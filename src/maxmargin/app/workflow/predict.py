"""Predictions for files of any size, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ...models.calibration.costs import Costs
from ...parts.files.columns import UnexpectedValues
from ...parts.files.matrices import stream_matrix
from ...parts.files.model import TableModel
from ...parts.files.source import Source
from ...parts.files.tables import stream_table

# Differences of weights computed at once for the distances between k classes.
MAX_WEIGHT_DIFFERENCES = 20_000_000
# Between the labels of a set.
SET_BAR = "|"


class Wanted(NamedTuple):
    """Which share of rows, of all or of every class, the sets may miss; prices of mistakes."""

    alpha: float = 0.1
    per_class: bool = False
    costs: Costs | None = None


TENTH = Wanted()


def stream(
    model: TableModel,
    source: Source,
    keep: list[str],
    every: bool,
    unexpected: UnexpectedValues,
    wanted: Wanted = TENTH,
) -> Iterator[pa.RecordBatch]:
    """Batches of predictions, in the order of the file.  ``keep``: columns to copy over."""
    model.check_kind(source)
    if not source.is_table:
        if keep:
            raise ValueError("--keep names columns of a table; a matrix has none.")
        prepared = model.preparation
        for X, _ in stream_matrix(source, prepared.width, prepared.base):
            yield pa.record_batch(columns(model, model.features(X, unexpected), every, wanted))
        return
    types = model.preparation.types() | {
        name: pa.string() for name in keep if name not in model.preparation.types()
    }
    for batch in stream_table(source, types, strict=unexpected.strict):
        if batch.num_rows:
            copied = {name: batch.column(name) for name in keep}
            predicted = columns(model, model.features(batch, unexpected), every, wanted)
            yield pa.record_batch(copied | predicted)


def columns(model: TableModel, X, every: bool, wanted: Wanted = TENTH) -> dict[str, pa.Array]:
    """What the model says of these rows: label, score, probability with its interval, prediction
    set and distance to the boundary, as far as they exist.  With k classes those of the class
    predicted; ``every``: of all."""
    estimator = model.model
    f = estimator.decision_function(X)
    classes = estimator.classes_
    best = (f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)
    reduced = hasattr(estimator, "unknown")  # may have no answer
    label = pa.array(estimator.predict(X).tolist()) if reduced else _labels(classes, best)
    out = {"prediction": label}
    rows = np.arange(len(best))
    if every and f.ndim == 2:
        out |= {f"score:{c}": pa.array(f[:, j]) for j, c in enumerate(classes)}
    else:
        out["score"] = pa.array(f if f.ndim == 1 else f[rows, best])
    if hasattr(estimator, "predict_proba"):
        numbers = {"probability": _probabilities(estimator, X, f)}
        if hasattr(estimator, "calibration_"):
            numbers["low"], numbers["high"] = estimator.predict_proba_interval(X)
        for name, values in numbers.items():
            if every:
                out |= {f"{name}:{c}": pa.array(values[:, j]) for j, c in enumerate(classes)}
            else:
                out[name] = pa.array(values[rows, best])
    if hasattr(estimator, "calibration_"):
        out["set"] = _sets(classes, estimator.predict_set(X, wanted.alpha, wanted.per_class))
    if wanted.costs is not None:
        out |= _decisions(estimator, X, f, wanted.costs)
    distance = _distance(estimator, f, best)
    if distance is not None:
        out["distance"] = pa.array(distance)
    return out


def _decisions(estimator, X, f, costs: Costs) -> dict[str, pa.Array]:
    """The cheapest action of each row, and what it is expected to cost."""
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"--costs need probabilities, which this {type(estimator).__name__} does not have. Fit "
            "it with rows in memory, or --method logistic."
        )
    expected = costs.expected(_probabilities(estimator, X, f), estimator.classes_)
    best = expected.argmin(axis=1)
    words = pa.array([str(action) for action in costs.actions])
    cheapest = expected[np.arange(len(best)), best]
    return {"decision": words.take(pa.array(best)), "expected_cost": pa.array(cheapest)}


def _sets(classes: np.ndarray, inside: np.ndarray) -> pa.Array:
    """The labels of each row's set in words, with a bar between them; nothing for the empty one."""
    words = np.array([str(label) for label in classes], dtype=object)
    kinds, which = np.unique(inside, axis=0, return_inverse=True)
    names = [SET_BAR.join(words[kind]) for kind in kinds]
    return pa.array(names).take(pa.array(which.ravel()))


def _labels(classes: np.ndarray, codes: np.ndarray) -> pa.Array:
    """Arrow's words from a few different ones, without a Python object for each row."""
    levels = pa.array(classes.tolist())
    return levels.take(pa.array(codes))


def _probabilities(estimator, X, f: np.ndarray) -> np.ndarray:
    own = getattr(estimator, "_own_probabilities", True) or not hasattr(estimator, "calibration_")
    if not (getattr(estimator, "_log_odds", False) and own):
        return estimator.predict_proba(X)
    from scipy.special import expit, softmax

    if f.ndim == 1:  # the scores are at hand
        return np.column_stack([expit(-f), expit(f)])
    return softmax(f, axis=1)


def _distance(estimator, f: np.ndarray, best: np.ndarray) -> np.ndarray | None:
    """To the boundary of the class predicted, where it is a plane (or several)."""
    W = getattr(estimator, "coef_", None)
    if W is None:
        return None
    if f.ndim == 1:
        norm = float(np.linalg.norm(W))
        return np.abs(f) / norm if norm > 0 else np.abs(f)
    if len(W) != f.shape[1] or getattr(estimator, "multiclass", "") == "pairs":
        return None
    if len(W) ** 2 * W.shape[1] > MAX_WEIGHT_DIFFERENCES:
        return None
    norms = np.linalg.norm(W[:, None] - W[None], axis=2)
    norms[norms == 0.0] = 1.0
    lead = (f[np.arange(len(f)), best][:, None] - f) / norms[best]
    lead[np.arange(len(f)), best] = np.inf
    return lead.min(axis=1)
