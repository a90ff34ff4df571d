"""Predictions for files of any size, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ...parts.files.columns import UnexpectedValues
from ...parts.files.matrices import stream_matrix
from ...parts.files.model import TableModel
from ...parts.files.source import Source
from ...parts.files.tables import stream_table

# Differences of weights computed at once for the distances between k classes.
MAX_WEIGHT_DIFFERENCES = 20_000_000


def stream(
    model: TableModel, source: Source, keep: list[str], every: bool, unexpected: UnexpectedValues
) -> Iterator[pa.RecordBatch]:
    """Batches of predictions, in the order of the file.  ``keep``: columns to copy over."""
    model.check_kind(source)
    if not source.is_table:
        if keep:
            raise ValueError("--keep names columns of a table; a matrix has none.")
        prepared = model.preparation
        for X, _ in stream_matrix(source, prepared.width, prepared.base):
            yield pa.record_batch(columns(model, model.features(X, unexpected), every))
        return
    types = model.preparation.types() | {
        name: pa.string() for name in keep if name not in model.preparation.types()
    }
    for batch in stream_table(source, types, strict=unexpected.strict):
        if batch.num_rows:
            copied = {name: batch.column(name) for name in keep}
            predicted = columns(model, model.features(batch, unexpected), every)
            yield pa.record_batch(copied | predicted)


def columns(model: TableModel, X, every: bool) -> dict[str, pa.Array]:
    """What the model says of these rows: label, score, probability and distance to the boundary,
    as far as they exist.  With k classes those of the class predicted; ``every``: of all."""
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
        p = _probabilities(estimator, X, f)
        if every:
            out |= {f"probability:{c}": pa.array(p[:, j]) for j, c in enumerate(classes)}
        else:
            out["probability"] = pa.array(p[rows, best])
    distance = _distance(estimator, f, best)
    if distance is not None:
        out["distance"] = pa.array(distance)
    return out


def _labels(classes: np.ndarray, codes: np.ndarray) -> pa.Array:
    """Arrow's words from a few different ones, without a Python object for each row."""
    levels = pa.array(classes.tolist())
    return levels.take(pa.array(codes))


def _probabilities(estimator, X, f: np.ndarray) -> np.ndarray:
    if not getattr(estimator, "_log_odds", False):
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
