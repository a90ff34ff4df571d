"""Rows to train on that need not fit memory: read in pieces, and passed over by the solver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...parts.files.columns import UnexpectedValues
from ...parts.files.form import FileOptions
from ...parts.files.labels import labels_like
from ...parts.files.model import TableModel
from ...parts.files.preparation import Choices, MatrixPreparation
from ...parts.files.training import Labelled
from ...parts.fit import check_possible, is_fitted_by_parts, warn
from ...parts.stream.data import StreamData
from ...parts.stream.fit import fit_rows, reading
from ...parts.stream.folder import WorkFolder
from ...parts.stream.memory_limit import parse_memory
from ...parts.stream.progress import StreamProgress
from ...parts.stream.reservoir import drawn
from ...parts.stream.row_buffer import RowBuffer
from ...parts.stream.rows import StreamedRows
from ...parts.stream.table_files import Opened, like_training, open_files
from ...parts.stream.training_summary import summarise_training
from .judge import MAX_CONFUSION_CLASSES, Errors
from .plan import Plan
from .rows import TrainingRows, TuningRows
from .tuning import quietly

# Rows, at most, that C is chosen on: cross-validation fits them sixty times and more.
MOST_TUNED = 50_000


def refuse_unless_streamed(plan: Plan, choices: Choices) -> None:
    """Say, before anything is read, what needs all rows in memory."""
    method = plan.resolved
    for name, asked in {
        f"--method {method.name}": not is_fitted_by_parts(method.estimator_class()),
        "--basis": plan.basis is not None,
        "--text": bool(choices.text),
    }.items():
        if asked:
            raise ValueError(
                f"{name} needs all rows in memory and does not go with --memory. Leave one out."
            )
    check_possible(plan.estimator(plan.C or 1.0 if method.C else None), StreamData.where)


@contextmanager
def open_stream(
    files: FileOptions, choices: Choices, memory, checkpoint: Path, resume: bool, seed: int
) -> Iterator[StreamRows]:
    """The rows of files, learned from in one pass and read into a cache in the next."""
    limit, progress = parse_memory(memory), StreamProgress()
    opened = open_files(files, choices, limit, progress, seed)
    with (
        WorkFolder(checkpoint, resume) as folder,
        reading(opened.source, limit, folder, progress, seed) as (rows, sample),
    ):
        yield StreamRows(opened, rows, sample, progress)


class StreamRows(TrainingRows):
    """Rows of a stream; a sample of them is at hand."""

    whole = False

    def __init__(self, opened: Opened, rows: StreamedRows, sample: RowBuffer, progress):
        self.rows, self.sample, self.progress = rows, sample, progress
        self.notes, self.missing = opened.notes, opened.missing
        self.preparation = opened.preparation or MatrixPreparation(rows.n_features, rows.base)
        self.data, self.X = self._pictured(opened)
        progress.done()

    def _pictured(self, opened: Opened) -> tuple[Labelled, Any]:
        """Rows for pictures with labels, a uniform sample; and their features."""
        source, rows, sample = opened.source, self.rows, self.sample
        if opened.sample is None:
            some = drawn(sample)
            X, y = sample.matrix()[some], rows.classes[sample.y[some].astype(int)]
            raw, numbers = self.preparation.raw(X), sample.ids[some]
            return Labelled(source.name, raw, y, "y", base=rows.base, numbers=numbers), X
        table, numbers = opened.sample
        y = labels_like(table.column(source.target).cast(pa.string()), rows.classes)
        weight = None
        if source.weights is not None:
            weight = table.column(source.weights).cast(pa.float64()).to_numpy()
        table = table.select([column.name for column in self.preparation.columns])
        data = Labelled(source.name, table, y, source.target, weight, numbers=numbers)
        data.form = opened.form
        return data, self.preparation(table, UnexpectedValues())

    def tuning_rows(self, seed: int) -> TuningRows:
        """At most MOST_TUNED rows of the sample; weights are those of the rows."""
        sample, n = self.sample, self.rows.n
        some = np.sort(np.random.default_rng(seed).permutation(sample.count)[:MOST_TUNED])
        y = self.rows.classes[sample.y[some].astype(int)]
        weight = sample.c[some] * (len(some) / sample.c[some].sum())
        which = "all rows" if len(y) == n else f"{len(y)} of {n} rows, by lot"
        return TuningRows(
            sample.matrix()[some], y, None if np.allclose(weight, 1.0) else weight, which
        )

    def fit(self, estimator) -> list[str]:
        result = fit_rows(estimator, self.rows, self.sample, self.progress)
        self.trained = summarise_training(estimator, self.rows)
        self.weights = self.trained.weights
        self.progress.done()
        vars(estimator).pop("feature_names_in_", None)  # the columns are told by the preparation
        return quietly(lambda: warn(estimator, result))

    def errors(self, estimator) -> Errors:
        table = self.trained.table if len(self.rows.classes) <= MAX_CONFUSION_CLASSES else None
        return Errors(self.rows.n, self.trained.wrong, table, seen=True)

    def classes(self) -> list[list]:
        labels = zip(self.rows.classes, self.rows.counts, strict=True)
        return [[str(label), int(count)] for label, count in labels]

    def summary(self) -> dict:
        stream = {"memory": self.rows.memory.limit, "passes": self.rows.passes}
        support = self.trained.support
        return {"streamed": stream} | ({"support": support} if support else {})


def test_batches(model: TableModel, test: str, format, memory) -> tuple[Iterator, UnexpectedValues]:
    """Features and labels of other files, and the notes that will say what was odd of them."""
    source, odd = like_training(model, test, format)
    return labelled_batches(model, source, parse_memory(memory).read), odd


def labelled_batches(model: TableModel, source, size: int) -> Iterator[tuple[Any, np.ndarray]]:
    """The chunks of a source as the model's features, and labels as its classes."""
    for chunk in source.chunks(size):
        if chunk.X is not None:
            yield model_features(model, chunk.X), labels_like(chunk.y, model.model.classes_)


def model_features(model: TableModel, X):
    """Of a table they are made already; columns of a matrix are counted, and scaled."""
    if model.is_table:
        return X
    base = model.preparation.base
    return model.preparation(X[:, base:] if base else X, UnexpectedValues())
