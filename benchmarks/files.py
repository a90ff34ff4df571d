"""Files and the command line:  python -m benchmarks.files [--rows 1000000]

Reading a CSV table beside pyarrow and polars, ``predict`` beside reading, and the time from
pressing return to the prompt of ``--help``, ``version`` and ``fit`` on iris.  Every figure is the
best of several runs, those compared taking turns; processor time (of all threads) is told beside
wall time, since a machine may be busy.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from .record import RESULTS, write

ROUNDS = 5


def write_table(path: Path, rows: int, columns: int = 20) -> None:
    """Standard normal numbers with six digits, and labels yes and no."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns)).round(6)
    table = {f"x{j}": X[:, j] for j in range(columns)}
    table["y"] = np.where(X[:, 0] + X[:, 1] + rng.standard_normal(rows) > 0, "yes", "no")
    csv.write_csv(pa.table(table), path)


def best(jobs: dict[str, Callable[[], object]]) -> dict[str, dict[str, float]]:
    """The least wall and processor seconds of every job; they take turns, so that a busy minute
    hits all of them."""
    found = {name: {"wall": np.inf, "cpu": np.inf} for name in jobs}
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            began, used = time.perf_counter(), time.process_time()
            job()
            wall, cpu = time.perf_counter() - began, time.process_time() - used
            found[name] = {
                "wall": min(wall, found[name]["wall"]),
                "cpu": min(cpu, found[name]["cpu"]),
            }
    return found


def ratios(found: dict, one: str, other: str) -> str:
    wall, cpu = (found[one][kind] / found[other][kind] for kind in ("wall", "cpu"))
    return f"{wall:.2f} (processor {cpu:.2f})"


def reading(path: Path) -> dict:
    import polars

    from maxmargin.parts.files.source import find_source
    from maxmargin.parts.files.tables import read_table

    seconds = best(
        {
            "maxmargin": lambda: read_table(find_source(path)),
            "pyarrow": lambda: csv.read_csv(path),
            "polars": lambda: polars.read_csv(path),
            "maxmargin, matrix": lambda: matrix(read_table(find_source(path))),
            "pyarrow, matrix": lambda: matrix(csv.read_csv(path)),
            "polars, matrix": lambda: polars.read_csv(path).drop("y").to_numpy(),
        }
    )
    threads = pa.cpu_count()
    print(
        f"reading {path.stat().st_size / 1e6:.0f} MB of CSV, {threads} threads (polars "
        f"{polars.thread_pool_size()}): {seconds['maxmargin']['wall']:.2f} s"
    )
    for kind in ("", ", matrix"):
        told = ", ".join(
            f"{ratios(seconds, 'maxmargin' + kind, peer + kind)} × {peer}"
            for peer in ("pyarrow", "polars")
        )
        print(f"  as {'a row-major matrix' if kind else 'a table'}: {told} (bar 1.0)")
    return {"case": "reading", "bytes": path.stat().st_size, "threads": threads, **seconds}


def matrix(table: pa.Table) -> np.ndarray:
    """The numbers of a table of Arrow's, row by row."""
    columns = [table.column(j).to_numpy() for j in range(table.num_columns - 1)]
    return np.ascontiguousarray(np.column_stack(columns))


def predicting(path: Path, model: Path) -> dict:
    """A whole model on the same file, read by our reader: from text to numbers, to predictions
    in memory, and to a file."""
    from maxmargin import load
    from maxmargin.app.cli.predict import _write
    from maxmargin.app.workflow.predict import stream
    from maxmargin.parts.files.columns import UnexpectedValues
    from maxmargin.parts.files.source import find_source
    from maxmargin.parts.files.tables import read_table

    fitted = load(model)

    def batches():
        return stream(fitted, find_source(path), [], False, UnexpectedValues())

    def to_file():
        with path.with_name("out.csv").open("wb") as file:
            _write(batches(), file, None)

    seconds = best(
        {
            "reading": lambda: read_table(find_source(path)),
            "predicting": lambda: [batch.num_rows for batch in batches()],
            "predicting to CSV": to_file,
        }
    )
    print(
        f"predict: {ratios(seconds, 'reading', 'predicting')} × the speed of reading (bar 0.7), "
        f"{ratios(seconds, 'reading', 'predicting to CSV')} × with CSV written"
    )
    return {"case": "predicting", **seconds}


def commands(folder: Path) -> list[dict]:
    rows = []
    bars = {"--help": 0.3, "version": 0.3, "fit": 3.0}
    for command, bar in bars.items():
        wall, cpu = np.inf, np.inf
        for _ in range(ROUNDS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "maxmargin", command],
                cwd=folder, check=True, capture_output=True,
            )  # fmt: skip
            wall = min(wall, time.perf_counter() - began)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            cpu = min(cpu, used)
        told = "fit on iris, warm cache" if command == "fit" else command
        print(f"maxmargin {told}: {wall:.2f} s (bar {bar}), {cpu:.2f} s of processor time")
        rows.append({"case": told, "wall": wall, "cpu": cpu})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = commands(folder)
        write_table(folder / "small.csv", 2000)
        subprocess.run(
            [sys.executable, "-m", "maxmargin", "fit", "small.csv", "--C", "1"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        write_table(folder / "large.csv", rows)
        found += [
            reading(folder / "large.csv"),
            predicting(folder / "large.csv", folder / "model.maxmargin"),
        ]
    write(found, RESULTS / "files.json")


if __name__ == "__main__":
    main()
