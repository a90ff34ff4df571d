"""Sources on the way to features: rows left out, columns prepared as in training, and counted."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from .columns import UnexpectedValues
from .labels import absent
from .preparation import MatrixPreparation, Preparation
from .readers import BadData, Chunk


class RowFilter:
    """Leaves out rows without a label, and rows with missing values if that was asked for."""

    def __init__(self, target: str, features: list[str], drop: bool):
        self.target, self.features, self.drop = target, features, drop
        self.unlabelled = self.incomplete = 0

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        labelled = _filtered(batch, [self.target])
        self.unlabelled += batch.num_rows - labelled.num_rows
        whole = _filtered(labelled, self.features) if self.drop else labelled
        self.incomplete += labelled.num_rows - whole.num_rows
        return whole

    def sentences(self) -> list[str]:
        return [*unlabelled(self.unlabelled, self.target), *incomplete(self.incomplete)]


def _filtered(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    there = complete(batch, names)
    return batch if pc.all(there).as_py() else batch.filter(there)


def complete(rows: pa.Table | pa.RecordBatch, names: list[str]):
    """Which rows have a value in each of these columns."""
    there = pc.invert(absent(rows.column(names[0])))
    for name in names[1:]:
        there = pc.and_(there, pc.invert(absent(rows.column(name))))
    return there


def unlabelled(count: int, target: str) -> list[str]:
    rows = "row without a label in {!r} was" if count == 1 else "rows without a label in {!r} were"
    return [f"{count} {rows.format(target)} left out"] if count else []


def incomplete(count: int) -> list[str]:
    text = f"{count} rows with missing values were left out (--missing drop)"
    return [text] if count else []


class TableFeatures:
    """The features of a batch by what was learned; oddities are counted."""

    def __init__(self, preparation: Preparation):
        self.preparation, self.unexpected = preparation, UnexpectedValues()

    def __call__(self, batch: pa.RecordBatch, file: str, first: int):
        try:
            return self.preparation(batch, self.unexpected)
        except ValueError as error:
            last = first + batch.num_rows - 1
            raise BadData(f"{file}, rows {first} to {last}: {error}") from None


class Scaled:
    """Another source of dense rows, its columns scaled."""

    names = None
    lowest = 0

    def __init__(self, source, preparation: MatrixPreparation):
        self.source, self.preparation = source, preparation
        self.name, self.watched = source.name, source.watched
        self.key = [source.key, "scaled"]

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        for chunk in self.source.chunks(size, skip):
            X = chunk.X
            yield chunk if X is None else chunk._replace(X=self.preparation(X, UnexpectedValues()))


class Counted:
    """A source that tells how many rows it has, once all of them were read."""

    def __init__(self, source):
        self.source, self.rows = source, 0

    def __getattr__(self, name):
        return getattr(self.source, name)

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        self.rows = 0
        for chunk in self.source.chunks(size, skip):
            self.rows += len(chunk.y)
            yield chunk
