"""LogisticRegression on tensors: the same optimum as on arrays, proved, in every width."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: see `make test-torch`")

from maxmargin import LogisticRegression, LogisticRegressionCV, load, save  # noqa: E402

WIDTHS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def data(n=600, d=12, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(0, -1, d) + 0.5
    X = torch.from_numpy(X).to(torch.float16).to(torch.bfloat16).double()  # exact in every width
    y = (X.numpy() @ rng.standard_normal((d, k)) * 2 + rng.standard_normal((n, k))).argmax(1)
    return X, y


@pytest.mark.parametrize("width", WIDTHS, ids=str)
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_same_optimum_as_on_arrays(width, k, C, device):
    X, y = data(k=k)
    ours = LogisticRegression(C, tol=1e-6).fit(X.to(device, width), y)
    theirs = LogisticRegression(C, tol=1e-8).fit(X.numpy(), y)
    assert ours.certificate_.holds(1e-6)
    primal = theirs.certificate_.primal
    assert primal * (1 - 1e-7) <= ours.certificate_.primal <= primal * (1 + 1e-5)
    assert ours.certificate_.rounding > 0
    assert ours.coef_.device.type == device
    assert ours.coef_.dtype is torch.float64
    distance = np.linalg.norm(ours.coef_.cpu().numpy() - theirs.coef_)
    assert 0.5 * distance**2 <= 2 * primal * 1e-6  # the objective is 1-strongly convex in W


@pytest.mark.parametrize("bias", [True, False])
def test_weights_count_rows(bias, device):
    X, y = data()
    times = np.random.default_rng(1).integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), times)
    one = LogisticRegression(fit_intercept=bias, tol=1e-8).fit(X.to(device), y, times)
    two = LogisticRegression(fit_intercept=bias, tol=1e-8).fit(X[again].to(device), y[again])
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(one.coef_.cpu(), two.coef_.cpu(), atol=1e-3)


def test_arrays_with_a_device_come_back_as_arrays(device):
    X, y = data()
    words = np.array(["a", "b", "c", "d"])[y]
    model = LogisticRegression(device=device).fit(X.numpy(), words)
    assert isinstance(model.coef_, np.ndarray)
    assert isinstance(model.intercept_, np.ndarray)
    plain = LogisticRegression().fit(X.numpy(), words)
    assert (model.predict(X.numpy()) == plain.predict(X.numpy())).mean() > 0.99
    assert (model.predict(X) == model.predict(X.numpy())).all()


def test_predictions_are_where_rows_are(device):
    X, y = data(k=3)
    X = X.to(device, torch.float32)
    model = LogisticRegression().fit(X, torch.from_numpy(y).to(device))
    labels, P = model.predict(X), model.predict_proba(X)
    assert labels.device == X.device
    assert P.device == X.device
    torch.testing.assert_close(P.sum(1), torch.ones(len(y), device=device))
    assert bool((P.argmax(1) == labels).all())
    assert float((labels.cpu() == torch.from_numpy(y)).double().mean()) > 0.6


def test_same_bits_on_the_same_device(device):
    X, y = data()
    X = X.to(device, torch.bfloat16)
    one, two = (LogisticRegression(C=10).fit(X, y) for _ in range(2))
    assert torch.equal(one.coef_, two.coef_)
    assert one.certificate_.primal == two.certificate_.primal


@pytest.mark.parametrize("on_device", [True, False])
def test_several_labels_are_as_many_problems(on_device, device):
    X, _ = data(d=6)
    rng = np.random.default_rng(2)
    Y = (X.numpy() @ rng.standard_normal((6, 5)) + rng.standard_normal((len(X), 5)) > 0).astype(int)
    rows = X.to(device) if on_device else X.numpy()
    model = LogisticRegression(tol=1e-6).fit(rows, Y)
    assert model.certificate_.holds(1e-6)
    assert model.n_labels_ == 5
    assert tuple(model.predict(rows).shape) == Y.shape
    total = 0.0
    for j in range(5):
        alone = LogisticRegression(tol=1e-8).fit(X.numpy(), Y[:, j])
        total += alone.certificate_.primal
        np.testing.assert_allclose(np.asarray(model.coef_.tolist())[j], alone.coef_[0], atol=5e-2)
    assert model.certificate_.primal == pytest.approx(total, rel=2e-6)


def test_several_labels_survive_a_file(tmp_path, device):
    X, _ = data(d=6)
    Y = (X.numpy()[:, :3] > 0.5).astype(int)
    model = LogisticRegression().fit(X.to(device), Y)
    save(model, tmp_path / "m.maxmargin")
    again = load(tmp_path / "m.maxmargin")
    np.testing.assert_array_equal(again.predict(X.numpy()), model.predict(X.numpy()))


def test_search_chooses_and_proves(device):
    X, y = data()
    Cs = np.logspace(-3, 2, 6)
    model = LogisticRegressionCV(Cs, cv=3, tol_cv=1e-4).fit(X.to(device, torch.float32), y)
    plain = LogisticRegressionCV(Cs, cv=3, tol_cv=1e-4).fit(X.numpy(), y)
    assert model.certificate_.holds(1e-6)
    assert (model.cv_results_["max_relative_gap"] <= 1e-4).all()
    assert model.scores_.shape == (3, 6)
    np.testing.assert_allclose(model.scores_, plain.scores_, atol=0.011)


def test_rows_left_in_the_host_give_the_same(monkeypatch, device):
    from maxmargin.core.rows import torch_rows

    X, y = data()
    whole = LogisticRegression(tol=1e-8, device=device).fit(X.numpy(), y)
    monkeypatch.setattr(torch_rows, "_fits", lambda X, device: False)
    monkeypatch.setenv(torch_rows.CHUNK_VARIABLE, "128")
    streamed = LogisticRegression(tol=1e-8, device=device).fit(X.numpy(), y)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, atol=1e-3)
    assert streamed.certificate_.holds(1e-8)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda X, y: (X[:-1], y), "599 rows in X but 600 labels"),
        (lambda X, y: (X * float("nan"), y), "contains NaN"),
        (lambda X, y: (X, np.zeros(len(y))), "needs at least two classes"),
        (lambda X, y: (X, np.column_stack([y, y])), "0 and 1 only"),
        (lambda X, y: (X[0], y), "rows and columns"),
    ],
)
def test_refusals(change, said):
    with pytest.raises(ValueError, match=said):
        LogisticRegression().fit(*change(*data()))


def test_refuses_what_only_arrays_can_do():
    X, y = data()
    with pytest.raises(ValueError, match="Use solver='newton'"):
        LogisticRegression(solver="descent").fit(X, y)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="no CUDA device"):
            LogisticRegression(device="cuda").fit(X, y)


def test_probe_on_a_tensor_is_that_on_arrays(device):
    from maxmargin import probe

    X, y = data(n=400, d=6)
    ours = probe(X.to(device, torch.bfloat16), torch.from_numpy(y).to(device))
    theirs = probe(X.numpy(), y)
    assert ours.proved
    assert (ours.gaps <= 1e-4).all()
    assert ours.accuracy == pytest.approx(theirs.accuracy, abs=0.06)
    np.testing.assert_allclose(ours.choice_accuracy, theirs.choice_accuracy, atol=0.06)


def test_verify_proves_a_fit_to_a_tensor_from_arrays(device):
    from maxmargin import verify

    X, y = data()
    model = LogisticRegression(tol=1e-6).fit(X.to(device), y)
    assert verify(model, X.numpy(), y).holds(1e-5)
