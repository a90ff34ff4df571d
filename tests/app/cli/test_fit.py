"""``maxmargin fit`` and what can be done with its model, on real files."""

import io
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

import maxmargin as mm
from maxmargin.app.cli.show import next_steps
from maxmargin.parts.files.model import row_titles

from .helpers import people, write, write_matrix

TABLES = ["a.csv", "a.tsv", "a.csv.gz", "a.csv.bz2", "a.parquet", "a.feather", "a.arrow"]
MATRICES = ["a.svm", "a.svm.gz", "a.libsvm.bz2", "a.npz"]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_format_gives_the_same_model(maxmargin, tmp_path, name):
    data = write(people(), tmp_path / name)
    told = maxmargin.json("fit", data, "--target", "answer", "--C", 1)
    assert told["proved"]
    assert told["classes"] == {"does not, sorry": 72, "likes it a lot": 128}
    assert told["features"] == 7
    assert any("income €: " in note and "mean" in note for note in told["notes"])
    assert told["certificate"].startswith("objective 32.4263,")
    maxmargin("verify", "model.maxmargin", data)
    assert "the claim holds" in maxmargin.out
    labels = csv.read_csv(pa.BufferReader(maxmargin("predict", "model.maxmargin", data).encode()))
    truth = np.array(people().column("answer").to_pylist())
    wrong = int((np.array(labels.column("prediction").to_pylist()) != truth).sum())
    assert wrong == told["training"]["wrong"]
    judged = maxmargin.json("evaluate", "model.maxmargin", data)
    assert judged["wrong"] == wrong


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("dense", [True, False])
def test_every_matrix_format(maxmargin, tmp_path, name, dense):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5] if dense and name == "a.npz" else sparse.csr_matrix(X[:, :5])
    data = write_matrix(X, y, tmp_path / name)
    told = maxmargin.json("fit", data, "-m", "logistic", "--C", 1, "--no-scale")
    model = mm.LogisticRegression(C=1.0).fit(X, y)
    assert told["training"]["wrong"] == int((model.predict(X) != y).sum())
    maxmargin("verify", "model.maxmargin", data)
    table = csv.read_csv(pa.BufferReader(maxmargin("predict", "model.maxmargin", data).encode()))
    np.testing.assert_allclose(table.column("score"), model.decision_function(X), rtol=1e-6)
    assert maxmargin.json("evaluate", "model.maxmargin", data)["rows"] == len(y)


def test_standard_input(maxmargin, table, monkeypatch):
    text = table.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    maxmargin("fit", "-", "-t", "answer", "--C", "1")
    command = [sys.executable, "-m", "maxmargin", "predict", "model.maxmargin", "-"]
    piped = subprocess.run(command, input=text, capture_output=True, check=True).stdout  # a pipe
    assert piped.decode() == maxmargin("predict", "model.maxmargin", table)
    assert piped.count(b"\n") == 201


def test_command_line_and_python_agree(maxmargin, table):
    maxmargin("fit", table, "-t", "answer", "-m", "logistic", "--C", 2)
    model = mm.load("model.maxmargin")
    assert type(model).__name__ == "TableModel"
    out = maxmargin("predict", "model.maxmargin", table, "--all-classes", "--keep", "age")
    told = csv.read_csv(pa.BufferReader(out.encode()))
    assert told.column_names == [
        "age", "prediction", "score",
        "probability:does not, sorry", "probability:likes it a lot",
        "low:does not, sorry", "low:likes it a lot",
        "high:does not, sorry", "high:likes it a lot",
        "set", "distance",
    ]  # fmt: skip
    assert model.predict(table).tolist() == told.column("prediction").to_pylist()
    np.testing.assert_array_equal(model.decision_function(table), told.column("score"))
    np.testing.assert_allclose(
        model.predict_proba(table)[:, 1], told.column("probability:likes it a lot"), rtol=1e-12
    )
    frame = people().to_pandas()
    assert model.predict(frame).tolist() == model.predict(table).tolist()
    w = model.model.coef_[0]
    np.testing.assert_allclose(
        told.column("distance"), np.abs(model.decision_function(table)) / np.linalg.norm(w)
    )


def test_features_are_what_a_person_would_compute(maxmargin, table):
    maxmargin("fit", table, "-t", "answer", "--C", 1)
    model = mm.load("model.maxmargin")
    frame = people().to_pandas()
    numbers = frame[["age", "income €", "member"]].astype(float)
    numbers["since"] = pd.to_datetime(frame["since"]).astype("datetime64[s]").astype(int) / 86400
    numbers = numbers.fillna(numbers.mean())
    first = people().to_pandas()["income €"]
    spread = numbers.std(ddof=0)
    spread["income €"] = first.std(ddof=0)  # of the values that are there
    expected = np.hstack([(numbers - numbers.mean()) / spread, pd.get_dummies(frame["town"])])
    np.testing.assert_allclose(model.features(table), expected.astype(float), atol=1e-12)
    svm = mm.LinearSVM(C=1).fit(expected.astype(float), frame["answer"])
    np.testing.assert_allclose(model.model.coef_, svm.coef_, atol=1e-9)


def test_three_pairs_are_not_three_classes():
    """A row of weights of a pair says which of the two it speaks for."""
    X, y = load_iris(return_X_y=True)
    for svm in (mm.LinearSVM(multiclass="pairs"), mm.OneVsOne(mm.LinearSVM())):
        titles = row_titles(svm.fit(X, y), 3)
        assert titles == ["0 rather than 1", "0 rather than 2", "1 rather than 2"]
    assert row_titles(mm.LinearSVM().fit(X, y), 3) == ["0", "1", "2"]


def test_coefficients_mean_what_they_say(maxmargin, table):
    """One year more moves the score by the coefficient per unit, on unscaled data too."""
    for scale in ("--scale", "--no-scale"):
        told = maxmargin.json("fit", table, "-t", "answer", "--C", 1, scale)
        model = mm.load("model.maxmargin")
        rows = people()
        older = rows.set_column(0, "age", pa.array(np.array(rows.column("age")) + 1))
        moved = model.decision_function(older) - model.decision_function(rows)
        ((title, lines),) = told["coefficients"].items()
        assert title == "likes it a lot rather than does not, sorry"
        age = next(line for line in lines if line["feature"] == "age")
        np.testing.assert_allclose(moved, age["per_unit"], rtol=1e-9)
        ages = np.array(rows.column("age"), dtype=float)
        np.testing.assert_allclose(age["per_deviation"], age["per_unit"] * ages.std())


def test_what_to_type_next_names_the_file(capsys):
    next_steps(Path("my model"), None, ["my data.csv"])
    assert "verify 'my model' 'my data.csv'" in capsys.readouterr().out


def test_bundled_data_without_arguments(maxmargin, tmp_path):
    out = maxmargin("fit")
    assert "What to type next" in out
    assert "proved within" in out
    assert (tmp_path / "model.maxmargin").exists()
    assert maxmargin.err == ""


@pytest.mark.parametrize("demo", ["wine", "digits", "breast-cancer", "circles"])
def test_other_bundled_data(maxmargin, demo):
    told = maxmargin.json("fit", "--demo", demo, "--C", 0.1)
    assert told["proved"]


def test_c_is_chosen_by_cross_validation(maxmargin, table):
    told = maxmargin.json("fit", table, "-t", "answer", "--holdout", 0.25)
    errors = np.array(told["tuning"]["error"])
    chosen = told["tuning"]["C"].index(told["C"])
    assert errors[chosen] == errors.min()
    assert chosen == int(np.flatnonzero(errors <= errors.min() + 1e-12)[0])
    assert told["test"]["rows"] == 50
    assert told["rows"] == 150
    low, high = told["test"]["low"], told["test"]["high"]
    assert low < told["test"]["error"] < high


def test_a_test_file(maxmargin, table, tmp_path):
    other = write(people(100, seed=1), tmp_path / "test.csv")
    told = maxmargin.json("fit", table, "-t", "answer", "--C", 1, "--test", other)
    assert told["test"]["rows"] == 100
    assert told["test"]["error"] < 0.3
    judged = maxmargin.json("evaluate", "model.maxmargin", other)
    assert judged["wrong"] == told["test"]["wrong"]
    assert np.sum(judged["confusion"]) == 100


METHODS = {
    "svm": ["--multiclass", "sum"],
    "svm-pairs": ["--C", "1"],
    "logistic": [],
    "least-squares": [],
    "fisher": [],
    "quadratic": [],
    "linear-unit": [],
    "perceptron": [],
    "kernel-ridge": ["--kernel", "poly"],
    "kernel-perceptron": [],
}


@pytest.mark.parametrize("method", METHODS)
def test_every_method(maxmargin, method, tmp_path):
    X, y = load_iris(return_X_y=True)
    data = write(
        pa.table({**{f"x{j}": X[:, j] for j in range(4)}, "kind": [f"k {c}" for c in y]}),
        tmp_path / "iris.csv",
    )
    code = 1 if "perceptron" in method else 0  # iris is not separable: nothing is proved
    told = maxmargin.json("fit", data, "-t", "kind", "-m", method, *METHODS[method], code=code)
    assert told["training"]["error"] < 0.2
    maxmargin("predict", "model.maxmargin", data)
    assert maxmargin.out.count("\n") == 151
    maxmargin("verify", "model.maxmargin", data)
    maxmargin("inspect", "model.maxmargin")
    assert "certificate" in maxmargin.out


@pytest.mark.parametrize("basis", ["polar", "quadratic", "polynomial:3", "radial:20"])
def test_bases(maxmargin, basis, tmp_path):
    told = maxmargin.json("fit", "--demo", "circles", "--basis", basis, "--C", 10)
    assert told["training"]["error"] < 0.02
    rng = np.random.default_rng(0)
    points = pa.table({"x": rng.uniform(-1, 1, 20), "y": rng.uniform(-1, 1, 20)})
    data = write(points, tmp_path / "points.csv")
    model = mm.load("model.maxmargin")
    out = maxmargin("predict", "model.maxmargin", data)
    told = csv.read_csv(pa.BufferReader(out.encode()))
    np.testing.assert_array_equal(told.column("score"), model.decision_function(points))


def test_weights_count_like_repetitions(maxmargin, tmp_path):
    table = people(60).drop_columns(["income €", "since"])
    twice = pa.concat_tables([table, table.slice(0, 20)])
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    one = write(table.append_column("w", pa.array(weights)), tmp_path / "one.csv")
    two = write(twice, tmp_path / "two.csv")
    keep = ["-t", "answer", "--C", 1, "--no-scale"]
    a = maxmargin.json("fit", one, *keep, "--weights", "w")
    assert maxmargin("verify", "model.maxmargin", one)
    b = maxmargin.json("fit", two, *keep)
    objective = [float(told["certificate"].split()[1].rstrip(",")) for told in (a, b)]
    assert objective[0] == pytest.approx(objective[1], rel=1e-5)


def test_text(maxmargin, tmp_path):
    good, bad = "what a wonderful day", "terrible, awful weather"
    lines = [
        (f"{good} {i % 7}", "good") if i % 2 else (f"{bad} {i % 5}", "bad") for i in range(120)
    ]
    data = write(
        pa.table({"what": [a for a, _ in lines], "mood": [b for _, b in lines]}), tmp_path / "t.csv"
    )
    for kind in ("tfidf", "counts"):
        told = maxmargin.json("fit", data, "-t", "mood", "--text", "what", "--text-as", kind)
        assert told["training"]["wrong"] == 0
        words = [line["feature"] for line in next(iter(told["coefficients"].values()))]
        assert "what:wonderful" in words
        new = write(pa.table({"what": ["a wonderful day", "awful", ""]}), tmp_path / "new.csv")
        out = maxmargin("predict", "model.maxmargin", new)
        said = csv.read_csv(pa.BufferReader(out.encode())).column("prediction").to_pylist()
        assert said[:2] == ["good", "bad"]


def test_missing_values(maxmargin, tmp_path):
    data = tmp_path / "holes.csv"
    rows = [f"{i % 7},{'red' if i % 2 else 'blue'},{'a' if i % 7 > 3 else 'b'}" for i in range(60)]
    rows[3], rows[10], rows[20] = ",red,b", "3,,b", "4,red,"
    data.write_text("x,colour,y\n" + "\n".join(rows) + "\n")
    fill = maxmargin.json("fit", data, "-t", "y", "--C", 1)
    assert fill["rows"] == 59
    assert any("1 row without a label" in note for note in fill["notes"])
    assert any(
        note.startswith("x: 1 missing values, filled with the mean") for note in fill["notes"]
    )
    assert any("none of its levels" in note for note in fill["notes"])
    drop = maxmargin.json("fit", data, "-t", "y", "--C", 1, "--missing", "drop")
    assert drop["rows"] == 57
    maxmargin("verify", "model.maxmargin", data)
    assert "Values are missing" in maxmargin.complaint(
        "fit", data, "-t", "y", "--missing", "refuse"
    )


def test_numbers_that_become_words_late(maxmargin, tmp_path):
    """Arrow guesses types from the first megabyte; a later value may be of a wider type."""
    n = 200_000
    x = [str(i % 10) for i in range(n)]
    x[-1] = "2.5"
    z = ["1" if i % 2 else "0" for i in range(n)]
    z[-2] = "unknown"
    y = ["a" if i % 10 > 4 else "b" for i in range(n)]
    data = tmp_path / "late.csv"
    lines = (",".join(row) for row in zip(x, z, y, strict=True))
    data.write_text("x,z,y\n" + "\n".join(lines) + "\n")
    told = maxmargin.json("fit", data, "-t", "y", "--C", 1)
    assert told["features"] == 4  # x, and three levels of z
    assert told["training"]["wrong"] <= 1


def test_a_semicolon_and_quoted_line_breaks(maxmargin, tmp_path):
    data = tmp_path / "semi.csv"
    lines = [f'{i + 5};"a ""b""\nc; d";{"yes" if i > 20 else "no"}' for i in range(40)]
    lines[3] = "8;plain;no"
    data.write_text("x;word;y\n" + "\n".join(lines) + "\n")
    told = maxmargin.json("fit", data, "-t", "y", "--C", 1)
    assert told["rows"] == 40
    assert told["features"] == 3
    assert maxmargin("predict", "model.maxmargin", data).count("\n") == 41


def test_inspect_tells_columns_and_levels(maxmargin, table):
    maxmargin("fit", table, "-t", "answer", "--C", 1)
    told = maxmargin.json("inspect", "model.maxmargin")
    kinds = {column["name"]: column["kind"] for column in told["columns"]}
    assert kinds == {"age": "number", "income €": "number", "member": "number",
                     "since": "number", "town": "category"}  # fmt: skip
    assert told["columns"][4]["levels"] == ["Köln, am Rhein", 'the "Big" Apple', "東京"]
    assert told["summary"]["rows"] == 200


def test_separable_and_path(maxmargin, tmp_path):
    X, y = load_iris(return_X_y=True)
    columns = {f"x{j}": X[:100, j] for j in range(4)}
    data = write(pa.table({**columns, "kind": y[:100]}), tmp_path / "two.csv")
    told = maxmargin.json("separable", data, "-t", "kind", "--no-scale")
    assert told["margin"] == pytest.approx(mm.separability(X[:100], y[:100]).margin)
    lines = maxmargin.json("path", data, "-t", "kind")["rows"]
    norms = [line["norm"] for line in lines]
    assert all(a <= b * (1 + 1e-3) for a, b in pairwise(norms))
    assert "C" in maxmargin("path", data, "-t", "kind")
    no = {**{f"x{j}": X[50:, j] for j in range(2)}, "kind": y[50:]}
    told = maxmargin.json(
        "separable", write(pa.table(no), tmp_path / "no.csv"), "-t", "kind", code=1
    )
    assert not told["separable"]


def test_verify_notices_other_data(maxmargin, table, tmp_path):
    maxmargin("fit", table, "-t", "answer", "--C", 1)
    other = write(people(200, seed=3), tmp_path / "other.csv")
    told = maxmargin.json("verify", "model.maxmargin", other, code=1)
    assert not told["holds"]
    fewer = write(people().slice(0, 100), tmp_path / "fewer.csv")
    maxmargin("verify", "model.maxmargin", fewer, code=1)
    assert "fitted to 200 rows" in maxmargin.out


def test_a_plain_estimator_from_python(maxmargin, table, tmp_path):
    frame = people().select(["age", "income €"]).to_pandas().fillna(0.0)
    model = mm.LinearSVM().fit(frame, people().column("answer").to_pylist())
    path = mm.save(model, tmp_path / "plain")
    out = maxmargin(
        "predict", path, write(pa.Table.from_pandas(frame[["income €", "age"]]), tmp_path / "p.csv")
    )
    told = csv.read_csv(pa.BufferReader(out.encode()))
    np.testing.assert_array_equal(told.column("score"), model.decision_function(frame))
    assert "LinearSVM in" in maxmargin("inspect", path)


def test_predictions_as_parquet_and_tsv(maxmargin, table):
    from pyarrow import parquet

    maxmargin("fit", table, "-t", "answer", "--C", 1)
    maxmargin("predict", "model.maxmargin", table, "-o", "out.parquet")
    maxmargin("predict", "model.maxmargin", table, "-o", "out.tsv")
    a = parquet.read_table("out.parquet")
    b = csv.read_csv("out.tsv", parse_options=csv.ParseOptions(delimiter="\t"))
    assert a.column("prediction").to_pylist() == b.column("prediction").to_pylist()
    assert a.num_rows == 200


def test_result_alone_is_on_standard_output_with_json(maxmargin, table):
    out = maxmargin("fit", table, "-t", "answer", "--json")
    json.loads(out)
    assert "model.maxmargin" in out


def test_time_limit_is_honest(maxmargin, table):
    told = maxmargin.json("fit", "--demo", "digits", "--C", 1, "--max-seconds", 0.001, code=1)
    assert not told["proved"]
    assert any("max_seconds" in note for note in told["notes"])


def test_svmlight_counts_as_the_training_file_did(maxmargin, tmp_path):
    """A file without a column 0 may still count from 0, if the training file did."""
    lines = [f"{i % 2} 0:{i % 2} 1:{(i * 7) % 5} 2:1" for i in range(40)]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n")
    maxmargin("fit", "a.svm", "--C", 1)
    (tmp_path / "b.svm").write_text("0 1:3 2:1\n0 1:1 2:1 9:5\n")
    model = mm.load("model.maxmargin")
    expected = model.model.decision_function(np.array([[0.0, 3.0, 1.0], [0.0, 1.0, 1.0]]))
    np.testing.assert_allclose(model.decision_function("b.svm"), expected)
    out = maxmargin("predict", "model.maxmargin", "b.svm")
    scores = csv.read_csv(pa.BufferReader(out.encode())).column("score")
    np.testing.assert_allclose(scores, expected)
    assert maxmargin.json("evaluate", "model.maxmargin", "b.svm")["wrong"] == 0
