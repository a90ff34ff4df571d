"""The bytes of a model file: prefix, JSON header, raw arrays, SHA-256.

    0   12  magic  89 "maxmargin" 0D 0A       (what a transfer as text would damage)
    12   4  version of the format, unsigned, little-endian like every number here
    16   8  length of the header in bytes
    24   8  length of the whole file in bytes
    32   …  header: JSON in UTF-8, its "arrays" a table of {"dtype", "shape", "offset"}
    …    …  arrays in C order, each at a multiple of 64, gaps and padding zero
    −32 32  SHA-256 of everything before

Reading trusts nothing: every declared size is compared with the size of the file before memory
is taken, so that a file of n bytes costs memory of order n whatever it claims.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np

from .errors import ModelFileError, shown

MAGIC = b"\x89maxmargin\r\n"
FORMAT_VERSION = 1
PREFIX_STRUCT = struct.Struct("<12sIQQ")
DIGEST_BYTES = 32
ALIGNMENT_BYTES = 64
# Long lists of words are arrays too, so that headers are short.
MAX_HEADER_BYTES = 1 << 24
MAX_ARRAY_DIMENSIONS = 3
DTYPES = tuple(
    np.dtype(name)
    for name in ["<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"]
)
_READ_BYTES = 1 << 20


def write(file: BinaryIO, header: dict, arrays: list[np.ndarray]) -> None:
    """Header and arrays; the table of arrays is added to the header."""
    arrays = [_plain(array) for array in arrays]
    text = b""
    begin = 0
    while True:  # offsets have as many digits as they need, which moves them
        table = list(_table(arrays, begin))
        text = _dump(header | {"arrays": table})
        start = _aligned(PREFIX_STRUCT.size + len(text))
        if start <= begin:
            break
        begin = start
    last = table[-1]["offset"] + arrays[-1].nbytes if table else begin
    length = last + DIGEST_BYTES
    digest = hashlib.sha256()

    def put(data) -> None:
        digest.update(data)
        file.write(data)

    put(PREFIX_STRUCT.pack(MAGIC, FORMAT_VERSION, len(text), length))
    put(text)
    at = PREFIX_STRUCT.size + len(text)
    for entry, array in zip(table, arrays, strict=True):
        put(bytes(entry["offset"] - at))
        put(array.reshape(-1).view(np.uint8))
        at = entry["offset"] + array.nbytes
    put(bytes(last - at))
    file.write(digest.digest())


def read(file: BinaryIO, name: str) -> tuple[dict, list[np.ndarray]]:
    """Header and arrays of an open file, checked; ``name`` is for messages."""
    size = _size(file, name)
    header_length = _prefix(file.read(PREFIX_STRUCT.size), size, name)
    _check_digest(file, size, name)
    file.seek(PREFIX_STRUCT.size)
    header = _parse(file.read(header_length), name)
    table = header.pop("arrays", None)
    if not isinstance(table, list):
        raise ModelFileError(f"{name} is damaged: its header has no table of arrays.")
    entries = [_entry(item, name) for item in table]
    _check_places(entries, PREFIX_STRUCT.size + header_length, size - DIGEST_BYTES, name)
    return header, [_load(file, *entry, name) for entry in entries]


# --- writing ----------------------------------------------------------------------------


def _plain(array: np.ndarray) -> np.ndarray:
    """Little-endian, C order."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)


def _dump(header: dict) -> bytes:
    return json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def _aligned(at: int) -> int:
    return -(-at // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _table(arrays: list[np.ndarray], at: int) -> Iterable[dict]:
    for array in arrays:
        at = _aligned(at)
        yield {"dtype": array.dtype.str, "shape": list(array.shape), "offset": at}
        at += array.nbytes


# --- reading ----------------------------------------------------------------------------


def _size(file: BinaryIO, name: str) -> int:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError(f"{name} is no regular file; a model is read from a file on disk.")
    return status.st_size


def _prefix(data: bytes, size: int, name: str) -> int:
    """The length of the header; refuses other files, other versions and other lengths."""
    if not data.startswith(MAGIC[: min(len(data), len(MAGIC))]) or not data:
        raise ModelFileError(
            f"{name} is not a maxmargin model. Models are written by maxmargin.save or by "
            "`maxmargin fit`."
        )
    if len(data) < PREFIX_STRUCT.size:
        raise ModelFileError(f"{name} is truncated: it ends after {size} bytes.")
    _, version, header, length = PREFIX_STRUCT.unpack(data)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{name} has format {version}, but this version of maxmargin reads up to format "
            f"{FORMAT_VERSION}. Update maxmargin to read it."
        )
    if version < 1:
        raise ModelFileError(f"{name} is damaged: there is no format {version}.")
    if length != size:
        what = "truncated" if size < length else "damaged"
        raise ModelFileError(f"{name} is {what}: it has {size} bytes and should have {length}.")
    if header > MAX_HEADER_BYTES or PREFIX_STRUCT.size + header + DIGEST_BYTES > size:
        raise ModelFileError(f"{name} is damaged: it declares a header of {header} bytes.")
    return header


def _check_digest(file: BinaryIO, size: int, name: str) -> None:
    digest, left = hashlib.sha256(), size - DIGEST_BYTES
    file.seek(0)
    while left > 0:
        piece = file.read(min(left, _READ_BYTES))
        if not piece:
            raise ModelFileError(f"{name} became shorter while it was read.")
        digest.update(piece)
        left -= len(piece)
    if file.read(DIGEST_BYTES) != digest.digest():
        raise ModelFileError(
            f"{name} is damaged: its checksum does not match. Copy it again, or fit again."
        )


def _parse(text: bytes, name: str) -> dict:
    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    def once(pairs):
        fields = dict(pairs)
        if len(fields) != len(pairs):
            raise ValueError("a name is given twice")
        return fields

    try:
        header = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        why = str(error)[:200]
        raise ModelFileError(f"{name} is damaged: its header is no JSON ({why}).") from None
    if not isinstance(header, dict):
        raise ModelFileError(f"{name} is damaged: its header is no JSON object.")
    return header


def _entry(item: Any, name: str) -> tuple[np.dtype, tuple[int, ...], int, int]:
    """dtype, shape, offset and bytes of one line of the table of arrays."""
    if not isinstance(item, dict) or set(item) != {"dtype", "shape", "offset"}:
        raise ModelFileError(f"{name} is damaged: {shown(item)} in its table describes no array.")
    dtype, shape, offset = item["dtype"], item["shape"], item["offset"]
    known = {kind.str: kind for kind in DTYPES}
    if not isinstance(dtype, str) or dtype not in known:
        raise ModelFileError(f"{name} is damaged: arrays of dtype {shown(dtype)} are not read.")
    numbers = [*shape, offset] if isinstance(shape, list) else [None]
    if len(numbers) > MAX_ARRAY_DIMENSIONS + 1 or not all(
        type(value) is int and 0 <= value < 1 << 47 for value in numbers
    ):
        what = ", ".join(shown(number) for number in numbers[:-1][:4]) or shown(shape)
        raise ModelFileError(f"{name} is damaged: no array has shape ({what}) at {shown(offset)}.")
    return known[dtype], tuple(shape), offset, math.prod(shape) * known[dtype].itemsize


def _check_places(entries, begin: int, end: int, name: str) -> None:
    """Every array lies after the header, before the checksum, and none over another."""
    for _, shape, offset, size in entries:
        if offset < begin or offset + size > end:
            raise ModelFileError(
                f"{name} is damaged: an array of shape {shape} would take bytes {offset} to "
                f"{offset + size}, but arrays lie between {begin} and {end}."
            )
    at = begin
    for _, _, offset, size in sorted(entries, key=lambda entry: entry[2:]):
        if offset < at:
            raise ModelFileError(f"{name} is damaged: two arrays share the bytes at {offset}.")
        at = offset + size


def _load(file: BinaryIO, dtype: np.dtype, shape, offset: int, size: int, name: str) -> np.ndarray:
    if size == 0:
        return np.empty(tuple(min(length, _READ_BYTES) for length in shape), dtype)
    array = np.empty(shape, dtype)
    file.seek(offset)
    if file.readinto(array.reshape(-1).view(np.uint8)) != size:  # type: ignore[attr-defined]
        raise ModelFileError(f"{name} became shorter while it was read.")
    if dtype == np.bool_ and array.view(np.uint8).max() > 1:
        raise ModelFileError(f"{name} is damaged: an array of truth values holds other values.")
    return array.astype(dtype.newbyteorder("="), copy=False)
