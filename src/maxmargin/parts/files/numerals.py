"""Numbers in columns of words: written with a decimal comma, or among words that are none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

NUMERAL_KINDS = {".": "numeral", ",": "numeral,"}
# What stands for a missing value among numbers.
HOLES = pa.array([word for word in csv.ConvertOptions().null_values if word], pa.string())


def is_numeral(words: pa.Array, mark: str = ".") -> pa.Array:
    """Which words are numbers with this decimal mark."""
    dot = "\\." if mark == "." else ","
    return pc.match_substring_regex(words, rf"^\s*[-+]?(\d+{dot}?\d*|{dot}\d+)([eE][-+]?\d+)?\s*$")


def is_stray(words: pa.Array, mark: str = ".") -> pa.Array:
    """Which words are neither numbers nor stand for a missing one; a missing word is none."""
    known = pc.or_(is_numeral(words, mark), pc.is_in(words, value_set=HOLES))
    return pc.fill_null(pc.invert(known), False)


def numerals(words: pa.Array, mark: str = ".") -> np.ndarray:
    """The numbers that words are, NaN for those that are none."""
    plain = pc.if_else(is_numeral(words, mark), pc.utf8_trim_whitespace(words), None)
    plain = pc.utf8_ltrim(plain, characters="+")
    if mark != ".":
        plain = pc.replace_substring(plain, pattern=mark, replacement=".")
    return pc.fill_null(plain.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False)
