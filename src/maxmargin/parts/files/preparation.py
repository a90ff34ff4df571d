"""From rows of a file to a matrix of features: learned once, the same for ever after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from .columns import READ_AS_TYPES, Category, Number, Text, UnexpectedValues
from .matrices import fitted_width


@dataclass(frozen=True)
class Choices:
    """What the user said about columns."""

    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    tfidf: bool = True
    scale: bool = True
    missing: str = "fill"
    number: tuple[str, ...] = ()
    decimal: str = "."

    def __post_init__(self):
        if self.decimal not in (".", ",", "auto"):
            raise ValueError(f"--decimal must be . or , and not {self.decimal!r}.")
        twice = set(self.number) & {*self.drop, *self.category, *self.text}
        if twice:
            raise ValueError(
                f"--number {min(twice)} contradicts what --drop, --category or --text says of it."
            )
        if self.number and self.missing == "drop":
            raise ValueError(
                "--number makes missing values of words, which --missing drop does not see. Use "
                "--missing fill or --missing refuse."
            )

    def for_decimal(self, found: str) -> Choices:
        """With the decimal mark found in the file, unless one was named."""
        return replace(self, decimal=found) if self.decimal == "auto" else self

    def reads_numerals(self, name: str, kind: str) -> bool:
        """Whether a column of this kind is read as words, for the numbers among them."""
        return name in self.number or (self.decimal != "." and kind == "number")


@dataclass(frozen=True)
class Preparation:
    """The columns that are features, in order; ``sparse`` features are CSR."""

    columns: tuple
    sparse: bool = False
    missing: str = "fill"

    def __post_init__(self):
        kinds = Number | Category | Text
        if not self.columns or not all(isinstance(c, kinds) for c in self.columns):
            raise ValueError("the columns are not what they should be")

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns)

    def names(self) -> list[str]:
        return [name for column in self.columns for name in column.names()]

    def units(self) -> tuple[np.ndarray, np.ndarray]:
        """For every feature: how much an original unit, and a standard deviation, moves it."""
        parts = [column.units() for column in self.columns]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def types(self) -> dict[str, pa.DataType]:
        """How the columns are to be read where the file does not say."""
        return {
            c.name: READ_AS_TYPES[c.read_as] if isinstance(c, Number) else pa.string()
            for c in self.columns
        }

    def __call__(self, table: pa.Table | pa.RecordBatch, unexpected: UnexpectedValues):
        """The features of these rows; what was odd about them is added to ``unexpected``."""
        before = sum(unexpected.missing.values())
        X = self._sparse(table, unexpected) if self.sparse else self._dense(table, unexpected)
        if self.missing == "refuse" and sum(unexpected.missing.values()) > before:
            lacking = "; ".join(unexpected.sentences())
            raise ValueError(
                f"Values are missing ({lacking}), and the model was fitted "
                "with --missing refuse. Fill them in, or fit with --missing fill."
            )
        return X

    def _dense(self, table, unexpected: UnexpectedValues) -> np.ndarray:
        X = np.empty((table.num_rows, self.width))
        start = 0
        for batch in _batches(table):
            part = X[start : start + batch.num_rows]
            at = 0
            for column in self.columns:
                column.fill(batch.column(column.name), part[:, at : at + column.width], unexpected)
                at += column.width
            start += batch.num_rows
        return X

    def _sparse(self, table, unexpected: UnexpectedValues):
        from scipy import sparse

        rows = []
        for batch in _batches(table):
            blocks = [
                _block(column, batch.column(column.name), unexpected) for column in self.columns
            ]
            rows.append(sparse.hstack(blocks, format="csr"))
        return sparse.csr_matrix(rows[0] if len(rows) == 1 else sparse.vstack(rows, format="csr"))


def _batches(table) -> list[pa.RecordBatch]:
    return [table] if isinstance(table, pa.RecordBatch) else table.to_batches()


def _block(column, values: pa.Array, unexpected: UnexpectedValues):
    """One column's features as a sparse block."""
    from scipy import sparse

    if isinstance(column, Text):
        return column.matrix(values, unexpected)
    n = len(values)
    if isinstance(column, Category):
        place = column.codes(values, unexpected)
        rows = np.flatnonzero(place >= 0)
        ones = np.ones(len(rows))
        return sparse.csr_matrix((ones, (rows, place[rows])), shape=(n, column.width))
    out = np.empty((n, 1))
    column.fill(values, out, unexpected)
    return sparse.csr_matrix(out)


@dataclass(frozen=True)
class MatrixPreparation:
    """Columns of a matrix, by number from ``base``; x ↦ (x − shift)/scale where these are given."""

    width: int
    base: int = 0
    shift: Any = None
    scale: Any = None

    def __post_init__(self):
        for part in (self.shift, self.scale):
            if part is not None and (
                np.shape(part) != (self.width,) or not np.isfinite(part).all()
            ):
                raise ValueError("shift and scale do not fit the columns")

    def names(self) -> list[str]:
        return [f"x{j}" for j in range(self.base, self.base + self.width)]

    def units(self) -> tuple[np.ndarray, np.ndarray]:
        one = np.ones(self.width)
        return one if self.scale is None else 1.0 / self.scale, one

    def __call__(self, X, unexpected: UnexpectedValues):
        X = fitted_width(X, self.width) if hasattr(X, "tocsr") else X
        if X.shape[1] != self.width:
            raise ValueError(f"The model knows {self.width} columns, the data have {X.shape[1]}.")
        if self.scale is None:
            return X
        X = X.toarray() if hasattr(X, "tocsr") else X  # zeros are shifted, too
        with np.errstate(over="ignore", invalid="ignore"):  # the estimator refuses what it becomes
            return (X - self.shift) / self.scale

    def raw(self, X: np.ndarray) -> np.ndarray:
        """Rows as they are in the file."""
        return X if self.scale is None else X * self.scale + self.shift
