"""Reading tables: what is streamed is what is read whole, wherever the pieces are cut."""

import csv as plain
import io

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.parts.files import tables
from maxmargin.parts.files.columns import UnexpectedValues
from maxmargin.parts.files.learn import learn_table
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.source import find_source

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8)
CELLS = st.one_of(WORDS, st.sampled_from(['"', 'a "b"', "x\ny", "1,2", "\n\n", "é;", " "]))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(st.tuples(st.integers(-99, 99), CELLS, CELLS), min_size=1, max_size=30),
       piece=st.integers(8, 200), ending=st.sampled_from(["\n", "\r\n"]))  # fmt: skip
def test_streams_cut_anywhere_but_inside_quotes(tmp_path, monkeypatch, rows, piece, ending):
    monkeypatch.setattr(tables, "PIECE_BYTES", piece)
    text = io.StringIO(newline="")
    writer = plain.writer(text, quoting=plain.QUOTE_ALL, lineterminator=ending)
    writer.writerow(["n", "a,b", 'c"'])
    writer.writerows(rows)
    path = tmp_path / "t.csv"
    path.write_bytes(text.getvalue().encode())
    types = {'c"': pa.string(), "n": pa.float64()}
    whole = tables.read_table(find_source(path)).to_pydict()
    assert whole["n"] == [n for n, _, _ in rows]
    batches = list(tables.stream_table(find_source(path), types))
    found = pa.Table.from_batches(batches).to_pydict()
    assert found["n"] == [float(n) for n, _, _ in rows]
    assert found['c"'] == [c for _, _, c in rows]


def test_the_last_line_needs_no_end(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y")
    source = find_source(tmp_path / "t.csv")
    batches = tables.stream_table(source, {"a": pa.float64()})
    assert pa.Table.from_batches(batches).to_pydict() == {"a": [1.0, 2.0]}


def test_lines_longer_than_a_block(tmp_path):
    names = [f"a column with a long name {j}" for j in range(50_000)]
    text = ",".join(names) + "\n" + ",".join(["1.25"] * len(names)) + "\n"
    (tmp_path / "wide.csv").write_text(text + text.split("\n")[1] + "\n")
    source = find_source(tmp_path / "wide.csv")
    assert tables.read_table(source).shape == (2, 50_000)
    (batch,) = tables.stream_table(source, {names[7]: pa.float64()})
    assert batch.column(names[7]).to_pylist() == [1.25, 1.25]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    (tmp_path / "t.csv").write_bytes("\ufeffa,b\n1,x\n2,y\n".encode())
    source = find_source(tmp_path / "t.csv")
    assert tables.read_table(source).column_names == ["a", "b"]
    (batch,) = tables.stream_table(source, {"a": pa.float64()})
    assert batch.num_rows == 2


@pytest.mark.parametrize(
    ("glance", "format"),
    [
        (b"a,b\n1,2\n", "csv"),
        (b"a\tb\n1\t2\n", "tsv"),
        (b"+1 1:0.5 7:1\n-1 2:3\n", "svmlight"),
        (b"0 qid:3 1:2\n", "svmlight"),
        (b"PAR1", "parquet"),
        (b"ARROW1\0\0", "arrow"),
        (b"PK\x03\x04", "npz"),
    ],
)
def test_formats_are_told_by_content_where_the_name_does_not(tmp_path, glance, format):
    (tmp_path / "data").write_bytes(glance)
    assert find_source(tmp_path / "data").format == format


def test_many_levels_make_sparse_features():
    rng = np.random.default_rng(0)
    n = 4000
    level = rng.integers(0, 400, n)
    table = pa.table({"x": rng.standard_normal(n), "level": [f"l{c:03d}" for c in level]})
    learned = learn_table(table, ["x", "level"], Choices())
    X = learned.preparation(table, UnexpectedValues())
    assert X.shape == (n, 1 + len(np.unique(level)))
    assert X.nnz == 2 * n
    names = learned.preparation.names()
    dense = X.toarray()
    assert all(dense[i, names.index(f"level=l{level[i]:03d}")] == 1.0 for i in range(0, n, 97))


def test_names_are_left_out_unless_insisted_upon():
    table = pa.table({"who": [f"name {i}" for i in range(200)], "x": np.arange(200.0)})
    learned = learn_table(table, ["who", "x"], Choices())
    assert "200 different values" in learned.left_out["who"]
    assert learned.preparation.width == 1
    insisted = learn_table(table, ["who", "x"], Choices(category=("who",)))
    assert insisted.preparation.width == 201
    constant = pa.table({"a": [1.5] * 5, "b": ["z"] * 5, "c": [1, 2, 3, 4, 5]})
    assert set(learn_table(constant, ["a", "b", "c"], Choices()).left_out) == {"a", "b"}


def test_names_that_come_back_are_levels():
    cars = [f"model {i % 40}" if i % 4 == 0 else f"own {i}" for i in range(200)]
    table = pa.table({"car": cars, "x": np.arange(200.0)})
    learned = learn_table(table, ["car", "x"], Choices())
    assert learned.preparation.names()[:2] == ["car=model 0", "car=model 12"]
    assert learned.preparation.width == 10 + 1
    (said,) = learned.sentences()
    assert "160 different values in 200 rows, the 10 that occur more than once" in said
    assert "--text car" in said
    assert "--drop car" in said
    few = pa.table({"car": [*cars[:20], *(f"own {i}" for i in range(180))], "x": np.arange(200.0)})
    assert "car" in learn_table(few, ["car", "x"], Choices()).left_out


def test_frames_of_polars_and_pandas(tmp_path, monkeypatch):
    from maxmargin.app.workflow.fit import fit_table
    from maxmargin.app.workflow.plan import Plan
    from maxmargin.parts.files.training import label_table

    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.standard_normal(50), "c": ["a", "b"] * 25, "y": [0, 1] * 25})
    model = fit_table(label_table(table, "y", None, "here"), Plan(C=1.0), Choices()).model
    expected = model.predict(table).tolist()
    assert model.predict(pl.from_arrow(table)).tolist() == expected
    assert model.predict(table.to_pandas()).tolist() == expected
    monkeypatch.chdir(tmp_path)
    assert mm.load(mm.save(model, "m")).predict(table).tolist() == expected


def test_an_empty_column_at_predict_is_missing_values():
    table = pa.table({"x": [1.0, 2.0, 3.0], "c": ["a", "b", "a"]})
    preparation = learn_table(table, ["x", "c"], Choices()).preparation
    notes = UnexpectedValues()
    empty = pa.table({"x": pa.nulls(2), "c": pa.nulls(2)})
    np.testing.assert_array_equal(preparation(empty, notes), np.zeros((2, 3)))
    assert notes.missing == {"x": 2, "c": 2}
