"""Where data come from: a file of a known format, compressed or not, or standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .as_csv import arff_as_csv, excel_as_csv, is_arff
from .form import (
    FileForm,
    as_form,
    column_names,
    delimiter_of,
    first_cells,
    has_decimal_commas,
    missing_words,
)
from .limits import MemoryNeed, check_unpacked

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
    ".npy": "npy",
    ".arff": "csv",
    ".xlsx": "csv",
    ".xlsm": "csv",
}
# Formats that become CSV when they are read.
TABLES_AS_CSV = {".arff": "arff", ".xlsx": "excel", ".xlsm": "excel"}
COMPRESSED = {".gz": "gzip", ".bz2": "bz2"}
TABLE_FORMATS = ("csv", "tsv", "parquet", "arrow")
ReadCallback = Callable[[int, int | None], None]
# Bytes read at a time.
PIECE_BYTES = 1 << 22
# Bytes of a CSV file from which on plain cells are parsed by a loop of our own, which takes a
# second to compile, once, and saves 4 ns a byte.
MIN_LARGE_BYTES = 1 << 25
# Bytes of a compressed file unpacked at a time.
UNPACKED_BYTES = 1 << 18
# How much of a file is looked at to tell what it is.
_GLANCE_BYTES = 1 << 14
# Files of Microsoft's before 2007, and encrypted ones since, begin so.
_OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
_SVMLIGHT_LINE = re.compile(rb"^[-+\d.eE,]+(\s+qid:\d+)?(\s+\d+:[-+\d.eEnaif]+)+\s*(#.*)?$")


@dataclass(frozen=True)
class Source:
    """A file and how to read it; ``path`` None is standard input."""

    path: Path | None
    format: str
    compression: str | None = None
    delimiter: str = ","
    stream: Any = None
    on_read: ReadCallback | None = None
    missing: tuple[str, ...] | None = None  # words of a text file that stand for no value
    names: tuple[str, ...] | None = None  # of columns whose file has no header
    decimal: str = "."
    written_as: str = ""  # "arff" or "excel", which are read as the CSV they could be
    strict: bool = True  # a cell that does not fit the type of its column is refused

    @property
    def sentences(self) -> list[str]:
        """What was understood that the file does not say."""
        told = []
        if self.names is not None:
            told.append(
                f"{self.name} has no header, its first line looks like data: its columns are "
                f"called {self.names[0]} to {self.names[-1]} (--header: the first line names them)"
            )
        if self.decimal == ",":
            told.append(f"{self.name} has decimal commas (--decimal . reads points)")
        return told

    @property
    def name(self) -> str:
        return "standard input" if self.path is None else str(self.path)

    @property
    def is_large(self) -> bool:
        """Whether it is a file of many bytes."""
        if self.path is None:
            return False
        try:
            return self.path.stat().st_size >= MIN_LARGE_BYTES
        except OSError:
            return False

    @property
    def is_table(self) -> bool:
        return self.format in TABLE_FORMATS

    def open(self):
        """The bytes, decompressed, as a file; other tables of text as CSV."""
        if self.written_as == "arff":
            return arff_as_csv(self._unpacked(), self.name)
        if self.written_as == "excel":
            with self._unpacked() as file:
                return excel_as_csv(file, self.name)
        return self._unpacked()

    def _unpacked(self):
        raw = self.stream if self.path is None else self.path.open("rb")
        if self.on_read is None and self.compression is None:
            return raw
        size = None if self.path is None else self.path.stat().st_size
        told = ReportingFile(raw, size, self.on_read or _nobody)
        if self.compression is None:
            return io.BufferedReader(told)
        unpack = gzip.open if self.compression == "gzip" else bz2.open
        inside = unpack(io.BufferedReader(told))
        return io.BufferedReader(UnpackedFile(inside, told, self.name), UNPACKED_BYTES)

    def seekable(self):
        """The same where one must jump about: a pipe is read into memory."""
        if self.path is not None and self.compression is None:
            return self.path.open("rb")
        return io.BytesIO(self.read())

    def read(self) -> bytes:
        """All bytes, decompressed."""
        file, need, pieces = self.open(), MemoryNeed(self.name), []
        try:
            while piece := file.read(PIECE_BYTES):
                need.add(2 * len(piece))  # in pieces and as a whole
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            if self.path is not None:
                file.close()


class ReportingFile(io.RawIOBase):
    """A file that tells how much of it has been read."""

    def __init__(self, file, size: int | None, on_read: ReadCallback):
        self.file, self.size, self.on_read, self.done = file, size, on_read, 0

    def readable(self) -> bool:
        return True

    def readinto(self, room) -> int:
        got = self.file.readinto1(room)
        self.done += got
        self.on_read(self.done, self.size)
        return got

    def close(self) -> None:
        self.file.close()
        super().close()


def _nobody(done: int, size: int | None) -> None:
    """Nobody wants to be told."""


class UnpackedFile(io.RawIOBase):
    """What is inside a compressed file; it is refused as soon as it has become far too large."""

    def __init__(self, inside, packed: ReportingFile, name: str):
        self.inside, self.packed, self.name, self.done = inside, packed, name, 0

    def readable(self) -> bool:
        return True

    def readinto(self, room) -> int:
        try:
            got = self.inside.readinto(room)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{self.name} is damaged or cut off: {error}.") from None
        except OSError as error:
            if error.errno is not None:  # the disk, not what is on it
                raise
            raise ValueError(f"{self.name} is damaged: {error}.") from None
        self.done += got
        check_unpacked(self.done, self.packed.done, self.name)
        return got

    def close(self) -> None:
        self.inside.close()
        self.packed.close()
        super().close()


def find_source(
    path: Path | str, format: str | FileForm | None = None, on_read: ReadCallback | None = None
) -> Source:
    """What kind of file this is, by its name, else by its first bytes.

    ``-`` is standard input.  ``format``: what is said of it, where it does not tell.
    ``on_read(done, size)`` is told the bytes read as they are read, and how many there are where
    that is known.
    """
    if str(path) == "-":
        stream = sys.stdin.buffer
        if not hasattr(stream, "peek"):
            stream = io.BufferedReader(stream)
        glance = stream.peek(_GLANCE_BYTES)
        _refuse_device(stream, glance, "standard input")
        found = _recognised(None, glance, [], as_form(format), stream)
        return replace(found, on_read=on_read)
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder. Name one of the files in it, or read all of them: "
            "`maxmargin fit --memory 1GB` does."
        )
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.{_similar(path)}")
    with path.open("rb") as file:
        glance = file.read(_GLANCE_BYTES)
        _refuse_device(file, glance, str(path))
    suffixes = [suffix.lower() for suffix in path.suffixes]
    found = _recognised(path, glance, suffixes, as_form(format), None)
    return replace(found, on_read=on_read)


def _refuse_device(file, glance: bytes, name: str) -> None:
    """A device that is no terminal has no rows, and often no end; an empty one is empty."""
    try:
        device = stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty()
    except (OSError, AttributeError):  # a stand-in for a file is no device
        device = False
    if device and glance:
        raise ValueError(f"{name} is a device, not a file with rows. Name a file.")


def _recognised(path, glance: bytes, suffixes: list[str], form: FileForm, stream) -> Source:
    name = "standard input" if path is None else str(path)
    if not glance:
        raise ValueError(f"{name} is empty.")
    compression = COMPRESSED.get(suffixes[-1]) if suffixes else None
    if compression is None and glance[:2] == b"\x1f\x8b":
        compression = "gzip"
    if compression is None and glance[:3] == b"BZh":
        compression = "bz2"
    if compression is not None:
        glance = _decompressed(glance, compression)
    inner = suffixes[-2] if compression and len(suffixes) > 1 else (suffixes or [""])[-1]
    written_as = TABLES_AS_CSV.get(inner, "arff" if is_arff(glance) else "")
    if written_as and form.format is None:
        return _as_csv(Source(path, "csv", compression, stream=stream, written_as=written_as), form)
    format = form.format or FORMATS.get(inner) or _guess(glance)
    if not glance.strip():
        raise ValueError(f"{name} is empty.")
    delimiter = "\t" if format == "tsv" else delimiter_of(glance)
    found = Source(path, format, compression, delimiter, stream)
    return _seen(found, form, glance) if format in ("csv", "tsv") else found


def _as_csv(source: Source, form: FileForm) -> Source:
    """A table that is read as CSV; standard input cannot be looked at before it is read."""
    if source.path is None:
        raise ValueError("ARFF and Excel files must lie on disk: save standard input to a file.")
    with source.open() as file:
        glance = file.read(_GLANCE_BYTES)
    if not glance.strip():
        raise ValueError(f"{source.name} is empty.")
    said = replace(form, header=True) if source.written_as == "arff" else form
    return _seen(source, said, glance)


def _seen(source: Source, form: FileForm, glance: bytes) -> Source:
    """How the text is written, as far as its beginning tells."""
    rows = first_cells(glance, source.delimiter, len(glance) < _GLANCE_BYTES)
    names = column_names(form, rows)
    return replace(
        source,
        missing=missing_words(form, rows),
        names=None if names is None else tuple(names),
        decimal="," if has_decimal_commas(rows, source.delimiter) else ".",
    )


def _decompressed(glance: bytes, compression: str) -> bytes:
    """The beginning of what is inside."""
    try:
        if compression == "bz2":
            return bz2.BZ2Decompressor().decompress(glance, _GLANCE_BYTES) or b"?"
        return zlib.decompressobj(wbits=31).decompress(glance, _GLANCE_BYTES)
    except (OSError, zlib.error):
        raise ValueError(f"The data are no valid {compression} file.") from None


def _guess(glance: bytes) -> str:
    if glance.startswith(b"PAR1"):
        return "parquet"
    if glance.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    if glance.startswith(b"PK"):
        return "npz"
    if glance.startswith(b"\x93NUMPY"):
        return "npy"
    if glance.startswith(_OLD_OFFICE):
        raise ValueError(
            "The data are an Excel file of the old kind (.xls), or an encrypted one, which is not "
            "read. Save them as .xlsx without a password, or as CSV."
        )
    if glance.lstrip()[:1] in (b"{", b"["):
        raise ValueError(
            "The data look like JSON, which is not read. Write them as CSV or Parquet, for example "
            "with pandas: pd.read_json(…).to_csv(…, index=False)."
        )
    lines = [line for line in glance.split(b"\n") if line and not line.startswith(b"#")]
    if lines and _SVMLIGHT_LINE.match(lines[0].strip()):
        return "svmlight"
    return "tsv" if lines and lines[0].count(b"\t") > lines[0].count(b",") else "csv"


def _similar(path: Path) -> str:
    """A hint where a name in the folder is nearly the one asked for."""
    from difflib import get_close_matches

    folder = path.parent
    if not folder.is_dir():
        return f" The folder {folder} does not exist either."
    close = get_close_matches(path.name, [other.name for other in folder.iterdir()], n=1)
    return f" Did you mean {folder / close[0]}?" if close else ""
