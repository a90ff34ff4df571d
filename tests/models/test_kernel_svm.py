"""KernelSVM as a user meets it: hard margins, rank, budgets, Ctrl-C, bad input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from maxmargin import KernelSVM, NotSeparableError, verify
from maxmargin.core.kernels.kernels import kernel_for
from maxmargin.core.solve.kernel import form as choose_kernel
from maxmargin.core.solve.kernel import kernel_descent as kernel_blocks

from ..kernel_helpers import rings


def separable_rings(n, seed=0):
    X, _ = rings(n, noise=0.05, seed=seed)
    return X, (np.linalg.norm(X, axis=1) > 1.5).astype(int)


# --- hard margins ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 1200])
def test_hard_margin(n):
    X, y = separable_rings(n)
    model = KernelSVM(C=np.inf, tol=1e-4).fit(X, y)
    assert model.solver_ == ("factor" if n == 60 else "blocks")
    assert model.score(X, y) == 1.0
    assert model.certificate_.holds(1e-4)
    assert verify(model, X, y).holds(1e-4)
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert margins.min() == pytest.approx(1.0, abs=1e-6)
    assert (model.support_kind_ == "margin").all()


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("n", [50, 900])
def test_the_same_point_in_both_classes_is_a_proof(kernel, n):
    X, y = separable_rings(n)
    X[7], y[7] = X[3], 1 - y[3]
    for data in (X, sparse.csr_matrix(X)):
        with pytest.raises(NotSeparableError) as refusal:
            KernelSVM(C=np.inf, kernel=kernel).fit(data, y)
        assert np.flatnonzero(refusal.value.proof.weights).tolist() == [3, 7]
        assert refusal.value.proof.residual == 0.0


@pytest.mark.parametrize("n", [150, 1000])
def test_a_kernel_too_poor_to_separate_is_proved_so(n):
    X, y = rings(n)
    with pytest.raises(NotSeparableError) as refusal:
        KernelSVM(C=np.inf, kernel="poly", degree=2, coef0=1.0, max_seconds=60).fit(X, y)
    weights = refusal.value.proof.weights
    phi = np.column_stack([X, X**2, X[:, 0] * X[:, 1]])
    above, below = weights[y > 0] @ phi[y > 0], weights[y < 0] @ phi[y < 0]
    np.testing.assert_allclose(above, below, atol=1e-5)


# --- rank ------------------------------------------------------------------------------


def test_rank_says_what_it_proves():
    X, y = rings(800)
    model = KernelSVM(rank=40, tol=1e-6, random_state=0).fit(X, y)
    exact = KernelSVM().fit(X, y)
    assert f"rank-{model.rank_}" in str(model.certificate_)
    assert "rbf" in model.certificate_.about
    assert "approximation" in model.certificate_.to_dict()["about"]
    assert 0 < model.trace_error_ < 1
    assert model.certificate_.holds(1e-6)
    assert model.certificate_.primal >= exact.certificate_.dual  # an upper bound of the optimum
    assert verify(model, X, y).relative_gap == pytest.approx(
        model.certificate_.relative_gap, abs=1e-9
    )
    assert model.score(X, y) > exact.score(X, y) - 0.03
    assert exact.certificate_.about == ""


def test_full_rank_is_the_exact_machine():
    X, y = rings(150)
    model = KernelSVM(rank=150, gamma=3.0, tol=1e-7).fit(X, y)
    exact = KernelSVM(gamma=3.0, tol=1e-7).fit(X, y)
    assert model.trace_error_ < 1e-9
    assert model.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-5)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-3)


def test_landmarks_depend_on_neither_order_nor_repetition():
    X, y = rings(100)
    order = np.random.default_rng(0).permutation(100)
    twice = np.concatenate([order, order[:50]])
    one = KernelSVM(rank=20, gamma=1.0, random_state=4).fit(X, y)
    two = KernelSVM(rank=20, gamma=1.0, random_state=4).fit(X[twice], y[twice])
    other = KernelSVM(rank=20, gamma=1.0, random_state=5).fit(X, y)
    points = lambda model: {tuple(row) for row in model._expansion.points.X}  # noqa: E731
    assert points(one) == points(two) != points(other)


@pytest.mark.parametrize("multiclass", ["pairs", "max"])
def test_rank_with_many_classes(multiclass):
    X, y = rings(400)
    y = y + 3 * (X[:, 0] > 0)
    model = KernelSVM(rank=60, multiclass=multiclass, random_state=0).fit(X, y)
    assert model.certificate_.holds(1e-3)
    assert model.score(X, y) > 0.8


# --- memory, budgets, interruptions ------------------------------------------------------


def test_the_cache_is_bounded_and_its_size_changes_nothing():
    X, y = rings(1500)
    small = KernelSVM(C=100.0, cache_mb=0.5, tol=1e-6).fit(X, y)
    large = KernelSVM(C=100.0, cache_mb=100.0, tol=1e-6).fit(X, y)
    assert small.certificate_.primal == pytest.approx(large.certificate_.primal, rel=2e-6)


def test_float32_is_kept_and_agrees():
    X, y = rings(600)
    single = KernelSVM().fit(X.astype(np.float32), y)
    double = KernelSVM().fit(X, y)
    assert single.support_vectors_.dtype == np.float32
    assert single.certificate_.primal == pytest.approx(double.certificate_.primal, rel=2e-3)


def test_far_from_the_origin():
    X, y = rings(500)
    near = KernelSVM(tol=1e-5).fit(X, y)
    far = KernelSVM(tol=1e-5).fit(X + 1e5, y)
    assert far.certificate_.holds(1e-5)
    assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=1e-4)


@pytest.mark.parametrize("budget", [{"max_iter": 2}, {"max_seconds": 1e-4}])
def test_a_fit_out_of_budget_keeps_its_model_and_says_its_gap(budget):
    X, y = rings(1500)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model = KernelSVM(C=100.0, tol=1e-8, **budget).fit(X, y)
    assert not model.certificate_.holds(1e-8)
    assert model.certificate_.feasible
    assert verify(model, X, y).relative_gap == pytest.approx(model.certificate_.relative_gap)


def test_interrupted_fit_keeps_its_best_model(monkeypatch):
    X, y = rings(1500)
    calls = []

    def press(*_):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(*_)

    original = kernel_blocks._solve_block
    monkeypatch.setattr(kernel_blocks, "_solve_block", press)
    with pytest.warns(ConvergenceWarning, match="interrupted from the keyboard"):
        model = KernelSVM(C=100.0, tol=1e-9).fit(X, y)
    assert model.score(X, y) > 0.8
    assert 0 < model.certificate_.relative_gap < 1


def test_warm_start_goes_on():
    X, y = rings(1500)
    model = KernelSVM(C=100.0, tol=1e-7, max_iter=3, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        gaps = [model.fit(X, y).certificate_.relative_gap for _ in range(3)]
    assert gaps[2] < gaps[0]


def test_a_proof_short_of_float32_goes_on_in_float64(monkeypatch):
    X, y = rings(700)
    monkeypatch.setattr(
        choose_kernel, "MIN_SINGLE_TOL", 0.0
    )  # float32 although the target is beyond it
    model = KernelSVM(C=1000.0, tol=1e-9).fit(X, y)
    assert model.certificate_.holds(1e-9)


# --- kinds of input ---------------------------------------------------------------------


def test_frames_and_words():
    X, y = rings(120)
    frame = pd.DataFrame(X, columns=["east", "north"])
    model = KernelSVM().fit(frame, np.where(y > 0, "outer", "inner"))
    assert list(model.feature_names_in_) == ["east", "north"]
    assert set(model.predict(frame)) == {"inner", "outer"}


def test_callables_of_rows_and_of_matrices():
    X, y = rings(90)
    of_rows = KernelSVM(kernel=lambda a, b: (a @ b + 1.0) ** 2).fit(X, y)
    of_matrices = KernelSVM(kernel=lambda A, B: (A @ B.T + 1.0) ** 2).fit(X, y)
    named = KernelSVM(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    for model in (of_rows, of_matrices):
        np.testing.assert_allclose(
            model.decision_function(X), named.decision_function(X), atol=1e-5
        )


@pytest.mark.parametrize("n", [100, 600])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_precomputed_matrices(n, form):
    X, y = rings(n)
    kernel = kernel_for(X, "rbf")
    given = KernelSVM(kernel="precomputed", tol=1e-6).fit(form(kernel(X)), y)
    computed = KernelSVM(tol=1e-6).fit(X, y)
    new = X[:20] + 0.1
    np.testing.assert_allclose(
        given.decision_function(form(kernel(new, X))), computed.decision_function(new), atol=1e-2
    )
    assert verify(given, form(kernel(X)), y).holds(1e-6)


def test_grid_search_and_pickle():
    X, y = rings(100)
    search = GridSearchCV(KernelSVM(), {"C": [1, 10], "kernel": ["rbf", "linear"]}, cv=3).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert (again.predict(X) == search.predict(X)).all()
    K = kernel_for(X, "rbf")(X)
    GridSearchCV(KernelSVM(kernel="precomputed"), {"C": [1, 10]}, cv=3, error_score="raise").fit(
        K, y
    )


def test_verify_on_other_data_is_honest():
    X, y = rings(300)
    model = KernelSVM().fit(X, y)
    other, labels = rings(200, seed=9)
    certificate = verify(model, other, labels)
    best = KernelSVM(gamma=model.gamma_).fit(other, labels).certificate_
    assert certificate.primal >= best.dual
    assert certificate.dual <= best.primal
    assert not certificate.holds(1e-3)


# --- bad input ----------------------------------------------------------------------------

SQUARE = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"C": 0.0}, "C must be"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": "large"}, "gamma must be"),
        ({"kernel": "poly", "degree": 1.5}, "degree must be"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0"),
        ({"kernel": "gaussian"}, "kernel must be one of"),
        ({"kernel": "sigmoid"}, "kernel must be one of"),
        ({"multiclass": "all"}, "multiclass must be one of"),
        ({"rank": 0}, "rank must be"),
        ({"cache_mb": -5}, "cache_mb must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"kernel": lambda a, b: np.nan}, "not a finite number"),
        ({"kernel": lambda a, b: a[0] - b[0]}, "not symmetric"),
        ({"kernel": lambda a, b: -(a @ b)}, "not positive semidefinite"),
    ],
)
def test_wrong_parameters_are_named(setting, message):
    X, y = rings(40)
    model = KernelSVM(**setting)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((3, 2)), "square"),
        (SQUARE + np.triu(np.ones((3, 3)), 1), "not symmetric"),
        (np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "squared distance"),
        (-SQUARE, "not positive semidefinite"),
    ],
)
def test_matrices_that_are_no_kernel_are_refused(K, message):
    with pytest.raises(ValueError, match=message):
        KernelSVM(kernel="precomputed").fit(K, [0, 1, 0])


def test_an_indefinite_matrix_with_good_distances_is_refused():
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    K = (Q * np.r_[np.full(29, 5.0), -1.0]) @ Q.T
    with pytest.raises(ValueError, match="smallest eigenvalue"):
        KernelSVM(kernel="precomputed").fit(0.5 * (K + K.T), np.arange(30) % 2)


def test_rounded_whole_numbers_are_used_with_a_warning():
    X, y = rings(40)
    K = (10 * kernel_for(X, "rbf")(X)).astype(int)
    with pytest.warns(UserWarning, match="whole numbers"):
        model = KernelSVM(kernel="precomputed").fit(K, y)
    assert model.certificate_.holds(1e-3)


def test_joint_rules_refuse_what_does_not_fit():
    X = np.random.default_rng(0).standard_normal((5001, 2))
    with pytest.raises(ValueError, match="multiclass='pairs'"):
        KernelSVM(multiclass="max").fit(X, np.arange(5001) % 3)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = rings(60)
    model = KernelSVM().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_verify_names_the_machines_it_knows():
    with pytest.raises(TypeError, match="support vector machine"):
        verify(object(), [[1.0]], [1])


def test_multipliers_of_support_vectors_cannot_be_written():
    X, y = rings()
    with pytest.raises(ValueError, match="read-only"):
        KernelSVM().fit(X, y).dual_coef_[...] = 0.0


def test_a_callable_may_return_a_sparse_product_of_sparse_rows():
    X, y = rings()
    rows = sparse.csr_matrix(X)
    model = KernelSVM(kernel=lambda A, B: A @ B.T, tol=1e-9).fit(rows, y)
    plain = KernelSVM(kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.decision_function(rows), plain.decision_function(X), atol=1e-3)
