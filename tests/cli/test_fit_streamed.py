"""`maxmargin fit --memory`: the same model from files that need not fit memory."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

from maxmargin import load
from tests.helpers import separable_cloud

from .helpers import people, write


@pytest.fixture
def parts(tmp_path):
    """Three Parquet files of people in a folder, and all of them in one."""
    table = people(3000)
    folder = tmp_path / "folder"
    folder.mkdir()
    for i in range(3):
        write(table.slice(1000 * i, 1000), folder / f"{i}.parquet")
    return folder, write(table, tmp_path / "all.csv"), table


@pytest.mark.parametrize("method", ["svm", "logistic", "least-squares", "fisher"])
def test_the_same_model_as_in_memory(maxmargin, parts, method):
    folder, whole, _ = parts
    extra = [] if method == "fisher" else ["--C", "0.1"]
    here = maxmargin.json("fit", whole, "-t", "answer", "-m", method, *extra)
    there = maxmargin.json(
        "fit", folder, "-t", "answer", "-m", method, *extra, "--memory", "50MB", "-o", "s.maxmargin"
    )
    assert there["proved"]
    assert (there["rows"], there["classes"]) == (here["rows"], here["classes"])
    assert there["notes"] == here["notes"]
    assert there["training"]["error"] == pytest.approx(here["training"]["error"], abs=2e-3)
    a, b = load("model.maxmargin"), load("s.maxmargin")
    assert a.feature_names == b.feature_names
    np.testing.assert_allclose(b.model.coef_, a.model.coef_, atol=2e-3)
    assert "the claim holds" in maxmargin("verify", "s.maxmargin", whole)
    assert not os.path.exists("s.maxmargin.resume")


def test_c_is_chosen_on_a_sample_and_a_test_file_judged(maxmargin, parts):
    folder, whole, _ = parts
    told = maxmargin.json("fit", folder, "-t", "answer", "--memory", "50MB", "--test", whole)
    assert told["tuning"]["C"]
    assert "C was chosen on all rows" in told["notes"]
    assert told["test"] == told["training"]
    assert told["streamed"]["memory"] == 50_000_000


def test_rows_left_out_and_columns_left_out(maxmargin, tmp_path):
    table = people(500)
    answer = table.column("answer").to_pylist()
    answer[3] = answer[77] = None
    table = table.set_column(5, "answer", [answer]).append_column("one", [["x"] * 500])
    path = write(table, tmp_path / "t.csv")
    for missing in ("fill", "drop"):
        given = ("fit", path, "-t", "answer", "--C", "1", "--missing", missing)
        here = maxmargin.json(*given)
        there = maxmargin.json(*given, "--memory", "50MB")
        assert there["rows"] == here["rows"]
        assert sorted(there["notes"]) == sorted(here["notes"])
        assert there["margin"] == pytest.approx(here["margin"], rel=1e-3)


def test_many_classes(maxmargin, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 3))
    y = np.digitize(X[:, 0] + 0.2 * rng.standard_normal(900), [-0.5, 0.5])
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"y": y}
    path = write(pa.table(columns), tmp_path / "t.parquet")
    for rule in ("max", "rest"):
        told = maxmargin.json("fit", path, "--C", "1", "--memory", "50MB", "--multiclass", rule)
        assert told["proved"]
        assert "the claim holds" in maxmargin("verify", "model.maxmargin", path)


def test_the_hard_margin(maxmargin, tmp_path):
    X, y = separable_cloud(900, 3)
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"y": np.where(y > 0, "up", "down")}
    path = write(pa.table(columns), tmp_path / "t.parquet")
    here = maxmargin.json("fit", path, "--C", "inf")
    there = maxmargin.json("fit", path, "--C", "inf", "--memory", "50MB")
    assert there["proved"]
    assert there["margin"] == pytest.approx(here["margin"], rel=1e-5)
    assert there["support"] == here["support"]
    assert "the claim holds" in maxmargin("verify", "model.maxmargin", path)


def test_refusals(maxmargin, parts, tmp_path):
    folder, _, _ = parts
    for arguments, said in {
        ("--memory", "a lot"): "at least 16 MB",
        ("--resume",): "--resume goes with --memory",
        ("--memory", "50MB", "--report", "page.html"): "Leave out --report or --memory",
        ("--memory", "50MB", "--holdout", "0.2"): "--test",
        ("--memory", "50MB", "-m", "kernel-svm"): "needs all rows in memory",
        ("--memory", "50MB", "--C", "inf"): "not separable: weighted means",
        ("--memory", "50MB", "--C", "inf", "-m", "logistic"): "finite number, got C=inf",
        ("--memory", "50MB", "--drop", "agee"): "Did you mean 'age'",
    }.items():
        assert said in maxmargin.complaint("fit", folder, "-t", "answer", *arguments)
    assert "Which column" in maxmargin.complaint("fit", folder, "--memory", "50MB")
    assert not list(tmp_path.glob("*.resume"))


def test_a_bad_row_is_named(maxmargin, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(17):
        rows = "".join(f"{j / 7},{(i + j) % 2}\n" for j in range(30))
        (folder / f"{i + 1:02}.csv").write_text("x,label\n" + rows)
    (folder / "17.csv").write_text("x,label\n" + "1.5,0\n" * 9 + "one,1\n")
    said = maxmargin.complaint("fit", folder, "--memory", "50MB", "--C", "1")
    assert "17.csv, row 10: the column 'x' holds 'one'" in said


def test_killed_and_resumed(maxmargin, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150_000, 10))
    y = np.where(X @ rng.standard_normal(10) + rng.standard_normal(len(X)) > 0, "a", "b")
    path = write(pa.table({f"x{j}": X[:, j] for j in range(10)} | {"y": y}), tmp_path / "t.parquet")
    given = ["fit", str(path), "-m", "perceptron", "--memory", "20MB", "-o", "p.maxmargin"]
    process = subprocess.Popen([sys.executable, "-m", "maxmargin", *given], cwd=tmp_path)
    state = tmp_path / "p.maxmargin.resume" / "state.npz"
    while not state.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert state.exists()
    assert not (tmp_path / "p.maxmargin").exists()
    before = np.load(state)["done"]
    maxmargin(*given, "--resume", code=1)  # a perceptron proves nothing of inseparable rows
    assert not state.parent.exists()
    resumed = load(tmp_path / "p.maxmargin").model
    assert resumed.n_iter_ == 100 - before
    maxmargin(*given, code=1)
    np.testing.assert_array_equal(resumed.coef_, load(tmp_path / "p.maxmargin").model.coef_)
