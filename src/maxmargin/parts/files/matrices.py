"""Matrices: svmlight, npz and npy files, dense or sparse, with their labels."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, Literal

import numpy as np
from scipy import sparse

from .labels import MAX_EXACT_FLOAT
from .limits import check_columns_of, check_expansion
from .source import PIECE_BYTES, Source
from .svmlight import svmlight_parts

# Rows of an array handled together.
BLOCK_ROWS = 20_000
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
# What NumPy raises for a header, which it reads as a piece of Python, that is none.
HEADER_ERRORS = (ValueError, KeyError, TypeError, SyntaxError, OverflowError, TokenError)
FROM_ONE = "there is a column of number 0, but the model was fitted to a file that counts from 1."

# The last letter there is, and the numbers that stand for halves of one.
MAX_LETTER, SURROGATES = 0x10FFFF, (0xD800, 0xE000)


def read_matrix(source: Source, base: int | None = None) -> tuple:
    """X, y (None where there is none), and the number the first column of the file has.

    svmlight files do not say whether they count from 0 or 1; ``base`` is what a model knows.
    """
    if source.format in ("npz", "npy"):
        X, y = _read_npz(source) if source.format == "npz" else (read_npy(source), None)
        return X, y, 0
    X, y, zero = _read_svmlight(source)
    if base is None:  # to fit: of rows to predict, columns that the model does not know are cut off
        check_columns_of(X.shape[1], X.nnz, source.name)
    base = (0 if zero else 1) if base is None else base
    if base and zero:
        raise ValueError(f"{source.name}: {FROM_ONE}")
    if base:
        X = X[:, 1:]  # a column nobody has
    return X, y, base


def _read_svmlight(source: Source) -> tuple:
    """X with columns numbered as in the file, y, and whether there is a column of number 0."""
    parts = list(svmlight_parts(source, PIECE_BYTES))
    width = max((X.shape[1] for X, _, _ in parts), default=0)
    if sum(X.shape[0] for X, _, _ in parts) == 0:
        raise ValueError(f"{source.name} has no rows.")
    X = sparse.vstack([fitted_width(X, width) for X, _, _ in parts], format="csr")
    return X, _whole(np.concatenate([y for _, y, _ in parts])), bool(X.nnz and X.indices.min() == 0)


def stream_matrix(source: Source, width: int, base: int) -> Iterator[tuple]:
    """(X, y) some rows at a time; features beyond ``width`` are cut off."""
    if source.format in ("npz", "npy"):
        X, y, _ = read_matrix(source)
        for start in range(0, X.shape[0], BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            yield X[part], None if y is None else y[part]
        return
    for X, y, first in svmlight_parts(source, PIECE_BYTES):
        if base and X.nnz and X.indices.min() == 0:
            raise ValueError(f"{source.name}, row {first} or later: {FROM_ONE}")
        yield fitted_width(X[:, base:], width), _whole(y)


def fitted_width(X, width: int):
    """With as many columns as the model knows: svmlight files do not say how many there are."""
    if X.shape[1] < width:
        X = X.copy()
        X.resize(X.shape[0], width)
    return X[:, :width] if X.shape[1] > width else X


def _whole(y: np.ndarray) -> np.ndarray:
    """Labels as whole numbers where all of them are, and exactly so."""
    exact = (y == np.round(y)).all() and np.abs(y).max(initial=0.0) <= MAX_EXACT_FLOAT
    return y.astype(np.int64) if exact else y


def read_npy(source: Source) -> np.ndarray:
    """An array; it stays on disk where it can."""
    on_disk = source.path is not None and source.compression is None
    file = source.path if on_disk else source.seekable()
    X = load_npy(file, source.name, "r" if on_disk else None)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"{source.name} must be a matrix of numbers, it has shape {X.shape} and type {X.dtype}."
        )
    return X


def load_npy(file: Any, name: str, mode: Literal["r"] | None = None) -> np.ndarray:
    """The array of an npy file; with mode "r" it stays where it is."""
    try:
        found = np.load(file, mmap_mode=mode, allow_pickle=False)
    except (*HEADER_ERRORS, *ZIP_ERRORS, OSError) as error:
        raise ValueError(f"{name} could not be read as npy: {error}") from None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{name} is an npz file: call it so, or name it with --format npz.")
    return check_letters(found, name)


def check_letters(found: np.ndarray, name: str) -> np.ndarray:
    """Words of a damaged file may hold numbers that are no letters: Python fails on them, badly."""
    if found.dtype.kind == "U" and found.dtype.itemsize:
        numbers = np.dtype(np.uint32).newbyteorder(found.dtype.byteorder)
        letters = np.ascontiguousarray(found).view(numbers)
        if (
            (letters > MAX_LETTER) | ((letters >= SURROGATES[0]) & (letters < SURROGATES[1]))
        ).any():
            raise ValueError(f"{name} is damaged: its words hold letters that do not exist.")
    return found


def labels_beside(X: Path) -> Path:
    """y.npy for X.npy, y_test.npy for X_test.npy."""
    return X.with_name(X.name.replace("X", "y") if "X" in X.name else "y.npy")


def vector_beside(X: Source, named: str | None) -> np.ndarray:
    """The labels of X.npy, or its weights, in a file of that name; else the labels beside it."""
    path = Path(named) if named is not None else labels_beside(X.path or Path("X.npy"))
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file {path}. {X.name} needs its labels in y.npy beside it, or in a file "
            "named with --target."
        )
    found = load_npy(path, str(path))
    n = read_npy(X).shape[0]
    if found.shape != (n,):
        raise ValueError(f"{path} must have one value for each of {n} rows, not {found.shape}.")
    return found


def _check_members(file, name: str) -> None:
    """Refuse an npz file that would become far larger than it is, or whose arrays claim more than
    there is of them: NumPy takes the memory before it reads."""
    size = file.seek(0, 2)
    with opened_npz(file, name) as archive:
        members = archive.infolist()
        check_expansion(sum(member.file_size for member in members), size, name)
        for member in members:
            if member.filename.endswith(".npy"):
                with archive.open(member) as inside:
                    shape, dtype, _ = npy_header(inside, name)
                claimed = math.prod(shape) * dtype.itemsize
                if claimed > member.file_size and not dtype.hasobject:
                    raise ValueError(
                        f"{name} is damaged: {member.filename} claims {claimed} bytes and has "
                        f"{member.file_size}."
                    )
    file.seek(0)


@contextmanager
def opened_npz(file, name: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except ZIP_ERRORS as error:
        raise ValueError(f"{name} could not be read as npz: {error}") from None


def npy_header(file, name: str) -> tuple[tuple[int, ...], np.dtype, bool]:
    """Shape and type of the array that follows, and whether it is stored column by column."""
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        version = np.lib.format.read_magic(file)
        shape, fortran, dtype = read[version](file)
    except (*HEADER_ERRORS, *ZIP_ERRORS) as error:
        raise ValueError(f"{name} could not be read as npy: {error}") from None
    return shape, dtype, fortran


def _check_order(starts: np.ndarray) -> None:
    """Of a matrix that seems to be empty SciPy looks at the last number only, and then crashes."""
    if starts.ndim != 1 or (starts[1:] < starts[:-1]).any():
        raise ValueError("its rows end before they begin")


def _read_npz(source: Source):
    file = source.seekable()
    _check_members(file, source.name)
    try:
        with np.load(file, allow_pickle=False) as found:
            arrays = {name: check_letters(found[name], source.name) for name in found.files}
    except (*HEADER_ERRORS, OSError, *ZIP_ERRORS) as error:
        raise ValueError(f"{source.name} could not be read as npz: {error}") from None
    y = next((arrays[name] for name in ("y", "labels", "target") if name in arrays), None)
    if {"data", "indices", "indptr", "shape"} <= set(arrays):
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        try:
            _check_order(arrays["indptr"])
            X = sparse.csr_matrix(parts, shape=tuple(arrays["shape"].tolist()))
            X.check_format()
        except (ValueError, TypeError, OverflowError, IndexError) as error:
            raise ValueError(f"{source.name} holds no sparse matrix: {error}") from None
        check_columns_of(X.shape[1], X.nnz, source.name)
    elif "X" in arrays and arrays["X"].ndim == 2:
        X = arrays["X"]
    else:
        raise ValueError(
            f"{source.name} needs a matrix X (or data, indices, indptr and shape of a sparse one) "
            f"and labels y; it has: {', '.join(arrays) or 'nothing'}."
        )
    if y is not None and len(y) != X.shape[0]:
        raise ValueError(f"{source.name}: X has {X.shape[0]} rows, but y has {len(y)} labels.")
    return X, y
