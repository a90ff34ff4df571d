"""What a streamed fit tells while it runs: the pass, the gap, and how long it may still take."""

from __future__ import annotations

import math
import sys
import time
from typing import TextIO

from ..solve.contract import Watch

# Seconds before the first line, and between lines.
PATIENCE, PAUSE = 2.0, 0.5


class Progress:
    """A line that is rewritten on a terminal; with ``verbose`` also where there is none."""

    def __init__(self, verbose: int = 0, out: TextIO | None = None):
        self.watch: Watch | None = None  # of the fit that the passes belong to
        self.out = out or sys.stderr
        self.terminal = self.out.isatty()
        self.heard = verbose > 0 or self.terminal
        self.next = time.perf_counter() + (0.0 if verbose else PATIENCE)
        self.began, self.number, self.shown = time.perf_counter(), 0, False

    def __call__(self, number: int, done: int, n: int) -> None:
        now = time.perf_counter()
        if number != self.number:
            self.number, self.began = number, now
        if not self.heard or now < self.next:
            return
        self.next, self.shown = now + PAUSE, True
        end = "" if self.terminal else "\n"
        begin = "\r\x1b[K" if self.terminal else ""
        print(begin + self.line(number, done, n, now), end=end, file=self.out, flush=True)

    def line(self, number: int, done: int, n: int, now: float) -> str:
        """One line of words."""
        if n == 0:
            return f"[maxmargin] pass {number}: {done} rows read"
        text = f"[maxmargin] pass {number}: {done / n:4.0%} of {n} rows"
        history = self.watch.history if self.watch is not None else []
        if history:
            gap = max(0.0, history[-1].relative_gap)
            text += f", relative gap {gap:.1e} (asked {self.watch.tol:.0e})"  # type: ignore[union-attr]
        each = (now - self.began) * n / max(done, 1)
        left = each * (1 - done / n + self._passes_left())
        return text + f", about {left:.0f} s left"

    def _passes_left(self) -> float:
        """As many as it takes if the gap goes on falling as it did; one proves the result."""
        if self.watch is None:
            return 0.0
        gaps = [step.relative_gap for step in self.watch.history if 0 < step.relative_gap < 1]
        if len(gaps) < 2 or not gaps[-1] < gaps[0]:
            return 2.0
        fall = math.log(gaps[0] / gaps[-1]) / (len(gaps) - 1)
        return 1.0 + max(0.0, math.log(gaps[-1] / self.watch.tol) / fall)

    def done(self) -> None:
        if self.shown and self.terminal:
            print("\r\x1b[K", end="", file=self.out, flush=True)
