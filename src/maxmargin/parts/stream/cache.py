"""Rows on disk in the layout passes want: raw little-endian arrays, read block by block.

    X.bin                          dense rows, one after another
    data.bin indices.bin ends.bin  sparse rows: values, columns, and where each row ends
    codes.bin                      the label of every row, by number
    weight.bin                     weights, where there are any

``index.json`` says what is in them; ``files`` of it are done.  It is replaced whole after each
file of the source, so that a run that was killed is continued with the file it was reading.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from ..files.atomic import replacing
from ..parts import Block

# Bytes of the disk that are left to others.
DISK_RESERVE_BYTES = 256_000_000
CODE_DTYPE, WEIGHT_DTYPE, ROW_END_DTYPE = np.dtype("<i4"), np.dtype("<f8"), np.dtype("<i8")


class NoRoom(Exception):
    """The disk has too little room for the cache."""


@dataclass
class Index:
    """What the files hold."""

    rows: int = 0
    stored: int = 0
    width: int = 0
    lowest: int = 0  # the number of the first column
    dtype: str = ""
    sparse: bool = False
    weighted: bool = False
    files: int = 0
    complete: bool = False
    labels: list = field(default_factory=list)
    kind: str = ""  # of the labels: their dtype
    starts: list[int] = field(default_factory=lambda: [0])  # first rows of blocks, and the end
    source: Any = None


def read_index(folder: Path) -> Index | None:
    """The index of an earlier run, if there is one that can be read."""
    try:
        return Index(**json.loads((folder / "index.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


class CacheWriter:
    """Appends rows; ``finish`` a file, then ``complete`` the cache."""

    def __init__(self, folder: Path, block: int, index: Index | None, lowest: int, copies: bool):
        self.folder, self.block, self.copies = folder, block, copies
        self.index = index or Index(lowest=lowest)
        self.begun = index is not None and index.rows > 0
        self.files: dict[str, BinaryIO] = {}
        self.filled = 0  # bytes in the block that is being written

    def append(self, X, codes: np.ndarray, weight: np.ndarray | None) -> None:
        index = self.index
        if not index.dtype:
            index.dtype, index.sparse = X.dtype.str, bool(sparse.issparse(X))
            index.weighted = weight is not None
        if self.files == {}:
            self._open()
        try:
            if self.copies:
                self._check_room(X)
                self._write_rows(X)
            self._put("codes.bin", np.ascontiguousarray(codes, CODE_DTYPE))
            if index.weighted:
                self._put("weight.bin", np.ascontiguousarray(weight, WEIGHT_DTYPE))
        except OSError as error:
            raise NoRoom(str(error)) from error
        index.width = max(index.width, X.shape[1])
        self._cut(X)
        index.rows += X.shape[0]

    def _write_rows(self, X) -> None:
        dtype = np.dtype(self.index.dtype)
        if not self.index.sparse:
            self._put("X.bin", np.ascontiguousarray(X, dtype))
            return
        self._put("data.bin", np.ascontiguousarray(X.data, dtype))
        self._put("indices.bin", np.ascontiguousarray(X.indices, CODE_DTYPE))
        ends = X.indptr[1:].astype(ROW_END_DTYPE) + self.index.stored
        self._put("ends.bin", np.ascontiguousarray(ends))
        self.index.stored += len(X.data)
        if len(X.indices):
            self.index.lowest = min(self.index.lowest, int(X.indices.min()))

    def _put(self, name: str, values: np.ndarray) -> None:
        left = memoryview(values).cast("B")  # type: ignore[arg-type]
        while left:  # a system may take less than all of it at a time
            left = left[self.files[name].write(left) :]

    def _cut(self, X) -> None:
        """Blocks end where they are full; a large chunk makes several."""
        n, starts = X.shape[0], self.index.starts
        each = X.shape[1] * X.dtype.itemsize if not self.index.sparse else 8
        each = max(1, each if not self.index.sparse else each + 12 * X.nnz // max(1, n))
        at = 0
        while at < n:
            room = max(1, (self.block - self.filled) // each)
            if room >= n - at:
                self.filled += (n - at) * each
                if self.filled >= self.block:
                    starts.append(self.index.rows + n)
                    self.filled = 0
                break
            at += room
            starts.append(self.index.rows + at)
            self.filled = 0

    def _check_room(self, X) -> None:
        size = X.nbytes if not sparse.issparse(X) else X.data.nbytes * 2
        if shutil.disk_usage(self.folder).free < DISK_RESERVE_BYTES + size:
            raise NoRoom(f"less than {DISK_RESERVE_BYTES // 10**6} MB would be left on the disk")

    def _open(self) -> None:
        """Files to append to; what a killed run wrote beyond its last whole file is cut off."""
        sizes = _sizes(self.index, self.copies)
        for name, size in sizes.items():
            path = self.folder / name
            file = open(path, "r+b" if self.begun else "w+b", buffering=0)  # noqa: SIM115
            file.truncate(size if self.begun else 0)
            file.seek(0, os.SEEK_END)
            self.files[name] = file

    def finish_file(self, labels: list, kind: str, source) -> None:
        """All rows of one more file are in."""
        self.index.files += 1
        self._settle(labels, kind, source)

    def complete(self, labels: list, kind: str, source) -> Index:
        self.index.complete = True
        self._settle(labels, kind, source)
        self.close()
        return self.index

    def _settle(self, labels: list, kind: str, source) -> None:
        index = self.index
        index.labels, index.kind, index.source = labels, kind, source
        if index.starts[-1] != index.rows:
            index.starts.append(index.rows)
            self.filled = 0
        self._save()

    def _save(self) -> None:
        with replacing(self.folder / "index.json") as file:
            file.write(json.dumps(asdict(self.index)).encode())

    def close(self) -> None:
        for file in self.files.values():
            file.close()
        self.files = {}


def _sizes(index: Index, copies: bool) -> dict[str, int]:
    """The files of a cache and their length in bytes."""
    sizes = {"codes.bin": index.rows * CODE_DTYPE.itemsize}
    if index.weighted:
        sizes["weight.bin"] = index.rows * WEIGHT_DTYPE.itemsize
    item = np.dtype(index.dtype).itemsize
    if not copies:
        return sizes
    if not index.sparse:
        return sizes | {"X.bin": index.rows * index.width * item}
    return sizes | {
        "data.bin": index.stored * item,
        "indices.bin": index.stored * CODE_DTYPE.itemsize,
        "ends.bin": index.rows * ROW_END_DTYPE.itemsize,
    }


class CacheReader:
    """Blocks of a complete cache; dense rows may lie in another file, from ``offset`` on."""

    def __init__(self, folder: Path, index: Index, rows: Path | None = None, offset: int = 0):
        self.folder, self.index = folder, index
        self.rows, self.offset = rows or folder / "X.bin", offset
        self.dtype = np.dtype(index.dtype)
        self.base = index.lowest if index.sparse else 0
        self.width = index.width - self.base
        self.open: dict[Path, BinaryIO] = {}

    @property
    def n_blocks(self) -> int:
        return len(self.index.starts) - 1

    @property
    def size(self) -> int:
        """Bytes of all rows, wherever they lie."""
        return sum(_sizes(self.index, True).values())

    def block(self, i: int) -> tuple[int, Block]:
        """The number of its first row, and the rows."""
        start, stop = self.index.starts[i], self.index.starts[i + 1]
        X = self._sparse(start, stop) if self.index.sparse else self._dense(start, stop)
        return start, Block(X, *self.labels(i))

    def labels(self, i: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The labels, by number, and the weights of a block."""
        start, stop = self.index.starts[i], self.index.starts[i + 1]
        codes = self._get(self.folder / "codes.bin", CODE_DTYPE, start, stop).astype(np.int64)
        if not self.index.weighted:
            return codes, None
        return codes, self._get(self.folder / "weight.bin", WEIGHT_DTYPE, start, stop)

    def _dense(self, start: int, stop: int) -> np.ndarray:
        d = self.width
        X = self._get(self.rows, self.dtype, start * d, stop * d, self.offset)
        return X.reshape(stop - start, d)

    def _sparse(self, start: int, stop: int):
        ends = self._get(self.folder / "ends.bin", ROW_END_DTYPE, max(0, start - 1), stop)
        if start == 0:
            ends = np.concatenate([[0], ends])
        low, high = int(ends[0]), int(ends[-1])
        data = self._get(self.folder / "data.bin", self.dtype, low, high)
        indices = self._get(self.folder / "indices.bin", CODE_DTYPE, low, high)
        if self.base:
            indices -= self.base
        indptr = (ends - low).astype(np.int32)
        return sparse.csr_matrix((data, indices, indptr), shape=(stop - start, self.width))

    def _get(self, path: Path, dtype: np.dtype, start: int, stop: int, offset=0) -> np.ndarray:
        if path not in self.open:
            self.open[path] = open(path, "rb", buffering=0)  # noqa: SIM115
        file = self.open[path]
        out = np.empty(stop - start, dtype)
        file.seek(offset + start * dtype.itemsize)
        view, done = memoryview(out).cast("B"), 0  # type: ignore[arg-type]
        while done < len(view):
            got = file.readinto(view[done:])  # type: ignore[attr-defined]
            if not got:
                raise ValueError(f"{path} is shorter than it should be. Start again.")
            done += got
        return out

    def close(self) -> None:
        for file in self.open.values():
            file.close()
        self.open = {}
