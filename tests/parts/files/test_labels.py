"""Labels are what is written: no two of them become one, and none becomes another."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from maxmargin.parts.files.labels import labels_like, typed_labels, words_as_values
from maxmargin.parts.files.matrices import read_matrix
from maxmargin.parts.files.readers import BadRow
from maxmargin.parts.files.source import find_source
from maxmargin.parts.files.sources import open_source
from maxmargin.parts.files.training import read_labelled

LONG = ("100000000000000000001", "200000000000000000002")


def _csv(tmp_path, labels, name="a.csv"):
    lines = [f"{number},{label}\n" for number, label in enumerate(labels)]
    (tmp_path / name).write_text("x,label\n" + "".join(lines))
    return tmp_path / name


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (LONG, LONG),
        (("001", "1"), ("001", "1")),
        (("001", "002"), ("001", "002")),
        (("1", "1.0"), ("1", "1.0")),
        (("+1", "-1"), ("+1", "-1")),
        (("1e3", "2e3"), ("1e3", "2e3")),
        (("9223372036854775808", "1"), ("9223372036854775808", "1")),
        (("a", "NA"), ("a", "NA")),
        (("true", "TRUE", "false"), ("true", "TRUE", "false")),
        (("1", "0"), (1, 0)),
        (("1.0", "-2.0"), (1, -2)),
        ((" 1", "2"), (1, 2)),
        (("9223372036854775807", "-9223372036854775807"), (2**63 - 1, 1 - 2**63)),
        (("True", "false"), (True, False)),
    ],
)
def test_a_text_file_in_memory_and_in_pieces(tmp_path, written, read):
    file = _csv(tmp_path, written * 3)
    assert read_labelled(file, "label", None, None).y.tolist() == list(read) * 3
    chunks = list(open_source(file, target="label").chunks(1 << 20))
    words = np.array(list(dict.fromkeys(chunks[0].y.tolist())))
    assert words.tolist() == list(written)
    assert words_as_values(words).tolist() == list(read)


def test_what_stands_for_a_missing_number_is_missing(tmp_path):
    data = read_labelled(_csv(tmp_path, ["1", "2", "NA", "", "nan", "2"]), "label", None, None)
    assert data.y.tolist() == [1, 2, 2]
    assert data.notes == ["3 rows without a label in 'label' were left out"]


def test_numbers_that_are_no_labels_are_still_told_as_such(tmp_path):
    for labels in (["0.5", "1.25"] * 3, ["1e-3", "2"] * 3, ["inf", "1"] * 3):
        with pytest.raises(ValueError, match="looks like a measurement"):
            read_labelled(_csv(tmp_path, labels), "label", None, None)


def test_the_columns_beside_are_numbers_as_before(tmp_path):
    (tmp_path / "a.csv").write_text("x,z,label\n001,1e3,a\n1,+2,b\n")
    rows = read_labelled(tmp_path / "a.csv", "label", None, None).rows
    assert rows.column("x").to_pylist() == [1, 1]


@given(st.lists(st.text("0123456789.-+eE naif", min_size=1, max_size=22), min_size=1, unique=True))
def test_different_words_are_different_labels(words):
    values = words_as_values(np.array(words, dtype=object))
    told = [word.strip() for word in words]
    assert len(set(values.tolist())) == len(set(told if values.dtype.kind == "i" else words))
    for word, value in zip(told, values.tolist(), strict=True):
        if values.dtype.kind == "i":
            assert str(value) == word.split(".")[0]
        else:
            assert str(value).strip() == word


def test_labels_of_other_rows_are_compared_as_they_are_written():
    zeros = pa.chunked_array([["001", "1"]])
    assert labels_like(zeros, np.array(["001", "1"])).tolist() == ["001", "1"]
    with pytest.raises(ValueError, match="labels are words here"):
        labels_like(typed_labels(zeros), np.array([1, 2]))
    plain = typed_labels(pa.chunked_array([["2", "1"]]))
    assert labels_like(plain, np.array([1, 2])).tolist() == [2, 1]


def test_numbers_of_other_formats(tmp_path):
    """Integers that int64 lacks are words; floats that have neighbours are refused."""
    large = [2**63 + 1, 2**63 + 2]
    for column in (pa.array(large, pa.uint64()), pa.array([Decimal(each) for each in large])):
        parquet.write_table(pa.table({"x": [1, 2], "label": column}), tmp_path / "a.parquet")
        y = read_labelled(tmp_path / "a.parquet", "label", None, None).y
        assert y.tolist() == [str(label) for label in large]
    parquet.write_table(pa.table({"x": [1, 2], "label": [1e20, 2e20]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b.parquet: .*cannot be told from its neighbours"):
        read_labelled(tmp_path / "b.parquet", "label", None, None)
    with pytest.raises(BadRow, match="cannot be told from its neighbours"):
        list(open_source(tmp_path / "b.parquet", target="label").chunks(1 << 20))
    (tmp_path / "c.svm").write_text(f"{LONG[0]} 1:1\n{LONG[1]} 1:2\n")
    assert read_matrix(find_source(tmp_path / "c.svm"))[1].tolist() == [1e20, 2e20]
    with pytest.raises(ValueError, match="cannot be told"):
        read_labelled(tmp_path / "c.svm", None, None, None)
    np.savez(tmp_path / "d.npz", X=np.eye(2), y=np.array([3.0, 1.0]))
    assert read_labelled(tmp_path / "d.npz", None, None, None).y.tolist() == [3, 1]


NESTED = {
    "list": pa.array([[1], [2, 3]]),
    "record": pa.array([{"a": 1}, {"a": 2}]),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("kind", NESTED)
def test_nested_values_are_no_labels(tmp_path, kind):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"x": [1, 2], "label": NESTED[kind]}), path)
    with pytest.raises(ValueError, match=r"a.parquet: the target 'label' holds values of type"):
        read_labelled(path, "label", None, None)
    with pytest.raises(ValueError, match="which are no labels"):
        list(open_source(path, target="label").chunks(1 << 20))
    parquet.write_table(pa.table({"z": [1.5, 2.5], "label": NESTED[kind]}), path)
    with pytest.raises(ValueError, match="looks like a measurement"):  # nor do they disturb a hint
        read_labelled(path, "z", None, None)


def test_a_text_is_no_label(tmp_path):
    file = _csv(tmp_path, ["word " * 500, "b"])
    with pytest.raises(ValueError, match="A label has 2500 characters"):
        read_labelled(file, "label", None, None)
