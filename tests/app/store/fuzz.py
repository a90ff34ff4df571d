"""Altered model files by the thousand: ``python -m tests.app.store.fuzz --seconds 600 --seed 1``.

Every file is read in a process that may take a gigabyte more than it begins with, and some seconds.
What may become of it:

    loaded     what was altered does not matter, or cannot be told
    refused    with a ModelFileError, which says why
    guarded    refused by the last guard of ``load``: safe, but a check is missing
    memory     refused because memory ran out
    uncaught   another exception
    late       not done in time
    crashed    the process ended

Anything but the first two is kept under ``cases/``, where a test replays it for ever.  The same
seed makes the same files.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from multiprocessing.connection import wait
from pathlib import Path

import maxmargin as mm

from .golden.make_golden import LABELS, X
from .mutations import mutated

HERE = Path(__file__).parent
GOLDEN, CASES = HERE / "golden", HERE / "cases"
GOOD = ("loaded", "refused")
MEMORY_BYTES = 1 << 30
FILE_SECONDS = 5.0
# Of every kind of failure so many cases are kept by one run.
KEPT_CASES = 5


def fresh_models():
    """Small models of every family, with words, sparse rows and models in models."""
    import numpy as np
    import pyarrow as pa
    from scipy import sparse

    from maxmargin.app.workflow.fit import fit_table
    from maxmargin.app.workflow.plan import Plan
    from maxmargin.parts.files.preparation import Choices
    from maxmargin.parts.files.training import label_table

    yield mm.LinearSVM(multiclass="pairs", class_weight={"low": 2.0}).fit(X, LABELS)
    yield mm.KernelSVM(rank=3).fit(X, LABELS)
    yield mm.KernelSVM().fit(sparse.csr_matrix(X), LABELS)
    yield mm.OneVsRest(mm.LogisticRegression(), unknown="nobody").fit(X, LABELS)
    yield mm.OneVsOne(mm.KernelSVM(kernel="precomputed")).fit(X @ X.T, LABELS)
    yield mm.Perceptron(max_passes=5, average=True).fit(X, LABELS)
    yield mm.KernelPerceptron("poly", degree=2, max_passes=5).fit(X, LABELS)
    yield mm.KernelRidge(1e-3, gamma=1.0).fit(X, np.sin(X))
    yield mm.LeastSquaresClassifier(alphas=[0.1, 1.0]).fit(X, LABELS)
    yield mm.FisherDiscriminant().fit(X, LABELS)
    yield mm.PairwiseRanker().fit(X, [(0, 1), (1, 2), (5, 3)])
    table = {
        "city": [f"city {i % 20}" for i in range(40)],
        "words": [f"some words {i % 7} and {i % 5} more" for i in range(40)],
        "size": list(range(40)),
        "kind": ["a", "b"] * 20,
    }
    data = label_table(pa.table(table), "kind", None, "fuzz")
    yield fit_table(data, Plan(C=1.0), Choices(text=("words",), category=("city",))).model


def base_files() -> list[bytes]:
    """What is altered: the golden files, and fresh ones."""
    found = [path.read_bytes() for path in sorted(GOLDEN.glob("*.maxmargin"))]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model"
        found += [mm.save(model, path).read_bytes() for model in fresh_models()]
    return found


def judge(path: Path) -> tuple[str, str]:
    """What becomes of a file, and what is said."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mm.load(path)
    except mm.ModelFileError as error:
        if isinstance(error.__cause__, MemoryError):
            return "memory", str(error)
        return "refused" if error.__cause__ is None else "guarded", str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return "uncaught", f"{type(error).__name__}: {error}"
    return "loaded", ""


# --- in other processes -----------------------------------------------------------------------


def _limit_memory() -> None:
    """A gigabyte more than is mapped now, where the system can tell."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, OSError):
        pass


def _work(connection, bases: list[bytes], seed: int) -> None:
    """Read the files whose numbers arrive."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for data in bases:  # what they import is not on their account
            path.write_bytes(data)
            mm.load(path)
        _limit_memory()
        connection.send(None)
        while (index := connection.recv()) is not None:
            path.write_bytes(mutated(bases, seed, index))
            connection.send(("began", ""))
            connection.send(judge(path))


class Worker:
    """A process that reads files, and is replaced where one of them ends it."""

    def __init__(self, bases: list[bytes], seed: int):
        self.bases, self.seed = bases, seed
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.bases, self.seed))
        self.process.start()
        theirs.close()
        self.connection.recv()

    def ask(self, index: int) -> None:
        self.index, self.deadline = index, time.monotonic() + 10 * FILE_SECONDS
        self.connection.send(index)

    def answer(self) -> tuple[str, str] | None:
        """What became of the file, or None where that is not known yet."""
        try:
            while self.connection.poll():
                found = self.connection.recv()
                if found[0] != "began":
                    return found
                self.deadline = time.monotonic() + FILE_SECONDS
        except EOFError:
            self._replace()
            return "crashed", f"exit code {self.code}"
        if time.monotonic() > self.deadline:
            self._replace()
            return "late", f"more than {FILE_SECONDS:g} seconds"
        return None

    def _replace(self) -> None:
        self.process.kill()
        self.process.join()
        self.code = self.process.exitcode
        self._start()

    def close(self) -> None:
        self.connection.send(None)
        self.process.join(FILE_SECONDS)
        self.process.kill()


def keep(data: bytes, outcome: str, words: str, kept: Counter) -> None:
    """Write a case, unless the same has been said by enough others."""
    kind = f"{outcome} {words.rpartition('damaged')[2][:60]}"
    kept[kind] += 1
    if kept[kind] <= KEPT_CASES:
        CASES.mkdir(exist_ok=True)
        name = f"{outcome}-{hashlib.sha256(data).hexdigest()[:12]}.maxmargin"
        (CASES / name).write_bytes(data)
        print(f"{outcome}: {words[:300]}\n    kept as cases/{name}", flush=True)


def fuzz(seconds: float, seed: int, processes: int, files: int | None = None) -> Counter:
    """Read altered files for that long, or so many; what became of them."""
    bases = base_files()
    workers = [Worker(bases, seed) for _ in range(processes)]
    told, kept = Counter(), Counter()
    began, index = time.monotonic(), 0
    idle, busy = list(workers), []
    while True:
        over = time.monotonic() - began > seconds or (files is not None and index >= files)
        while idle and not over:
            idle[-1].ask(index)
            busy.append(idle.pop())
            index += 1
            over = files is not None and index >= files
        if not busy:
            break
        wait([worker.connection for worker in busy], timeout=0.5)
        for worker in list(busy):
            at = worker.index
            if (answer := worker.answer()) is not None:
                told[answer[0]] += 1
                if answer[0] not in GOOD:
                    keep(mutated(bases, seed, at), *answer, kept)
                busy.remove(worker)
                idle.append(worker)
    for worker in workers:
        worker.close()
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description="Read altered model files.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", type=int, default=None, help="stop after so many files")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    began = time.monotonic()
    told = fuzz(given.seconds, given.seed, given.processes, given.files)
    took = time.monotonic() - began
    print(f"{sum(told.values())} files in {took:.0f} seconds, seed {given.seed}: "
          + ", ".join(f"{told[name]} {name}" for name in sorted(told)))  # fmt: skip
    return 0 if set(told) <= set(GOOD) else 1


if __name__ == "__main__":
    sys.exit(main())
