"""Small files that ask for much are refused before they get it."""

import bz2
import gzip
import io
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from maxmargin import LinearSVM, fit_stream, open_source
from maxmargin.parts.files import limits
from maxmargin.parts.files.matrices import read_matrix
from maxmargin.parts.files.readers import BadRow
from maxmargin.parts.files.source import find_source
from maxmargin.parts.files.tables import read_header, read_table


def _npy_header(shape: str, kind: str = "<f8") -> bytes:
    file = io.BytesIO()
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
    return file.getvalue()


def test_an_npz_bomb_is_told_by_its_directory(tmp_path, monkeypatch):
    """Zeros, a thousand times the size of the file; none of them is unpacked."""
    monkeypatch.setattr(limits, "MAX_EXPANDED_BYTES", 1 << 24)
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("X.npy", "w", force_zip64=True) as file:
            file.write(_npy_header("(64, 131072)"))
            for _ in range(64):
                file.write(bytes(1 << 20))
        with archive.open("y.npy", "w") as file:
            file.write(_npy_header("(64,)") + bytes(512))
    with pytest.raises(ValueError, match=r"bomb.npz has 0.1 MB and would become 0.1 GB"):
        read_matrix(find_source(path))


def test_an_array_that_claims_more_than_it_has(tmp_path):
    path = tmp_path / "claims.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", _npy_header("(99999999, 99999)") + bytes(64))
        archive.writestr("y.npy", _npy_header("(2,)") + bytes(16))
    with pytest.raises(ValueError, match=r"X.npy claims \d+ bytes and has"):
        read_matrix(find_source(path))


def test_an_honest_npz_is_read(tmp_path):
    np.savez_compressed(tmp_path / "zeros.npz", X=np.zeros((1000, 1000)), y=np.arange(1000) % 2)
    assert read_matrix(find_source(tmp_path / "zeros.npz"))[0].shape == (1000, 1000)


def test_archives_that_are_none(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 and no more")
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("X.npy", b"no array")
        archive.writestr("y.npy", b"no array")
    for name in ("a.npz", "b.npz"):
        with pytest.raises(ValueError, match="could not be read"):
            read_matrix(find_source(tmp_path / name))
        with pytest.raises(ValueError, match="could not be read"):
            list(open_source(tmp_path / name).chunks(1 << 20))


@pytest.mark.parametrize("number", [99999999999, 2**31, 10**25])
def test_a_column_beyond_counting(tmp_path, number):
    (tmp_path / "a.svm").write_text(f"1 1:1\n0 2:1\n1 {number}:1\n")
    with pytest.raises(BadRow, match=r"a.svm, row 3: a column's number is larger"):
        read_matrix(find_source(tmp_path / "a.svm"))


def test_a_column_that_few_values_do_not_need(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n0 2:1\n1 2000000000:1\n0 3:1\n")
    with pytest.raises(ValueError, match="column of number 2000000000, but only 4 values"):
        read_matrix(find_source(path))
    with pytest.raises(ValueError, match="column of number 2000000000, but only 4 values"):
        fit_stream(LinearSVM(C=1.0), open_source(path))
    X = sparse.csr_matrix(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2_000_000_001))
    np.savez(tmp_path / "a.npz", data=X.data, indices=X.indices, indptr=X.indptr,
             shape=X.shape, y=[0, 1])  # fmt: skip
    with pytest.raises(ValueError, match="number the columns anew"):
        read_matrix(find_source(tmp_path / "a.npz"))
    # Of rows to predict, columns that a model does not know are cut off: no harm is done.
    assert read_matrix(find_source(path), base=1)[0].shape == (4, 2_000_000_000)


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 1 << 20)
    long = b"1" * (2 << 20)
    for name, data in {
        "header.csv": long,
        "row.csv": b"a,b\n1,2\n" + long,
        "quote.csv": b'a,"b\n' + b"1,2\n" * (1 << 19),
        "quoted.csv": b'a,b\n1,"' + b"1,2\n" * (1 << 21),
        "row.csv.gz": gzip.compress(b"a,b\n" + long),
        "row.csv.bz2": bz2.compress(b"a,b\n" + long),
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name} has a line of more than 1 MB"):
            read_table(find_source(tmp_path / name))
    for name in ("row.svm", "row.svm.gz"):
        data = b"1 1:1\n0 " + long
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        with pytest.raises(ValueError, match="has a line of more than 1 MB"):
            read_matrix(find_source(tmp_path / name))
    with pytest.raises(ValueError, match="a line of more"):
        read_header(find_source(tmp_path / "header.csv"))


def test_more_than_there_is_memory_for(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1e6)
    (tmp_path / "a.csv").write_bytes(b"a,b\n" + b"1,2\n" * 3_000_000)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes(), 1))
    table = pa.table({"a": np.zeros(2_000_000, dtype=np.int64)})
    parquet.write_table(table, tmp_path / "a.parquet")
    for name in ("a.csv", "a.csv.gz", "a.parquet"):
        with pytest.raises(ValueError, match=f"{name} needs more memory than there is"):
            read_table(find_source(tmp_path / name))


def test_memory_is_told():
    assert limits.available_memory() > 1e7


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_an_endless_device(device):
    with pytest.raises(ValueError, match=f"{device} is a device"):
        find_source(device)


def test_an_empty_device():
    with pytest.raises(ValueError, match="/dev/null is empty"):
        find_source("/dev/null")


def test_words_of_letters_that_do_not_exist(tmp_path):
    """Python itself fails on them, or dies."""
    words = np.array(["a", "b", "c"])
    words.view(np.uint32)[1] = 0x7FFFFFFF
    np.savez(tmp_path / "words.npz", X=np.zeros((3, 1)), y=words)
    with pytest.raises(ValueError, match="letters that do not exist"):
        read_matrix(find_source(tmp_path / "words.npz"))


def test_rows_that_end_before_they_begin(tmp_path):
    """SciPy takes the matrix for an empty one, and reads beyond its end."""
    arrays = {"data": np.ones(3), "indices": np.arange(3), "shape": np.array([2, 3])}
    np.savez(tmp_path / "rows.npz", **arrays, indptr=np.array([0, 1 << 20, 0]), y=np.arange(2))
    with pytest.raises(ValueError, match="rows end before they begin"):
        read_matrix(find_source(tmp_path / "rows.npz"))
