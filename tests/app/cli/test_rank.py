"""``maxmargin rank`` on real files."""

import csv
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from maxmargin import PairwiseRanker
from maxmargin.app.cli.app import app

from .helpers import write


@pytest.fixture
def files(tmp_path):
    """Five items on a line; whoever is further right wins; one tie, one winner by side."""
    items, comparisons = tmp_path / "items.csv", tmp_path / "comparisons.csv"
    items.write_text("name,size,colour\na1,1,red\na2,2,red\na3,3,blue\na4,4,blue\na5,5,red\n")
    comparisons.write_text(
        "judge,item_a,item_b,winner\nx,a1,a2,a2\nx,a3,a2,a\ny,a3,a4,b\ny,a5,a4,a5\ny,a1,a5,tie\n"
    )
    return comparisons, items


def run(*arguments):
    return CliRunner().invoke(app, ["rank", *map(str, arguments)])


def test_items_are_ranked_and_written(files, tmp_path):
    comparisons, items = files
    out = tmp_path / "ranked.csv"
    result = run(comparisons, "--items", items, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert [row["item"] for row in told["items"]] == ["a5", "a4", "a3", "a2", "a1"]
    assert told["comparisons"] == 4
    assert told["ties_left_out"] == 1
    assert told["agreement"] == 1.0
    assert told["proved"]
    assert set(told["weights"]) == {"size", "colour=blue", "colour=red"}
    with out.open() as file:
        assert [row["item"] for row in csv.DictReader(file)] == ["a5", "a4", "a3", "a2", "a1"]


def test_the_command_and_the_estimator_agree(files):
    comparisons, items = files
    told = json.loads(run(comparisons, "--items", items, "--no-scale", "--json").stdout)
    X = np.array([[1, 0, 1], [2, 0, 1], [3, 1, 0], [4, 1, 0], [5, 0, 1]], dtype=float)
    ranker = PairwiseRanker().fit(X, [(1, 0), (2, 1), (3, 2), (4, 3)])
    weights = told["weights"]
    found = [weights[name]["per_unit"] for name in ("size", "colour=blue", "colour=red")]
    np.testing.assert_allclose(found, ranker.coef_, atol=1e-9)


def test_the_bundled_example_runs_without_arguments():
    done = subprocess.run(
        [sys.executable, "-m", "maxmargin", "rank", "--top", "3"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "proved within" in done.stdout
    assert "and 11 more" in done.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x,a1,zz,a1", "line 7: the item 'zz' is not in the table of items"),
        ("x,a1,a1,a1", "line 7: 'a1' against 'a1'"),
        ("x,a1,a2,a3", "winner 'a3'"),
        ("x,a1,a2", "Expected 4 columns, got 3: x,a1,a2"),
    ],
)
def test_bad_lines_are_named(files, line, message):
    comparisons, items = files
    with comparisons.open("a") as file:
        file.write(line + "\n")
    error = run(comparisons, "--items", items).exception
    assert message in str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name\na1\n", "no features"),
        ("name,size\na1,1\na1,2\n", "line 3: 'a1' was on line 2 already"),
        ("name,size\na1,\n", "line 2: size is empty"),
        ("name,size\n", "has columns but no rows"),
        ("name,size\na1,inf\na2,1\n", "'size' holds an infinite value"),
    ],
)
def test_bad_items_are_named(files, text, message):
    comparisons, items = files
    items.write_text(text)
    assert message in str(run(comparisons, "--items", items).exception)


def test_errors_end_with_code_two_and_one_sentence(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "maxmargin", "rank", str(tmp_path / "missing.csv")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "rank needs two files" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_that_look_like_numbers_and_other_formats(tmp_path):
    """ "007" is a name, in both files; a column that says nothing is left out and told."""
    table = {"id": ["007", "1e3", "42"], "size": [1.0, 2.0, 3.0], "same": [5, 5, 5]}
    write(pa.table(table), tmp_path / "items.tsv")
    write(pa.table(table), tmp_path / "items.parquet")
    text = "item_a,item_b,winner\n007,1e3,1e3\n42,1e3,42\n"
    (tmp_path / "pairs.csv").write_text(text)
    for items in ("items.tsv", "items.parquet"):
        told = json.loads(run(tmp_path / "pairs.csv", "--items", tmp_path / items, "--json").stdout)
        assert [row["item"] for row in told["items"]] == ["42", "1e3", "007"]
        assert list(told["weights"]) == ["size"]
        assert told["notes"] == ["same was left out: it has one value only, 5"]


def test_spaces_around_names_do_not_matter(files):
    comparisons, items = files
    comparisons.write_text("item_a,item_b,winner\n a1 ,a2, a2\n")
    assert json.loads(run(comparisons, "--items", items, "--json").stdout)["comparisons"] == 1
