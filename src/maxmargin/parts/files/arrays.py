"""Arrays on disk as sources: X.npy with y.npy, read where they lie, and npz files, read through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...models.validation import MAX_WEIGHT
from .fingerprints import FileFingerprints
from .matrices import check_letters, labels_beside, load_npy, npy_header, opened_npz
from .readers import BadRow, Chunk, end_of, refuse_not_finite, whole_labels
from .source import Source


class Npy:
    """X.npy and y.npy on disk, perhaps weights.  In C order X is read where it lies, and never
    copied."""

    names = None
    lowest = 0

    def __init__(self, X: Path, y: Path, weight: Path | None = None):
        self.key = [str(y), str(weight)]
        paths = [X, y] if weight is None else [X, y, weight]
        for path in paths:
            if not path.exists():
                raise FileNotFoundError(
                    f"There is no file {path}. {X.name} needs its labels in "
                    f"{labels_beside(X).name} beside it, or in a file named as the target."
                )
        self.path, self.name, self.watched = X, str(X), FileFingerprints(paths)
        self.X, self.y = load_npy(X, str(X), "r"), load_npy(y, str(y), "r")
        self.weight = None if weight is None else load_npy(weight, str(weight), "r")
        if self.X.ndim != 2 or self.y.shape != self.X.shape[:1]:
            raise ValueError(
                f"{X} must be a matrix with a label in {y} for every row; their shapes are "
                f"{self.X.shape} and {self.y.shape}."
            )
        if self.weight is not None and self.weight.shape != self.y.shape:
            raise ValueError(f"{weight} must have a weight for each of the {len(self.y)} rows.")
        if self.X.dtype.kind not in "fiub":
            raise ValueError(f"{X} must hold numbers, it has values of type {self.X.dtype}.")

    @property
    def in_place(self) -> bool:
        """Whether blocks can be read straight from the file."""
        return self.X.flags.c_contiguous and self.X.dtype in (np.float32, np.float64)

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        if skip:
            return
        rows = max(16, size // max(8, self.X.shape[1] * 8))
        for start in range(0, len(self.y), rows):
            part = slice(start, start + rows)
            weight = None if self.weight is None else _weights(self.weight[part], self.name, start)
            y = np.asarray(self.y[part])
            yield _chunk(np.ascontiguousarray(self.X[part]), y, weight, self.name, start)


def _weights(found: np.ndarray, file: str, start: int) -> np.ndarray:
    weight = np.asarray(found, dtype=np.float64)
    odd = np.flatnonzero(~((weight >= 0) & (weight <= MAX_WEIGHT)))
    if len(odd):
        what = f"its weight must be a number of at least 0, and at most {MAX_WEIGHT:g}."
        raise BadRow(file, start + int(odd[0]) + 1, what)
    return weight


def _chunk(X: np.ndarray, y: np.ndarray, weight, file: str, start: int) -> Chunk:
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    refuse_not_finite(X, None, file, start + 1)
    return Chunk(X, whole_labels(y, file, start + 1), weight, file, start + 1)


class Npz:
    """npz files with a dense X in C order and y; compressed or not, they are read through."""

    names = None
    lowest = 0
    key = ""

    def __init__(self, files: list[Source]):
        self.files, self.name = files, files[0].name
        paths = [file.path for file in files if file.path is not None]
        if len(paths) < len(files) or any(file.compression for file in files):
            raise ValueError("An npz file must lie on disk as it is: save it to a file first.")
        if len(files) > 1:
            self.name += f" and {len(files) - 1} more files"
        self.watched = FileFingerprints(paths)

    def chunks(self, size: int, skip: int = 0) -> Iterator[Chunk]:
        for file in self.files[skip:]:
            yield from _read_npz(file, size)
            yield end_of(file.name)


def _read_npz(source: Source, size: int) -> Iterator[Chunk]:
    path = source.path
    assert path is not None
    with opened_npz(path, str(path)) as file:
        names = [name.removesuffix(".npy") for name in file.namelist()]
        label = next((name for name in ("y", "labels", "target") if name in names), None)
        if "X" not in names or label is None:
            raise ValueError(
                f"{path} needs a dense matrix X and labels y to be read in pieces; it has: "
                f"{', '.join(names) or 'nothing'}. Sparse rows can be had as svmlight."
            )
        with file.open("X.npy") as X, file.open(f"{label}.npy") as y:
            shape, dtype = _header(X, path)
            count, kind = _header(y, path)
            if len(shape) != 2 or count != shape[:1]:
                raise ValueError(
                    f"{path}: X must be a matrix with a label in {label} for every row; their "
                    f"shapes are {shape} and {count}."
                )
            rows = max(16, size // max(8, shape[1] * 8))
            for start in range(0, shape[0], rows):
                n = min(rows, shape[0] - start)
                some = np.frombuffer(X.read(n * shape[1] * dtype.itemsize), dtype)
                labels = check_letters(np.frombuffer(y.read(n * kind.itemsize), kind), str(path))
                yield _chunk(some.reshape(n, shape[1]), labels, None, source.name, start)


def _header(file, path: Path) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type of the array that follows."""
    shape, dtype, fortran = npy_header(file, str(path))
    if dtype.hasobject or (fortran and len(shape) > 1):
        raise ValueError(
            f"{path} holds Python objects, or X column by column. Save np.ascontiguousarray(X), "
            "and labels as numbers or words."
        )
    return shape, dtype
