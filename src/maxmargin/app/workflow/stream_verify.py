"""verify_files: what `maxmargin verify` does with data larger than memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...parts.files.labels import labels_like
from ...parts.files.model import TableModel
from ...parts.files.prepared import Scaled
from ...parts.stream.memory_limit import MemoryLimit, parse_memory
from ...parts.stream.verify import verify_stream
from .stream_fit import like_training


class VerifiedData(NamedTuple):
    """What was found in some data."""

    name: str
    rows: int
    found: str
    relative_gap: float | None
    holds: bool


class Counted:
    """A source that tells how many rows it has, once all of them were read."""

    def __init__(self, source):
        self.source, self.rows = source, 0

    def __getattr__(self, name):
        return getattr(self.source, name)

    def chunks(self, size: int, skip: int = 0):
        self.rows = 0
        for chunk in self.source.chunks(size, skip):
            self.rows += len(chunk.y)
            yield chunk


def verify_files(
    model: TableModel, data, memory, tol: float, target=None, format=None
) -> VerifiedData:
    """The claim of a model about a file, or a folder of files, within ``memory``."""
    limit = parse_memory(memory)
    drop = model.is_table and model.preparation.missing == "drop"
    weights = model.summary.get("weights")
    source, _ = like_training(model, data, format, weights, drop, target)
    if not model.is_table and model.preparation.scale is not None:
        source = Scaled(source, model.preparation)
    source = Counted(source)
    estimator = model.model
    claimed = estimator.certificate_
    if hasattr(claimed, "separates"):
        wrong = _wrong(estimator, source, limit, getattr(model.preparation, "base", 0))
        holds = wrong == claimed.wrong and source.rows == claimed.points
        return VerifiedData(
            source.name, source.rows, f"{wrong} of {source.rows} points wrong", None, holds
        )
    found = verify_stream(estimator, source, memory=limit, tol=tol)
    gap = getattr(found, "relative_gap", None)
    return VerifiedData(source.name, source.rows, str(found), gap, bool(found.holds(tol)))


def _wrong(estimator, source, limit: MemoryLimit, base: int) -> int:
    """A perceptron claims a number of errors."""
    wrong = 0
    for chunk in source.chunks(limit.read):
        if chunk.X is not None:
            y = labels_like(chunk.y, estimator.classes_)
            said = estimator.predict(chunk.X[:, base:] if base else chunk.X)
            wrong += int(np.count_nonzero(said.astype(str) != y.astype(str)))
    return wrong
