"""Columns are learned from batches; a table in memory is one of them, and both say the same."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import maxmargin as mm
from maxmargin.parts.files.labels import labels_like
from maxmargin.parts.files.learn import TableBatch, learn, learn_matrix, learn_table
from maxmargin.parts.files.moments import Moments
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import label_table


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_batch_has_the_bits_of_numpy(dtype, order):
    rng = np.random.default_rng(0)
    X = np.asarray(1000.0 * rng.standard_normal((5001, 3)) + 77, dtype, order=order)
    for rows in (X, X[:, 0]):
        moments = Moments()
        moments.add(rows)
        np.testing.assert_array_equal(moments.mean, rows.mean(axis=0, dtype=np.float64))
        np.testing.assert_array_equal(moments.std, rows.std(axis=0, dtype=np.float64))


def mixed(n=900):
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "x": pa.array(rng.standard_normal(n) + 1e6, mask=rng.random(n) < 0.1),
            "town": pa.array(rng.choice(["Ulm", "Jena", ""], n)),
            "day": pa.array(rng.integers(0, 10**6, n), pa.timestamp("s")),
            "same": pa.array([0.1] * n),
            "who": pa.array([f"name {i}" for i in range(n)]),
            "none": pa.nulls(n),
        }
    )


@pytest.mark.parametrize("cuts", [[], [1], [300, 300, 850]])
def test_many_batches_teach_what_one_does(cuts):
    table = mixed()
    types = dict(zip(table.schema.names, table.schema.types, strict=True))
    ends = [0, *cuts, table.num_rows]
    pieces = [
        TableBatch(table.slice(a, b - a), "here", np.arange(a, b) + 1) for a, b in pairwise(ends)
    ]
    whole = learn_table(table, table.schema.names, Choices())
    parts = learn(pieces, types, Choices())
    assert parts.rows == whole.rows == table.num_rows
    assert parts.left_out == whole.left_out
    assert set(whole.left_out) == {"same", "who", "none"}
    assert parts.missing == whole.missing
    assert parts.sentences() == whole.sentences()
    for one, other in zip(parts.preparation.columns, whole.preparation.columns, strict=True):
        assert one.names() == other.names()
        np.testing.assert_allclose(one.units()[1], other.units()[1], rtol=1e-12)
        if hasattr(one, "mean"):
            assert one.mean == pytest.approx(other.mean, rel=1e-14)
            assert one.deviation == pytest.approx(other.deviation, rel=1e-9)


def test_a_constant_column_of_a_matrix_is_not_divided_by_its_rounding():
    X = np.column_stack([np.arange(10.0), np.full(10, 0.1)])
    for batches in ([X], [X[:3], X[3:]]):
        found = learn_matrix(batches)
        assert found.scale[1] == 1.0
        assert found.scale[0] == pytest.approx(X[:, 0].std())
        np.testing.assert_allclose(found.raw(found(X, None)), X, atol=1e-12)


def test_a_bad_value_is_named_by_file_and_row():
    """As in the file: rows that were left out are counted."""
    table = pa.table({"x": [1.0, 2.0, np.inf], "y": [None, "a", "b"]})
    data = label_table(table, "y", None, "f.csv")
    with pytest.raises(ValueError, match=r"f.csv, row 3: The column 'x' holds an infinite value"):
        learn_table(data.rows, ["x"], Choices(), data.name, data.numbers)


TARGETS = {
    "only one class, 7": np.full(99, 7),
    "99 different values in 99 rows, such as 0, which are not labels": np.arange(99),
    "looks like a measurement": np.linspace(0, 1, 99),
    "which are not labels": np.array([f"w{i}" for i in range(99)]),
}


@pytest.mark.parametrize("said", TARGETS)
def test_what_is_no_label_is_refused_alike_through_every_door(said, tmp_path):
    y = TARGETS[said]
    x = np.arange(99.0)
    with pytest.raises(ValueError, match=said) as here:
        label_table(pa.table({"x": x, "y": y}), "y", None, "the chunks given")
    with pytest.raises(ValueError, match=said) as there:
        mm.fit_stream(mm.LinearSVM(), [(x[:50, None], y[:50]), (x[50:, None], y[50:])])
    assert str(there.value) == str(here.value)


def test_labels_of_other_rows_are_read_as_the_classes():
    whole, truth, words = np.array([1, 2]), np.array([False, True]), np.array(["a", "b"])
    assert labels_like(np.array(["2", "1"]), whole).tolist() == [2, 1]
    assert labels_like(pa.array(["2", "1"]), whole).tolist() == [2, 1]
    assert labels_like(np.array(["True", "false"]), truth).tolist() == [True, False]
    assert labels_like(pa.array(["b", None]), words).tolist() == ["b", ""]
    assert labels_like(pa.array([3, 4]), words).tolist() == ["3", "4"]
    for column in (pa.array(["maybe", "1"]), np.array(["maybe", "1"])):
        with pytest.raises(ValueError, match="words here, such as 'maybe'"):
            labels_like(column, whole)


def test_nanoseconds_are_days_too():
    at = np.array(["2020-01-01T00:00:00.000000001", "2020-01-02T12:00:00"], "datetime64[ns]")
    table = pa.table({"since": pa.array(at)})
    column = learn_table(table, ["since"], Choices(scale=False)).preparation.columns[0]
    np.testing.assert_allclose(column.mean, 18262 + 0.75)


def test_a_day_beyond_counting_names_its_column():
    table = pa.table({"since": pa.array([1, 2**62], pa.timestamp("s"))})
    with pytest.raises(ValueError, match="The column 'since'"):
        learn_table(table, ["since"], Choices())
