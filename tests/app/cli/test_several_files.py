"""Several files as one, predictions as a sheet of a workbook, and the program without a word."""

import builtins
import sys

import pyarrow as pa
import pytest

from maxmargin import __version__
from maxmargin.app.cli.excel_sheet import write_sheet
from maxmargin.parts.files.several import stacked

from .helpers import people, write


@pytest.fixture
def parts(tmp_path):
    """The table of people in two files, the columns of the second in another order."""
    table = people()
    turned = table.slice(120).select(table.schema.names[::-1])
    return write(table.slice(0, 120), tmp_path / "a.csv"), write(turned, tmp_path / "b.csv")


def test_several_files_are_one_table(maxmargin, table, parts):
    options = ("-t", "answer", "--C", 1, "--no-report")
    together = maxmargin.json("fit", *parts, *options)
    alone = maxmargin.json("fit", table, *options, "-o", "alone.maxmargin")
    assert together["rows"] == 200
    assert together["certificate"] == alone["certificate"]
    assert together["data"].endswith("a.csv and 1 more")
    assert any("rows of 2 files" in note and "b.csv: 80" in note for note in together["notes"])
    assert maxmargin.json("verify", "model.maxmargin", *parts)["holds"]


def test_files_that_do_not_belong_together(maxmargin, parts, tmp_path):
    other = write(people().rename_columns({"age": "years"}), tmp_path / "c.csv")
    said = maxmargin.complaint("fit", parts[0], other, "-t", "answer")
    assert "must have the same columns" in said
    assert "c.csv lacks age and has years besides" in said
    said = maxmargin.complaint("fit", *parts, "-t", "answer", "--memory", "1GB")
    assert "put several files into a folder" in said


def test_columns_that_are_words_in_one_of_them():
    found = stacked([pa.table({"x": [1, 2]}), pa.table({"x": ["3", "rotary"]})])
    assert found.column("x").to_pylist() == ["1", "2", "3", "rotary"]
    found = stacked([pa.table({"x": [1, 2]}), pa.table({"x": [0.5]})])
    assert found.column("x").to_pylist() == [1.0, 2.0, 0.5]


def test_predictions_are_a_new_sheet_of_a_copy(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.create_sheet("predictions").append(["of", "yours"])
    path = tmp_path / "in.xlsx"
    book.save(path)
    before = path.read_bytes()
    batch = pa.record_batch({"prediction": ["=1+1", "two\x07"], "score": [0.5, None]})
    with (tmp_path / "out.xlsx").open("wb") as file:
        assert write_sheet([batch, batch], file, str(path)) == 4
    found = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert found.sheetnames == ["Sheet", "predictions", "predictions 2"]
    assert found["predictions"]["B1"].value == "yours"
    rows = list(found["predictions 2"].iter_rows(values_only=True))
    assert rows[:3] == [
        ("prediction", "score"),
        ("=1+1", 0.5),
        ("two\N{REPLACEMENT CHARACTER}", None),
    ]
    assert found["predictions 2"]["A2"].data_type == "s"  # a word, and nothing that is run
    assert path.read_bytes() == before


def test_predict_writes_excel(maxmargin, table, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    maxmargin("fit", table, "-t", "answer", "--C", 1, "--no-report")
    maxmargin("predict", "model.maxmargin", table, "-o", "out.xlsx", "--keep", "age")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["predictions"]
    assert sheet.max_row == 201
    assert [cell.value for cell in sheet[1]][:2] == ["age", "prediction"]


def test_without_a_word_it_tells_what_it_can(maxmargin):
    lines = maxmargin().splitlines()
    assert lines[0] == f"maxmargin {__version__}: linear classification with proof"
    assert len(lines) == 6
    assert "maxmargin fit data.csv" in lines[1]


def test_at_a_terminal_it_asks_for_a_file(maxmargin, tmp_path, monkeypatch):
    table = people().add_column(0, "town 2", people().column("town"))
    write(table.rename_columns({"answer": "reply"}), tmp_path / "mine.csv")
    answers = iter([" 'mine.csv' ", "reply"])
    monkeypatch.setattr(builtins, "input", lambda _: next(answers))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    out = maxmargin()
    assert "Which column of mine.csv holds the labels?" in out
    assert "Better than always" in out
    assert (tmp_path / "model.maxmargin").exists()
