"""Numbers in columns of words: written with a decimal comma, with separators of thousands, as
percentages or as days, or among words that are none.

A *mark* says which notation: ``.`` and ``,`` are decimal marks, ``'`` separates thousands,
``%`` ends a percentage, ``/`` is in a day, 2012/01/31 or 31.1.2012; ``',`` and ``%,`` are these
two where the decimal mark is a comma: 1.234,50 and 2,5 %.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

NUMERAL_KINDS = {
    ".": "numeral", ",": "numeral,", "'": "thousands", "%": "percentage", "/": "written day",
    "',": "thousands,", "%,": "percentage,",
}  # fmt: skip
# Notations that are understood where all of a column is written so, and what they are called.
NOTATIONS = {
    "'": "numbers with separators of thousands", "%": "percentages", "/": "dates, in days",
    "',": "numbers with separators of thousands", "%,": "percentages",
}  # fmt: skip
_NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_PATTERNS = {
    ".": _NUMBER,
    ",": _NUMBER.replace("\\.", ","),
    "'": r"[-+]?[$€£]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?",
    "%": r"[-+]?(\d+\.?\d*|\.\d+) ?%",
    "',": r"[-+]?[$€£]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?( ?€)?",
    "%,": r"[-+]?(\d+,?\d*|,\d+) ?%",
    "/": r"(\d{4}/\d{1,2}/\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4})",
}
_DAY_FORMS = ("%Y/%m/%d", "%d.%m.%Y")
MICROSECONDS_PER_DAY = 86_400e6
# What stands for a missing value among numbers.
MISSING_NUMBER_WORDS = pa.array(
    [word for word in csv.ConvertOptions().null_values if word], pa.string()
)


def notations(mark: str) -> list[str]:
    """Those that go with a decimal mark."""
    return [each for each in NOTATIONS if each == "/" or each.endswith(",") == (mark == ",")]


def is_numeral(words: pa.Array, mark: str = ".") -> pa.Array:
    """Which words are numbers in this notation."""
    return pc.match_substring_regex(words, rf"^\s*{_PATTERNS[mark]}\s*$")


def is_stray(words: pa.Array, mark: str = ".") -> pa.Array:
    """Which words are neither numbers nor stand for a missing one; a missing word is none."""
    known = pc.or_(is_numeral(words, mark), pc.is_in(words, value_set=MISSING_NUMBER_WORDS))
    return pc.fill_null(pc.invert(known), False)


def numerals(words: pa.Array, mark: str = ".") -> np.ndarray:
    """The numbers that words are, NaN for those that are none."""
    plain = pc.if_else(is_numeral(words, mark), pc.utf8_trim_whitespace(words), None)
    if mark == "/":
        return _days(plain)
    plain = pc.utf8_ltrim(plain, characters="+")
    if mark == ",":
        plain = pc.replace_substring(plain, pattern=mark, replacement=".")
    elif mark.endswith(","):
        plain = pc.replace_substring_regex(plain, pattern=r"[$€£. %]", replacement="")
        plain = pc.replace_substring(plain, pattern=",", replacement=".")
    elif mark != ".":
        plain = pc.replace_substring_regex(plain, pattern=r"[$€£, %]", replacement="")
    return pc.fill_null(plain.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False)


def _days(words: pa.Array) -> np.ndarray:
    """Days since 1970, NaN where there is no such day."""
    parsed = [pc.strptime(words, format=f, unit="us", error_is_null=True) for f in _DAY_FORMS]
    found = pc.coalesce(*parsed).cast(pa.int64()).cast(pa.float64())
    return pc.fill_null(found, np.nan).to_numpy(zero_copy_only=False) / MICROSECONDS_PER_DAY
