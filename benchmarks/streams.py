"""Streamed fits against fits in memory: time, peak memory, and the gap that is proved.

    python -m benchmarks.streams [--rows 5000000] [--folder /var/tmp]

Makes a table of random numbers with a noisy separator, 100 columns of float32, as Parquet without
and with compression and as CSV, and an svmlight file with short rows; fits a LinearSVM to each
within a limit of memory, and in memory; removes the files.  Every fit has a process of its own, and
its peak memory is counted from where it stood after a small fit had loaded and compiled all.  The
ratios are of processor time, which other work on the machine disturbs less; seconds are told too.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS = 100
TOL = 1e-3


def chunks(rows: int, size: int = 100_000):
    """X and y of a planted separator with noise, the same every time."""
    w = np.random.default_rng(0).standard_normal(COLUMNS)
    for start in range(0, rows, size):
        rng = np.random.default_rng([1, start])
        n = min(size, rows - start)
        X = rng.standard_normal((n, COLUMNS), dtype=np.float32)
        f = X @ (w / np.sqrt(COLUMNS)).astype(np.float32)
        yield X, (f + 0.5 * rng.standard_normal(n) > 0).astype(np.int64)


def write_parquet(path: Path, rows: int, compression: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{j}" for j in range(COLUMNS)]
    writer = None
    for X, y in chunks(rows):
        columns = [pa.array(np.ascontiguousarray(X[:, j])) for j in range(COLUMNS)]
        table = pa.table([*columns, pa.array(y)], names=[*names, "label"])
        if writer is None:
            writer = parquet.ParquetWriter(
                path, table.schema, compression=compression, use_dictionary=False
            )
        writer.write_table(table)
    assert writer is not None
    writer.close()


def write_csv(path: Path, rows: int) -> None:
    import pyarrow as pa
    from pyarrow import csv

    names = [f"x{j}" for j in range(COLUMNS)]
    with path.open("wb") as file:
        for number, (X, y) in enumerate(chunks(rows)):
            columns = [pa.array(np.ascontiguousarray(X[:, j])) for j in range(COLUMNS)]
            table = pa.table([*columns, pa.array(y)], names=[*names, "label"])
            csv.write_csv(table, file, csv.WriteOptions(include_header=number == 0))


def write_svmlight(path: Path, size: int, width: int, each: int) -> int:
    """About ``size`` bytes of rows with ``each`` values in ``width`` columns."""
    w = np.random.default_rng(0).standard_normal(width)
    rows = 0
    with path.open("w") as file:
        while file.tell() < size:
            rng = np.random.default_rng([2, rows])
            places = np.sort(rng.integers(width, size=(5000, each)), axis=1)
            values = rng.random((5000, each)).round(3) + 0.001
            f = (values * w[places]).sum(axis=1)
            y = np.where(f + np.sqrt(each) * 0.3 * rng.standard_normal(5000) > 0, 1, -1)
            for label, place, value in zip(y, places, values, strict=True):
                pairs = dict(zip(place.tolist(), value.tolist(), strict=True))
                file.write(
                    f"{label} " + " ".join(f"{j + 1}:{v:g}" for j, v in pairs.items()) + "\n"
                )
            rows += 5000
    return rows


# --- one fit, in a process of its own ------------------------------------------------------


def peak() -> int:
    """The most bytes this process has had in memory so far."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    return 0


def now() -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
    return 0


def work(what: str, path: str, memory: str, dtype: str) -> dict:
    """Fit ``path`` in memory or as a stream; what it took, and what was proved."""
    from maxmargin import LinearSVM, fit_stream, open_source

    sparse = path.endswith(".svm")
    _warm_up(sparse, dtype)
    before = now()
    passes: list[float] = []
    began, worked = time.perf_counter(), time.process_time()
    if what == "memory":
        X, y = _read(path, dtype)
        read = time.process_time() - worked
        model = LinearSVM(C=1.0, tol=TOL).fit(X, y)
    else:
        target = {} if sparse else {"target": "label"}
        source = open_source(path, dtype=None if path.endswith("parquet") else dtype, **target)

        def told(number, done, n):
            if number > len(passes):
                passes.append(time.process_time() - worked)

        model = fit_stream(LinearSVM(C=1.0, tol=TOL), source, memory=memory, told=told)
        read = passes[1] if len(passes) > 1 else 0.0
    seconds = time.perf_counter() - began
    gap = model.certificate_.relative_gap
    return {
        "seconds": seconds, "cpu": time.process_time() - worked, "read": read,
        "peak": peak() - before, "gap": gap, "passes": len(passes),
        "objective": model.certificate_.primal,
    }  # fmt: skip


def _warm_up(sparse: bool, dtype: str) -> None:
    from scipy.sparse import csr_matrix

    from maxmargin import LinearSVM, fit_stream

    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 30)).astype(dtype)
    y = (X @ rng.standard_normal(30) + rng.standard_normal(4000) > 0).astype(int)
    X = csr_matrix(X) if sparse else X
    LinearSVM(tol=TOL).fit(X, y)
    fit_stream(LinearSVM(tol=TOL), [(X, y)])


def _read(path: str, dtype: str):
    """The whole file as a matrix."""
    if path.endswith(".svm"):
        from sklearn.datasets import load_svmlight_file

        return load_svmlight_file(path, dtype=dtype)
    import pyarrow as pa
    from pyarrow import csv, parquet

    table = parquet.read_table(path) if path.endswith("parquet") else csv.read_csv(path)
    y = table.column("label").to_numpy()
    table = table.drop_columns(["label"])
    X = np.empty((table.num_rows, table.num_columns), dtype)
    at = 0
    for batch in table.to_batches(50_000):
        X[at : at + batch.num_rows] = np.column_stack([c.to_numpy() for c in batch.columns])
        at += batch.num_rows
    del table
    pa.default_memory_pool().release_unused()
    return X, y


def run(what: str, path: Path, memory: str, dtype: str) -> dict:
    command = [sys.executable, "-m", "benchmarks.streams", "--work", what, str(path), memory, dtype]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--sparse-bytes", type=int, default=1_000_000_000)
    parser.add_argument("--memory", default="600MB")
    parser.add_argument("--sparse-memory", default="400MB")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--only", default="plain,snappy,csv,svmlight")
    parser.add_argument("--work", nargs=4)
    given = parser.parse_args()
    if given.work:
        print(json.dumps(work(*given.work)))
        return
    folder = Path(tempfile.mkdtemp(prefix="streams-", dir=given.folder))
    try:
        _compare(folder, given)
    finally:
        shutil.rmtree(folder)


def _compare(folder: Path, given) -> None:
    print(
        f"{'file':28} {'fit':>10} {'seconds':>8} {'cpu s':>7} {'reading':>8} {'peak MB':>8} "
        f"{'gap':>8} passes"
    )
    only = given.only.split(",")
    plans = [
        ("plain", "plain.parquet", lambda p: write_parquet(p, given.rows, "none"), "float32"),
        ("snappy", "snappy.parquet", lambda p: write_parquet(p, given.rows, "snappy"), "float32"),
        ("csv", "data.csv", lambda p: write_csv(p, given.rows), "float32"),
        ("svmlight", "data.svm",
         lambda p: write_svmlight(p, given.sparse_bytes, 1000, 60), "float64"),
    ]  # fmt: skip
    in_memory: dict | None = None
    for name, file, make, dtype in plans:
        if name not in only:
            continue
        path = folder / file
        make(path)
        size = path.stat().st_size / 1e6
        sparse = name == "svmlight"
        limit = given.sparse_memory if sparse else given.memory
        if sparse or in_memory is None:
            in_memory = run("memory", path, limit, dtype)
            _line(f"{file} ({size:.0f} MB)", "in memory", in_memory)
        streamed = run("stream", path, limit, dtype)
        _line(f"{file} ({size:.0f} MB)", f"in {limit}", streamed)
        alone = in_memory["cpu"] - in_memory["read"]
        print(
            f"{'':28} {streamed['cpu'] / alone:.2f} of the fit in memory, "
            f"{streamed['cpu'] / in_memory['cpu']:.2f} where that includes reading; after the "
            f"first reading {(streamed['cpu'] - streamed['read']) / alone:.2f}",
            flush=True,
        )
        path.unlink()


def _line(file: str, fit: str, r: dict) -> None:
    print(
        f"{file:28} {fit:>10} {r['seconds']:8.1f} {r['cpu']:7.1f} {r['read']:8.1f} "
        f"{r['peak'] / 1e6:8.0f} "
        f"{r['gap']:8.1e} {r['passes'] or ''}",
        flush=True,
    )


if __name__ == "__main__":
    main()
