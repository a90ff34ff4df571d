"""Warm starts from the parts' multipliers, Ctrl-C, and nothing left behind."""

from __future__ import annotations

import copy

import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import spread as on_dask
from maxmargin.parts.dask.dask_parts import DaskParts
from tests.parts.dask.helpers import at_question, clouds, held, nothing_held, spread


@pytest.mark.parametrize(("k", "rule"), [(2, "max"), (3, "rest")])
def test_a_warm_start_goes_on_where_the_last_fit_ended(near, k, rule):
    X, y = clouds(60, 2, k=k)
    DX, Dy = spread(X, y, [40])
    model = on_dask.LinearSVM(0.1, tol=1e-2, multiclass=rule, warm_start=True)
    model.fit(DX, Dy)
    first, proof = model.traffic_.rounds, model.certificate_
    assert held(near) > 0  # rows and multipliers stay
    assert model.fit(DX, Dy).traffic_.rounds < first
    assert model.certificate_.dual >= proof.dual * (1 - 1e-9)
    model.set_params(C=0.2).fit(DX, Dy)
    assert model.certificate_.holds(1e-2)
    assert not hasattr(copy.copy(model), "_kept")
    assert not hasattr(model.plain(), "_kept")
    del model
    assert nothing_held(near)


def test_other_data_or_weights_start_afresh(near):
    X, y = clouds(60, 2)
    model = on_dask.LinearSVM(tol=1e-3, warm_start=True).fit(*spread(X, y, [40]))
    turned = model.coef_
    model.fit(*spread(-X, y, [40]))
    assert model.coef_ == pytest.approx(-turned, rel=1e-6)
    model.set_params(class_weight={"elm": 3.0}).fit(*spread(-X, y, [40]))
    cold = on_dask.LinearSVM(tol=1e-3, class_weight={"elm": 3.0}).fit(*spread(-X, y, [40]))
    assert model.coef_ == pytest.approx(cold.coef_, rel=1e-9)
    model.set_params(warm_start=False).fit(*spread(X, y, [40]))
    assert nothing_held(near)


def press(monkeypatch):
    """Ctrl-C when the question is on its way, before its answers are here."""

    def pressed(parts, task):
        answer = DaskParts._answer

        def interrupted(*_, **__):
            monkeypatch.setattr(DaskParts, "_answer", answer)
            raise KeyboardInterrupt

        monkeypatch.setattr(DaskParts, "_answer", interrupted)
        return task

    return pressed


@pytest.mark.parametrize(
    ("model", "k", "question"),
    [
        (on_dask.LinearSVM(tol=1e-9), 2, 12),
        pytest.param(on_dask.LinearSVM(tol=1e-9), 3, 4, marks=pytest.mark.slow),
        (on_dask.LogisticRegression(tol=1e-13), 3, 5),
    ],
)
def test_what_was_reached_before_ctrl_c_is_kept_with_its_proof(
    near, monkeypatch, model, k, question
):
    X, y = clouds(90, 3, k=k)
    asked = at_question(monkeypatch, question, press(monkeypatch))
    with pytest.warns(ConvergenceWarning, match="interrupted from the keyboard"):
        model.fit(*spread(X, y, [40]))
    assert len(asked) >= question
    proof = model.certificate_
    assert 0 <= proof.dual <= proof.primal
    assert not proof.holds(model.tol)
    again = on_dask.verify(model, *spread(X, y, [40]))
    assert again.primal == pytest.approx(proof.primal)
    assert nothing_held(near)


@pytest.mark.parametrize(
    ("model", "k", "question"),
    [
        (on_dask.LinearSVM(tol=1e-9, multiclass="rest"), 3, 12),
        pytest.param(on_dask.LogisticRegression(tol=1e-9), 3, 2, marks=pytest.mark.slow),
        pytest.param(on_dask.LeastSquaresClassifier(), 3, 2, marks=pytest.mark.slow),
        (on_dask.LinearSVMCV(Cs=[0.1, 1.0], cv=2), 2, 12),
    ],
)
def test_where_there_is_nothing_to_keep_ctrl_c_leaves_the_model_as_it_was(
    near, monkeypatch, model, k, question
):
    X, y = clouds(90, 3, k=k)
    at_question(monkeypatch, question, press(monkeypatch))
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        model.fit(*spread(X, y, [40]))
    assert not hasattr(model, "coef_")
    assert nothing_held(near)


def test_a_path_keeps_the_models_it_has(near, monkeypatch):
    X, y = clouds(90, 3)
    DX, Dy = spread(X, y, [40])
    estimator = on_dask.LogisticRegression(tol=1e-3)
    asked = at_question(monkeypatch, 10**6, lambda parts, task: task)
    whole = on_dask.c_path(estimator, DX, Dy, Cs=[0.01, 0.1, 1.0])
    at_question(monkeypatch, len(asked), press(monkeypatch))  # the very last question
    with pytest.warns(UserWarning, match=r"Interrupted from the keyboard after C = 0\.1"):
        path = on_dask.c_path(estimator, DX, Dy, Cs=[0.01, 0.1, 1.0])
    assert path.Cs.tolist() == [0.01, 0.1]
    for short, full in zip(path.models, whole.models, strict=False):
        assert short.coef_ == pytest.approx(full.coef_, rel=1e-9)


def test_progress_is_told_as_in_memory(near, capsys):
    on_dask.LinearSVM(tol=1e-3, verbose=2).fit(*spread(*clouds(60, 2), [30]))
    told = capsys.readouterr().err
    assert "[maxmargin]" in told
    assert "relative gap" in told
    assert "(asked 1e-03)" in told


@pytest.mark.parametrize(
    "name", ["LinearSVM", "Perceptron", pytest.param("LogisticRegression", marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore:Perceptron stopped early")
def test_a_fit_leaves_no_futures_behind(near, name):
    parameters = {"max_passes": 3} if name == "Perceptron" else {"tol": 1e-2}
    getattr(on_dask, name)(**parameters).fit(*spread(*clouds(60, 2), [30]))
    assert nothing_held(near)
