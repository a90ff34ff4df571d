"""What is wrong is said in one sentence, with code 2, and nothing is written."""

import errno
import os
import resource
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import maxmargin as mm
from maxmargin.parts.files import atomic

from .helpers import people, write


@pytest.fixture
def model(maxmargin, table, tmp_path):
    maxmargin("fit", table, "-t", "answer", "--C", 1)
    return tmp_path / "model.maxmargin"


def test_files_that_are_not_there(maxmargin, table, tmp_path):
    assert "Did you mean" in maxmargin.complaint("fit", tmp_path / "poeple.csv", "-t", "answer")
    assert "does not exist either" in maxmargin.complaint("fit", "no/where.csv", "-t", "answer")
    assert "is a folder" in maxmargin.complaint("fit", tmp_path, "-t", "answer")
    assert "nothing.maxmargin" in maxmargin.complaint("predict", "nothing.maxmargin", table)


@pytest.mark.parametrize("text", ["", "\n", "  \n"])
def test_an_empty_file(maxmargin, tmp_path, text):
    (tmp_path / "empty.csv").write_text(text)
    assert "empty" in maxmargin.complaint("fit", tmp_path / "empty.csv", "-t", "a")


def test_a_header_alone(maxmargin, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n")
    assert "no rows" in maxmargin.complaint("fit", "a.csv", "-t", "a")


def test_a_target_that_is_not_there(maxmargin, table):
    said = maxmargin.complaint("fit", table, "-t", "Answer")
    assert "no column 'Answer'" in said
    assert "It has: age, income €" in said
    assert "Did you mean 'answer'?" in said
    said = maxmargin.complaint("fit", table)
    assert "Which column" in said
    assert "--target" in said
    assert "Columns with few values: member, town, answer" in said


def test_targets_that_are_no_labels(maxmargin, table, tmp_path):
    assert "looks like a measurement" in maxmargin.complaint("fit", table, "-t", "income €")
    assert "are not labels" in maxmargin.complaint("fit", table, "-t", "age")
    (tmp_path / "one.csv").write_text("a,b\n1,x\n2,x\n3,x\n")
    assert "only one class, x" in maxmargin.complaint("fit", "one.csv", "-t", "b")
    (tmp_path / "none.csv").write_text("a,b\n1,\n2,\n")
    assert "is empty" in maxmargin.complaint("fit", "none.csv", "-t", "b")


def test_broken_tables(maxmargin, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2\n3,y\n")
    assert "Expected 2 columns, got 1" in maxmargin.complaint("fit", "a.csv", "-t", "b")
    (tmp_path / "b.csv").write_text("a,a,b\n1,2,x\n2,3,y\n")
    assert "two columns called 'a'" in maxmargin.complaint("fit", "b.csv", "-t", "b")
    (tmp_path / "c.csv").write_bytes("a,b\n1,é\n2,x\n".encode("latin-1"))
    assert "not UTF-8" in maxmargin.complaint("fit", "c.csv", "-t", "b")
    (tmp_path / "d.parquet").write_bytes(b"PAR1 no more")
    assert "d.parquet could not be read" in maxmargin.complaint("fit", "d.parquet", "-t", "b")
    (tmp_path / "e.csv.gz").write_bytes(b"not gzip")
    assert "no valid gzip" in maxmargin.complaint("fit", "e.csv.gz", "-t", "b")
    (tmp_path / "f.csv").write_text("a,b\n1,x\ninf,y\n2,y\n3,x\n")
    assert "infinite" in maxmargin.complaint("fit", "f.csv", "-t", "b")
    (tmp_path / "g.svm").write_text("1 a:b\n")
    assert "no svmlight file" in maxmargin.complaint("fit", "g.svm")
    np.savez(tmp_path / "h.npz", Z=np.eye(3))
    assert "needs a matrix X" in maxmargin.complaint("fit", "h.npz")
    np.savez(tmp_path / "i.npz", X=np.array([{}]), y=np.zeros(1))
    assert "could not be read as npz" in maxmargin.complaint("fit", "i.npz")


def test_options_that_cannot_be(maxmargin, table):
    fit = ("fit", table, "-t", "answer")
    assert "--method must be one of svm" in maxmargin.complaint(*fit, "-m", "svn")
    assert "--basis must be polar" in maxmargin.complaint(*fit, "--basis", "cubic")
    assert "--missing must be one of" in maxmargin.complaint(*fit, "--missing", "guess")
    assert "C must be a positive" in maxmargin.complaint(*fit, "--C", -1)
    assert "between 0 and 1" in maxmargin.complaint(*fit, "--holdout", 2)
    assert "has no C" in maxmargin.complaint(*fit, "-m", "fisher", "--C", 1)
    assert "no column 'twon'" in maxmargin.complaint(*fit, "--drop", "twon")
    assert "existing folder" in maxmargin.complaint(*fit, "--out", "no/where/model")
    assert "takes no weights" in maxmargin.complaint(*fit, "-m", "perceptron", "--weights", "age")
    assert "--demo must be one of" in maxmargin.complaint("fit", "--demo", "roses")


def test_a_column_missing_at_predict(maxmargin, model, tmp_path):
    write(people().drop_columns(["town"]), tmp_path / "new.csv")
    said = maxmargin.complaint("predict", model, "new.csv")
    assert "no column 'town'" in said
    assert "It has: age" in said
    write(people().rename_columns({"town": "towns"}), tmp_path / "new.parquet")
    assert "Did you mean 'towns'?" in maxmargin.complaint("predict", model, "new.parquet")


def test_words_where_numbers_were(maxmargin, model, tmp_path):
    table = people().set_column(0, "age", pa.array(["old"] * 200))
    for name in ("new.csv", "new.parquet"):
        write(table, tmp_path / name)
        said = maxmargin.complaint("predict", model, name)
        assert "'age' held numbers when the model was fitted" in said


def test_new_levels_and_holes_are_reported(maxmargin, model, tmp_path):
    table = people(5)
    town = pa.array(["東京", "Paris", "Paris", "Rome", None])
    write(table.set_column(4, "town", town), tmp_path / "new.csv")
    out = maxmargin("predict", model, "new.csv")
    assert out.count("\n") == 6
    assert "town: 3 rows have a level that is not in the model ('Paris', 'Rome')" in maxmargin.err
    assert "town: 1 missing" in maxmargin.err
    fitted = mm.load(model)
    X = fitted.features("new.csv")
    assert X[1:, 4:].sum() == 0.0
    assert X[0, 4:].tolist() == [0.0, 0.0, 1.0]


def test_labels_the_model_does_not_know(maxmargin, model, tmp_path):
    table = people(5).set_column(5, "answer", pa.array(["maybe"] * 5))
    write(table, tmp_path / "new.csv")
    said = maxmargin.complaint("evaluate", model, "new.csv")
    assert "labels the model does not know: ['maybe']" in said


def test_a_damaged_model(maxmargin, model, table):
    data = bytearray(model.read_bytes())
    data[-40] ^= 1
    model.write_bytes(data)
    for command in ("predict", "evaluate", "verify"):
        assert "checksum" in maxmargin.complaint(command, model, table)
    assert "checksum" in maxmargin.complaint("inspect", model)


def test_a_full_disk(maxmargin, model, table, monkeypatch, tmp_path):
    before = model.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    said = maxmargin.complaint("fit", table, "-t", "answer", "--C", 2)
    assert "No space left on device" in said
    assert "No space left" in maxmargin.complaint("predict", model, table, "-o", "out.csv")
    assert model.read_bytes() == before
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"people.csv", "model.maxmargin", "report.html"}


def test_no_permission(maxmargin, table, tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir(mode=0o500)
    if os.geteuid() == 0:  # who may write anywhere
        monkeypatch.setattr(atomic.os, "open", _forbidden)
    said = maxmargin.complaint("fit", table, "-t", "answer", "--C", 2, "-o", "closed/model")
    assert "could not be written" in said


def _forbidden(path, *rest, really=os.open, **named):
    if str(path).endswith(".part"):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return really(path, *rest, **named)


def _streamed(tmp_path, rows: int, limit_mb: int) -> None:
    """Predict a large CSV file in a process whose memory may grow by so much only."""
    rng = np.random.default_rng(0)
    small = {f"x{j}": rng.standard_normal(1000).round(6) for j in range(20)}
    small["y"] = np.where(small["x0"] > 0, "yes", "no").tolist()
    write(pa.table(small), tmp_path / "small.csv")
    header, body = (tmp_path / "small.csv").read_bytes().split(b"\n", 1)
    with (tmp_path / "large.csv").open("wb") as file:
        file.write(header + b"\n")
        for _ in range(rows // 1000):
            file.write(body)
    code = (
        "import resource, sys\n"
        "from maxmargin.app.cli.app import main\n"
        "def run(*arguments):\n"
        "    try: main(list(arguments))\n"
        "    except SystemExit as end: assert not end.code\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "run('fit', 'small.csv', '-t', 'y', '--C', '1', '--json')\n"
        "used = run('predict', 'model.maxmargin', 'small.csv', '-o', 'a.csv')\n"
        "grown = run('predict', 'model.maxmargin', 'large.csv', '-o', 'b.csv') - used\n"
        "print(grown, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(done.stderr.split()[-1]) < limit_mb
    whole = csv.read_csv(tmp_path / "b.csv")
    assert whole.num_rows == rows
    part = csv.read_csv(tmp_path / "a.csv")
    last = whole.slice(rows - 1000)
    assert last.column("prediction").to_pylist() == part.column("prediction").to_pylist()
    np.testing.assert_allclose(last.column("score"), part.column("score"), rtol=1e-12, atol=1e-13)


def test_a_streamed_file_needs_little_memory(tmp_path):
    _streamed(tmp_path, 300_000, 160)  # 58 MB of text, 48 MB of numbers


@pytest.mark.slow
def test_a_large_streamed_file_needs_no_more(tmp_path):
    _streamed(tmp_path, 5_000_000, 200)  # a gigabyte


def test_help_and_version_are_quick(tmp_path):
    """0.3 s is the bar on an idle machine; here processor time counts."""
    for command in ("version", "--help"):
        best = np.inf
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, "-m", "maxmargin", command], capture_output=True, check=True
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert best < 0.4
    code = "import sys, maxmargin.app.cli.app; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"numba", "sklearn", "scipy", "numpy", "pyarrow", "pandas", "onnx"}
    assert not heavy & set(loaded.stdout.split())


def test_every_help_teaches_by_example(maxmargin):
    examples = ("fit", "predict", "evaluate", "verify", "inspect", "separable", "path", "rank")
    for command in (*examples, "export"):
        assert f"maxmargin {command} " in maxmargin(command, "--help")


def test_a_broken_pipe_is_no_error(maxmargin, table):
    maxmargin("fit", "people.csv", "-t", "answer", "--C", "1", "--no-report")
    steps = f"{sys.executable} -m maxmargin predict model.maxmargin people.csv | head -1"
    done = subprocess.run(
        ["bash", "-c", steps], cwd=table.parent, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith('"prediction"')


@pytest.mark.parametrize("memory", [(), ("--memory", "100MB")])
def test_nanoseconds_of_a_text_file(maxmargin, tmp_path, memory):
    days = np.datetime64("2020-01-01", "ns") + np.arange(40).astype("m8[h]")
    lines = [f"{day},{i > 20}\n" for i, day in enumerate(days)]
    (tmp_path / "a.csv").write_text("since,label\n" + "".join(lines))
    maxmargin("fit", "a.csv", "--C", 1, *memory)
    assert maxmargin.json("evaluate", "model.maxmargin", "a.csv")["wrong"] < 5
    assert maxmargin("predict", "model.maxmargin", "a.csv").count("\n") == 41


def test_a_word_after_the_first_rows_of_a_stream_names_the_switch(maxmargin, tmp_path):
    lines = [f"{i % 50},{i % 2}\n" for i in range(1_500_000)]
    (tmp_path / "a.csv").write_text("x,label\n" + "".join(lines) + "rotary,1\n")
    said = maxmargin.complaint("fit", "a.csv", "--C", 1, "--memory", "100MB")
    assert "row 1500001: the column 'x' holds 'rotary', which is no number" in said
    assert "`maxmargin fit --number x` takes what is none for missing" in said


def test_weights_beyond_arithmetic(maxmargin, tmp_path):
    lines = [f"{i},{1e308 if i == 3 else 1},{i % 2}\n" for i in range(20)]
    (tmp_path / "a.csv").write_text("x,w,label\n" + "".join(lines))
    for memory in ((), ("--memory", "100MB")):
        said = maxmargin.complaint("fit", "a.csv", "--C", 1, "--weights", "w", *memory)
        assert "1e+100" in said


def test_rows_to_check_an_export_on_lack_a_column(maxmargin, table, tmp_path):
    maxmargin("fit", table, "-t", "answer", "--C", 1)
    (tmp_path / "b.csv").write_text("age,answer\n1,a\n")
    given = ("export", "model.maxmargin", "--onnx", "m.onnx", "--check", "b.csv")
    assert "b.csv has no column 'income €'" in maxmargin.complaint(*given)
    assert not (tmp_path / "m.onnx").exists()
    assert "maxmargin[onnx]" in maxmargin("export", "--help")
