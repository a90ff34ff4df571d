"""What a streamed fit tells while it runs: the pass, the gap, and how long it may still take.

Pass 0 looks at the columns, pass 1 reads everything into the cache; what comes then is the fit.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TextIO

from ...core.solve.contract import Monitor
from ..files.source import Source

FIRST_PASSES = ("looking at the columns", "reading")
# Seconds before the first line, and between lines.
FIRST_LINE_AFTER, LINE_EVERY = 2.0, 0.5


def in_words(seconds: float) -> str:
    """Seconds, or minutes, or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class StreamProgress:
    """A line that is rewritten on a terminal; with ``verbose`` also where there is none."""

    def __init__(self, verbose: int = 0, out: TextIO | None = None):
        self.monitor: Monitor | None = None  # of the fit that the passes belong to
        self.out = out or sys.stderr
        self.terminal = self.out.isatty()
        self.heard = verbose > 0 or self.terminal
        self.next = time.perf_counter() + (0.0 if verbose else FIRST_LINE_AFTER)
        self.began, self.number, self.shown = time.perf_counter(), 0, False
        self.size, self.read = 0, [0]  # bytes of the files, and read of each in this pass

    def __call__(self, number: int, done: int, n: int) -> None:
        now = time.perf_counter()
        if number != self.number:
            self.number, self.began, self.read = number, now, [0] * len(self.read)
        if not self.heard or now < self.next:
            return
        self.next, self.shown = now + LINE_EVERY, True
        end = "" if self.terminal else "\n"
        begin = "\r\x1b[K" if self.terminal else ""
        print(begin + self.line(number, done, n, now), end=end, file=self.out, flush=True)

    def line(self, number: int, done: int, n: int, now: float) -> str:
        """One line of words."""
        if number < 2:
            return self._first_line(number, done, n, now)
        text = f"[maxmargin] pass {number}: {done / n:4.0%} of {n} rows"
        history = self.monitor.history if self.monitor is not None else []
        if history:
            gap = max(0.0, history[-1].relative_gap)
            text += f", relative gap {gap:.1e} (asked {self.monitor.tol:.0e})"  # type: ignore[union-attr]
        each = (now - self.began) * n / max(done, 1)
        left = each * (1 - done / n + self._passes_left())
        return text + f", about {in_words(left)} left"

    def _first_line(self, number: int, done: int, n: int, now: float) -> str:
        """While files are read; how far, by rows if their number is known, else by bytes."""
        text = f"[maxmargin] {FIRST_PASSES[number]}: {done} rows"
        share, whole = (done / n if n else 0.0), f" of {n}"
        if not n and self.size:
            share, whole = sum(self.read) / self.size, f" of {self.size / 1e6:.0f} MB"
        if not 0.0 < share <= 1.0:
            return text
        left = (now - self.began) * (1.0 - share) / share
        return f"{text}, {share:.0%}{whole}, about {in_words(left)} left in this pass"

    def following(self, files: list[Source]) -> list[Source]:
        """The same files, of which we are told how much was read."""
        self.size = sum(file.path.stat().st_size for file in files if file.path is not None)
        self.read = [0] * len(files)

        def monitor(i: int) -> Callable[[int, int | None], None]:
            def note(done: int, size: int | None) -> None:
                self.read[i] = done

            return note

        return [replace(file, on_read=monitor(i)) for i, file in enumerate(files)]

    def _passes_left(self) -> float:
        """As many as it takes if the gap goes on falling as it did; one proves the result."""
        if self.monitor is None:
            return 0.0
        gaps = [step.relative_gap for step in self.monitor.history if 0 < step.relative_gap < 1]
        if len(gaps) < 2 or not gaps[-1] < gaps[0]:
            return 2.0
        fall = math.log(gaps[0] / gaps[-1]) / (len(gaps) - 1)
        return 1.0 + max(0.0, math.log(gaps[-1] / self.monitor.tol) / fall)

    def done(self) -> None:
        if self.shown and self.terminal:
            print("\r\x1b[K", end="", file=self.out, flush=True)
