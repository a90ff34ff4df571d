"""How much memory the values of a file may take beyond its arrays: in proportion to the file.

A word in a list takes many times what it takes in the file, and an array of words as much for its
shortest as for its longest.  What is made of words is therefore counted before it is made; ``save``
counts in the same way, so that no file is written that would be refused.
"""

from __future__ import annotations

FREE_BYTES = 1 << 26
# An array of words takes 4 bytes a letter, and a label of a class or kind of support vector, which
# costs the file a byte or more, has seldom more than eight letters.
BYTES_PER_FILE_BYTE = 32
# A word, its place in a list, and where it ends; and what a letter takes on its way.
BYTES_PER_WORD = 100
BYTES_PER_TEXT_BYTE = 5
BYTES_PER_LETTER = 4


def allowance(file_bytes: int) -> int:
    """What may be made of a file of that size."""
    return FREE_BYTES + BYTES_PER_FILE_BYTE * file_bytes


def words_bytes(count: int, text_bytes: int) -> int:
    """What so many words of so many bytes in UTF-8 take as a list, while it is made."""
    return BYTES_PER_WORD * count + BYTES_PER_TEXT_BYTE * text_bytes


def word_array_bytes(count: int, letters: int) -> int:
    """What an array of words takes, the longest of which has so many letters."""
    return BYTES_PER_LETTER * count * max(letters, 1)


class Budget:
    """What is left of an allowance."""

    def __init__(self, file_bytes: int):
        self.file_bytes = file_bytes
        self.left = allowance(file_bytes)

    def take(self, size: int) -> None:
        """Refuse, before the memory is taken, what is too much for a file of this size."""
        self.left -= size
        if self.left < 0:
            needed = allowance(self.file_bytes) - self.left
            raise ValueError(
                f"what it stands for would take {needed / 1e6:,.0f} MB of memory, too much for a "
                f"file of {self.file_bytes / 1e6:,.1f} MB"
            )
