"""Laws of the path over C, and where it begins and ends."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    LabelRanker,
    LinearSVM,
    LogisticRegression,
    PairwiseRanker,
    c_path,
    separability,
)
from maxmargin.models.tune.path_extrapolation import PathExtrapolation

CS = [0.003, 0.03, 0.3, 3.0, 30.0]


def _clouds(n=160, d=6, k=2, seed=0):
    return make_classification(
        n, d, n_informative=d, n_redundant=0, n_classes=k, class_sep=0.7, flip_y=0.1,
        random_state=seed,
    )  # fmt: skip


MODELS = [
    LinearSVM(),
    LinearSVM(solver="descent"),
    LinearSVM(loss="squared_hinge"),
    LinearSVM(multiclass="sum"),
    LinearSVM(multiclass="rest"),
    LinearSVM(multiclass="pairs"),
    LinearSVM(multiclass="sum", loss="squared_hinge"),
    LogisticRegression(),
]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_warm_is_cold_within_the_gap(model, k):
    X, y = _clouds(k=k)
    path = c_path(model, X, y, CS)
    for C, warm in zip(CS, path.models, strict=True):
        cold = type(model)(**{**model.get_params(), "C": C}).fit(X, y)
        rounding = 1e-12 * cold.certificate_.primal
        gap = max(rounding, warm.certificate_.gap + cold.certificate_.gap)
        assert warm.certificate_.holds(model.tol)
        assert abs(warm.certificate_.primal - cold.certificate_.primal) <= gap
        # ½‖w − w*‖² ≤ gap: the objective is strongly convex
        apart = np.linalg.norm(warm.coef_ - cold.coef_)
        assert apart <= 2.0 * np.sqrt(2.0 * gap)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_norm_grows_and_losses_and_margin_fall(model, k):
    """P = N + C L with N = ½‖w‖².  Each model put into the other's problem, with gaps g and g′:

    N + C L ≤ N′ + C L′ + g  and  N′ + C′L′ ≤ N + C′L + g′.  Added up as they are they bound
    L′ − L, divided by C and C′ before they bound N − N′.
    """
    X, y = _clouds(k=k, seed=3)
    path = c_path(model, X, y, CS, stop=False)
    C, P = path.Cs, path.column("objective")
    N = 0.5 * path.column("norm") ** 2
    L = (P - N) / C
    g = path.column("gap") * P + 1e-12 * P
    assert (np.diff(L) <= (g[:-1] + g[1:]) / np.diff(C)).all()
    assert (-np.diff(N) <= (g[:-1] / C[:-1] + g[1:] / C[1:]) / -np.diff(1.0 / C)).all()
    assert N[-1] > 2.0 * N[0]
    assert L[-1] < L[0]
    if not isinstance(model, LogisticRegression):
        assert (np.diff(path.column("margin")) <= 1e-3 * path.column("margin")[:-1]).all()


def test_kinds_of_support_vectors_add_up():
    X, y = _clouds()
    path = c_path(LinearSVM(), X, y, CS)
    kinds = sum(path.column(kind) for kind in ("on_margin", "inside", "misclassified"))
    np.testing.assert_array_equal(kinds, path.column("n_support"))
    for row, model in zip(path.rows, path.models, strict=True):
        assert row["training_error"] == pytest.approx(np.mean(model.predict(X) != y))
        assert row["norm"] * row["margin"] == pytest.approx(1.0)
        assert row["misclassified"] == np.sum(model.slack_ > 1)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_separable_data_end_at_the_hard_margin(storage):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100, [1, 3]], y[:100]
    path = c_path(LinearSVM(), storage(X), y)
    assert path.hard_margin
    assert "hard margin" in path.ending
    last, before = path.models[-1], path.models[-2]
    assert last.alpha_.max() < last.C
    assert before.alpha_.max() == pytest.approx(before.C)
    assert last.margin_ == pytest.approx(separability(X, y).margin, rel=1e-5)


def test_inseparable_data_end_where_weights_stand_still():
    X, y = load_iris(return_X_y=True)
    path = c_path(LinearSVM(), X[50:], y[50:])
    assert not path.hard_margin
    assert "no longer change" in path.ending
    far = LinearSVM(C=100 * path.Cs[-1]).fit(X[50:], y[50:])
    np.testing.assert_allclose(far.coef_, path.models[-1].coef_, rtol=1e-3)


@pytest.mark.parametrize("bias", [{}, {"fit_intercept": False}, {"penalize_bias": True}], ids=str)
@pytest.mark.parametrize(
    ("multiclass", "rows"),
    [
        ("max", slice(50, 150)),
        ("max", slice(65, 150)),
        *product(["max", "sum", "rest", "pairs"], [slice(0, 150), slice(10, 140)]),
    ],
)
def test_the_trivial_form_ends_where_it_is_said_to(multiclass, rows, bias):
    """Below C₁ the multipliers are proportional to C, so is w; above, their sum falls behind."""
    X, y = load_iris(return_X_y=True)
    X, y = X[rows], y[rows]
    model = LinearSVM(multiclass=multiclass, **bias)
    path = c_path(model, X, y)
    C1 = path.trivial_until
    assert path.Cs[0] < C1 < 10 * path.Cs[0]

    def at(C):
        return LinearSVM(C=C, tol=1e-10, multiclass=multiclass, **bias).fit(X, y)

    low, below, above = at(0.3 * C1), at(0.99 * C1), at(1.02 * C1)
    most = low.alpha_.sum() / low.C
    assert below.alpha_.sum() / below.C == pytest.approx(most, rel=1e-7)
    assert above.alpha_.sum() / above.C < most * (1.0 - 1e-6)
    np.testing.assert_allclose(below.coef_ / below.C, low.coef_ / low.C, rtol=1e-3, atol=1e-3)


def test_the_trivial_form_of_two_classes_has_a_closed_form():
    """Equal weights: w = C Σ y x, until the two classes' margins meet at C (max₊ − min₋) = 2."""
    X, _ = load_iris(return_X_y=True)
    X, signs = X[50:], np.repeat([-1.0, 1.0], 50)
    f = X @ (signs @ X)
    C1 = 2.0 / (f[signs > 0].max() - f[signs < 0].min())
    assert c_path(LinearSVM(), X, signs).trivial_until == pytest.approx(C1, rel=2e-3)


def test_weights_and_class_weights_move_the_trivial_form():
    X, y = _clouds()
    s = np.random.default_rng(0).integers(1, 3, len(y))
    once = c_path(LinearSVM(class_weight={0: 2.0}), X, y, sample_weight=s)
    again = np.repeat(np.arange(len(y)), s)
    twice = c_path(LinearSVM(class_weight={0: 2.0}), X[again], y[again])
    assert once.trivial_until == pytest.approx(twice.trivial_until, rel=3e-3)
    np.testing.assert_allclose(once.column("norm"), twice.column("norm"), rtol=1e-3)


def test_smooth_losses_and_rankers_have_paths_too():
    X, y = _clouds(k=3)
    smooth = c_path(LogisticRegression(), X, y)
    assert smooth.trivial_until is None
    assert smooth.column("n_support")[0] is None
    assert len(c_path(PairwiseRanker(), X, y, Cs=3)) == 3
    assert len(c_path(LabelRanker(), X, y, Cs=[0.1, 1.0])) == 2
    grouped = c_path(PairwiseRanker(), X, y, Cs=2, fit_params={"groups": np.arange(len(y)) % 4})
    assert grouped.rows[0]["training_error"] < 0.5


def test_tables():
    X, y = load_breast_cancer(return_X_y=True)
    path = c_path(LinearSVM(), StandardScaler().fit_transform(X), y, Cs=4)
    assert path.table().count("\n") == 4
    assert "training_error" in repr(path)
    assert path._repr_html_().count("<tr>") == 5
    frame = path.to_frame()
    assert list(frame["C"]) == list(path.Cs)
    assert len(path.coefs) == len(path.intercepts) == 4
    assert path.best.score(StandardScaler().fit_transform(X), y) == 1 - min(frame["training_error"])


@pytest.mark.parametrize(
    ("model", "Cs", "error", "words"),
    [
        (RidgeClassifier(), "auto", TypeError, "no C and no warm_start"),
        (LinearSVM(), "all", ValueError, "'auto'"),
        (LinearSVM(), [1.0, -1.0], ValueError, "positive"),
        (LinearSVM(), 0, ValueError, "at least 1"),
        (LinearSVM(), [1.0, np.inf], ValueError, "hard margin"),
    ],
)
def test_complaints(model, Cs, error, words):
    X, y = _clouds()
    with pytest.raises(error, match=words):
        c_path(model, X, y, Cs)


def test_multipliers_ahead_grow_with_C_stay_or_shrink():
    """At their cap they follow C, those of a margin that is reached stay, and zero is zero."""
    ahead = PathExtrapolation()
    ahead.past = [(1.0, {"alpha_": np.array([1.0, 0.5, 0.0, 0.8, 0.5])}),
                  (2.0, {"alpha_": np.array([2.0, 0.5, 0.0, 0.4, 1.5])})]  # fmt: skip
    model = LinearSVM()
    model.solver_ = "newton"
    ahead.prepare(model, 4.0)
    np.testing.assert_allclose(model.alpha_, [4.0, 0.5, 0.0, 0.2, 3.0])
    ahead.past = ahead.past[:1]  # nothing but one fit: as C does
    ahead.prepare(model, 4.0)
    np.testing.assert_allclose(model.alpha_, [4.0, 2.0, 0.0, 3.2, 2.0])
