"""From a table to a matrix of features: learned once, the same for ever after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import READ_AS, Category, Notes, Number, Text, as_numbers, as_words, kind_of

# From this many indicators on features are stored sparsely.
MANY_INDICATORS = 300
# A column of words with more levels than this, in more than half of the rows, is a name or a text.
MANY_LEVELS = 50
MOST_LEVELS = 10_000
MOST_WORDS = 100_000


@dataclass(frozen=True)
class Choices:
    """What the user said about columns."""

    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    tfidf: bool = True
    scale: bool = True
    missing: str = "fill"


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
            c.name: READ_AS[c.read_as] if isinstance(c, Number) else pa.string()
            for c in self.columns
        }

    def __call__(self, table: pa.Table | pa.RecordBatch, notes: Notes):
        """The features of these rows; what was odd about them is added to ``notes``."""
        before = sum(notes.missing.values())
        X = self._sparse(table, notes) if self.sparse else self._dense(table, notes)
        if self.missing == "refuse" and sum(notes.missing.values()) > before:
            raise ValueError(
                f"Values are missing ({'; '.join(notes.sentences())}), and the model was fitted "
                "with --missing refuse. Fill them in, or fit with --missing fill."
            )
        return X

    def _dense(self, table, notes: Notes) -> np.ndarray:
        X = np.empty((table.num_rows, self.width))
        start = 0
        for batch in _batches(table):
            part = X[start : start + batch.num_rows]
            at = 0
            for column in self.columns:
                column.fill(batch.column(column.name), part[:, at : at + column.width], notes)
                at += column.width
            start += batch.num_rows
        return X

    def _sparse(self, table, notes: Notes):
        from scipy import sparse

        rows = []
        for batch in _batches(table):
            blocks = [_block(column, batch.column(column.name), notes) for column in self.columns]
            rows.append(sparse.hstack(blocks, format="csr"))
        return sparse.csr_matrix(rows[0] if len(rows) == 1 else sparse.vstack(rows, format="csr"))


def _batches(table) -> list[pa.RecordBatch]:
    return [table] if isinstance(table, pa.RecordBatch) else table.to_batches()


def _block(column, values: pa.Array, notes: Notes):
    """One column's features as a sparse block."""
    from scipy import sparse

    if isinstance(column, Text):
        return column.matrix(values, notes)
    n = len(values)
    if isinstance(column, Category):
        place = column.codes(values, notes)
        rows = np.flatnonzero(place >= 0)
        ones = np.ones(len(rows))
        return sparse.csr_matrix((ones, (rows, place[rows])), shape=(n, column.width))
    out = np.empty((n, 1))
    column.fill(values, out, notes)
    return sparse.csr_matrix(out)


# --- learning ---------------------------------------------------------------------------


@dataclass
class Learned:
    """The preparation, and what there is to tell about how it came about."""

    preparation: Preparation
    left_out: dict[str, str] = field(default_factory=dict)


def learn(table: pa.Table, features: list[str], choices: Choices) -> Learned:
    """Decide for every column what it is, and remember what it takes to repeat that."""
    columns: list[Any] = []
    left_out: dict[str, str] = {}
    for name in features:
        found = _learn_column(name, table.column(name), choices)
        if isinstance(found, str):
            left_out[name] = found
        else:
            columns.append(found)
    if not columns:
        raise ValueError(
            "No column is left to learn from"
            + (": " + "; ".join(f"{k}: {v}" for k, v in left_out.items()) if left_out else "")
            + "."
        )
    indicators = sum(c.width for c in columns if isinstance(c, Category))
    sparse = indicators > MANY_INDICATORS or any(isinstance(c, Text) for c in columns)
    return Learned(Preparation(tuple(columns), sparse, choices.missing), left_out)


def _learn_column(name: str, column: pa.ChunkedArray, choices: Choices) -> Any:
    """What becomes of a column, or why it is left out."""
    kind = kind_of(column.type)
    if name in choices.text:
        return _learn_text(name, column, choices.tfidf)
    if column.null_count == len(column):
        return "it is empty"
    if name in choices.category or kind == "words":
        return _learn_category(name, column, name in choices.category)
    if kind == "nothing":
        return f"values of type {column.type} are neither numbers nor words"
    return _learn_number(name, column, kind, choices.scale)


def _learn_number(name: str, column: pa.ChunkedArray, kind: str, scale: bool) -> Number | str:
    x = as_numbers(column.combine_chunks() if column.num_chunks != 1 else column.chunk(0), name)
    x = x[~np.isnan(x)]
    mean, deviation = float(x.mean()), float(x.std())
    # A sum of equal numbers divided by their count need not be that number.
    if deviation <= 1e-14 * abs(mean) or x.min() == x.max():
        return f"it has one value only, {x[0]:g}"
    return Number(name, kind, mean, deviation, mean if scale else 0.0, deviation if scale else 1.0)


def _learn_category(name: str, column: pa.ChunkedArray, insisted: bool) -> Category | str:
    words = pa.chunked_array([as_words(chunk) for chunk in column.chunks], pa.string())
    counts = pc.value_counts(words.drop_null()).to_pylist()
    found = sorted((pair["values"], pair["counts"]) for pair in counts)
    if len(found) < 2:
        return f"it has one value only, {found[0][0]!r}" if found else "it is empty"
    much = len(found) > MANY_LEVELS and len(found) > len(words) / 2
    if not insisted and (much or len(found) > MOST_LEVELS):
        return (
            f"it has {len(found)} different values in {len(words)} rows; "
            f"--text {name} reads words, --category {name} insists on levels"
        )
    shares = np.array([count for _, count in found]) / len(words)
    return Category(name, [word for word, _ in found], shares)


def _learn_text(name: str, column: pa.ChunkedArray, tfidf: bool) -> Text:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [text or "" for chunk in column.chunks for text in as_words(chunk).to_pylist()]
    rare = 2 if len(texts) >= 100 else 1
    counter = CountVectorizer(min_df=rare, max_features=MOST_WORDS)
    try:
        X = counter.fit_transform(texts)
    except ValueError:
        raise ValueError(
            f"The column {name!r} holds no words of two letters and more that occur {rare} times."
        ) from None
    with_word = np.bincount(X.indices, minlength=X.shape[1])
    idf = np.log((1.0 + len(texts)) / (1.0 + with_word)) + 1.0 if tfidf else None
    return Text(name, [str(word) for word in counter.get_feature_names_out()], idf)
