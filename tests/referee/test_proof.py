"""Certificates as JSON: what they hold, and that the referee needs nothing else but the data."""

from __future__ import annotations

import csv
import gc
import json
import pickle
import weakref

import numpy as np
import pytest
from sklearn.base import clone

import maxmargin as mm
from maxmargin.referee.__main__ import main
from maxmargin.referee.proof import read_proof

RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 2))
THREE = np.array(["a", "b", "c"])[RNG.integers(0, 3, 24)]
TWO = np.where(X[:, 0] + 0.5 * RNG.standard_normal(24) > 0, 1, 0)
# The last digit of a sum in float64 may be on either side.
ROUNDING = ["--slack", "1e-9"]


def write(path, header, *columns):
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(header)
        out.writerows(zip(*(np.asarray(column).tolist() for column in columns), strict=True))
    return str(path)


def proof_of(model, tmp_path) -> str:
    path = tmp_path / "proof.json"
    path.write_text(model.certificate_.to_json())
    return str(path)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (mm.LinearSVM(), TWO),
        (mm.LinearSVM(class_weight={"a": 2.0}), THREE),
        (mm.LinearSVM(multiclass="pairs", C=0.1), THREE),
        (mm.LinearSVMCV(Cs=[0.1, 1.0], cv=3), TWO),
        (mm.KernelSVM(), TWO),
        (mm.LogisticRegression(), THREE),
        (mm.LeastSquaresClassifier(alpha=0.5), TWO),
        (mm.FisherDiscriminant(), TWO),
        (mm.Perceptron(max_passes=20), TWO),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_proof_is_confirmed_from_a_table_alone(model, y, tmp_path, capsys):
    data = write(tmp_path / "d.csv", ["p", "q", "label"], *X.T, y)
    assert main([proof_of(clone(model).fit(X, y), tmp_path), data, *ROUNDING]) == 0
    assert "verdict:  confirmed" in capsys.readouterr().out


def test_a_forged_proof_is_refuted(tmp_path, capsys):
    path = proof_of(mm.LinearSVM().fit(X, TWO), tmp_path)
    with open(path) as file:
        forged = json.load(file)
    forged["fitted"]["coef_"][0][0] += 0.5
    (tmp_path / "proof.json").write_text(json.dumps(forged))
    data = write(tmp_path / "d.csv", ["p", "q", "label"], *X.T, TWO)
    assert main([path, data]) == 1
    assert "verdict:  refuted" in capsys.readouterr().out


def test_preferences_and_weights_have_places_of_their_own(tmp_path):
    pairs = [(0, 1), (2, 3), (5, 4)]
    ranker = mm.PairwiseRanker().fit(X, pairs)
    items = write(tmp_path / "items.csv", ["p", "q"], *X.T)
    listed = write(tmp_path / "pairs.csv", ["winner", "loser"], *np.array(pairs).T)
    assert main([proof_of(ranker, tmp_path), items, "--target", listed, *ROUNDING]) == 0
    weight = np.arange(1.0, 25.0)
    svm = mm.LinearSVM().fit(X, TWO, sample_weight=weight)
    data = write(tmp_path / "d.csv", ["p", "label", "w", "q"], X[:, 0], TWO, weight, X[:, 1])
    asked = [proof_of(svm, tmp_path), data, "--target", "label", *ROUNDING]
    assert main([*asked, "--weights", "w"]) == 0
    np.savez(tmp_path / "d.npz", X=X, y=TWO, sample_weight=weight)
    assert main([asked[0], str(tmp_path / "d.npz"), *ROUNDING]) == 0


def test_label_preferences_are_read(tmp_path):
    rows = [(0, "a", "b"), (1, "c", "a"), (2, "b", "c"), (3, "a", "c")]
    ranker = mm.LabelRanker().fit(X[:4], rows)
    items = write(tmp_path / "items.csv", ["p", "q"], *X[:4].T)
    columns = list(zip(*rows, strict=True))
    listed = write(tmp_path / "pairs.csv", ["example", "preferred", "other"], *columns)
    assert main([proof_of(ranker, tmp_path), items, "--target", listed, *ROUNDING]) == 0


def test_numbers_survive_as_they_are_and_what_is_not_finite_too(tmp_path):
    separable = np.where(X[:, 0] > 0, 1, -1)
    model = mm.LinearSVM(C=np.inf).fit(X, separable)
    read = read_proof(proof_of(model, tmp_path)).model
    assert np.isinf(read.C)
    assert np.array_equal(read.coef_, model.coef_)
    assert np.array_equal(read.alpha_, model.alpha_)
    assert read.certificate_.dual == model.certificate_.dual


def test_a_certificate_handed_out_knows_its_model_and_the_model_is_in_no_circle():
    assert '"alpha_"' in mm.LinearSVM().fit(X, TWO).certificate_.to_json()
    model = mm.LinearSVM().fit(X, TWO)
    gone = weakref.ref(model)
    gc.disable()
    try:
        del model
        assert gone() is None
    finally:
        gc.enable()


def test_a_certificate_is_pickled_alone_and_then_says_that_it_is():
    found = pickle.loads(pickle.dumps(mm.LinearSVM().fit(X, TWO).certificate_))
    assert found == mm.LinearSVM().fit(X, TWO).certificate_
    with pytest.raises(ValueError, match="Ask the model"):
        found.to_json()


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"format": "other"}', '{"format": "maxmargin proof", "version": 9}']
)
def test_what_is_no_proof_is_refused(text, tmp_path, capsys):
    (tmp_path / "p.json").write_text(text)
    data = write(tmp_path / "d.csv", ["p", "label"], [1.0], ["a"])
    assert main([str(tmp_path / "p.json"), data]) == 2
    assert "is no proof" in capsys.readouterr().err


def test_data_that_do_not_belong_to_the_proof_are_refused(tmp_path, capsys):
    path = proof_of(mm.LinearSVM().fit(X, TWO), tmp_path)
    other = write(tmp_path / "d.csv", ["p", "q", "label"], *X.T, THREE)
    assert main([path, other]) == 2
    assert "labels that the proof does not know" in capsys.readouterr().err
    assert main([path, other, "--target", "colour"]) == 2
    assert "no column 'colour'" in capsys.readouterr().err
