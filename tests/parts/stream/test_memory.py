"""Peak memory stays under the limit, measured from outside, with files larger than it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from maxmargin.parts.stream.memory_limit import parse_memory

COLUMNS = 40


def chunks(rows: int, size: int = 50_000):
    w = np.random.default_rng(0).standard_normal(COLUMNS) / np.sqrt(COLUMNS)
    for start in range(0, rows, size):
        rng = np.random.default_rng([1, start])
        X = rng.standard_normal((size, COLUMNS), dtype=np.float32)
        yield X, (X @ w + 0.5 * rng.standard_normal(size) > 0).astype(int)


def write_tables(path: Path, rows: int) -> None:
    names = [f"x{j}" for j in range(COLUMNS)]
    writer = None
    for X, y in chunks(rows):
        columns = [pa.array(np.ascontiguousarray(X[:, j])) for j in range(COLUMNS)]
        table = pa.table([*columns, pa.array(y)], names=[*names, "label"])
        if writer is None and path.suffix == ".csv":
            writer = csv.CSVWriter(path, table.schema)
        elif writer is None:
            writer = parquet.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table)
    writer.close()


def write_svmlight(path: Path, rows: int) -> None:
    """Every tenth row is another; labels are drawn for each."""
    rng = np.random.default_rng(0)
    some = rows // 10
    places = np.sort(rng.integers(1, 26, (some, 20)).cumsum(axis=1), axis=1)
    values = rng.random((some, 20)).round(3)
    sums = (values * rng.standard_normal(501)[places]).sum(axis=1)
    lines = [
        " ".join([f"{j}:{v}" for j, v in zip(place, value, strict=True)])
        for place, value in zip(places.tolist(), values.tolist(), strict=True)
    ]
    with path.open("w") as file:
        for _ in range(10):
            labels = (sums + rng.standard_normal(some) > 0).astype(int).tolist()
            file.write("".join([f"{y} {x}\n" for y, x in zip(labels, lines, strict=True)]))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A function that writes a file once, whoever asks for it."""
    folder = tmp_path_factory.mktemp("large")

    def write(name: str, rows: int) -> Path:
        path = folder / name
        if not path.exists():
            (write_svmlight if name.endswith("svm") else write_tables)(path, rows)
        return path

    return write


@pytest.mark.parametrize(
    ("method", "name", "rows", "memory"),
    [
        ("svm", "t.csv", 150_000, "40MB"),
        pytest.param("logistic", "t.parquet", 450_000, "40MB", marks=pytest.mark.slow),
        pytest.param("svm", "t.parquet", 450_000, "40MB", marks=pytest.mark.slow),
        pytest.param("svm", "t.svm", 400_000, "50MB", marks=pytest.mark.slow),
    ],
)
def test_under_the_limit(written, method, name, rows, memory):
    path = written(name, rows)
    limit = parse_memory(memory).limit
    assert path.stat().st_size > 1.2 * limit
    command = [sys.executable, "-m", "tests.parts.stream.measured", method, str(path), memory]
    for _ in range(2):  # a run that compiles takes memory for it, and is made again
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        if told["compiled"] == 0:
            break
    assert told["compiled"] == 0
    assert told["gap"] <= 1e-3
    assert told["peak"] <= limit


@pytest.mark.parametrize(
    ("said", "bytes"),
    [("600MB", 6e8), ("1.5 GB", 1.5e9), ("1GiB", 2**30), ("200m", 2e8), (5e7, 5e7)],
)
def test_limits_in_words(said, bytes):
    assert parse_memory(said).limit == bytes


@pytest.mark.parametrize("said", ["1KB", "much", "-3GB", None, True, float("inf"), "1 G B"])
def test_limits_that_are_none(said):
    with pytest.raises(ValueError, match="memory must be"):
        parse_memory(said)
