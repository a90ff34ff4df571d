"""Where streamed rows come from: files, folders of files, arrays on disk, or anything that can
be gone through again.

A source gives the same chunks in the same order every time it is asked.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from scipy import sparse

from ...core.types import ArrayLike
from ...models.validation import refuse_masked
from .arrays import Npy, Npz
from .columns import kind_of
from .fingerprints import FileFingerprints
from .form import FileForm
from .labels import choose_name
from .matrices import labels_beside
from .readers import (
    MAX_BATCH_ROWS,
    MIN_PIECE_BYTES,
    Chunk,
    Features,
    NumberReader,
    batches,
    checked_weights,
    end_of,
    labels,
    refuse_not_finite,
)
from .source import COMPRESSED, FORMATS, PIECE_BYTES, Source, find_source
from .svmlight import svmlight_chunks
from .tables import check_columns, table_types


class ChunkSource(Protocol):
    """What a streamed fit needs to know of its data."""

    name: str
    names: list[str] | None  # of the features, where they have any
    key: Any  # what else the rows depend on, for comparison with an earlier run
    lowest: int  # the number of the first column, or 1 where rows may show it to be 0
    watched: FileFingerprints | None

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        """All rows but those of the first ``skip`` files, about ``size`` bytes at a time."""
        ...


def open_source(
    data: Any,
    y: ArrayLike | None = None,
    *,
    target: Any = None,
    weights: Any = None,
    format: str | None = None,
    dtype: Any = None,
) -> Any:
    """A source of chunks for ``fit_stream``.

    ``data``: the path of a file or folder, a pattern like ``"part-*.csv"``, a list of paths;
    ``X.npy`` with its labels in ``y`` (by default ``y.npy`` beside it, of ``X_test.npy``
    ``y_test.npy``) and its weights, if any, in
    the file ``weights``; an npz file with arrays X and y; an iterable of chunks ``(X, y)`` or
    ``(X, y, weight)`` that can be gone through again, or a function that returns one.  ``target``
    and ``weights`` name columns of a table, whose other columns must be numbers.
    ``dtype``: float32 or float64 to store features in; by default what the files have.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVM, fit_stream, open_source
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["low", "low", "high", "high"])
    >>> source = open_source([(X[:3], y[:3]), (X[3:], y[3:])])
    >>> fit_stream(LinearSVM(C=10), source).certificate_.holds(1e-6)
    True
    """
    if hasattr(data, "chunks") and hasattr(data, "watched"):
        return data
    if callable(data) or not _is_path(data):
        return Iterations(data)
    paths = find_files(data)
    if paths[0].suffix == ".npy":
        beside = labels_beside(paths[0]) if y is None else Path(y)
        return Npy(paths[0], beside, None if weights is None else Path(weights))
    files = alike(paths, format)
    if files[0].format == "npz":
        return Npz(files)
    if files[0].is_table:
        return Tables(files, target, weights, dtype)
    if target is not None or weights is not None:
        raise ValueError("target and weights name columns of a table; svmlight files have none.")
    return Svmlight(files, dtype)


def alike(paths: list[Path], format: str | FileForm | None) -> list[Source]:
    """Files of one format."""
    files = [find_source(path, format) for path in paths]
    some = {file.format: file.name for file in reversed(files)}
    if len(some) > 1:
        found = ", ".join(f"{format} ({some[format]})" for format in sorted(some))
        raise ValueError(
            f"The files are of several formats: {found}. Name those of one, for example with a "
            'pattern like "folder/*.csv".'
        )
    return files


def _is_path(data) -> bool:
    """A path, or a list of them."""
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(
        isinstance(each, str | os.PathLike) for each in data
    )  # fmt: skip


def find_files(data) -> list[Path]:
    """Files, in the order of their names where a folder or a pattern was given."""
    if isinstance(data, list | tuple):
        return [Path(each) for each in data]
    path = Path(data)
    if path.is_dir():
        npy = path / "X.npy"
        if npy.exists():
            return [npy]
        found = sorted(each for each in path.iterdir() if _known(each))
        if not found:
            raise ValueError(
                f"The folder {path} has no data files: names ending in {', '.join(FORMATS)}."
            )
        return found
    if not path.exists() and glob.has_magic(str(path)):
        found = sorted(Path(each) for each in glob.glob(str(path)))
        if not found:
            raise FileNotFoundError(f"No file is named like {path}.")
        return found
    if not path.exists():
        find_source(path)  # says so, and which name is similar
    return [path]


def _known(path: Path) -> bool:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    hidden = path.name.startswith((".", "_"))
    return path.is_file() and not hidden and bool(suffixes) and suffixes[-1] in FORMATS


def _named(files: list[Source]) -> str:
    return files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more files"


class LearnedColumns(NamedTuple):
    """What makes numbers of columns read as ``types``; ``sift`` may leave rows out before."""

    features: Features
    types: dict[str, pa.DataType]
    sift: Callable[[pa.RecordBatch], pa.RecordBatch]
    key: str = ""


class Tables:
    """CSV, TSV, Parquet and Arrow files with the same columns, all numbers but the target, or
    learned before."""

    lowest = 0
    expected = 0  # rows, where they were counted before

    def __init__(
        self,
        files: list[Source],
        target: str | None,
        weights: str | None,
        dtype=None,
        learned: LearnedColumns | None = None,
    ):
        self.sift = None if learned is None else learned.sift
        self.key = [target, weights, str(dtype), "" if learned is None else learned.key]
        self.files, self.weights, self.name = files, weights, _named(files)
        self.names: list[str] | None = None
        if any(file.path is None for file in files):
            raise ValueError(
                "Standard input can be read once only, and a streamed fit reads several times. "
                "Save it to a file first."
            )
        self.watched = FileFingerprints([file.path for file in files if file.path is not None])
        found = table_types(files[0])
        self.target = choose_name(list(found), target, files[0].name, "as the target")
        others = [name for name in found if name not in (self.target, weights)]
        if weights is not None:
            check_columns([weights], list(found), files[0].name)
        self.features: Features
        if learned is None:
            self.features, types = self._numbers({name: found[name] for name in others}, dtype)
            self.names = others
        else:
            self.features, types = learned.features, learned.types
        self.types = types | {self.target: pa.string()}
        if weights is not None:
            self.types = self.types | {weights: pa.float64()}

    def _numbers(self, types: dict[str, pa.DataType], dtype) -> tuple[NumberReader, dict]:
        """Every column as numbers: float32 if all of them are, else float64."""
        if not types:
            raise ValueError(f"{self.files[0].name} has no columns beside its labels.")
        for name, type in types.items():
            if kind_of(type) not in ("number", "truth") and not pa.types.is_null(type):
                raise ValueError(
                    f"{self.files[0].name}: the column {name!r} is of type {type}, not a number. "
                    "Leave it out or encode it first; `maxmargin fit --memory` does so."
                )
        if dtype is None:
            single = all(pa.types.is_float32(type) for type in types.values())
            dtype = np.float32 if single else np.float64
        read = pa.float32() if np.dtype(dtype) == np.float32 else pa.float64()
        as_read = {name: type if kind_of(type) == "truth" else read for name, type in types.items()}
        return NumberReader(list(types), dtype), as_read

    @property
    def width(self) -> int:
        return len(self.types)

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        for file in self.files[skip:]:
            yield from self._chunks(file, size)
            yield end_of(file.name)

    def _chunks(self, file: Source, size: int) -> Iterator[Chunk]:
        """Chunks of about ``size`` bytes of features."""
        rows = int(np.clip(size // (8 * max(1, self.width)), 16, MAX_BATCH_ROWS))
        piece = int(np.clip(size // 2, MIN_PIECE_BYTES, PIECE_BYTES))
        name, first = file.name, 1
        for batch in batches(file, self.types, rows, piece):
            after = first + batch.num_rows
            batch = batch if self.sift is None else self.sift(batch)
            weight = None
            if self.weights is not None:
                weight = checked_weights(batch.column(self.weights), self.weights, name, first)
            y = labels(batch.column(self.target), self.target, name, first)
            if batch.num_rows:
                yield Chunk(self.features(batch, name, first), y, weight, name, first)
            first = after


class Svmlight:
    """svmlight files; columns are numbered from 0 or 1, which all of them together tell."""

    names = None
    lowest = 1

    def __init__(self, files: list[Source], dtype=None):
        self.key = str(dtype)
        self.files, self.dtype, self.name = files, np.dtype(dtype or np.float64), _named(files)
        self.watched = FileFingerprints([file.path for file in files if file.path is not None])

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        for file in self.files[skip:]:
            yield from svmlight_chunks(file, size, self.dtype)
            yield end_of(file.name)


class Iterations:
    """Chunks ``(X, y)`` or ``(X, y, weight)`` of an iterable, or of what a function returns."""

    names = None
    watched = None
    lowest = 0
    key = ""

    def __init__(self, made: Iterable | Callable[[], Iterable]):
        self.name = "the chunks given"
        once = not callable(made) and iter(made) is made
        if once:
            raise ValueError(
                f"A {type(made).__name__} can be gone through once only, and a streamed fit reads "
                "its data several times. Give a function that makes it, or a list."
            )
        self.made = made

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        first = 1
        for number, given in enumerate(self.made() if callable(self.made) else self.made, 1):
            chunk = self._checked(given, number, first)
            first += len(chunk.y)
            if len(chunk.y):
                yield chunk

    def _checked(self, given, number: int, first: int) -> Chunk:
        if not isinstance(given, tuple | list) or len(given) not in (2, 3):
            raise ValueError(
                f"Chunk {number} must be (X, y) or (X, y, weight), got {type(given).__name__}. All "
                "rows at once are one chunk: [(X, y)]."
            )
        X: Any = given[0]
        refuse_masked(X=X, y=given[1])
        y = np.asarray(given[1])
        X = X if sparse.issparse(X) else np.asarray(X)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        X = sparse.csr_matrix(X) if sparse.issparse(X) else np.ascontiguousarray(X)
        if X.ndim != 2 or y.ndim != 1 or X.shape[0] != len(y):
            raise ValueError(
                f"Chunk {number} must have a label for every row; its shapes are {X.shape} and "
                f"{y.shape}."
            )
        weight = None
        if len(given) == 3 and given[2] is not None:
            weight = np.asarray(given[2], dtype=np.float64)
            if weight.shape != y.shape or not (np.isfinite(weight).all() and (weight >= 0).all()):
                raise ValueError(f"Chunk {number} needs a weight of at least 0 for every row.")
        refuse_not_finite(X, None, f"chunk {number}", 1)
        return Chunk(X, y, weight, f"chunk {number}", first)
