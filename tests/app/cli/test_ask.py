"""``maxmargin ask``: answers typed, kept and gone on with."""

import csv

import pytest
from typer.testing import CliRunner

from maxmargin.app.cli.app import app

ITEMS = "name,turbulence,density\nwisp,0.1,0.9\nplume,0.8,0.5\nfog,0.3,0.2\nstorm,1.0,1.0\n"


@pytest.fixture
def items(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smoke.csv").write_text(ITEMS)
    return tmp_path


def run(*words, says=""):
    return CliRunner().invoke(app, ["ask", *words], input=says)


def test_answers_are_kept_and_gone_on_with(items):
    first = run("smoke.csv", "--questions", "2", says="1\n2\n")
    assert first.exit_code == 0
    assert "2 answers; best first" in first.output
    assert "proved within" in first.output
    rows = list(csv.reader((items / "answers.csv").open()))
    assert rows[0] == ["item_a", "item_b", "winner"]
    assert [row[2] for row in rows[1:]] == [rows[1][0], rows[2][1]]
    second = run("smoke.csv", "--questions", "9", says="1\n" * 9)
    assert "6 answers" in second.output
    assert "every pair has been compared" in second.output


def test_skip_quit_nonsense_and_silence(items):
    assert "no answer yet" in run("smoke.csv", says="maybe\nq\n").output
    assert "1 answers" in run("smoke.csv", says="s\n1\nq\n").output
    assert run("smoke.csv", "--answers", "other.csv", says="").exit_code == 0
    assert not (items / "other.csv").exists()


def test_names_that_spreadsheets_run_are_refused(items):
    (items / "bad.csv").write_text("name,a\n=1+1,2\nplume,3\n")
    with pytest.raises(ValueError, match="would be a formula"):
        CliRunner().invoke(app, ["ask", "bad.csv"], catch_exceptions=False)
    with pytest.raises(ValueError, match=r"smoke\.csv"):
        CliRunner().invoke(
            app, ["ask", "smoke.csv", "--answers", "smoke.csv"], catch_exceptions=False
        )
