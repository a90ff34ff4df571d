"""Files for a streamed fit: what makes features of their columns, learned in a pass of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...parts.files.labels import choose_name
from ...parts.files.learn import Prepared, column_readings, learn_streamed
from ...parts.files.model import MatrixPreparation
from ...parts.files.preparation import Choices
from ...parts.files.scaled import Scaled, learn_scale
from ...parts.files.sources import Tables, alike, column_types, find_files, open_source
from ...parts.files.tables import check_columns
from ...parts.files.training import Labelled, absent
from ...parts.stream.memory_limit import MemoryLimit
from ...parts.stream.progress import StreamProgress
from ...parts.stream.reservoir import ReservoirSample, drawn
from ...parts.stream.row_buffer import RowBuffer
from ...parts.stream.rows import StreamedRows, like_classes
from .fit import filled


class Sifter:
    """Leaves out rows without a label, and rows with missing values if that was asked for."""

    def __init__(self, target: str, features: list[str], drop: bool):
        self.target, self.features, self.drop = target, features, drop
        self.unlabelled = self.incomplete = 0

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        there = pc.invert(absent(batch.column(self.target)))
        lost = len(there) - int(pc.sum(there).as_py() or 0)
        self.unlabelled += lost
        batch = batch.filter(there) if lost else batch
        if not self.drop:
            return batch
        whole = None
        for name in self.features:
            one = pc.invert(absent(batch.column(name)))
            whole = one if whole is None else pc.and_(whole, one)
        lost = batch.num_rows - int(pc.sum(whole).as_py() or 0)
        self.incomplete += lost
        return batch.filter(whole) if lost else batch

    def sentences(self) -> list[str]:
        told = []
        if self.unlabelled:
            told.append(f"{self.unlabelled} rows without a label in {self.target!r} were left out")
        if self.incomplete:
            told.append(
                f"{self.incomplete} rows with missing values were left out (--missing drop)"
            )
        return told


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
            y = like_classes(words, rows.classes)
            weight = None
            if source.weights is not None:
                weight = table.column(source.weights).cast(pa.float64()).to_numpy()
            names = [column.name for column in self.preparation.columns]
            prepared = Prepared(self.preparation)
            X = prepared(table.select(names), source.name, 1)
            data = Labelled(source.name, table.select(names), y, source.target, weight)
            data.numbers = numbers
            return data, X
        some = drawn(shelf)
        X = shelf.matrix()[some]
        y = rows.classes[shelf.y[some].astype(int)]
        raw = source.raw(X) if isinstance(source, Scaled) else X
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
    sifter, sample = Sifter(target, list(left), drop), ReservoirSample(limit, len(types), seed)
    seen = learn_streamed(files, left, others, choices, limit, told, sifter, sample)
    lacking = [f"{name}: {count} missing" for name, count in seen.missing.items() if count]
    if lacking and choices.missing == "refuse":
        raise ValueError(
            f"Values are missing ({'; '.join(lacking)}), and --missing refuse was asked for. Fill "
            "them in, or use --missing fill or --missing drop."
        )
    preparation = seen.learned.preparation
    notes = sifter.sentences()
    notes += [f"{name} was left out: {why}" for name, why in seen.learned.left_out.items()]
    notes += [
        f"{name}: {count} missing values, {filled(preparation, name)}"
        for name, count in seen.missing.items()
        if count
    ]
    source = Tables(
        files, target, weights, features=Prepared(preparation),
        types=column_readings(left, choices) if drop else preparation.types(),
        sift=Sifter(target, list(left), drop), key=f"{preparation!r} {choices.missing}",
    )  # fmt: skip
    source.expected = seen.rows
    return Opened(source, preparation, notes, seen.missing, sample.rows())


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
    width, shift, scale = learn_scale(source, limit, told)
    return Opened(Scaled(source, shift, scale), MatrixPreparation(width, 0, shift, scale))
