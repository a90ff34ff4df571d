"""How much memory a streamed fit may use, and how it is shared out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Real

BYTE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
         "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}  # fmt: skip
MIN_LIMIT_BYTES = 16_000_000
# Shares of the limit: rows kept in memory for a solver, what one step of reading may hold (text,
# Arrow's batches and the matrix made of them together), and one block of a pass, of which one is
# read ahead while another is worked on and copied to float64 in part.
KEPT_ROWS_SHARE, READING_SHARE, PASS_BLOCK_SHARE = 0.4, 0.03, 0.03
# Of the rows kept, a sample may be this share: its solver copies up to half of it.
SAMPLE_SHARE = 0.5
# Larger blocks than this are no faster: the processor's caches are smaller, the disk's reads too.
MAX_BLOCK_BYTES = 16_000_000


@dataclass(frozen=True)
class MemoryLimit:
    """A limit in bytes, and what the parts of a streamed fit may take of it."""

    limit: int

    @property
    def kept(self) -> int:
        """Bytes of rows that a solver may keep."""
        return int(KEPT_ROWS_SHARE * self.limit)

    @property
    def sample(self) -> int:
        """Bytes of rows in a sample that is solved."""
        return int(SAMPLE_SHARE * self.kept)

    @property
    def read(self) -> int:
        """Bytes of features read at once from the user's files."""
        return int(min(READING_SHARE * self.limit, MAX_BLOCK_BYTES))

    @property
    def block(self) -> int:
        """Bytes of one block of a pass."""
        return int(min(PASS_BLOCK_SHARE * self.limit, MAX_BLOCK_BYTES))


def parse_memory(asked) -> MemoryLimit:
    """From ``"600MB"``, ``"1.5 GiB"`` or a number of bytes."""
    if isinstance(asked, MemoryLimit):
        return asked
    limit = float("nan")
    if isinstance(asked, Real) and not isinstance(asked, bool):
        limit = float(asked)
    elif isinstance(asked, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]?i?)b?\s*", asked.lower())
        if found and found[2] in BYTE_UNITS:
            limit = float(found[1]) * BYTE_UNITS[found[2]]
    if not MIN_LIMIT_BYTES <= limit < float("inf"):
        raise ValueError(
            f"memory must be at least {MIN_LIMIT_BYTES // 10**6} MB, written like '600MB' or "
            "'1.5GB', "
            f"got {asked!r}."
        )
    return MemoryLimit(int(limit))
