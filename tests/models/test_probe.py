"""Probes by published protocols, on the CPU with the solvers for arrays."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from maxmargin import LogisticRegression, load, probe, write_report
from maxmargin.app.cli.app import app
from maxmargin.models.probe import few_of_each, held_out, wilson


@pytest.fixture(scope="module")
def embeddings():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    means = 1.5 * rng.standard_normal((3, 5))
    return means[y] + rng.standard_normal((400, 5)), np.array(["cat", "dog", "owl"])[y]


@pytest.mark.parametrize("protocol", ["clip", "mteb"])
def test_protocols_choose_refit_and_prove(embeddings, protocol):
    X, y = embeddings
    found = probe(X, y, protocol, tol=1e-6)
    assert found.proved
    assert 38 <= found.test_rows <= 42
    low, high = found.interval
    assert low <= found.accuracy <= high
    assert found.accuracy > 0.6
    assert json.dumps(found.to_dict())


def test_dino_refits_on_all_rows_but_those_it_is_judged_by(embeddings):
    X, y = embeddings
    found = probe(X[:300], y[:300], "dino", X_test=X[300:], y_test=y[300:])
    assert len(found.Cs) == 45
    assert found.C in found.Cs
    assert found.test_rows == 100
    again = LogisticRegression(found.C).fit(X[:300], y[:300])
    assert found.certificate.primal == pytest.approx(again.certificate_.primal, rel=1e-5)
    assert found.accuracy == pytest.approx((again.predict(X[300:]) == y[300:]).mean(), abs=0.02)


def test_clip_ends_with_eight_values_a_power_of_ten_around_the_best(embeddings):
    found = probe(*embeddings, "clip")
    powers = np.log10(found.Cs)
    assert np.isclose(np.abs(powers - np.log10(found.C)), 0.125).any()
    best = found.choice_accuracy.max()
    assert found.choice_accuracy[found.Cs == found.C] == best


def test_the_report_shows_the_curve_the_interval_and_the_mean_per_class(embeddings, tmp_path):
    found = probe(*embeddings, "clip", tol=1e-4)
    text = write_report(found, tmp_path / "probe.html").read_text(encoding="utf-8")
    text = text.replace("\N{NO-BREAK SPACE}", " ")  # a number keeps its sign
    for share in (found.accuracy, *found.interval, found.class_accuracy):
        assert f"{share:.2%}".replace("%", " %") in text
    assert "<svg" in text
    assert f"C = {found.C:.4g} is chosen" in text
    assert text.count("<tr") > len(found.Cs)
    assert "Proved" in text


def test_rows_put_aside_are_a_share_of_every_class():
    y = np.repeat([0, 1, 2], [100, 40, 1])
    keep, aside = held_out(y, 0.1, np.random.default_rng(0))
    assert sorted([*keep, *aside]) == list(range(141))
    counts = np.bincount(y[aside], minlength=3)
    assert 9 <= counts[0] <= 11
    assert 3 <= counts[1] <= 5
    assert counts[2] == 0


def test_few_of_each_class():
    y = np.repeat([0, 1, 2], [100, 40, 3])
    some = few_of_each(y, 8, np.random.default_rng(0))
    assert np.bincount(y[some]).tolist() == [8, 8, 3]


def test_wilson_is_the_textbook_interval():
    low, high = wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_command(tmp_path, embeddings):
    X, y = embeddings
    np.save(tmp_path / "X.npy", X)
    (tmp_path / "y.txt").write_text("\n".join(y) + "\n")
    names = [str(tmp_path / "X.npy"), str(tmp_path / "y.txt")]
    model, page = tmp_path / "probe.maxmargin", tmp_path / "probe.html"
    files = ["--model", str(model), "--report", str(page)]
    done = CliRunner().invoke(app, ["probe", *names, "--protocol", "mteb", *files, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["proved"]
    assert len(told["experiments"]) == 10
    assert set(load(model).predict(X)) <= set(y)
    assert "The experiments" in page.read_text(encoding="utf-8")


def test_refusals(embeddings):
    X, y = embeddings
    with pytest.raises(ValueError, match="protocol must be one of"):
        probe(X, y, "vtab")
    with pytest.raises(ValueError, match="give both, or neither"):
        probe(X, y, X_test=X)
    with pytest.raises(ValueError, match="one label for every row"):
        probe(X, y[:-1])
