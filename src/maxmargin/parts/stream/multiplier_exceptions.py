"""Multipliers that a model keeps because its own slacks do not tell them.

There are few at a small gap, but after a rough fit they may be as many as the rows.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

# Of the memory limit, what they may take; and how often they are held while put together.
EXCEPTIONS_SHARE, EXCEPTIONS_COPIES = 0.1, 3


def collect(answers: Iterable[tuple], limit: int, width: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of rows and their multipliers, one or ``width`` of each, from the answers
    (rows, numbers, multipliers) of all parts.

    None at all where they are too many: without them ``verify`` in memory proves less, and
    ``verify_stream`` seeks them anew.
    """
    shape = (0, width) if width else (0,)
    nothing = np.zeros(0, dtype=np.int64), np.zeros(shape)
    found, first, size = [nothing], 0, 0
    for n, some, values in answers:
        size += EXCEPTIONS_COPIES * (some.nbytes + values.nbytes)
        if size > EXCEPTIONS_SHARE * limit:
            return nothing
        found.append((some + first, values))
        first += n
    rows, values = zip(*found, strict=True)
    return np.concatenate(rows), np.concatenate(values)
