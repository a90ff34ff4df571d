"""Altered tables and matrices: read to fit, read in pieces, and read to predict."""

from __future__ import annotations

import io
import random
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet
from scipy import sparse

from .mutations import altered_bytes, bomb, packed, rezipped
from .run import Outcome, Subject

ROWS = 40
TEXT_FORMATS = (".csv", ".tsv", ".svm")
SUFFIXES = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".svm", ".npz", ".npy", "")
BOMBS = 0.01  # share of compressed inputs that are small and become large
FORESEEN = (ValueError, OSError, ImportError, MemoryError, pa.ArrowException)


def people() -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "age": rng.integers(18, 80, ROWS),
            "income": pa.array(rng.lognormal(10, 1, ROWS).round(2), mask=rng.random(ROWS) < 0.1),
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, ROWS).astype("m8[D]"),
            "town": rng.choice(["Köln, am Rhein", "the 'Big' Apple", "東京"], ROWS),
            "member": rng.random(ROWS) < 0.5,
            "label": rng.choice(["yes", "no"], ROWS),
        }
    )


def bases() -> list[tuple[str, bytes]]:
    """Files by suffix."""
    table, found = people(), []

    def written(write, *args, **given) -> bytes:
        out = io.BytesIO()
        write(*args, out, **given)
        return out.getvalue()

    for suffix, mark in ((".csv", ","), (".csv", ";"), (".tsv", "\t")):
        options = csv.WriteOptions(delimiter=mark)
        found.append((suffix, written(csv.write_csv, table, write_options=options)))
    for compression in ("snappy", "zstd", "none"):
        data = written(parquet.write_table, table, compression=compression)
        found.append((".parquet", data))
    for compression in ("lz4", "uncompressed"):
        data = written(feather.write_feather, table, compression=compression)
        found.append((".feather", data))
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as sink:
        sink.write_table(table)
    found.append((".arrow", out.getvalue()))
    return found + matrices()


def matrices() -> list[tuple[str, bytes]]:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((ROWS, 4)).round(3), rng.integers(0, 3, ROWS)
    S = sparse.random(ROWS, 6, 0.5, "csr", random_state=0)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(x))
        for label, x in zip(y, X, strict=True)
    ]
    found = [(".svm", "\n".join(lines).encode() + b"\n")]
    for save, arrays in (
        (np.savez, {"X": X, "y": y}),
        (np.savez_compressed, {"X": X.astype("f4"), "y": y.astype(str)}),
        (np.savez, {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape,
                    "y": y}),
    ):  # fmt: skip
        out = io.BytesIO()
        save(out, **arrays)
        found.append((".npz", out.getvalue()))
    out = io.BytesIO()
    np.save(out, X)
    return [*found, (".npy", out.getvalue())]


class Tables(Subject):
    name = "tables"

    def __init__(self) -> None:
        self.bases = bases()

    def prepare(self) -> None:
        """Models to predict with, and everything imported."""
        from maxmargin.app.workflow.fit import fit_table
        from maxmargin.app.workflow.plan import Plan
        from maxmargin.parts.files.preparation import Choices
        from maxmargin.parts.files.training import label_table, read_labelled

        np.save("y.npy", np.arange(ROWS) % 3)
        data = label_table(people(), "label", None, "people")
        self.table_model = fit_table(data, Plan(C=1.0), Choices()).model
        Path("X.npz").write_bytes(matrices()[1][1])
        self.matrix_model = fit_table(
            read_labelled("X.npz", None, None, None), Plan(C=1.0), Choices()
        ).model
        for index, (suffix, data) in enumerate(self.bases):
            for kind in range(3):
                said = self._read(self._written(data, suffix), random.Random(kind))
                if said[0] not in ("accepted", "refused"):
                    raise AssertionError((index, suffix, said))

    def _chosen(self, seed: int, index: int) -> tuple[random.Random, str, bytes]:
        rng = random.Random(f"{seed}:{index}")
        return rng, *rng.choice(self.bases)

    def altered(self, seed: int, index: int) -> bytes:
        return self._altered(seed, index)[1]

    @lru_cache(1)  # noqa: B019  # asked for twice: the bytes, and the name
    def _altered(self, seed: int, index: int) -> tuple[str, bytes]:
        rng, suffix, data = self._chosen(seed, index)
        compression = rng.choice(["", "", "", ".gz", ".bz2"])
        if compression and rng.random() < BOMBS:
            return suffix + compression, bomb(rng, data, compression)
        if suffix == ".npz" and rng.random() < 0.7:
            data = rezipped(rng, data)
        else:
            data = altered_bytes(rng, data, suffix in TEXT_FORMATS)
        data = packed(data, compression)
        if compression and rng.random() < 0.2:
            data = altered_bytes(rng, data, text=False)
        if rng.random() < 0.05:
            suffix = rng.choice(SUFFIXES)
        return suffix + compression, data

    def _written(self, data: bytes, suffix: str) -> Path:
        path = Path(f"X{suffix}")
        path.write_bytes(data)
        return path

    def judge(self, altered: bytes, seed: int, index: int) -> Outcome:
        path = self._written(altered, self._altered(seed, index)[0])
        try:
            return self._read(path, random.Random(index))
        finally:
            path.unlink()

    def _read(self, path: Path, rng: random.Random) -> Outcome:
        try:
            rng.choice([self._to_fit, self._in_pieces, self._to_predict])(path)
        except FORESEEN as error:
            return "refused", str(error)
        return "accepted", ""

    def _to_fit(self, path: Path) -> None:
        from maxmargin.app.workflow.rows import MemoryRows
        from maxmargin.parts.files.preparation import Choices
        from maxmargin.parts.files.training import read_labelled

        MemoryRows(read_labelled(path, None, None, None), Choices())

    def _in_pieces(self, path: Path) -> None:
        from maxmargin.parts.files.form import FileOptions
        from maxmargin.parts.files.preparation import Choices
        from maxmargin.parts.stream.memory_limit import parse_memory
        from maxmargin.parts.stream.progress import StreamProgress
        from maxmargin.parts.stream.table_files import open_files

        limit = parse_memory("600MB")
        opened = open_files(FileOptions(path), Choices(), limit, StreamProgress(0), 0)
        for _ in opened.source.chunks(limit.read):
            pass

    def _to_predict(self, path: Path) -> None:
        from maxmargin.app.workflow.predict import stream
        from maxmargin.parts.files.columns import UnexpectedValues
        from maxmargin.parts.files.source import find_source

        source = find_source(path)
        model = self.table_model if source.is_table else self.matrix_model
        for _ in stream(model, source, [], True, UnexpectedValues()):
            pass
