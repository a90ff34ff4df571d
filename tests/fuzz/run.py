"""What becomes of altered input, found out in processes of limited memory and time.

    accepted   what was altered does not matter, or cannot be told
    refused    in words that were meant for it
    memory     it took more than a gigabyte
    uncaught   an exception that nobody foresaw
    late       not done in time
    crashed    the process ended

A subject makes the same input from the same seed and number, in whichever process.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing.connection import wait
from pathlib import Path
from threading import Event

GOOD = ("accepted", "refused")
MEMORY_BYTES = 1 << 30
# Address space beyond what a process begins with: claims that are never filled are refused there.
SPACE_BYTES = 6 << 30
# Of every kind of failure so many cases are kept by one run.
KEPT_CASES = 5
CLOSING_SECONDS = 2.0  # for a process to end by itself
PATIENCE = 10  # a process that compiles, or makes a large file, needs this many times longer

Outcome = tuple[str, str]


class Subject(ABC):
    """Something to alter the input of; it works in a folder of its own."""

    name: str
    seconds = 10.0
    needs: tuple[str, ...] = ()  # packages beside those that everything needs

    @classmethod
    def lacks(cls) -> list[str]:
        """Of these, what is not installed here."""
        return [package for package in cls.needs if not _installed(package)]

    @abstractmethod
    def prepare(self) -> None:
        """Load, compile and write what is not on the account of any input."""

    @abstractmethod
    def altered(self, seed: int, index: int) -> bytes:
        """The altered input of this number, or its description."""

    @abstractmethod
    def judge(self, altered: bytes, seed: int, index: int) -> Outcome:
        """What becomes of it, "accepted", "refused" or "uncaught", and what is said."""


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


def judged(subject: Subject, seed: int, index: int) -> Outcome:
    """With the memory it took."""
    altered = subject.altered(seed, index)
    before = _reset_peak()
    try:
        outcome, words = subject.judge(altered, seed, index)
    except Exception as error:
        outcome, words = "uncaught", f"{type(error).__name__}: {error}"
    taken = _peak() - before
    if taken > MEMORY_BYTES:
        return "memory", f"{taken / 1e9:.2f} GB, then {outcome}: {words}"
    return outcome, words


def _reset_peak() -> int:
    """Forget the most memory there was, where the system can; what is used now."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return 1024 * int(line.split()[1])
    return 0


def _limit_space() -> None:
    with suppress(ImportError, OSError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + SPACE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _work(connection, make: Callable[[], Subject], seed: int) -> None:
    """Judge the inputs whose numbers arrive; signals are for the process that counts."""
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, signal.SIG_IGN)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subject = make()
        subject.prepare()
        _limit_space()
        connection.send(None)
        while (index := connection.recv()) is not None:
            connection.send(judged(subject, seed, index))


class Worker:
    """A process that judges, and is replaced where an input ends it."""

    def __init__(self, make: Callable[[], Subject], seed: int):
        self.make, self.seed, self.seconds = make, seed, make().seconds
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.make, self.seed))
        self.process.start()
        theirs.close()

    def await_ready(self) -> None:
        """Wait until it is prepared; several prepare side by side."""
        self.connection.recv()

    def ask(self, index: int) -> None:
        self.index, self.deadline = index, time.monotonic() + PATIENCE * self.seconds
        self.began = time.process_time()
        self.connection.send(index)

    def answer(self) -> Outcome | None:
        """What became of the input, or None where that is not known yet."""
        try:
            if self.connection.poll():
                return self.connection.recv()
        except EOFError:
            self._replace()
            return "crashed", f"exit code {self.code}"
        if time.monotonic() > self.deadline:
            self._replace()
            return "late", f"more than {PATIENCE * self.seconds:g} seconds"
        return None

    def _replace(self) -> None:
        self.process.kill()
        self.process.join()
        self.code = self.process.exitcode
        self._start()
        self.await_ready()

    def close(self) -> None:
        with suppress(OSError):
            self.connection.send(None)
        self.process.join(CLOSING_SECONDS)
        self.process.kill()


def fuzz(
    make: Callable[[], Subject],
    seconds: float,
    seed: int,
    processes: int = 1,
    inputs: int | None = None,
    keep: Callable[[Subject, int, Outcome], None] | None = None,
    stop: Event | None = None,
) -> Counter:
    """Judge altered inputs for that long, or so many, or until ``stop``; what became of them."""
    workers = _started(make, seed, processes)
    told = _judge_all(workers, make(), seconds, inputs, keep, stop or Event())
    for worker in workers:
        worker.close()
    return told


def _started(make: Callable[[], Subject], seed: int, processes: int) -> list[Worker]:
    """The first alone, so that what it compiles is there for the others."""
    workers = [Worker(make, seed)]
    workers[0].await_ready()
    workers += [Worker(make, seed) for _ in range(processes - 1)]
    for worker in workers[1:]:
        worker.await_ready()
    return workers


def _judge_all(workers: list[Worker], subject: Subject, seconds, inputs, keep, stop) -> Counter:
    began, index, told = time.monotonic(), 0, Counter()
    idle, busy = list(workers), []
    while not stop.is_set():
        over = time.monotonic() - began > seconds or (inputs is not None and index >= inputs)
        while idle and not over:
            idle[-1].ask(index)
            busy.append(idle.pop())
            index += 1
            over = inputs is not None and index >= inputs
        if not busy:
            break
        wait([worker.connection for worker in busy], timeout=0.5)
        for worker in list(busy):
            if (outcome := worker.answer()) is not None:
                told[outcome[0]] += 1
                if outcome[0] not in GOOD and keep is not None:
                    keep(subject, worker.index, outcome)
                busy.remove(worker)
                idle.append(worker)
    return told
