"""Work within a budget of seconds: what is there when the time is over is kept, the rest let go.

Fits obey ``models/deadline.py`` and end by themselves, at their next step.  What does not look at
a clock, a factorisation or a library's own loop, runs in a thread that nobody waits for any more:
so Ctrl-C is heard at once, too.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...models.deadline import clock

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
# How often the waiting thread looks at clock and work, in seconds.
POLL_SECONDS = 0.05
# How long after its budget work is waited for, as a share of it and in seconds: the last fit is
# being proved.
GRACE_SHARE, MIN_GRACE_SECONDS = 0.05, 0.5
# Between two lines about progress, and before the first.
TELL_SECONDS = 2.0


def parse_budget(text: str | None) -> float:
    """Seconds of "60s", "90", "2m" or "1h"; infinite where nothing is said."""
    if text is None:
        return np.inf
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-z]*)\s*", text.lower())
    seconds = float(found[1]) * UNITS.get(found[2], 0.0) if found else 0.0
    if seconds <= 0.0:
        raise ValueError(f"--budget must be a time such as 60s, 2m or 1h, got {text!r}.")
    return seconds


def work_within(
    seconds: float, work: Callable[[], Any], tell: Callable[[], None] | None = None
) -> bool:
    """Do the work in a thread; whether it came to its end.  Its errors are raised here.

    ``tell`` is called every two seconds meanwhile.  A ``KeyboardInterrupt`` of the caller's is
    raised at once, whatever the work is at.
    """
    error: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as raised:
            error.append(raised)

    thread = threading.Thread(target=run, name="maxmargin-work", daemon=True)
    began = told = clock()
    thread.start()
    ends = began + seconds + max(MIN_GRACE_SECONDS, GRACE_SHARE * seconds)
    while thread.is_alive() and (now := clock()) < ends:
        thread.join(POLL_SECONDS)
        if tell is not None and now - told >= TELL_SECONDS:
            told = now
            tell()
    if error:
        raise error[0]
    return not thread.is_alive()
