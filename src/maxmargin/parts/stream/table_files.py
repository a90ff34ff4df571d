"""Files as a source of features: what makes them of columns is learned in a pass of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ..files.columns import UnexpectedValues
from ..files.form import FileOptions
from ..files.labels import choose_name
from ..files.learn import TableBatch, column_readings, learn, learn_matrix
from ..files.model import TableModel
from ..files.preparation import Choices
from ..files.prepared import RowFilter, Scaled, TableFeatures
from ..files.readers import MAX_BATCH_ROWS, batches
from ..files.sources import LearnedColumns, Tables, alike, find_files, open_source
from ..files.tables import check_columns, table_types
from ..files.training import form_of
from .memory_limit import MemoryLimit
from .progress import StreamProgress
from .reservoir import ReservoirSample

# Where the number of a row stands in a batch: a name no file has.
ROW_NUMBER_COLUMN = "\0row"


@dataclass
class Opened:
    """A source, and what there is to know of it before anything is fitted.

    ``preparation`` None: a matrix whose width is known once it is read.  ``sample``: some rows of
    a table, as they are in the files, and their numbers.
    """

    source: Any
    preparation: Any = None
    notes: list[str] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    sample: tuple[pa.Table, np.ndarray] | None = None
    form: dict[str, Any] = field(default_factory=dict)


def open_files(
    asked: FileOptions, choices: Choices, limit: MemoryLimit, progress: StreamProgress, seed: int
) -> Opened:
    """The source of a streamed fit; of a table, what was learned of its columns."""
    files = alike(find_files(asked.data), asked.format)
    if not files[0].is_table:
        return _matrix(asked, files[0].format, choices, limit, progress)
    types = table_types(files[0])
    choices = choices.for_decimal(files[0].decimal)
    target, weights = asked.target, asked.weights
    target = choose_name(list(types), target, files[0].name, "with --target")
    named = [*choices.drop, *choices.category, *choices.number]
    check_columns(named, list(types), files[0].name)
    others = [target] if weights is None else [target, weights]
    check_columns(others, list(types), files[0].name)
    left = {name: t for name, t in types.items() if name not in (*others, *choices.drop)}
    drop = choices.missing == "drop"
    files = progress.following(files)
    rows, sample = RowFilter(target, list(left), drop), ReservoirSample(limit, len(types), seed)
    reading = column_readings(left, choices)
    wanted = reading | dict.fromkeys(others, pa.string())
    seen = learn(
        _batches(files, wanted, limit, progress, rows, sample), left, choices, limited=True
    )
    preparation = seen.preparation
    learned = LearnedColumns(
        TableFeatures(preparation), reading if drop else preparation.types(),
        RowFilter(target, list(left), drop), f"{preparation!r} {choices.missing}",
    )  # fmt: skip
    source = Tables(files, target, weights, learned=learned)
    source.expected = seen.rows
    notes = [*files[0].sentences, *rows.sentences(), *seen.sentences()]
    return Opened(source, preparation, notes, seen.missing, sample.rows(), form_of(files[0]))


def _batches(files, types: dict, limit: MemoryLimit, progress, keep: RowFilter, sample):
    """The rows of all files that ``keep`` leaves; ``sample`` draws from them."""
    size = int(np.clip(limit.read // (8 * max(1, len(types))), 16, MAX_BATCH_ROWS))
    seen = rows = 0
    for file in files:
        first = seen
        for batch in batches(file, types, size, limit.read // 2):
            numbers = pa.array(np.arange(seen, seen + batch.num_rows))
            seen += batch.num_rows
            batch = keep(batch.append_column(ROW_NUMBER_COLUMN, numbers))
            places = batch.column(ROW_NUMBER_COLUMN).to_numpy()
            sample(batch.drop_columns([ROW_NUMBER_COLUMN]), places)
            rows += batch.num_rows
            yield TableBatch(batch, file.name, places - first + 1)
            progress(0, rows, 0)


def _matrix(asked: FileOptions, format: str, choices: Choices, limit, progress) -> Opened:
    """svmlight files as they are; dense arrays scaled as they would be in memory."""
    if choices.drop or choices.category or choices.number:
        raise ValueError(
            "--drop, --category and --number name columns of a table; a matrix has none."
        )
    data, target, weights, *_ = asked
    if format == "npy":
        return _scaled(open_source(data, target, weights=weights), choices, limit, progress)
    if target is not None or weights is not None:
        raise ValueError(
            "--target and --weights name columns of a table; svmlight and npz files have none. "
            "Their labels are known: leave --target out."
        )
    source = open_source(data, format=format)
    return _scaled(source, choices, limit, progress) if format == "npz" else Opened(source)


def _scaled(source, choices: Choices, limit: MemoryLimit, progress) -> Opened:
    if not choices.scale:
        return Opened(source)
    preparation = learn_matrix(_dense(source, limit, progress))
    return Opened(Scaled(source, preparation), preparation)


def _dense(source, limit: MemoryLimit, progress):
    n = 0
    for chunk in source.chunks(limit.read):
        if chunk.X is not None:
            yield chunk.X
            n += len(chunk.y)
            progress(0, n, 0)
    if n == 0:
        raise ValueError(f"{source.name} has no rows.")


def like_training(
    model: TableModel, data, format, weights: str | None = None, drop: bool = False, target=None
) -> tuple[Any, UnexpectedValues]:
    """Other files as a source of a model's features, and what will be unexpected about them.

    ``drop``: rows with missing values are left out, as they were in training.
    """
    files = alike(find_files(data), model.form(format))
    model.check_kind(files[0])
    if not model.is_table:
        return open_source(data, target, format=format, weights=weights), UnexpectedValues()
    features, types = TableFeatures(model.preparation), model.preparation.types()
    learned = LearnedColumns(features, types, RowFilter(model.target, list(types), drop))
    return Tables(files, model.target, weights, learned=learned), features.unexpected
