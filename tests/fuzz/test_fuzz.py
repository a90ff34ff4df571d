"""Some seconds of ``python -m tests.fuzz``, always the same; ``make soak`` draws others."""

from __future__ import annotations

import gzip
import io
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from maxmargin.parts.files.limits import MAX_EXPANDED_BYTES
from maxmargin.parts.files.matrices import read_matrix
from maxmargin.parts.files.source import find_source
from maxmargin.parts.files.tables import arrow_reader, read_table, table_types

from .arguments import Arguments
from .mutations import bomb
from .run import GOOD, Subject, fuzz, judged
from .tables import Tables, people

SEED = 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("subject", "inputs"), [(Tables, 400), (Arguments, 40)])
def test_altered_input_is_accepted_or_refused_in_words(subject, inputs, folder):
    made = subject()
    made.prepare()
    told = {}
    for index in range(inputs):
        outcome, words = judged(made, SEED, index)
        assert outcome in GOOD, (index, words)
        assert outcome == "accepted" or words.strip(), index
        told[outcome] = told.get(outcome, 0) + 1
    assert min(told["accepted"], told["refused"]) > inputs / 20  # the alterations matter


# --- what the fuzzer found ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.csv.gz", "a.parquet.gz", "a.npz.gz", "a.svm.gz"])
def test_what_is_small_and_becomes_large_is_refused_while_it_does(name, folder):
    """A parquet or npz file inside gzip was unpacked whole, up to all the memory there is."""
    import random

    rows = b"x,y\n" + b"1,2\n" * 100
    if "svm" in name:
        rows = b"1 1:1\n" * 100
    (folder / name).write_bytes(bomb(random.Random(3), rows, ".gz"))
    source = find_source(name, "npz" if "npz" in name else None)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"when it is unpacked|line of more than"):
            read_table(source) if source.is_table else read_matrix(source)
        assert tracemalloc.get_traced_memory()[1] < 3 * MAX_EXPANDED_BYTES
    finally:
        tracemalloc.stop()


def test_a_damaged_arrow_file_is_refused_before_it_is_read_beyond_its_end(folder):
    """Offsets beyond the words ended the process."""
    out = io.BytesIO()
    feather.write_feather(pa.table({"w": ["some", "words"]}), out, compression="uncompressed")
    whole = bytearray(out.getvalue())
    at = whole.find(b"somewords") - 64
    offsets = whole.find(np.array([0, 4, 9], "<i4").tobytes())
    assert 0 < offsets <= at + 64
    whole[offsets + 4 : offsets + 8] = b"\xff\xff\xff\x70"
    (folder / "a.feather").write_bytes(whole)
    with pytest.raises(ValueError, match=r"a\.feather could not be read"):
        read_table(find_source("a.feather"))
    with pytest.raises(pa.ArrowInvalid):
        arrow_reader(find_source("a.feather")).read_all()


def test_columns_of_a_damaged_file_are_refused_with_its_name(folder):
    out = io.BytesIO()
    parquet.write_table(people(), out)
    (folder / "a.parquet").write_bytes(out.getvalue()[:200])
    with pytest.raises(ValueError, match=r"a\.parquet could not be read"):
        table_types(find_source("a.parquet"))


def test_compressed_files_that_are_cut_off_are_refused_in_every_format(folder):
    for name, content in {"a.svm.gz": b"1 1:1\n" * 500, "a.csv.gz": b"x,y\n1,2\n" * 500}.items():
        (folder / name).write_bytes(gzip.compress(content)[:-20])
        source = find_source(name)
        with pytest.raises(ValueError, match="damaged or cut off"):
            read_table(source) if source.is_table else read_matrix(source)


def test_arrays_that_are_none_are_refused(folder):
    np.savez("a.npz", X=np.eye(2))
    (folder / "b.npy").write_bytes((folder / "a.npz").read_bytes())
    with pytest.raises(ValueError, match=r"b\.npy is an npz file"):
        read_matrix(find_source("b.npy"))
    np.save("c.npy", np.eye(2))
    whole = (folder / "c.npy").read_bytes()
    (folder / "c.npy").write_bytes(whole.replace(b"'descr'", b"('descr", 1))
    with pytest.raises(ValueError, match="could not be read as npy"):
        read_matrix(find_source("c.npy"))


def test_lines_of_svmlight_are_counted_with_blank_ones(folder):
    (folder / "a.svm").write_bytes(b"1 1:1\n\n\n\n0 2:1\n\n1 x:1\n")
    with pytest.raises(ValueError, match=r"a.svm, row 7: no svmlight file has a line like '1 x:1'"):
        read_matrix(find_source("a.svm"))
    (folder / "b.svm").write_bytes(b"\n \n1 1:1\n\n\n0 2:1")
    assert read_matrix(find_source("b.svm"))[0].shape == (2, 2)


class Misbehaving(Subject):
    """One input of each kind of failure."""

    name = "misbehaving"
    seconds = 0.3

    def prepare(self) -> None:
        pass

    def altered(self, seed: int, index: int) -> bytes:
        return str(index).encode()

    def judge(self, altered: bytes, seed: int, index: int):
        import os
        import time

        if index == 1:
            raise ZeroDivisionError("nobody thought of this")
        if index == 2:
            os._exit(3)
        if index == 3:
            time.sleep(60)
        if index == 4:
            np.ones(150_000_000)
        return "refused", "in words"


@pytest.mark.slow
def test_every_kind_of_failure_is_told():
    told = fuzz(Misbehaving, 60.0, 0, inputs=5)
    assert told == {"refused": 1, "uncaught": 1, "crashed": 1, "late": 1, "memory": 1}
