"""*Your data*, files as they arrive: what is refused, what is told of them, how they are named."""

import asyncio
import gzip
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect

from maxmargin.app.studio import uploads
from maxmargin.app.studio.describe import MAX_WORD_LENGTH, describe
from maxmargin.app.studio.uploads import stored_name

from .data_helpers import RAW, as_csv, as_parquet, drop, flowers, stored_files


def run(coroutine):
    """In a thread of its own: the browser's tests have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def test_large_files_are_refused_by_their_header_and_while_they_arrive(client, workshop):
    refused = drop(client, bytes(workshop.most + 1))
    assert refused.status_code == 413
    assert f"{workshop.most:,}" in refused.json()["error"]

    def endless():
        for _ in range(100):
            yield b"1," * 50_000

    refused = client.post("/data/files?name=x.csv", content=endless(), headers=RAW)
    assert refused.status_code == 413
    assert "too much" in refused.json()["error"]
    assert stored_files(workshop) == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("a.csv", b"", "empty"), ("b.png", b"\x89PNG\r\n" + bytes(range(256)), "b.png is not UTF-8"),
     ("c.parquet", b"PAR1" + bytes(99), "c.parquet could not be read")],
)  # fmt: skip
def test_bad_files_are_refused_in_words_and_not_kept(client, workshop, name, content, words):
    refused = drop(client, content, name)
    assert refused.status_code == 422
    assert words in refused.json()["error"]
    assert stored_files(workshop) == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("a.csv", b"\n\n", "empty"), ("a.csv", b"a,b\n", "no rows"), ("a.csv", b"a,a\n1,2\n", "two"),
     ("a.csv", b"a,b\n1,2,3\n", "Expected 2"), ("a.npz", b"PK" + bytes(50), "npz"),
     ("a.svm", b"1 1:2 2:zz\n", "svmlight"), ("a.csv.gz", b"no gzip", "gzip"),
     ("a.csv.gz", gzip.compress(as_csv(flowers()), mtime=0)[:200], "cut off"),
     ("a.arrow", b"ARROW1" + bytes(80), "a.arrow")],
)  # fmt: skip
def test_files_that_cannot_be_read(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ValueError, OSError), match=words):
        describe(str(tmp_path / name))


def test_a_huge_line_is_told_in_few_letters(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes(b"a,b\n1," + b"x" * 3_000_000 + b"\n2,y\n")
    told = describe(str(file))
    assert told["rows"] == 2
    assert len(told["preview"][0][1]) == MAX_WORD_LENGTH


def test_a_wide_file_is_told_in_part_with_its_last_column(tmp_path):
    table = {f"x{j}": np.arange(4.0) for j in range(1200)} | {"class": ["a", "b", "a", "b"]}
    (tmp_path / "a.parquet").write_bytes(as_parquet(pa.table(table)))
    told = describe(str(tmp_path / "a.parquet"))
    assert (told["width"], len(told["columns"]), told["target"]) == (1201, 1000, "class")
    assert len(told["preview"][0]) == 40


@pytest.mark.parametrize(
    ("names", "target"),
    [(["a", "Species", "b"], "Species"), (["a", "words", "b"], "words"), (["a", "b"], None)],
)
def test_a_likely_target_is_suggested(tmp_path, names, target):
    rng = np.random.default_rng(0)
    few = np.array(["u", "v"])[rng.integers(0, 2, 50)]
    table = {n: few if n in ("Species", "words") else rng.standard_normal(50) for n in names}
    (tmp_path / "a.csv").write_bytes(as_csv(pa.table(table)))
    assert describe(str(tmp_path / "a.csv"))["target"] == target


@given(st.text(max_size=300))
def test_names_cannot_leave_their_folder(name):
    stored = stored_name(name)
    assert os.path.basename(stored) == stored
    assert stored.lstrip("-.") == stored
    assert 0 < len(os.fsencode(stored)) < 255
    assert not set(stored) & set("/\\\0:\n ")


@pytest.mark.parametrize(
    ("name", "stored"),
    [("iris.csv", "iris.csv"), ("a b.csv.GZ", "a_b.csv.gz"), ("../../etc/passwd", "passwd"),
     ("-rf.parquet", "rf.parquet"), ("numpy.py", "numpy"), (".csv", "data.csv"), ("", "data"),
     ("C:\\x\\y.tsv", "y.tsv"), ("Größe.csv", "Größe.csv"),
     ("model.maxmargin", "data-model.maxmargin"), (".answer", "data"), ("answer", "answer")],
)  # fmt: skip
def test_what_becomes_of_names(name, stored):
    assert stored_name(name) == stored


def test_files_are_kept_in_moderate_numbers_and_for_a_while(workshop, monkeypatch):
    async def content():
        yield b"a,b\n1,2\n"

    def receive(name):
        return run(workshop.uploads.receive(name, content()))

    monkeypatch.setattr(uploads, "MAX_KEPT_FILES", 3)
    first, second, third = (receive(f"{n}.csv") for n in "abc")
    workshop.uploads.find(first.token)  # used again
    second.busy = True
    receive("d.csv")
    assert [u.path.exists() for u in (first, second, third)] == [True, True, False]
    workshop.uploads.sweep(first.used + uploads.MAX_IDLE_SECONDS + 60)
    assert stored_files(workshop) == ["b.csv"]  # in use, however long


def test_what_does_not_arrive_whole_leaves_nothing(workshop):
    async def torn():
        yield b"a,b\n"
        raise ClientDisconnect

    with pytest.raises(ClientDisconnect):
        run(workshop.uploads.receive("a.csv", torn()))
    assert stored_files(workshop) == []
    assert len(workshop.uploads) == 0
