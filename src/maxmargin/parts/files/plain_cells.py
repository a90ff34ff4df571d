"""Plain cells of a CSV file, parsed by a compiled loop: numbers of few digits, words of ASCII.

Arrow parses any file; most large ones are numbers with up to eighteen digits and short words, which
one loop reads in a third of its time, into the columns that Arrow has.  At anything else, a quote
in a word, a word among numbers, a line of other length, the loop stops, and Arrow parses the piece
and says what is wrong with it.

A number is m · 10^e with a whole m.  Where m < 2^53 and |e| ≤ 22, both are float64s, and product or
quotient is rounded once [Clinger 1990].  Where m has more digits its quotient is taken in two
floats, and decides unless it is next to the middle of two float64s; the rest is left to ``float``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from ...core.rows.twofold import fused
from .source import Source

SKIPPED, FLOAT, WHOLE, WORD = range(4)
KINDS = {pa.float64(): FLOAT, pa.int64(): WHOLE, pa.string(): WORD}
# Numbers of a piece that are left to ``float``; more, and Arrow has the piece.
MAX_HARD = 4096
POWERS = np.array([10.0**k for k in range(23)])
MAX_DIGITS, EXACT = 18, 2**53
# Powers of ten beyond which readers differ about what is too large or too small.
MAX_POWER = 280
# How near to the middle of two float64s a quotient in two floats decides nothing.
DOUBT = 1e-9
NEWLINE, RETURN, QUOTE, MINUS, DOT = (ord(c) for c in '\n\r"-.')


def parse(
    piece: memoryview, names: list[str], source: Source, types: dict, only: list[str] | None
) -> pa.Table | None:
    """The table Arrow would make of the piece; None if that is for Arrow to say."""
    wanted = names if only is None else only
    if any(types.get(name) not in KINDS for name in wanted) or len(set(names)) < len(names):
        return None
    asked = set(wanted)
    kinds = np.array([KINDS[types[n]] if n in asked else SKIPPED for n in names], dtype=np.int64)
    text = np.frombuffer(piece, dtype=np.uint8)
    if not len(text) or text[-1] != NEWLINE:
        return None
    n = int(np.count_nonzero(text == NEWLINE))
    floats = np.empty((int((kinds == FLOAT).sum()), n))
    wholes = np.empty((int((kinds == WHOLE).sum()), n), dtype=np.int64)
    places = np.empty((int((kinds == WORD).sum()), 2, n), dtype=np.int32)
    hard = np.empty((MAX_HARD, 4), dtype=np.int64)
    left = parse_cells(text, ord(source.delimiter), kinds, POWERS, floats, wholes, places, hard)
    if left < 0:
        return None
    for row, j, start, stop in hard[:left].tolist():
        floats[j, row] = float(bytes(piece[start:stop]))
    rows: dict[int, Iterator[np.ndarray]]
    rows = {FLOAT: iter(floats), WHOLE: iter(wholes), WORD: iter(places)}
    columns = {}
    for name, kind in zip(names, kinds.tolist(), strict=True):
        if kind == WORD:
            columns[name] = _words(text, next(rows[WORD]), source)
        elif kind != SKIPPED:
            columns[name] = pa.array(next(rows[kind]))
    return pa.table({name: columns[name] for name in wanted})


def _words(text: np.ndarray, places: np.ndarray, source: Source) -> pa.Array:
    offsets = np.zeros(places.shape[1] + 1, dtype=np.int32)
    np.cumsum(places[1], out=offsets[1:])
    letters = np.empty(int(offsets[-1]), dtype=np.uint8)
    gather(text, places, letters)
    n, buffers = places.shape[1], (pa.py_buffer(offsets), pa.py_buffer(letters))
    words = pa.StringArray.from_buffers(n, *buffers)
    if source.missing is None:
        return words
    missing = [f"{space}{word}" for word in source.missing for space in ("", " ")]
    absent = pc.is_in(words, pa.array(missing, pa.string()))
    return pc.if_else(absent, None, words) if pc.any(absent).as_py() else words


@njit(cache=True, nogil=True)
def gather(text, places, letters):
    """The letters of all words, one after the other."""
    k = 0
    for i in range(places.shape[1]):
        start = places[0, i]
        for j in range(start, start + places[1, i]):
            letters[k] = text[j]
            k += 1


@njit(cache=True, nogil=True)
def parse_cells(text, delimiter, kinds, powers, floats, wholes, places, hard):
    """Fill the columns; how many numbers are hard, (row, column of floats, from, to), or −1.

    Every line ends: no cell is longer than the text.
    """
    at, left = 0, 0
    for row in range(floats.shape[1]):
        f, w, s = 0, 0, 0
        for column in range(len(kinds)):
            kind, start = kinds[column], at
            if kind == FLOAT or kind == WHOLE:  # noqa: SIM109 (numba compiles this to less)
                negative = text[at] == MINUS
                at += negative
                m, digits, shift, first = np.int64(0), 0, 0, at
                while 48 <= text[at] <= 57:
                    m = m * 10 + (np.int64(text[at]) - 48)
                    at += 1
                digits = at - first
                if digits == 0 or digits > MAX_DIGITS:
                    return -1
                if kind == FLOAT and text[at] == DOT:
                    at += 1
                    first = at
                    while 48 <= text[at] <= 57:
                        m = m * 10 + (np.int64(text[at]) - 48)
                        at += 1
                    shift = at - first
                    digits += shift
                    if shift == 0:
                        return -1
                power = np.int64(0)
                if kind == FLOAT and (text[at] == 101 or text[at] == 69):  # e, E
                    at += 1
                    down = text[at] == MINUS
                    at += down or text[at] == 43
                    first = at
                    while 48 <= text[at] <= 57 and at - first < 4:
                        power = power * 10 + (np.int64(text[at]) - 48)
                        at += 1
                    if at == first:
                        return -1
                    power = -power if down else power
                if kind == WHOLE:
                    wholes[w, row] = -m if negative else m
                    w += 1
                else:
                    power -= shift
                    if abs(power) > MAX_POWER:
                        return -1
                    value, sure = 0.0, False
                    if digits <= MAX_DIGITS and -22 <= power <= 22:
                        high = np.float64(m)
                        if m < EXACT:
                            value = high / powers[-power] if power < 0 else high * powers[power]
                            sure = True
                        elif power <= 0:
                            p = powers[-power]
                            quotient = high / p
                            rest = fused(-quotient, p, high) + np.float64(m - np.int64(high))
                            rest /= p
                            value = quotient + rest
                            off = rest - (value - quotient)
                            sure = value + off * (1.0 + DOUBT) == value
                    if not sure:
                        if left == len(hard):
                            return -1
                        hard[left, 0], hard[left, 1] = row, f
                        hard[left, 2], hard[left, 3] = start, at
                        left += 1
                    floats[f, row] = -value if negative else value
                    f += 1
            else:
                quoted = text[at] == QUOTE
                at += quoted
                first = at
                while text[at] != QUOTE and text[at] != NEWLINE and text[at] != RETURN:
                    if text[at] > 127 or (text[at] == delimiter and not quoted):
                        break
                    at += 1
                if kind == WORD:
                    places[s, 0, row], places[s, 1, row] = first, at - first
                    s += 1
                if quoted:
                    if text[at] != QUOTE:
                        return -1
                    at += 1
            if at == start and len(kinds) == 1:  # an empty line, which Arrow skips
                return -1
            if column < len(kinds) - 1:
                if text[at] != delimiter:
                    return -1
            else:
                if text[at] == RETURN:
                    at += 1
                if text[at] != NEWLINE:
                    return -1
            at += 1
    return left
