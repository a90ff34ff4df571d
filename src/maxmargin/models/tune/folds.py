"""Many chains of fits at once: every fold is a chain along C, each link starting from the last.

Threads take, again and again, the next link of the chain that is furthest behind, so that the
folds stay side by side: when a search is interrupted, every C up to some point is complete.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial

from joblib import effective_n_jobs
from sklearn import get_config

from ...core.solve.threads import one_blas_thread
from ..captured_warnings import CapturedWarning, listening
from ..deadline import in_context, time_left
from ..reduction.fit_all import interrupts, named, repeat

# How often the main thread looks whether Ctrl-C was pressed, in seconds.
INTERRUPT_POLL_SECONDS = 0.1


class Chains:
    """``link(chain, step)`` is called for every chain and step, the steps of a chain in order."""

    def __init__(self, who: str, chains: int, steps: int, link: Callable[[int, int], None]):
        self.who, self.steps, self.link = who, steps, link
        self.next = [0] * chains
        self.busy = [False] * chains
        self.lock = threading.Lock()
        self.pressed: list = []
        self.error: BaseException | None = None

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C was pressed, even if a fit made light of it, a link failed, or the time is
        over."""
        return bool(self.pressed) or self.error is not None or self.late

    @property
    def late(self) -> bool:
        return time_left() <= 0.0

    @property
    def complete(self) -> int:
        """How many steps all chains have made."""
        return min(self.next)

    def run(self, n_jobs: int | None, verbose: int, name: Callable[[int, int], str]) -> bool:
        """Make all steps; False if Ctrl-C or a deadline ended it early.  Errors are raised."""
        remarks: list[CapturedWarning] = []
        progress = FoldProgress(self.who, len(self.next) * self.steps, int(verbose))
        config = get_config()

        def work() -> None:
            while (chain := self._take()) is not None:
                step = self.next[chain]
                try:
                    job = partial(self.link, chain, step)
                    named(self.who, name(chain, step), job, remarks, config)
                except BaseException as error:
                    self.error = self.error or error
                    return
                if not self.stopped:  # a fit that was cut short tells nothing of its C
                    self._done(chain)
                    progress.tell(name(chain, step))

        threads = min(effective_n_jobs(n_jobs), len(self.next))
        with listening:
            self._main(work, threads)
        if isinstance(self.error, Exception):
            raise self.error
        order = [
            name(chain, step)
            for step in range(self.steps)
            for chain, made in enumerate(self.next)
            if step < made
        ]
        repeat(self.who, [remark for remark in remarks if remark.name in order], order, 5)
        return self.complete == self.steps

    def _main(self, work: Callable[[], None], threads: int) -> None:
        # More BLAS threads would fight over the cores that the fits already use.
        with interrupts(quietly=threads > 1) as self.pressed, one_blas_thread(threads):
            try:
                if threads == 1:
                    work()
                else:  # each thread ends after the fit it is at when Ctrl-C is pressed
                    with ThreadPoolExecutor(threads, thread_name_prefix="maxmargin") as pool:
                        futures = [pool.submit(in_context(work)) for _ in range(threads)]
                        while wait(futures, INTERRUPT_POLL_SECONDS).not_done:
                            pass
            except KeyboardInterrupt as error:
                self.error = error

    def _take(self) -> int | None:
        with self.lock:
            idle = [c for c, busy in enumerate(self.busy) if not busy and self.next[c] < self.steps]
            if self.stopped or not idle:
                return None
            chain = min(idle, key=self.next.__getitem__)
            self.busy[chain] = True
            return chain

    def _done(self, chain: int) -> None:
        with self.lock:
            self.next[chain] += 1
            self.busy[chain] = False


class FoldProgress:
    """Lines on stderr: with ``verbose``, or at a terminal every two seconds."""

    def __init__(self, who: str, total: int, verbose: int):
        self.who, self.total, self.count = who, total, 0
        self.pause = {0: 2.0, 1: 0.2}.get(verbose, 0.0)
        self.watched = verbose > 0 or sys.stderr.isatty()
        self.began = self.shown = time.perf_counter()

    def tell(self, name: str) -> None:
        """One more fit, of this name, is done."""
        self.count += 1
        now = time.perf_counter()
        if self.watched and now - self.shown >= self.pause:
            self.shown = now
            print(
                f"[maxmargin] {self.who} {now - self.began:7.2f} s"
                f"  fit {self.count:4d} of {self.total}  ({name}), {self._left(now)}",
                file=sys.stderr,
                flush=True,
            )

    def _left(self, now: float) -> str:
        """If the fits to come take as long as those that are done; large C take longer."""
        seconds = (now - self.began) / self.count * (self.total - self.count)
        return f"about {seconds:.0f} s left"
