"""Files for a streamed fit: what makes features of their columns, learned in a pass of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ...parts.files.labels import choose_name, labels_like
from ...parts.files.learn import TableBatch, column_readings, learn, learn_matrix
from ...parts.files.preparation import Choices, MatrixPreparation
from ...parts.files.prepared import RowFilter, Scaled, TableFeatures
from ...parts.files.readers import MOST_ROWS, batches
from ...parts.files.sources import Tables, alike, column_types, find_files, open_source
from ...parts.files.tables import check_columns
from ...parts.files.training import Labelled
from ...parts.stream.memory_limit import MemoryLimit
from ...parts.stream.progress import StreamProgress
from ...parts.stream.reservoir import ReservoirSample, drawn
from ...parts.stream.row_buffer import RowBuffer
from ...parts.stream.rows import StreamedRows

# Where the number of a row stands in a batch: a name no file has.
PLACE = "\0row"


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

    @property
    def target(self) -> str:
        return self.source.target if isinstance(self.source, Tables) else "y"

    def prepared(self, rows: StreamedRows) -> Any:
        """What makes features of its columns."""
        if self.preparation is None:
            return MatrixPreparation(rows.n_features, rows.base)
        return self.preparation

    def drawn(self, rows: StreamedRows, shelf: RowBuffer) -> tuple[Labelled, Any]:
        """Rows for pictures with labels, by lot from all of them; and their features."""
        source = self.source
        if self.sample is not None:
            table, numbers = self.sample
            words = table.column(source.target).cast(pa.string()).to_numpy(zero_copy_only=False)
            y = labels_like(words, rows.classes)
            weight = None
            if source.weights is not None:
                weight = table.column(source.weights).cast(pa.float64()).to_numpy()
            names = [column.name for column in self.preparation.columns]
            prepared = TableFeatures(self.preparation)
            X = prepared(table.select(names), source.name, 1)
            data = Labelled(source.name, table.select(names), y, source.target, weight)
            data.numbers = numbers
            return data, X
        some = drawn(shelf)
        X = shelf.matrix()[some]
        y = rows.classes[shelf.y[some].astype(int)]
        raw = self.prepared(rows).raw(X)
        return Labelled(source.name, raw, y, "y", base=rows.base, numbers=shelf.ids[some]), X


def open_files(
    data,
    target,
    weights,
    format,
    choices: Choices,
    limit: MemoryLimit,
    told: StreamProgress,
    seed: int,
) -> Opened:
    """The source of a streamed fit; of a table, what was learned of its columns."""
    files = alike(find_files(data), format)
    if not files[0].is_table:
        return _matrix(data, files[0].format, target, weights, choices, limit, told)
    types = column_types(files[0])
    target = choose_name(list(types), target, files[0].name, "with --target")
    check_columns([*choices.drop, *choices.category], list(types), files[0].name)
    others = [target] if weights is None else [target, weights]
    check_columns(others, list(types), files[0].name)
    left = {name: t for name, t in types.items() if name not in (*others, *choices.drop)}
    drop = choices.missing == "drop"
    files = told.following(files)
    rows, sample = RowFilter(target, list(left), drop), ReservoirSample(limit, len(types), seed)
    reading = column_readings(left, choices)
    wanted = reading | dict.fromkeys(others, pa.string())
    seen = learn(_batches(files, wanted, limit, told, rows, sample), left, choices, limited=True)
    preparation = seen.preparation
    source = Tables(
        files, target, weights, features=TableFeatures(preparation),
        types=reading if drop else preparation.types(),
        sift=RowFilter(target, list(left), drop), key=f"{preparation!r} {choices.missing}",
    )  # fmt: skip
    source.expected = seen.rows
    notes = rows.sentences() + seen.sentences()
    return Opened(source, preparation, notes, seen.missing, sample.rows())


def _batches(files, types: dict, limit: MemoryLimit, told, keep: RowFilter, sample):
    """The rows of all files that ``keep`` leaves; ``sample`` draws from them."""
    size = int(np.clip(limit.read // (8 * max(1, len(types))), 16, MOST_ROWS))
    seen = rows = 0
    for file in files:
        first = seen
        for batch in batches(file, types, size, limit.read // 2):
            numbers = pa.array(np.arange(seen, seen + batch.num_rows))
            seen += batch.num_rows
            batch = keep(batch.append_column(PLACE, numbers))
            places = batch.column(PLACE).to_numpy()
            sample(batch.drop_columns([PLACE]), places)
            rows += batch.num_rows
            yield TableBatch(batch, file.name, places - first + 1)
            told(0, rows, 0)


def _matrix(data, format, target, weights, choices: Choices, limit, told) -> Opened:
    """svmlight files as they are; dense arrays scaled as they would be in memory."""
    if choices.drop or choices.category:
        raise ValueError("--drop and --category name columns of a table; a matrix has none.")
    if format == "npy":
        return _scaled(open_source(data, target, weights=weights), choices, limit, told)
    if target is not None or weights is not None:
        raise ValueError(
            "--target and --weights name columns of a table; svmlight and npz files have none. "
            "Their labels are known: leave --target out."
        )
    source = open_source(data, format=format)
    return _scaled(source, choices, limit, told) if format == "npz" else Opened(source)


def _scaled(source, choices: Choices, limit: MemoryLimit, told) -> Opened:
    if not choices.scale:
        return Opened(source)
    preparation = learn_matrix(_dense(source, limit, told))
    return Opened(Scaled(source, preparation), preparation)


def _dense(source, limit: MemoryLimit, told):
    n = 0
    for chunk in source.chunks(limit.read):
        if chunk.X is not None:
            yield chunk.X
            n += len(chunk.y)
            told(0, n, 0)
    if n == 0:
        raise ValueError(f"{source.name} has no rows.")
