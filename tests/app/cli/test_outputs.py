"""No command writes over what it reads, or two things to one file; devices stay what they are."""

import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv, parquet

import maxmargin as mm
from maxmargin.app.cli.output import without_formula
from maxmargin.parts.files.atomic import replacing

from .helpers import people, write

FIT = ("-t", "answer", "--C", 1)


@pytest.fixture
def model(maxmargin, table, tmp_path):
    maxmargin("fit", table, *FIT, "--no-report")
    return tmp_path / "model.maxmargin"


def _names_of(path: Path, tmp_path: Path) -> list[Path | str]:
    """Other names of one file: relative, with a detour, a link, a second name."""
    (tmp_path / "folder").mkdir(exist_ok=True)
    link, second = tmp_path / "link.csv", tmp_path / "second.csv"
    link.symlink_to(path)
    os.link(path, second)
    return [path, path.name, f"folder/../{path.name}", link, second]


def test_a_fit_never_writes_over_its_data(maxmargin, table, tmp_path):
    before = table.read_bytes()
    for name in _names_of(table, tmp_path):
        for option in ("--out", "--report"):
            said = maxmargin.complaint("fit", table, *FIT, option, name)
            assert f"{option} {name} is the data, which would be overwritten" in said
            assert "Name another file" in said
        said = maxmargin.complaint("fit", name, *FIT, "--out", table, "--memory", "1GB")
        assert "is the data" in said
    assert table.read_bytes() == before
    assert not (tmp_path / "model.maxmargin").exists()


def test_nor_over_its_test_data_or_the_files_of_a_folder(maxmargin, table, tmp_path):
    test = write(people(50, seed=1), tmp_path / "test.csv")
    said = maxmargin.complaint("fit", table, *FIT, "--test", test, "-o", "test.csv")
    assert "--out test.csv is the test data" in said
    for data in (tmp_path, "*.csv"):
        said = maxmargin.complaint("fit", data, *FIT, "--memory", "1GB", "--report", "test.csv")
        assert "--report test.csv is the data" in said


def test_nor_over_the_labels_of_an_array(maxmargin, tmp_path):
    X, y = np.random.default_rng(0).standard_normal((40, 2)), np.arange(40) % 2
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "w.npy", np.ones(40))
    np.save(tmp_path / "other.npy", y)
    for out in ("X.npy", "y.npy"):
        assert "is the data" in maxmargin.complaint("fit", "X.npy", "--C", 1, "-o", out)
    given = ("fit", "X.npy", "--C", 1, "-t", "other.npy", "--weights", "w.npy")
    assert "is the labels" in maxmargin.complaint(*given, "-o", "other.npy")
    assert "is the weights" in maxmargin.complaint(*given, "-o", "w.npy")


def test_the_default_page_counts(maxmargin, table, tmp_path):
    table.rename(tmp_path / "report.html")
    said = maxmargin.complaint("fit", "report.html", "--format", "csv", *FIT)
    assert "--report report.html is the data" in said
    maxmargin("fit", "report.html", "--format", "csv", *FIT, "--no-report")


def test_predict_and_export_never_write_over_model_or_data(maxmargin, model, table, tmp_path):
    before = model.read_bytes(), table.read_bytes()
    for name in _names_of(table, tmp_path):
        assert "is the data" in maxmargin.complaint("predict", model, table, "-o", name)
        said = maxmargin.complaint("export", model, "--onnx", name, "--check", table)
        assert "--onnx" in said
        assert "is the data" in said
    assert "is the model" in maxmargin.complaint("predict", model, table, "-o", model)
    assert "is the model" in maxmargin.complaint("export", model, "--onnx", model)
    assert (model.read_bytes(), table.read_bytes()) == before


def test_standard_input_is_an_input(maxmargin, model, table, monkeypatch):
    with table.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert "is the data" in maxmargin.complaint("predict", model, "-", "-o", table)


def test_path_and_compare_never_write_over_their_data(maxmargin, table):
    for command in ("path", "compare"):
        given = (command, table, "-t", "answer", "--report")
        assert "is the data" in maxmargin.complaint(*given, table)
        assert "existing folder" in maxmargin.complaint(*given, "no/where.html")


def test_rank_never_writes_over_items_or_comparisons(maxmargin, tmp_path):
    (tmp_path / "items.csv").write_text("item,size\na,1\nb,2\nc,3\n")
    (tmp_path / "said.csv").write_text("item_a,item_b,winner\na,b,b\nb,c,c\n")
    given = ("rank", "said.csv", "--items", "items.csv", "--out")
    assert "is the items" in maxmargin.complaint(*given, "items.csv")
    assert "is the comparisons" in maxmargin.complaint(*given, "said.csv")


def test_two_outputs_are_two_files(maxmargin, table, tmp_path):
    (tmp_path / "a").write_text("")
    os.link(tmp_path / "a", tmp_path / "b")
    for report in ("a", "./a", "b"):
        said = maxmargin.complaint("fit", table, *FIT, "-o", "a", "--report", report)
        assert f"--out and --report both name {Path(report)}" in said
    said = maxmargin.complaint("fit", table, *FIT, "-o", "new", "--report", "./new")
    assert "both name" in said


def test_a_pipe_is_written_to_and_stays_a_pipe(maxmargin, model, table, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    maxmargin("predict", model, table, "-o", pipe)
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert got[0].decode() == maxmargin("predict", model, table)
    assert not list(tmp_path.glob(".*"))


def test_a_device_stays_a_device_and_takes_several_outputs(maxmargin, table, tmp_path):
    null = Path(os.devnull)
    (tmp_path / "link").symlink_to(null)
    for out in (null, "link"):
        done = maxmargin.json("fit", table, *FIT, "-o", out, "--report", null)
        assert done["files"] == [str(out), str(null)]
    assert stat.S_ISCHR(null.stat().st_mode)
    done = maxmargin.json("fit", table, *FIT, "-o", null)
    assert done["files"] == [str(null)]  # no page beside a device
    said = maxmargin.complaint("fit", table, *FIT, "-o", null, "--memory", "1GB")
    assert "must then be a file" in said


def test_replacing_says_what_cannot_be_written_to(tmp_path):
    import socket

    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "door"))
        with (
            pytest.raises(OSError, match="door could not be written"),
            replacing(tmp_path / "door"),
        ):
            pass


def test_a_model_may_be_fitted_again(maxmargin, model, table):
    """An output that is there and not read is replaced, as ever."""
    maxmargin("fit", table, *FIT, "-o", model, "--no-report")
    assert mm.load(model).summary["rows"] == 200


FORMULAS = ("=HYPERLINK(1)", "@SUM(1)", "+cmd|' /C calc'!A0", "-2+3", "\tx")


def test_labels_are_no_formulas_in_a_spreadsheet(maxmargin, tmp_path):
    assert [without_formula(word) for word in FORMULAS] == [f"'{word}" for word in FORMULAS]
    for harmless in ("", "a=b", "-1", "+1", "-2.5e3", "'=A1", "é"):
        assert without_formula(harmless) == harmless
    words = ["=HYPERLINK(1)", "-1"]
    lines = [f"{i % 2},{words[i % 2]},@{i}\n" for i in range(40)]
    (tmp_path / "a.csv").write_text("x,y,=id\n" + "".join(lines))
    maxmargin("fit", "a.csv", "--C", 1, "--drop", "=id", "--no-report")
    maxmargin("predict", "model.maxmargin", "a.csv", "--keep", "=id", "-o", "out.csv")
    told = csv.read_csv(tmp_path / "out.csv")
    assert told.schema.names[0] == "'=id"
    assert set(told["prediction"].to_pylist()) == {"'=HYPERLINK(1)", "-1"}
    assert told["'=id"][3].as_py() == "'@3"
    maxmargin("predict", "model.maxmargin", "a.csv", "-o", "out.parquet")
    told = parquet.read_table(tmp_path / "out.parquet")
    assert set(told["prediction"].to_pylist()) == set(words)


def test_ranked_items_are_no_formulas(maxmargin, tmp_path):
    (tmp_path / "items.csv").write_text("item,size\n=A1,1\nb,2\nc,3\n")
    (tmp_path / "said.csv").write_text("item_a,item_b,winner\n=A1,b,b\nb,c,c\n")
    maxmargin("rank", "said.csv", "--items", "items.csv", "--out", "ranked.csv", "--json")
    assert "'=A1" in csv.read_csv(tmp_path / "ranked.csv")["item"].to_pylist()
