"""Every kind of file gives the rows that are in it, in order; every pass the same."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from sklearn.datasets import dump_svmlight_file

from maxmargin import KernelSVM, LinearSVM, LogisticRegression, fit_stream, open_source
from maxmargin.parts.stream import cache

from .helpers import agree, cut, noisy

SMALL = "16MB"
WORDS = np.array(["a", "b"])


def table_of(X, y, weight=None):
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"label": WORDS[y]}
    return pa.table(columns if weight is None else columns | {"how much": weight})


def write(path, table):
    """A file of the kind its name says."""
    suffix = path.suffixes[0]
    if suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=500)
    elif suffix == ".feather":
        feather.write_feather(table, path)
    else:
        mark = "\t" if suffix == ".tsv" else ","
        opened = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
        with opened(path, "wb") as file:
            csv.write_csv(table, file, csv.WriteOptions(delimiter=mark))


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "csv.bz2", "parquet", "feather"])
@pytest.mark.parametrize("parts", [1, 3], ids=["file", "folder"])
def test_tables(tmp_path, kind, parts):
    X, y = noisy(n=3000)
    weight = np.random.default_rng(0).random(3000)
    for i, some in enumerate(np.array_split(np.arange(3000), parts)):
        write(tmp_path / f"part-{i}.{kind}", table_of(X[some], y[some], weight[some]))
    path = tmp_path if parts > 1 else tmp_path / f"part-0.{kind}"
    source = open_source(path, target="label", weights="how much")
    model = fit_stream(LinearSVM(), source, memory=SMALL)
    agree(model, LinearSVM().fit(X, WORDS[y], sample_weight=weight), 1e-6)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.feature_names_in_.tolist() == [f"x{j}" for j in range(12)]
    pattern = open_source(str(tmp_path / f"part-*.{kind}"), target="label", weights="how much")
    assert sum(len(chunk.y) for chunk in pattern.chunks(10_000)) == 3000


def test_single_precision_stays_so(tmp_path):
    X, y = noisy(n=1000, dtype=np.float32)
    write(tmp_path / "x.parquet", table_of(X, y))
    *chunks, end = open_source(tmp_path / "x.parquet").chunks(1 << 20)
    assert end.X is None
    assert all(chunk.X.dtype == np.float32 and chunk.X.flags.c_contiguous for chunk in chunks)
    np.testing.assert_array_equal(np.concatenate([chunk.X for chunk in chunks]), X)


@pytest.mark.parametrize("name", ["x.svm", "x.svm.gz", "x.svm.bz2"])
@pytest.mark.parametrize("zero", [True, False], ids=["from 0", "from 1"])
def test_svmlight(tmp_path, name, zero):
    X, y = noisy(n=3000, is_sparse=True)
    dump_svmlight_file(X, 2 * y - 1, str(tmp_path / "x.svm"), zero_based=zero)
    if name != "x.svm":
        opened = gzip.open if name.endswith("gz") else bz2.open
        with opened(tmp_path / name, "wb") as file:
            file.write((tmp_path / "x.svm").read_bytes())
    model = fit_stream(LogisticRegression(), tmp_path / name, memory=SMALL)
    agree(model, LogisticRegression().fit(X, 2 * y - 1), 1e-6)
    assert model.classes_.tolist() == [-1, 1]
    assert model.n_features_in_ == 12


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_is_read_where_it_lies(tmp_path, dtype, order):
    X, y = noisy(n=3000)
    X = (10 * X).astype(dtype)
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    np.save(tmp_path / "y.npy", y)
    model = fit_stream(LinearSVM(C=0.01), tmp_path / "X.npy", memory=SMALL)
    agree(model, LinearSVM(C=0.01).fit(X, y), 1e-6)


def test_labels_of_text_files_are_numbers_where_they_can_be(tmp_path):
    for labels, kind in [([0, 1], "i"), (["true", "false"], "b"), (["1", "x"], "U")]:
        rows = "".join(f"{i},{labels[i % 2]}\n" for i in range(50))
        (tmp_path / "t.csv").write_text("x,y\n" + rows)
        model = fit_stream(LinearSVM(), tmp_path / "t.csv")
        assert model.classes_.dtype.kind == kind


def test_a_function_that_makes_chunks():
    X, y = noisy()
    made = []

    def chunks():
        made.append(1)
        yield from cut(X, y)

    model = fit_stream(LinearSVM(), chunks, memory=SMALL)
    agree(model, LinearSVM().fit(X, y), 1e-6)
    assert len(made) == 1  # the cache has them


def test_without_room_for_a_cache_the_source_is_read_again(monkeypatch):
    monkeypatch.setattr(cache, "DISK_RESERVE_BYTES", 1 << 60)
    X, y = noisy(is_sparse=True)
    made = []

    def chunks():
        made.append(1)
        yield from cut(X, y)

    for model in (LinearSVM(), LogisticRegression()):
        agree(fit_stream(model, chunks, memory=SMALL), type(model)().fit(X, y), 1e-6)
    assert len(made) > 4


def test_what_cannot_be_streamed(tmp_path):
    X, y = noisy(n=100)
    with pytest.raises(ValueError, match="gone through once only"):
        fit_stream(LinearSVM(), (pair for pair in cut(X, y, at=(50,))))
    with pytest.raises(ValueError, match="at least 16 MB"):
        fit_stream(LinearSVM(), cut(X, y, at=(50,)), memory="3 apples")
    with pytest.raises(ValueError, match="only one class"):
        fit_stream(LinearSVM(), [(X, np.zeros(100))])
    with pytest.raises(TypeError, match="KernelSVM"):
        fit_stream(KernelSVM(), cut(X, y, at=(50,)))
    np.savez(tmp_path / "d.npz", X=np.asfortranarray(X), y=y)
    with pytest.raises(ValueError, match="column by column"):
        fit_stream(LinearSVM(), tmp_path / "d.npz")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        open_source(tmp_path / "nothing.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no data files"):
        open_source(tmp_path / "empty")


@pytest.mark.parametrize("lacking", [[None, "a", "b"], [0.0, np.nan, 1.0], ["a", np.nan, "b"]])
def test_a_missing_label_is_no_class(lacking):
    y = np.array(lacking, dtype=None if isinstance(lacking[0], float) else object)
    row = 1 if lacking[0] is None else 4
    with pytest.raises(ValueError, match=f"row {row}: the label is missing"):
        fit_stream(LinearSVM(), [(np.eye(3)[:2], y[[0, 2]]), (np.eye(3), y)], memory="16MB")


def test_an_estimator_is_as_before_when_a_fit_fails():
    X, y = noisy(n=500)
    model = LinearSVM().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="2 before"):
        fit_stream(model, [(X[:100, :2], y[:100]), (X[100:], y[100:])])
    np.testing.assert_array_equal(model.coef_, before)
