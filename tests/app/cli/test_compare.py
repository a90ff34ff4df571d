"""``maxmargin compare`` on a real file."""

import json

from sklearn.datasets import load_wine
from typer.testing import CliRunner

from maxmargin import compare
from maxmargin.app.cli.app import app
from maxmargin.app.workflow.tuning import score_for


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_the_table_is_that_of_the_function(tmp_path):
    data = load_wine(as_frame=True).frame
    data.to_csv(tmp_path / "wine.csv", index=False)
    names = "svm,fisher"
    result = run(tmp_path / "wine.csv", "-t", "target", "--methods", names, "--folds", 3, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    X, y = load_wine(return_X_y=True)
    found = compare(X, y, ["svm", "fisher"], ["as given"], cv=3)
    assert [row["method"] for row in told["rows"]] == [row["method"] for row in found.rows]
    assert [row["accuracy"] for row in told["rows"]] == [row["accuracy"] for row in found.rows]
    assert told["recommendation"].startswith("Use ")


def test_columns_are_left_out_and_read_as_told(tmp_path):
    data = load_wine(as_frame=True).frame
    data["extra"] = data["target"]
    data.to_csv(tmp_path / "wine.csv", index=False)
    options = ("-t", "target", "--methods", "svm", "--folds", 3, "--json")
    cheating = run(tmp_path / "wine.csv", *options, "--category", "extra")
    honest = run(tmp_path / "wine.csv", *options, "--drop", "extra")
    X, y = load_wine(return_X_y=True)
    expected = compare(X, y, ["svm"], ["as given"], cv=3).rows[0]["accuracy"]
    assert json.loads(honest.stdout)["rows"][0]["accuracy"] == expected < 1
    assert json.loads(cheating.stdout)["rows"][0]["accuracy"] == 1
    refused = run(tmp_path / "wine.csv", *options, "--drop", "extar")
    assert "Did you mean 'extra'" in str(refused.exception)


def test_unknown_methods_are_named(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("x,y,label\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(20)))
    result = run(path, "-t", "label", "--methods", "magic")
    assert "magic" in str(result.exception)


def test_with_a_rare_class_methods_are_ranked_as_fit_chooses_C(tmp_path):
    path = tmp_path / "rare.csv"
    lines = (f"{i % 7},{i % 5},{'rare' if i % 20 == 0 else 'common'}\n" for i in range(100))
    path.write_text("x,y,label\n" + "".join(lines))
    options = (path, "-t", "label", "--methods", "fisher", "--folds", 3, "--json")
    told = json.loads(run(*options).stdout)
    assert told["score"] == "balanced_accuracy" == score_for(["rare"] * 5 + ["common"] * 95)
    assert "balanced accuracy" in told["recommendation"]
    assert json.loads(run(*options, "--score", "accuracy").stdout)["score"] == "accuracy"
    assert score_for(["a"] * 20 + ["b"] * 80) == "accuracy"
    assert "--score must be one of" in str(run(*options, "--score", "best").exception)
