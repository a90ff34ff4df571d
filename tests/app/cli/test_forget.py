"""``maxmargin forget``: rows gone, with proof, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import maxmargin as mm

from .helpers import people, write


@pytest.fixture
def model(maxmargin, table, tmp_path):
    maxmargin("fit", table, "-t", "answer", "--C", 1, "--no-report", "--no-scale")
    return tmp_path / "model.maxmargin"


def test_the_new_model_is_proved_on_the_rows_left(maxmargin, table, model, tmp_path):
    told = maxmargin.json("forget", model, table, "--rows", "3,17-20", "-o", "new.maxmargin")
    assert told["forgotten"] == 5
    assert told["rows"] == 195
    assert told["proved"]
    rest = np.setdiff1d(np.arange(200), [2, 16, 17, 18, 19])
    write(people().take(rest), tmp_path / "rest.csv")
    assert maxmargin.json("verify", "new.maxmargin", "rest.csv")["holds"]
    assert not maxmargin.json("verify", "new.maxmargin", table, code=1)["holds"]
    assert len(mm.load("new.maxmargin").model.alpha_) == 195


def test_it_is_written_over_the_old_one_unless_a_name_is_given(maxmargin, table, model):
    said = maxmargin("forget", model, table, "--rows", "1")
    assert "forgot 1 rows; 199 are left" in said
    assert len(mm.load(model).model.alpha_) == 199
    again = maxmargin.complaint("forget", model, table, "--rows", "1")
    assert "here are 200 rows, there were 199" in again


def test_refusals_change_nothing(maxmargin, table, model):
    before = model.read_bytes()
    assert "no row 201 that was fitted" in maxmargin.complaint(
        "forget", model, table, "--rows", "201"
    )
    for words in ("0", "a", "3-", "-3"):
        assert "counted from 1" in maxmargin.complaint("forget", model, table, f"--rows={words}")
    assert "is the data" in maxmargin.complaint("forget", model, table, "--rows", "1", "-o", table)
    assert model.read_bytes() == before
