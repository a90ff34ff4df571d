"""``python -m tests.fuzz --seconds 600 --seed 1``: what becomes of altered input.

By default all subjects share the time: models, tables, arguments, requests.  Whatever is neither
accepted nor refused in words is printed, and kept in the folder of ``--keep``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

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
    names = given.what.split(",")
    keep, good = Keeper(given.keep, given.seed), True
    for name in names:
        began = time.monotonic()
        share = given.seconds / len(names)
        told = fuzz(SUBJECTS[name], share, given.seed, given.processes, given.inputs, keep)
        counts = ", ".join(f"{told[outcome]} {outcome}" for outcome in sorted(told))
        took = time.monotonic() - began
        print(f"{name}: {sum(told.values())} in {took:.0f} s, seed {given.seed}: {counts}")
        good = good and set(told) <= set(GOOD)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
