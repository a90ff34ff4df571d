"""Bad input ends with 2 and a sentence; what nobody foresaw with 70 and a request."""

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import maxmargin as mm
from maxmargin.app.cli.app import FAULT_EXIT_CODE

LONG = ("100000000000000000001", "200000000000000000002")


def test_bad_files_are_refused_in_a_sentence(maxmargin, tmp_path):
    nested = pa.table({"x": [1.0, 2.0], "y": [[1], [2]]})
    parquet.write_table(nested, tmp_path / "nested.parquet")
    assert "are no labels" in maxmargin.complaint("fit", "nested.parquet", "-t", "y")
    given = ("fit", "nested.parquet", "-t", "y", "--memory", "1GB")
    assert "are no labels" in maxmargin.complaint(*given)
    for number in (99999999999, 2000000000):
        (tmp_path / "a.svm").write_text(f"1 1:1\n0 2:1\n1 {number}:1\n0 1:2\n")
        for more in ((), ("--memory", "1GB")):
            said = maxmargin.complaint("fit", "a.svm", "--C", 1, *more)
            assert "number" in said
    for command in ("fit", "path", "separable"):
        assert "is a device" in maxmargin.complaint(command, "/dev/zero")


def test_an_endless_device_as_standard_input(tmp_path):
    with open("/dev/zero", "rb") as endless:
        done = subprocess.run(
            [sys.executable, "-m", "maxmargin", "fit", "-"],
            stdin=endless, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert (
        done.stderr == "maxmargin: standard input is a device, not a file with rows. Name a file.\n"
    )


class Surprise(Exception):
    pass


@pytest.fixture
def broken(monkeypatch):
    def fail(*_, **__):
        raise Surprise("nobody thought of this")

    monkeypatch.setattr("maxmargin.parts.files.training.find_source", fail)


def test_what_nobody_foresaw(maxmargin, table, broken):
    assert maxmargin("fit", table, "-t", "answer", code=FAULT_EXIT_CODE) == ""
    assert maxmargin.err.startswith("maxmargin: This is a fault of maxmargin")
    assert "Surprise: nobody thought of this. Please report it" in maxmargin.err
    assert f"`maxmargin fit {table} -t answer --debug` prints" in maxmargin.err
    assert maxmargin.err.count("\n") == 1


def test_debug_shows_where(maxmargin, table, broken, monkeypatch):
    for place in (0, 2, 4):
        words = ["fit", table, "-t", "answer"]
        words.insert(place, "--debug")
        maxmargin(*words, code=FAULT_EXIT_CODE)
        assert "Traceback" in maxmargin.err
        assert maxmargin.err.splitlines()[-1].startswith("maxmargin: This is a fault")
    monkeypatch.setenv("MAXMARGIN_DEBUG", "1")
    maxmargin("fit", "nowhere.csv", code=FAULT_EXIT_CODE)
    assert "Traceback" in maxmargin.err
    assert "--debug" in maxmargin("--help")


def test_debug_shows_it_of_bad_input_too(maxmargin):
    maxmargin("fit", "nowhere.csv", "--debug", code=2)
    assert "Traceback" in maxmargin.err
    assert maxmargin.err.splitlines()[-1] == "maxmargin: There is no file nowhere.csv."


def test_short_memory_is_said(maxmargin, table, monkeypatch):
    def fail(*_, **__):
        raise MemoryError("Unable to allocate 596 GiB")

    monkeypatch.setattr("maxmargin.parts.files.training.find_source", fail)
    said = maxmargin.complaint("fit", table, "-t", "answer")
    assert "more memory than there is (Unable to allocate 596 GiB)" in said


@pytest.mark.parametrize("memory", [(), ("--memory", "1GB")])
def test_labels_are_never_merged(maxmargin, tmp_path, memory):
    rng = np.random.default_rng(0)
    for labels in (LONG, ("001", "1")):
        x = np.arange(40) % 2
        lines = [f"{v + 0.1 * rng.random():.3f},{labels[v]}\n" for v in x]
        (tmp_path / "a.csv").write_text("x,y\n" + "".join(lines))
        maxmargin("fit", "a.csv", "--C", 1, *memory)
        assert mm.load("model.maxmargin").model.classes_.tolist() == sorted(labels)
        assert maxmargin.json("evaluate", "model.maxmargin", "a.csv")["wrong"] == 0
        assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]
        told = maxmargin("predict", "model.maxmargin", "a.csv").splitlines()
        assert told[1].split(",")[0].strip('"') == labels[0]
    (tmp_path / "b.csv").write_text("x,y\n0,1\n1,01\n")
    said = maxmargin.complaint("evaluate", "model.maxmargin", "b.csv")
    assert "labels the model does not know: ['01']" in said


def test_exit_codes_are_told(maxmargin):
    assert "70 a fault of the program" in " ".join(maxmargin("--help").split())
    assert os.EX_SOFTWARE == FAULT_EXIT_CODE


@pytest.mark.parametrize("memory", [(), ("--memory", "50MB")])
def test_a_column_of_numbers_is_not_lost_for_a_stray_word(maxmargin, tmp_path, memory):
    lines = [f"{i}.5,{'old' if i > 50 else 'young'}\n" for i in range(100)]
    lines[7] = "unknown,young\n"
    (tmp_path / "a.csv").write_text("age,label\n" + "".join(lines))
    told = maxmargin.json("fit", "a.csv", "--C", 1, *memory)
    assert mm.load("model.maxmargin").feature_names == ["age"]
    assert any("age: understood as numbers, though 1 of 100" in note for note in told["notes"])
    (tmp_path / "new.csv").write_text("age\n1\n99\n")
    out = maxmargin("predict", "model.maxmargin", "new.csv").splitlines()
    assert [line.split(",")[0] for line in out[1:]] == ['"young"', '"old"']
    assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]


@pytest.mark.parametrize("memory", [(), ("--memory", "1GB")])
def test_a_stray_word_among_numbers_is_told_and_mended(maxmargin, tmp_path, memory):
    lines = [f"{20 + i},{'old' if i > 20 else 'young'}\n" for i in range(40)]
    lines[7] = "unknown,young\n"
    (tmp_path / "a.csv").write_text("age,label\n" + "".join(lines))
    told = maxmargin.json("fit", "a.csv", "--C", 1, *memory)
    assert any("1 of 40 values is no number, such as 'unknown'" in note for note in told["notes"])
    told = maxmargin.json("fit", "a.csv", "--C", 1, "--number", "age", *memory)
    assert any("age: 1 missing values, filled with the mean" in note for note in told["notes"])
    assert mm.load("model.maxmargin").feature_names == ["age"]
    (tmp_path / "new.csv").write_text("age\n21\n55\nwho knows\n")
    out = maxmargin("predict", "model.maxmargin", "new.csv").splitlines()
    assert [line.split(",")[0] for line in out[1:3]] == ['"young"', '"old"']
    assert "age: 1 missing" in maxmargin.err
    assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]
    said = maxmargin.complaint("fit", "a.csv", "--number", "aeg", *memory)
    assert "Did you mean 'age'?" in said


@pytest.mark.parametrize("memory", [(), ("--memory", "1GB")])
def test_decimal_commas(maxmargin, tmp_path, memory):
    lines = [f"{i},{i % 10};{'b' if i > 20 else 'a'}\n" for i in range(40)]
    (tmp_path / "a.csv").write_text("x;label\n" + "".join(lines))
    told = maxmargin.json("fit", "a.csv", "--C", 1, "--category", "x", *memory)
    assert told["features"] == 40
    maxmargin("fit", "a.csv", "--C", 1, "--decimal", ",", *memory)
    model = mm.load("model.maxmargin")
    assert model.feature_names == ["x"]
    assert abs(model.preparation.columns[0].mean - 19.95) < 1e-12
    assert maxmargin.json("evaluate", "model.maxmargin", "a.csv")["wrong"] == 0
    assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]
    assert "--decimal must be" in maxmargin.complaint("fit", "a.csv", "--decimal", "x")
