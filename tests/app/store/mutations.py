"""Model files, altered: nodes of the header, bytes of the arrays; what guards them is mended.

Without a right checksum and length nothing gets past the door, so whatever is altered is packed
again as a file that is whole.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

from maxmargin.app.store.codec import NODE_KINDS
from maxmargin.app.store.container import (
    ALIGNMENT_BYTES,
    DIGEST_BYTES,
    DTYPES,
    FORMAT_VERSION,
    MAGIC,
    PREFIX_STRUCT,
)
from maxmargin.app.store.records import RECORDS
from maxmargin.models.registry import ESTIMATORS

NUMBERS = [
    0, 1, -1, 2, 3, 7, 64, 255, 256, 1000, 2**20, 2**31, 2**32, 2**46, 2**47, 2**53, 2**63 - 1,
    2**63, -(2**63), 2**64, 10**400, 0.5, -0.0, 1e-320, 1e308, -1e308, 1.0, 3.0, True, False,
]  # fmt: skip
WORDS = [
    "", "a", "inf", "nan", "~", "list", "objects", "array", "<U0", "<U1", "<U64", "<U999999", "<U٣",
    "__class__", "rbf", "precomputed", "pairs", "polynomial", "x" * 5000, "\ud800", "é\0",
    *ESTIMATORS, *RECORDS, *sorted(NODE_KINDS), *(dtype.str for dtype in DTYPES),
]  # fmt: skip
PLACE_KEYS = ("at", "bytes", "ends", "codes", "data", "indices", "indptr")
NODE_KEYS = ("value", "values", "items", "of", "as", "fields", "parameters", "fitted", "shape")
# What an element of an array may be overwritten with.
PATTERNS = [
    struct.pack("<q", value) for value in (0, 1, -1, 5, 1000, 2**31, 2**62, 2**63 - 1, -(2**63))
] + [struct.pack("<d", value) for value in (float("nan"), float("inf"), 1e308, -1e308, 5e-324)]
MAX_REPEATS = 3000
MAX_NESTING = 120
MAX_BOMB_LETTERS = 300_000


class ModelFile:
    """A model file taken apart: the header, and the bytes behind it that arrays refer to."""

    def __init__(self, data: bytes):
        length = PREFIX_STRUCT.unpack(data[: PREFIX_STRUCT.size])[2]
        self.header: Any = json.loads(data[PREFIX_STRUCT.size : PREFIX_STRUCT.size + length])
        self.begin = _aligned(PREFIX_STRUCT.size + length)
        self.body = bytearray(data[self.begin : -DIGEST_BYTES])

    def table(self) -> list:
        found = self.header.get("arrays") if isinstance(self.header, dict) else None
        return found if isinstance(found, list) else []

    def add(self, dtype: str, shape: list[int], content: bytes) -> int:
        """The place of a new array."""
        self.body += bytes(-len(self.body) % ALIGNMENT_BYTES)
        entry = {"dtype": dtype, "shape": shape, "offset": self.begin + len(self.body)}
        self.table().append(entry)
        self.body += content
        return len(self.table()) - 1

    def packed(self) -> bytes:
        """A file with a right checksum and right lengths; arrays move with the header's end."""
        text, begin = b"", 0
        while begin == 0 or PREFIX_STRUCT.size + len(text) > begin:
            begin = _aligned(max(begin, self.begin, PREFIX_STRUCT.size + len(text)))
            self._move(begin - self.begin)
            text = json.dumps(self.header).encode()
        room = begin - PREFIX_STRUCT.size
        return sealed(text.ljust(room) + bytes(self.body), room)

    def _move(self, by: int) -> None:
        self.begin += by
        for entry in self.table():
            if isinstance(entry, dict) and type(entry.get("offset")) is int:
                entry["offset"] += by


def _aligned(at: int) -> int:
    return -(-at // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def sealed(content: bytes, header: int) -> bytes:
    """Prefix and checksum around a header of that length and what follows it."""
    length = PREFIX_STRUCT.size + len(content) + DIGEST_BYTES
    whole = PREFIX_STRUCT.pack(MAGIC, FORMAT_VERSION, header, length) + content
    return whole + hashlib.sha256(whole).digest()


def spots(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a tree: what holds it, and under which key."""
    keys = list(node) if isinstance(node, dict) else range(len(node))
    for key in keys:
        yield node, key
        if isinstance(node[key], dict | list):
            yield from spots(node[key])


def junk(rng: random.Random, depth: int = 2) -> Any:
    """Anything that JSON can say."""
    kind = rng.randrange(6 if depth else 3)
    if kind == 0:
        return rng.choice(NUMBERS)
    if kind == 1:
        return rng.choice(WORDS)
    if kind == 2:
        return None
    if kind == 3:
        return [junk(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 4:
        return {rng.choice(WORDS): junk(rng, depth - 1) for _ in range(rng.randrange(3))}
    keys = rng.sample([*PLACE_KEYS, *NODE_KEYS], 4)
    named = {"~": rng.choice([*sorted(NODE_KINDS), [], None, 7])}
    return named | {key: junk(rng, depth - 1) for key in keys}


# --- alterations: each a function of a random generator, a file and a spot ---------------------


def _replace(rng, file, holder, key):
    holder[key] = junk(rng)


def _number(rng, file, holder, key):
    value = holder[key]
    if type(value) in (int, float):
        near = [value + 1, value - 1, -value, 2 * value, value / 2 if value < 1e300 else 0.0]
        holder[key] = rng.choice([*near, str(value), *NUMBERS])
    else:
        holder[key] = rng.choice(NUMBERS)


def _remove(rng, file, holder, key):
    del holder[key]


def _add(rng, file, holder, key):
    if isinstance(holder, dict):
        holder[rng.choice(WORDS)] = junk(rng)
    else:
        holder.insert(rng.randrange(len(holder) + 1), junk(rng))


def _another(rng, file, holder, key):
    """The node of another spot in its place."""
    there, other = rng.choice(list(spots(file.header)))
    holder[key] = copy.deepcopy(there[other])


def _repeat(rng, file, holder, key):
    """The same node many times."""
    if len(json.dumps(holder[key])) < 2000:
        many = [holder[key]] * rng.randrange(2, MAX_REPEATS)
        holder[key] = many if rng.random() < 0.5 else {"~": "tuple", "values": many}


def _nest(rng, file, holder, key):
    depth = rng.choice([1, 2, rng.randrange(MAX_NESTING)])
    node = holder[key]
    wrap = rng.choice(["list", "tuple", "map", "scalar", "record"])
    for _ in range(depth):
        if wrap == "list":
            node = [node]
        elif wrap == "map":
            node = {"~": "map", "items": [[1, node]]}
        elif wrap == "scalar":
            node = {"~": "scalar", "dtype": "<f8", "value": node}
        elif wrap == "record":
            node = {"~": "record", "of": "TableModel", "fields": {"summary": node}}
        else:
            node = {"~": "tuple", "values": [node]}
    holder[key] = node


def _kind(rng, file, holder, key):
    """Another kind of node, or another class."""
    if isinstance(holder, dict) and "~" in holder:
        word = rng.choice(["~", "of"])
        holder[word] = rng.choice([*WORDS, [], {}, None])
    else:
        _replace(rng, file, holder, key)


def _place(rng, file, holder, key):
    """Another array where one is referred to."""
    found = [(h, k) for h, k in spots(file.header) if k in PLACE_KEYS and isinstance(h, dict)]
    if found:
        there, other = rng.choice(found)
        there[other] = rng.choice([rng.randrange(len(file.table()) + 1), *NUMBERS[:4]])


def _array(rng, file, holder, key):
    """Another dtype, shape or offset."""
    if not file.table() or not isinstance(entry := rng.choice(file.table()), dict):
        return
    shape = entry.get("shape")
    what = rng.randrange(5)
    if what == 0:
        entry["dtype"] = rng.choice([dtype.str for dtype in DTYPES])
    elif what == 1 and isinstance(shape, list):
        entry["shape"] = rng.choice(
            [shape[::-1], [*shape, 1], shape[:-1], [0, *shape], [1, *shape]]
        )
    elif what == 2 and isinstance(shape, list) and shape:
        shape[rng.randrange(len(shape))] = rng.choice(NUMBERS)
    elif what == 3:
        entry["offset"] = rng.choice(NUMBERS)
    else:
        entry[rng.choice(["dtype", "shape", "offset"])] = junk(rng)


def _content(rng, file, holder, key):
    """Other numbers in the arrays."""
    for _ in range(rng.randrange(1, 4)):
        if len(file.body) < 8:
            return
        at = rng.randrange(len(file.body) // 8) * 8
        file.body[at : at + 8] = rng.choice([*PATTERNS, rng.randbytes(8)])


def _bomb(rng, file, holder, key):
    """One long word among many, referred to often."""
    letters = rng.randrange(MAX_BOMB_LETTERS)
    count = rng.randrange(1, MAX_REPEATS)
    ends = [letters] * count
    text = file.add("|u1", [letters], b"a" * letters)
    place = file.add("<i8", [count], struct.pack(f"<{count}q", *ends))
    kind = rng.choice(["list", "objects", f"<U{letters}"])
    node = {"~": "words", "bytes": text, "ends": place, "as": kind}
    if rng.random() < 0.5:
        many = rng.randrange(1, 50 * MAX_REPEATS)
        node["codes"] = file.add("|u1", [many], bytes(many))
    holder[key] = node if rng.random() < 0.5 else [node] * rng.randrange(1, MAX_REPEATS)


ALTERATIONS: list[Callable] = [
    _replace, _number, _remove, _add, _another, _repeat, _nest, _kind, _place, _array, _content,
    _bomb,
]  # fmt: skip
# How often each is drawn; bombs make large files, which take longest.
FREQUENCIES = [4, 4, 3, 2, 4, 1, 1, 3, 3, 3, 4, 0.15]


def structural(rng: random.Random, data: bytes) -> bytes:
    """One to three alterations of the header or of arrays."""
    file = ModelFile(data)
    for _ in range(rng.randrange(1, 4)):
        if not (known := list(spots(file.header))):
            break
        alter = rng.choices(ALTERATIONS, FREQUENCIES)[0]
        alter(rng, file, *rng.choice(known))
    return file.packed()


def bytewise(rng: random.Random, data: bytes) -> bytes:
    """Bytes overwritten, taken out or put in, anywhere behind the prefix; the rest is mended."""
    length = PREFIX_STRUCT.unpack(data[: PREFIX_STRUCT.size])[2]
    content = bytearray(data[PREFIX_STRUCT.size : -DIGEST_BYTES])
    # Most of a small file is header; digits and brackets in place of others keep it nearly JSON.
    alphabet = rng.choice([b'0123456789[]{},:"~-.e', bytes(range(256))])
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(content))
        how = rng.randrange(8)
        if how == 0:
            taken = len(content[at : at + rng.randrange(1, 9)])
            del content[at : at + taken]
            length -= taken if at < length else 0
        elif how == 1:
            more = bytes(rng.choices(alphabet, k=rng.randrange(1, 9)))
            content[at:at] = more
            length += len(more) if at < length else 0
        else:
            content[at] = rng.choice(alphabet)
    return sealed(bytes(content), max(0, min(length, len(content))))


def mutated(bases: list[bytes], seed: int, index: int) -> bytes:
    """The file of that number; the same seed and bases give the same."""
    rng = random.Random(f"{seed}:{index}")
    make = structural if rng.random() < 0.8 else bytewise
    return make(rng, rng.choice(bases))
