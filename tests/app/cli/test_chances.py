"""Probabilities, sets and costs on the command line."""

import pyarrow as pa
import pytest
from pyarrow import csv

from tests.app.cli.helpers import write


def read(text):
    return csv.read_csv(pa.BufferReader(text.encode())).to_pandas()


@pytest.fixture
def iris(tmp_path):
    from maxmargin.app.cli.bundled import bundled

    data = bundled("iris")
    table = data.rows.append_column("label", pa.array(data.y.tolist()))
    return write(table, tmp_path / "iris.csv")


def test_predictions_have_probabilities_bounds_and_sets(maxmargin, iris):
    told = maxmargin.json("fit", iris, "-t", "label", "--C", 1, "--no-report")
    assert told["expected"]["way"] == "leave-one-out"
    assert "low" not in told["training"]
    rows = read(maxmargin("predict", "model.maxmargin", iris))
    assert [*rows.columns] == [
        "prediction", "score", "probability", "low", "high", "set", "distance",
    ]  # fmt: skip
    assert ((rows.low <= rows.probability) & (rows.probability <= rows.high)).all()
    wide = read(maxmargin("predict", "model.maxmargin", iris, "--alpha", 0.005))
    assert (wide["set"].fillna("").str.count(r"\|") > 0).any()
    assert "must lie between 0 and 1" in maxmargin.complaint(
        "predict", "model.maxmargin", iris, "--alpha", 2
    )


def test_costs_are_kept_and_decided_by(maxmargin, iris, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text(
        "true,setosa,versicolor,virginica,ask\n"
        "setosa,0,1,1,0.1\nversicolor,1,0,1,0.1\nvirginica,1,50,0,0.1\n"
    )
    maxmargin("fit", iris, "-t", "label", "--C", 1, "--no-report", "--costs", costs)
    rows = read(maxmargin("predict", "model.maxmargin", iris))
    assert {"setosa", "ask"} <= set(rows.decision)
    assert (rows.expected_cost <= 0.1 + 1e-12).all()  # asking is never dearer
    told = maxmargin.json("evaluate", "model.maxmargin", iris)["cost"]
    assert 0.0 < told["of the cheapest decisions"] <= 0.1
    assert told["of the labels predicted"] == pytest.approx(5 / 150)
    costs.write_text("true,setosa\nsetosa,0\n")
    said = maxmargin.complaint("predict", "model.maxmargin", iris, "--costs", costs)
    assert "no costs for 'versicolor'" in said
