"""Many fits as one: in threads, with progress, each fit's name on what it warns or raises.

Threads suffice, and share X, because compiled kernels release Python's lock.  With one
thread the fits run in the caller's own.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from itertools import count

from joblib import effective_n_jobs
from sklearn import config_context, get_config

from ...core.solve.threads import one_blas_thread
from ..captured_warnings import CapturedWarning, listening, overhear
from ..deadline import in_context

# How many fits a warning that they share names before it says "and … more".
MAX_NAMED_FITS = 3


def fit_all(who: str, jobs: Mapping[str, Callable], n_jobs: int | None, verbose: int) -> list:
    """The result of every job, in order; the names of the jobs go into warnings and errors.

    An error, or Ctrl-C, cancels the jobs that have not begun.  Those that run in other
    threads cannot be stopped and end unheard.
    """
    remarks: list[CapturedWarning] = []
    tasks = [partial(named, who, name, job, remarks, get_config()) for name, job in jobs.items()]
    tell = partial(_Progress(who, len(tasks), int(verbose)).tell, list(jobs))
    threads = min(effective_n_jobs(n_jobs), len(tasks))
    with listening:
        fitted = _one_by_one(tasks, tell) if threads == 1 else _at_once(tasks, threads, tell)
    repeat(who, remarks, list(jobs))
    return fitted


def _one_by_one(tasks, tell) -> list:
    fitted = []
    with interrupts() as pressed:
        for place, task in enumerate(tasks):
            fitted.append(task())
            if pressed:  # the fit has kept its best model, but the others have none
                raise KeyboardInterrupt
            tell(place)
    return fitted


def _at_once(tasks, threads: int, tell) -> list:
    # One BLAS thread each: more would fight over the cores that the fits already use.
    with one_blas_thread(threads):
        pool = ThreadPoolExecutor(threads, thread_name_prefix="maxmargin")
        try:
            places = {pool.submit(in_context(task)): place for place, task in enumerate(tasks)}
            for done in as_completed(places):
                done.result()
                tell(places[done])
            return [done.result() for done in places]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def named(who: str, name: str, job: Callable, remarks: list[CapturedWarning], config: dict):
    """Run one job under the caller's settings; its name goes in front of any complaint."""
    with config_context(**config), overhear(name, remarks):
        try:
            return job()
        except Exception as error:
            said = error.args
            if said and isinstance(said[0], str):
                error.args = (f"{who}, {name}: {said[0]}", *said[1:])
            else:
                error.add_note(f"{who}, {name}.")
            raise


def repeat(who: str, remarks: list[CapturedWarning], order: list[str], stacklevel: int = 4) -> None:
    """Say what the fits warned of, once for all fits that said the same."""
    said: dict[tuple, list[str]] = {}
    for name, category, text in sorted(remarks, key=lambda remark: order.index(remark.name)):
        names = said.setdefault((category, text), [])
        if name not in names:
            names.append(name)
    for (category, text), names in said.items():
        listed = ", ".join(names[:MAX_NAMED_FITS])
        if len(names) > MAX_NAMED_FITS:
            listed += f" and {len(names) - MAX_NAMED_FITS} more"
        warnings.warn(f"{who}, {listed}: {text}", category, stacklevel=stacklevel)


@contextmanager
def interrupts(quietly: bool = False) -> Iterator[list]:
    """A list that is no longer empty once Ctrl-C was pressed, even if a fit made light of it.

    Quietly: the first Ctrl-C is noted and nothing else, for a thread that only waits for others
    which look at the list; it could fall anywhere between starting and joining them.
    """
    pressed: list[int] = []
    former = signal.getsignal(signal.SIGINT)
    if not callable(former) or threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def note(number, frame):
        pressed.append(number)
        return None if quietly and len(pressed) == 1 else former(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, former)


class _Progress:
    """Lines on stderr: with ``verbose``, or at a terminal every two seconds."""

    def __init__(self, who: str, total: int, verbose: int):
        self.who, self.total = who, total
        self.pause = {0: 2.0, 1: 0.2}.get(verbose, 0.0)
        self.watched = verbose > 0 or sys.stderr.isatty()
        self.done = count(1)
        self.began = self.shown = time.perf_counter()

    def tell(self, names: list[str], place: int) -> None:
        """One more fit, the one at ``place`` among the names, is done."""
        done, now = next(self.done), time.perf_counter()
        if self.watched and now - self.shown >= self.pause:
            self.shown = now
            print(
                f"[maxmargin] {self.who} {now - self.began:7.2f} s"
                f"  classifier {done:4d} of {self.total}  ({names[place]})",
                file=sys.stderr,
                flush=True,
            )
