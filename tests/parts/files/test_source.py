"""Bytes are counted as they are read, and svmlight files are the same in one piece or in many."""

import bz2
import gzip

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from maxmargin.parts.files import matrices, tables
from maxmargin.parts.files.matrices import read_matrix
from maxmargin.parts.files.source import find_source
from maxmargin.parts.files.tables import read_table

RNG = np.random.default_rng(0)
TABLE = "a,b\n" + "".join(f"{x:.6f},{i}\n" for i, x in enumerate(RNG.standard_normal(5000)))
PACK = {".csv": bytes, ".csv.gz": gzip.compress, ".csv.bz2": bz2.compress}


@pytest.mark.parametrize("suffix", PACK)
def test_what_is_read_is_counted(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(tables, "PIECE_BYTES", 1 << 12)
    path = tmp_path / f"t{suffix}"
    path.write_bytes(PACK[suffix](TABLE.encode()))
    seen = []
    table = read_table(find_source(path, on_read=lambda *told: seen.append(told)))
    assert table.equals(read_table(find_source(path)))
    done, sizes = zip(*seen, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == path.stat().st_size
    assert set(sizes) == {path.stat().st_size}
    assert suffix != ".csv" or len(set(done)) > 5


@pytest.mark.parametrize("zero", [True, False])
@pytest.mark.parametrize("piece", [64, 1000, 1 << 22])
def test_svmlight_in_pieces(tmp_path, monkeypatch, zero, piece):
    X = RNG.standard_normal((60, 9)) * (RNG.random((60, 9)) < 0.3)
    X[3, 0] = 1.0  # the first column is used somewhere
    y = RNG.integers(0, 3, 60)
    path = tmp_path / "t.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero)
    whole, labels = load_svmlight_file(str(path), zero_based=zero)
    monkeypatch.setattr(matrices, "PIECE_BYTES", piece)
    seen = []
    found, said, base = read_matrix(find_source(path, on_read=lambda *told: seen.append(told)))
    assert base == (0 if zero else 1)
    assert found.shape == whole.shape
    assert (found != whole).nnz == 0
    assert said.dtype == np.int64
    np.testing.assert_array_equal(said, labels)
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_model_that_counts_from_one_refuses_column_zero(tmp_path):
    (tmp_path / "t.svm").write_text("1 0:1 3:2\n-1 1:1\n")
    with pytest.raises(ValueError, match="column of number 0"):
        read_matrix(find_source(tmp_path / "t.svm"), base=1)
