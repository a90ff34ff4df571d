"""Alterations of bytes, cells and trees: functions of a random generator and what they alter."""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import random
import struct
import zipfile
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ..app.store.mutations import junk, spots

CELLS = [
    "", "NA", "nan", "NaN", "inf", "-inf", "1e999", "-1e308", "1e-320", "0x10", "١٢", "null", "?",
    "-",
    "99999999999999999999", "9223372036854775807", "1,5", "1.234,5", "5%", "2012/01/01", "true",
    "False",
    "2020-01-01T00:00:00", "9999-99-99", '"', '""', '"a', "a\nb", "\r", "\0", "\ufeff", "é",
    "\udcff",
    "x" * 5000, "=1+1", " ", "\t", ";", ",", ",,,,", "1:1", "0:1", "1:nan", "99999999999:1",
    "2147483647:1",
    "-1:1", "qid:1", "1:1:1", "#", "+1", "001", "1e5", "@attribute", "{", "[1,2]",
]  # fmt: skip
PATTERNS = [
    struct.pack("<q", value) for value in (0, 1, -1, 2**31 - 1, 2**31, 2**40, 2**63 - 1, -(2**63))
] + [struct.pack("<i", 2**31 - 1), struct.pack("<i", -1), b"\xff" * 16, b"\0" * 16]
MAX_REPEATED_BYTES = 1 << 20
# Of a bomb: bytes of one piece, and how often it is repeated.
PIECE_BYTES, MAX_PIECES = 1 << 24, 200


def _flip(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8)


def _overwrite(rng: random.Random, data: bytearray) -> None:
    at, pattern = rng.randrange(len(data)), rng.choice(PATTERNS)
    data[at : at + len(pattern)] = pattern


def _remove(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    del data[at : at + 1 + rng.randrange(min(64, len(data)))]


def _repeat(rng: random.Random, data: bytearray) -> None:
    at, size = rng.randrange(len(data)), 1 + rng.randrange(200)
    times = rng.choice([1, 2, 100, 5000])
    data[at:at] = (bytes(data[at : at + size]) * times)[:MAX_REPEATED_BYTES]


def _cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


def _cell(rng: random.Random, data: bytearray) -> None:
    """A word of a text in place of another, or beside it."""
    marks = [at for at, byte in enumerate(data) if byte in b",;\t \n"] or [0]
    at = rng.randrange(len(marks))
    start = marks[at] + 1
    end = marks[at + 1] if at + 1 < len(marks) and rng.random() < 0.8 else start
    data[start:end] = rng.choice(CELLS).encode(errors="surrogateescape")


def _line(rng: random.Random, data: bytearray) -> None:
    """A line is moved, doubled, left out, or joined with the next."""
    lines = bytes(data).split(b"\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        lines[at], lines[to] = lines[to], lines[at]
    elif kind == 1:
        lines[to:to] = [lines[at]] * rng.choice([1, 1, 2000])
    elif kind == 2:
        del lines[at]
    else:
        lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    data[:] = b"\n".join(lines)


BYTES: list[Callable] = [_flip, _flip, _overwrite, _remove, _repeat, _cut]
TEXT: list[Callable] = [_cell, _cell, _cell, _line, _line, *BYTES]


def altered_bytes(rng: random.Random, data: bytes, text: bool) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        if found:
            rng.choice(TEXT if text else BYTES)(rng, found)
    return bytes(found)


def packed(data: bytes, compression: str) -> bytes:
    if compression == ".gz":
        return gzip.compress(data, 1, mtime=0)
    return bz2.compress(data, 1) if compression == ".bz2" else data


def bomb(rng: random.Random, data: bytes, compression: str) -> bytes:
    """The file, then one piece of it over and over: small, and large when it is unpacked."""
    piece = rng.choice([b"0", b"\n", b'"', data[-40:], data[len(data) // 2 :][:200], b"1 1:1\n"])
    return packed(data, compression) + _packed_piece(piece, compression) * rng.randrange(
        1, MAX_PIECES
    )


@lru_cache
def _packed_piece(piece: bytes, compression: str) -> bytes:
    return packed(piece * (PIECE_BYTES // len(piece)), compression)


def rezipped(rng: random.Random, data: bytes) -> bytes:
    """A zip file whose members were altered, with right checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    members[name] = altered_bytes(rng, members[name], text=False)
    if rng.random() < 0.1:
        members.pop(rng.choice(sorted(members)))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in members.items():
            archive.writestr(zipfile.ZipInfo(each), content)
    return out.getvalue()


def altered_tree(rng: random.Random, tree: Any) -> Any:
    """Values of a tree of JSON replaced, left out or exchanged."""
    found = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 2, 4])):
        places = list(spots(found))
        if not places:
            return found
        holder, key = rng.choice(places)
        kind = rng.randrange(4)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder[key], list) and holder[key]:
            holder[key] = holder[key] * rng.choice([0, 2, 50])
        elif kind == 2:
            other, place = rng.choice(places)
            holder[key] = copy.deepcopy(other[place]) if _there(other, place) else None
        else:
            holder[key] = junk(rng)
    return found


def _there(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)
