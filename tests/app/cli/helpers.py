"""Running the real program in this process, and files for it to read."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from maxmargin.app.cli.app import main


class Program:
    """Calls ``maxmargin`` and keeps what it printed."""

    def __init__(self, capfd):
        self.capfd = capfd

    def __call__(self, *arguments, code=0):
        with pytest.raises(SystemExit) as ending:
            main([str(argument) for argument in arguments])
        self.out, self.err = self.capfd.readouterr()
        assert (ending.value.code or 0) == code, self.out + self.err
        return self.out

    def json(self, *arguments, code=0):
        return json.loads(self(*arguments, "--json", code=code))

    def complaint(self, *arguments) -> str:
        """The one sentence of a refusal."""
        assert self(*arguments, code=2) == ""
        assert self.err.startswith("maxmargin: ")
        assert "Traceback" not in self.err
        assert self.err.count("\n") == 1
        return self.err


def people(n=200, seed=0) -> pa.Table:
    """Numbers, truth values, days, categories with odd names, holes, and labels with spaces."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 80, n), rng.integers(0, 3, n)
    income = rng.lognormal(10, 0.5, n).round(2)
    member = rng.random(n) < 0.5
    towns = ["Köln, am Rhein", 'the "Big" Apple', "東京"]
    score = 0.1 * (age - 45) + np.array([1.5, 0.0, -1.5])[town] + 0.5 * member
    label = np.where(score + 0.5 * rng.standard_normal(n) > 0, "likes it a lot", "does not, sorry")
    hole = rng.random(n) < 0.05
    return pa.table(
        {
            "age": pa.array(age),
            "income €": pa.array(income, mask=hole),
            "member": pa.array(member),
            "since": pa.array(
                np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("timedelta64[D]")
            ),
            "town": pa.array([towns[t] for t in town]),
            "answer": pa.array(label.tolist()),
        }
    )


def write(table: pa.Table, path):
    """The table in the format of the path's suffix."""
    suffix = path.suffixes[0]
    if suffix in (".csv", ".tsv"):
        options = csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ",")
        with pa.output_stream(str(path), compression="detect") as sink:
            csv.write_csv(table, sink, options)
    elif suffix == ".parquet":
        parquet.write_table(table, path)
    elif suffix == ".feather":
        feather.write_feather(table, path)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as sink:
            sink.write_table(table)
    return path


def write_matrix(X, y, path):
    if path.suffixes[0] == ".npz" and sparse.issparse(X):
        np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    elif path.suffixes[0] == ".npz":
        np.savez(path, X=X, y=y)
    else:
        with pa.output_stream(str(path), compression="detect") as sink:
            dump_svmlight_file(X, y, sink, zero_based=False)
    return path
