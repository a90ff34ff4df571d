"""How many two-class machines one pass over a stream serves.

Every machine remembers multipliers of its rows from one pass to the next.  What does not fit memory
goes to the disk and comes back in every pass, which may cost more than reading the rows again.
"""

from __future__ import annotations

import shutil

from ..side_by_side import ANSWERS, machines_at_once
from .cache import RESERVE
from .rows import StreamedRows

# Bytes a machine remembers of a row: seven numbers.
REMEMBERED = 56
# The share of the limit that answers may take; the one who adds them up holds four of a kind.
SHARE, HELD = 0.1, 4
# What a byte of memory that is written and read back costs, in bytes of rows read: each way it is
# copied twice.
THERE_AND_BACK = 4


def machines_in_a_pass(rows: StreamedRows, duels: list[tuple[int, int | None]]) -> int:
    """As many as make the fewest bytes move between disk and memory, for all machines together."""
    sizes = [rows.n if no is None else rows.counts[yes] + rows.counts[no] for yes, no in duels]
    each = max(1, REMEMBERED * int(sum(sizes)) // len(duels))
    answers = int(min(ANSWERS, SHARE * rows.memory.limit))
    most = min(len(duels), machines_at_once(rows.n_features, HELD, answers, far=False))
    if rows.reader is None:  # there was no room on the disk
        return max(1, min(most, rows.memory.kept // each))
    room = max(0, shutil.disk_usage(rows.folder.cache).free - RESERVE)

    def moved(m: int) -> float:
        """Bytes in one round of all machines, m of them in a pass."""
        away = max(0, m * each - rows.memory.kept)
        if m > 1 and away > room:
            return float("inf")
        return -(-len(duels) // m) * (rows.reader.size + THERE_AND_BACK * away)  # type: ignore[union-attr]

    return min(range(most, 0, -1), key=moved)
