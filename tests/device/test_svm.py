"""LinearSVM on tensors: the same optimum as on arrays, proved, in every width."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: see `make test-torch`")

from maxmargin import LinearSVM, LinearSVMCV, load, save, verify  # noqa: E402
from maxmargin.core.certify import torch_smooth  # noqa: E402

from .test_logistic import WIDTHS, data  # noqa: E402

RULES = ["max", "sum", "rest"]


def host(value):
    return np.asarray(value.tolist())


def objective(model, X, y, weight=None):
    """½‖W‖² + C Σ losses in float64, by NumPy alone."""
    W, b = host(model.coef_), host(model.intercept_)
    S = X @ W.T + b
    if len(W) == 1:
        loss = np.maximum(0, 1 - np.where(y == 1, 1, -1) * S[:, 0])
    elif model.multiclass == "rest":
        sign = np.where(y[:, None] == np.arange(len(W)), 1, -1)
        loss = np.maximum(0, 1 - sign * S).sum(1)
    else:
        Z = 1 + S - S[np.arange(len(y)), y][:, None]
        Z[np.arange(len(y)), y] = 0
        loss = Z.max(1) if model.multiclass == "max" else np.maximum(0, Z).sum(1)
    return 0.5 * (W**2).sum() + model.C * (loss if weight is None else weight * loss).sum()


@pytest.fixture(scope="module")
def plain():
    """Fits on arrays, made once."""
    kept = {}

    def fit(k, C, rule):
        if (k, C, rule) not in kept:
            X, y = data(k=k)
            kept[k, C, rule] = LinearSVM(C, multiclass=rule, tol=1e-7).fit(X.numpy(), y)
        return kept[k, C, rule]

    return fit


@pytest.mark.parametrize("width", WIDTHS, ids=str)
@pytest.mark.parametrize(("k", "rule"), [(2, "max"), (4, "max"), (4, "sum"), (4, "rest")], ids=str)
@pytest.mark.parametrize("C", [1e-2, 1.0])
def test_same_optimum_as_on_arrays(width, k, rule, C, device, plain):
    X, y = data(k=k)
    ours = LinearSVM(C, multiclass=rule, tol=1e-5).fit(X.to(device, width), y)
    proof, optimum = ours.certificate_, plain(k, C, rule).certificate_
    assert proof.holds(1e-5)
    assert proof.dual <= optimum.primal
    assert proof.primal >= optimum.dual
    assert proof.primal == pytest.approx(objective(ours, X.numpy(), y), rel=1e-9)
    assert proof.rounding > 0
    assert ours.coef_.device.type == device
    distance = np.linalg.norm(host(ours.coef_) - plain(k, C, rule).coef_)
    assert 0.5 * distance**2 <= 2e-5 * optimum.primal  # the objective is 1-strongly convex in W


@pytest.mark.parametrize(("k", "rule"), [(2, "max"), (4, "sum"), (4, "rest")], ids=str)
@pytest.mark.parametrize("width", [torch.float64, torch.bfloat16], ids=str)
def test_squared_hinges_are_those_on_arrays(k, rule, width, device):
    X, y = data(n=300, k=k)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    settings = {"multiclass": rule, "loss": "squared_hinge", "tol": 1e-6, "C": 0.5}
    ours = LinearSVM(**settings).fit(X.to(device, width), y, weight)
    theirs = LinearSVM(**settings).fit(X.numpy(), y, weight)
    assert ours.certificate_.holds(1e-6)
    assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=2e-6)
    np.testing.assert_allclose(host(ours.slack_), theirs.slack_, atol=2e-2)
    if k == 2:
        np.testing.assert_allclose(host(ours.alpha_), theirs.alpha_, atol=2e-2)
        assert abs(host(ours.dual_coef_).sum()) < 1e-9


def test_multipliers_of_two_classes_prove_by_themselves(device):
    """The dual recomputed from alpha_ by NumPy alone."""
    X, y = data(k=2)
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y))
    model = LinearSVM(0.3, tol=1e-5).fit(X.to(device), y, weight)
    alpha, sign = host(model.alpha_), np.where(y == 1, 1, -1)
    assert (alpha >= 0).all()
    assert (alpha <= 0.3 * weight * (1 + 1e-12)).all()
    assert abs(alpha @ sign) < 1e-9 * alpha.sum()
    w = (alpha * sign) @ X.numpy()
    primal = objective(model, X.numpy(), y, weight)
    assert 0 <= primal - (alpha.sum() - 0.5 * w @ w) <= 1.1e-5 * primal
    np.testing.assert_allclose(model.dual_coef_ @ X.numpy()[host(model.support_)], w[None])
    slack = np.maximum(0, 1 - sign * host(model.decision_function(X.to(device))))
    np.testing.assert_allclose(host(model.slack_), slack, atol=1e-9)
    assert len(model.support_kind_) == len(model.support_) < len(y)
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(host(model.coef_)))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bias", [True, False])
def test_weights_count_rows(rule, bias, device):
    X, y = data(n=300)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), times)
    settings = {"multiclass": rule, "fit_intercept": bias, "tol": 1e-5, "C": 0.1}
    one = LinearSVM(**settings).fit(X.to(device), y, times)
    two = LinearSVM(**settings).fit(X[again].to(device), y[again])
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-5)
    assert bool(one.intercept_.any()) is bias
    assert not host(one.slack_)[times == 0].any()


def test_class_weights_and_words(device):
    X, y = data(k=3)
    words = np.array(["a", "b", "c"])[y]
    model = LinearSVM(0.1, class_weight="balanced", tol=1e-4, device=device).fit(X.numpy(), words)
    plain = LinearSVM(0.1, class_weight="balanced", tol=1e-4).fit(X.numpy(), words)
    assert isinstance(model.coef_, np.ndarray)
    assert isinstance(model.support_, np.ndarray)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-4)
    assert (model.predict(X) == plain.predict(X.numpy())).mean() > 0.98
    far = model.signed_distance(X.to(device))
    np.testing.assert_allclose(host(far), model.signed_distance(X.numpy()), atol=1e-6)


def test_same_bits_on_the_same_device(device):
    X, y = data()
    X = X.to(device, torch.bfloat16)
    one, two = (LinearSVM(tol=1e-3).fit(X, y) for _ in range(2))
    assert torch.equal(one.coef_, two.coef_)
    assert one.certificate_.primal == two.certificate_.primal


def test_the_last_solution_is_a_start(device):
    X, y = data()
    model = LinearSVM(0.1, tol=1e-4, warm_start=True).fit(X.to(device), y)
    first = model.n_iter_
    assert model.fit(X.to(device), y).certificate_.holds(1e-4)
    assert model.n_iter_ <= first


def test_a_file_and_a_verdict(tmp_path, device):
    X, y = data(k=3)
    model = LinearSVM(0.1, tol=1e-4).fit(X.to(device, torch.float32), y)
    assert verify(model, X.numpy(), y).holds(1e-3)
    save(model, tmp_path / "m.maxmargin")
    again = load(tmp_path / "m.maxmargin")
    np.testing.assert_array_equal(again.predict(X.numpy()), model.predict(X.numpy()))
    with pytest.raises(AttributeError, match="on a device"):
        _ = model.dual_coef_


@pytest.mark.parametrize("k", [2, 4])
def test_search_chooses_and_proves(k, device):
    X, y = data(k=k)
    Cs = np.logspace(-3, 1, 4)
    model = LinearSVMCV(Cs, cv=3, tol=1e-4).fit(X.to(device, torch.float32), y)
    plain = LinearSVMCV(Cs, cv=3, tol=1e-4).fit(X.numpy(), y)
    assert model.certificate_.holds(1e-4)
    assert (model.cv_results_["max_relative_gap"] <= 1e-3).all()
    np.testing.assert_allclose(model.scores_, plain.scores_, atol=0.03)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"solver": "descent"}, "solver='descent' works on NumPy arrays"),
        ({"multiclass": "pairs"}, "'sum' or 'rest'"),
        ({"loss": "squared_hinge"}, "Use 'max' with the hinge"),
        ({"penalize_bias": True}, "penalize_bias=True works on NumPy arrays"),
        ({"probability": True}, "calibrates on NumPy arrays"),
        ({"C": np.inf}, "C"),
    ],
)
def test_refusals_name_what_works(settings, said):
    with pytest.raises(ValueError, match=said):
        LinearSVM(**settings).fit(*data())


@pytest.mark.parametrize("kind_of_labels", ["random", "close"])
def test_biases_are_levelled_where_few_rows_may_be_tilted(kind_of_labels, device, monkeypatch):
    """Of many rows only a few make up for Σ R: of small C that takes steps of the biases alone."""
    monkeypatch.setattr(torch_smooth, "MIN_TILTED_ROWS", 100)
    rng = np.random.default_rng(5)
    n, d, k = 6000, 16, 40
    y = rng.integers(k, size=n)
    X = 0.5 * rng.standard_normal((k, d))[y] + rng.standard_normal((n, d))
    if kind_of_labels == "random":
        y = np.where(rng.random(n) < 0.2, rng.integers(k, size=n), y)
    rows, labels = torch.as_tensor(X, dtype=torch.float32, device=device), torch.as_tensor(y)
    for C in (1e-5, 3e-5, 1e-3):
        found = LinearSVM(C, multiclass="max", tol=1e-3).fit(rows, labels.to(device))
        assert found.certificate_.relative_gap <= 1e-3
