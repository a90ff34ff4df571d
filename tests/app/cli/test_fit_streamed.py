"""`maxmargin fit --memory`: the same model from files that need not fit memory."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from maxmargin import load
from maxmargin.parts.stream.folder import WorkFolder
from tests.helpers import separable_cloud

from .helpers import people, write, write_matrix


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
    assert "the claim holds" in maxmargin("verify", "s.maxmargin", folder)  # in pieces, too
    assert "the claim holds" in maxmargin("verify", "model.maxmargin", whole, "--memory", "50MB")
    maxmargin("verify", "s.maxmargin", folder / "0.parquet", code=1)
    assert not os.path.exists("s.maxmargin.resume")


def test_c_is_chosen_on_a_sample_and_a_test_file_judged(maxmargin, parts):
    folder, whole, _ = parts
    told = maxmargin.json("fit", folder, "-t", "answer", "--memory", "50MB", "--test", whole)
    assert told["tuning"]["C"]
    assert "C was chosen on all rows" in told["notes"]
    assert told["training"].items() <= told["test"].items()
    assert told["test"]["way"] == "hold-out"
    assert "low" not in told["training"]  # of rows the model has seen nothing follows for others
    assert told["streamed"]["memory"] == 50_000_000


def test_a_ridge_is_chosen_on_all_rows_through_both_doors(maxmargin, parts):
    folder, whole, _ = parts
    given = ("-t", "answer", "-m", "least-squares", "--no-report")
    here = maxmargin.json("fit", whole, *given)
    there = maxmargin.json("fit", folder, *given, "--memory", "50MB")
    assert there["alpha"] == here["alpha"]
    assert there["notes"] == here["notes"]


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


def test_the_page_tells_of_all_rows_and_draws_some(maxmargin, parts):
    folder, whole, table = parts
    given = ("-t", "answer", "--C", "0.1", "--tol", "1e-7")
    told = maxmargin.json("fit", folder, *given, "--memory", "50MB", "-o", "s.maxmargin")
    assert told["files"] == ["s.maxmargin", "report.html"]
    page = Path("report.html").read_text(encoding="utf-8")
    here = maxmargin.json("fit", whole, *given)
    there = Path("report.html").read_text(encoding="utf-8")
    assert "Drawn from 2,000 of 3,000 rows, by lot" in page
    assert "Drawn from" not in there
    assert "could not be drawn" not in page
    holes = table.column("income €").null_count
    for said in (
        f">{holes:,}</td>", "3 indicators", "Proved", "town=東京", "passed over",
        f"{told['training']['wrong']:,} of 3,000", "maxmargin fit ", "margins", "50 MB",
        f"{sum(told['support'].values()):,} support vectors",
    ):  # fmt: skip
        assert said in page, said
    # The same plane: only rows on the margin, at most one for every weight, may be told apart.
    for kind in ("inside", "misclassified"):
        assert told["support"][kind] == pytest.approx(here["support"][kind], abs=8)


def test_the_page_of_a_matrix(maxmargin, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3)).round(3)
    y = (X[:, 0] + 0.3 * rng.standard_normal(3000) > 0).astype(int)
    path = write_matrix(X, y, tmp_path / "t.svm")
    maxmargin("fit", path, "--C", "1", "--memory", "50MB", "--report", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Of 2,000 of 3,000 training rows, drawn by lot" in page
    assert "A sparse matrix" in page
    assert "could not be drawn" not in page
    assert "the claim holds" in maxmargin("verify", "model.maxmargin", path)
    maxmargin("fit", path, "-m", "perceptron", "--memory", "50MB", "--no-report", code=1)
    assert "the claim holds" in maxmargin("verify", "model.maxmargin", path)
    assert not Path("report.html").exists()


def test_arrays_as_in_memory(maxmargin, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3)) * [1, 10, 100] + [5, 0, 0]
    y = np.where(X[:, 0] + X[:, 1] / 10 + rng.standard_normal(3000) > 5, "b", "a")
    weight = rng.uniform(0.5, 2, 3000)
    np.savez("d.npz", X=X, y=y)
    np.savez_compressed("c.npz", X=X, y=y)
    for name, array in {"X": X, "y": y, "w": weight, "X_test": X[:99], "y_test": y[:99]}.items():
        np.save(f"{name}.npy", array)
    for rest in ([], ["--weights", "w.npy", "--target", "y.npy"], ["--no-scale"]):
        here = maxmargin.json("fit", "X.npy", "--C", "1", "--test", "X_test.npy", *rest)
        sources = ["X.npy"] if rest else ["X.npy", "d.npz", "c.npz"]
        for source in sources:
            test = ["--test", "X_test.npy"] if source == "X.npy" else []
            given = ("fit", source, "--C", "1", *rest, *test, "--memory", "50MB")
            there = maxmargin.json(*given, "--no-report")
            assert there["proved"]
            assert there["margin"] == pytest.approx(here["margin"], rel=1e-3)
            assert there["training"]["wrong"] == pytest.approx(here["training"]["wrong"], abs=3)
            assert there["classes"] == here["classes"]
            assert "the claim holds" in maxmargin("verify", "model.maxmargin", source)
            if test:
                assert there["test"]["rows"] == 99
                held = maxmargin("verify", "model.maxmargin", "X.npy", "--target", "y.npy")
                assert "the claim holds" in held


def test_arrays_that_do_not_fit(maxmargin):
    np.save("X.npy", np.zeros((4, 2)))
    given = ("fit", "X.npy", "--memory", "50MB")
    assert "y.npy" in maxmargin.complaint(*given)
    np.save("y.npy", np.array([0.5, 1, 0, 1]))
    assert "row 1: the label 0.5 is no whole number" in maxmargin.complaint(*given)
    np.save("y.npy", np.array([1, 0, 1]))
    assert "shapes" in maxmargin.complaint(*given)
    assert "4 rows" in maxmargin.complaint("fit", "X.npy")
    np.savez("s.npz", data=np.zeros(3), y=np.zeros(3))
    assert "dense matrix X" in maxmargin.complaint("fit", "s.npz", "--memory", "50MB")


def test_levels_seen_late_and_values_missing(maxmargin, tmp_path):
    """The first rows do not tell that a column holds words; all of them are looked at."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(900).round(3)
    code = [str(i % 4) for i in range(800)] + [["B7", ""][i % 2] for i in range(100)]
    lines = [f"{a},{b},{b + rng.standard_normal() > 0}" for a, b in zip(code, x, strict=True)]
    Path("t.csv").write_text("code,x,likes\n" + "\n".join(lines) + "\n")
    given = ("fit", "t.csv", "-t", "likes", "--C", "1", "--test", "t.csv")
    here = maxmargin.json(*given)
    there = maxmargin.json(*given, "--memory", "50MB")
    assert there["notes"] == here["notes"]
    assert "code: 50 missing values, which count as none of its levels" in there["notes"]
    assert there["margin"] == pytest.approx(here["margin"], rel=1e-3)
    assert there["test"]["wrong"] == there["training"]["wrong"] > 0
    said = maxmargin.complaint(*given, "--missing", "refuse", "--memory", "50MB")
    assert "code: 50 missing" in said
    said = maxmargin.complaint("fit", "t.csv", "-t", "x", "--memory", "50MB")
    assert "looks like a measurement" in said
    assert not list(tmp_path.glob("*.resume"))


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
        ("--memory", "50MB", "--report", "model.maxmargin"): "both name",
        ("--memory", "50MB", "--holdout", "0.2"): "--test",
        ("--memory", "50MB", "-m", "kernel-svm"): "needs all rows in memory",
        ("--memory", "50MB", "--C", "inf"): "not separable: weighted means",
        ("--memory", "50MB", "--C", "inf", "-m", "logistic"): "finite number, got C=inf",
        ("--memory", "50MB", "--drop", "agee"): "Did you mean 'age'",
        ("--memory", "50MB", "-m", "perceptron", "--weights", "age"): "takes no weights",
    }.items():
        assert said in maxmargin.complaint("fit", folder, "-t", "answer", *arguments)
    assert "Which column" in maxmargin.complaint("fit", folder, "--memory", "50MB")
    write(people(30), folder / "more.csv")
    said = maxmargin.complaint("fit", folder, "-t", "answer", "--memory", "50MB")
    assert "csv (" in said
    assert "parquet (" in said
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


def test_interrupted_and_resumed(maxmargin, tmp_path, monkeypatch):
    """Ctrl-C in the fourth pass; how to go on is said, and going on takes the passes left."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    y = np.where(X @ rng.standard_normal(5) + rng.standard_normal(len(X)) > 0, "a", "b")
    path = write(pa.table({f"x{j}": X[:, j] for j in range(5)} | {"y": y}), tmp_path / "t.parquet")
    given = [
        "fit",
        path,
        "-m",
        "perceptron",
        "--memory",
        "20MB",
        "--no-report",
        "-o",
        "p.maxmargin",
    ]
    save, kept, times = WorkFolder.save, tmp_path / "p.maxmargin.resume", []

    def pressed(folder, **state):
        save(folder, **state)
        times.append(1)
        if len(times) == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WorkFolder, "save", pressed)
        maxmargin(*given, code=130)
    assert "--resume goes on from there" in maxmargin.err
    assert [file.name for file in kept.iterdir()] == ["state.npz"]
    assert not (tmp_path / "p.maxmargin").exists()
    maxmargin(*given, "--resume", code=1)  # a perceptron proves nothing of inseparable rows
    assert not kept.exists()
    resumed = load(tmp_path / "p.maxmargin").model
    assert resumed.n_iter_ == 100 - 4
    maxmargin(*given, code=1)
    np.testing.assert_array_equal(resumed.coef_, load(tmp_path / "p.maxmargin").model.coef_)
