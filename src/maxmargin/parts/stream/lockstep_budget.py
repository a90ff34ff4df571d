"""How many two-class machines one pass over a stream serves.

Every machine remembers multipliers of its rows from one pass to the next.  What does not fit memory
goes to the disk and comes back in every pass, which may cost more than reading the rows again.
"""

from __future__ import annotations

import shutil

from ..side_by_side import RESPONSE_BYTES, jobs_at_once
from .cache import DISK_RESERVE_BYTES
from .rows import StreamedRows

# Bytes a machine remembers of a row: seven numbers.
STATE_BYTES_PER_ROW = 56
# The share of the limit that answers may take; the driver holds four of a kind.
RESPONSE_SHARE, RESPONSES_HELD = 0.1, 4
# What a byte of memory that is written and read back costs, in bytes of rows read: each way it is
# copied twice.
DISK_ROUND_TRIP = 4


def problems_in_a_pass(rows: StreamedRows, duels: list[tuple[int, int | None]]) -> int:
    """As many as make the fewest bytes move between disk and memory, for all machines together."""
    sizes = [rows.n if no is None else rows.counts[yes] + rows.counts[no] for yes, no in duels]
    each = max(1, STATE_BYTES_PER_ROW * int(sum(sizes)) // len(duels))
    answers = int(min(RESPONSE_BYTES, RESPONSE_SHARE * rows.memory.limit))
    most = min(len(duels), jobs_at_once(rows.n_features, RESPONSES_HELD, answers, far=False))
    if rows.reader is None:  # there was no room on the disk
        return max(1, min(most, rows.memory.kept // each))
    room = max(0, shutil.disk_usage(rows.folder.cache).free - DISK_RESERVE_BYTES)

    def moved(m: int) -> float:
        """Bytes in one round of all machines, m of them in a pass."""
        away = max(0, m * each - rows.memory.kept)
        if m > 1 and away > room:
            return float("inf")
        return -(-len(duels) // m) * (rows.reader.size + DISK_ROUND_TRIP * away)  # type: ignore[union-attr]

    return min(range(most, 0, -1), key=moved)
