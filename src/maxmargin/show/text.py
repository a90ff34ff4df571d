"""Words in pictures and pages: how wide they are, cut to a room, and safe in XML and HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from html import escape
from unicodedata import category, east_asian_width

LETTER_PIXELS = 12.0  # of letters, in pixels
NARROW_LETTERS = frozenset("iljtfI.,:;|! '()[]")
WIDE_LETTERS = frozenset("mwMW@%")
# Characters that turn the direction of all that follows, page included.
DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def safe(words: object) -> str:
    """Escaped for XML and HTML, attributes included, and without what would leave its place."""
    text = str(words)
    if not text.isprintable():
        text = "".join(" " if _unfit(letter) else letter for letter in text)
    return escape(text)


def _unfit(letter: str) -> bool:
    """Control characters, halves of surrogate pairs, and marks that reverse text."""
    return letter in DIRECTION_MARKS or category(letter) in ("Cc", "Cs", "Cn", "Zl", "Zp")


def shortened(words: object, most: int) -> str:
    """At most so many letters, the last an ellipsis if there were more."""
    text = str(words)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def width(words: str) -> float:
    """About how many pixels the words take."""
    return sum(_letters(words))


def cut(words: str, room: float) -> str:
    """The words on one line, or as many letters of them as fit, and an ellipsis."""
    words = " ".join(words.split())
    if width(words) <= room:
        return words
    used, kept = LETTER_PIXELS, 0
    for wide in _letters(words):
        used += wide
        if used > room:
            break
        kept += 1
    return words[: max(kept, 1)].rstrip() + "…"


def wrapped(words: str, room: float, most: int) -> list[str]:
    """The words on at most ``most`` lines; the last is cut if need be."""
    words = cut(words, most * room)
    letters = int(room / max(width(words) / max(len(words), 1), 1.0))
    return textwrap.wrap(words, max(letters, 2), max_lines=most, placeholder="…")


def _letters(words: str) -> Iterator[float]:
    for letter in words:
        wide = letter in WIDE_LETTERS or east_asian_width(letter) in "WF"
        yield LETTER_PIXELS * (1.0 if wide else 0.3 if letter in NARROW_LETTERS else 0.62)
