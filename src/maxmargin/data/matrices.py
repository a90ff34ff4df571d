"""Matrices: svmlight and npz files, dense or sparse, with their labels."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy import sparse

from .source import Source

# Lines of an svmlight file handled together.
LINES = 20_000


def read_matrix(source: Source, base: int | None = None) -> tuple:
    """X, y (None where there is none), and the number the first column of the file has.

    svmlight files do not say whether they count from 0 or 1; ``base`` is what a model knows.
    """
    if source.format == "npz":
        X, y = _read_npz(source)
        return X, y, 0
    with source.open() as file:
        lines = file.read()
    base = _first_index(lines) if base is None else base
    X, y = _parse(lines, None, base, source)
    if X.shape[0] == 0:
        raise ValueError(f"{source.name} has no rows.")
    return X, y, base


def stream_matrix(source: Source, width: int, base: int) -> Iterator[tuple]:
    """(X, y) some rows at a time; features beyond ``width`` are cut off."""
    if source.format == "npz":
        X, y = _read_npz(source)
        for start in range(0, X.shape[0], LINES):
            part = slice(start, start + LINES)
            yield X[part], None if y is None else y[part]
        return
    with source.open() as file:
        while lines := list(islice(file, LINES)):
            X, y = _parse(b"".join(lines), None, base, source)
            yield fitted_width(X, width), y


def fitted_width(X, width: int):
    """With as many columns as the model knows: svmlight files do not say how many there are."""
    if X.shape[1] < width:
        X = X.copy()
        X.resize(X.shape[0], width)
    return X[:, :width] if X.shape[1] > width else X


def _first_index(lines: bytes) -> int:
    """0 where the file has a column of number 0, else 1, as is usual."""
    return 0 if b" 0:" in lines or b"\t0:" in lines else 1


def _parse(lines: bytes, width, base: int, source: Source):
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(lines), n_features=width, zero_based=base == 0)
    except ValueError as error:
        raise ValueError(f"{source.name} is no svmlight file: {error}") from None
    return X, y.astype(np.int64) if (y == np.round(y)).all() else y


def _read_npz(source: Source):
    try:
        with np.load(source.seekable(), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError) as error:
        raise ValueError(f"{source.name} could not be read as npz: {error}") from None
    y = next((arrays[name] for name in ("y", "labels", "target") if name in arrays), None)
    if {"data", "indices", "indptr", "shape"} <= set(arrays):
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        X = sparse.csr_matrix(parts, shape=tuple(arrays["shape"]))
        X.check_format()
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
