"""``python -m tests.fuzz --seconds 600 --seed 1``: what becomes of altered input.

By default all subjects share the time: models, tables, arguments, requests.  Whatever is neither
accepted nor refused in words is printed, and kept in the folder of ``--keep``.  The last line
counts all inputs and failures, also where the run is stopped by a signal.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Event

from .arguments import Arguments
from .models import Models
from .requests import Requests
from .run import GOOD, KEPT_CASES, Outcome, Subject, fuzz
from .tables import Tables

SUBJECTS: dict[str, type[Subject]] = {
    each.name: each for each in (Models, Tables, Arguments, Requests)
}


class Keeper:
    """Prints what failed, and keeps some cases of every kind."""

    def __init__(self, folder: Path | None, seed: int):
        self.folder, self.seed, self.kinds = folder, seed, Counter()

    def __call__(self, subject: Subject, index: int, outcome: Outcome) -> None:
        kind = f"{subject.name} {outcome[0]} {outcome[1][:60]}"
        self.kinds[kind] += 1
        if self.kinds[kind] > KEPT_CASES:
            return
        print(f"{subject.name} {index}, {outcome[0]}: {outcome[1][:400]}", flush=True)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            name = f"{subject.name}-{outcome[0]}-{self.seed}-{index}"
            (self.folder / name).write_bytes(subject.altered(self.seed, index))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--what", default=",".join(SUBJECTS), help="subjects, with commas")
    parser.add_argument("--seconds", type=float, default=60.0, help="of all subjects together")
    parser.add_argument("--inputs", type=int, default=None, help="stop after so many of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=None, help="folder for what fails")
    given = parser.parse_args(arguments)
    stop = Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: stop.set())
    names = [name for name in given.what.split(",") if _possible(name)]
    keep, whole = Keeper(given.keep, given.seed), Counter()
    began = time.monotonic()
    for name in names:
        share = given.seconds / len(names)
        told = fuzz(SUBJECTS[name], share, given.seed, given.processes, given.inputs, keep, stop)
        print(_line(name, told, began, given.seed), flush=True)
        whole += told
        if stop.is_set():
            break
    bad = sum(many for outcome, many in whole.items() if outcome not in GOOD)
    print(f"{_line('all', whole, began, given.seed)}; {bad} failures")
    return int(bad > 0)


def _possible(name: str) -> bool:
    """Whether what a subject needs is installed; says so if not."""
    lacks = SUBJECTS[name].lacks()
    if lacks:
        print(f"{name}: left out, for {' and '.join(lacks)} cannot be imported here")
    return not lacks


def _line(name: str, told: Counter, began: float, seed: int) -> str:
    counts = ", ".join(f"{told[outcome]} {outcome}" for outcome in sorted(told) if told[outcome])
    seconds = time.monotonic() - began
    return f"{name}: {sum(told.values())} inputs, {seconds:.0f} s, seed {seed}: {counts or 'none'}"


if __name__ == "__main__":
    sys.exit(main())
