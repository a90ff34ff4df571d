"""Laws of ranking: what must hold whatever the data are."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import (
    LabelRanker,
    LinearSVM,
    PairwiseRanker,
    pair_accuracy,
    verify,
)
from maxmargin.core.certify.graded import _cornered, _counted, _Scored, centred, certify_grades
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.graded import GradedProblem
from maxmargin.core.problem.losses import Hinge
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.graded import as_grades, by_score
from maxmargin.core.rows.pairs import PairRows
from maxmargin.core.rows.rows import as_rows
from maxmargin.models.ranking import pairwise_ranker

from ..class_helpers import clouds
from ..helpers import cloud
from ..ranking_helpers import (
    all_pairs,
    graded,
    label_preferences,
    pair_objective,
    preferences,
)

TIGHT = {"tol": 1e-10}


@pytest.fixture
def counted(monkeypatch):
    """Pairs implied by grades are counted, however few there are."""
    monkeypatch.setattr(pairwise_ranker, "MAX_LISTED_PAIRS", 0)


# --- objects ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["tiny", "newton", "descent"])
def test_reversing_every_pair_negates_w(solver):
    X, pairs = preferences()
    fit = PairwiseRanker(solver=solver, **TIGHT).fit(X, pairs)
    back = PairwiseRanker(solver=solver, **TIGHT).fit(X, pairs[:, ::-1])
    np.testing.assert_allclose(back.coef_, -fit.coef_, atol=1e-4)
    assert back.score(X, pairs) == pytest.approx(1 - fit.score(X, pairs))


def test_reversing_every_grade_negates_w(counted):
    X, grade, group = graded()
    fit = PairwiseRanker(0.1, tol=1e-8).fit(X, grade, groups=group)
    back = PairwiseRanker(0.1, tol=1e-8).fit(X, -grade, groups=group)
    assert fit.solver_ == back.solver_ == "rounded corner"
    np.testing.assert_allclose(back.coef_, -fit.coef_, atol=1e-3)


def test_a_contradiction_costs_two_and_teaches_nothing():
    """a ≻ b and b ≻ a: max(0, 1 − t) + max(0, 1 + t) is 2 for |t| ≤ 1, so w = 0 is best."""
    X = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.0]])
    C = 0.7
    fit = PairwiseRanker(C).fit(X, [(0, 1), (1, 0)])
    np.testing.assert_allclose(fit.coef_, 0.0, atol=1e-9)
    assert fit.certificate_.primal == pytest.approx(2 * C)
    assert fit.certificate_.dual == pytest.approx(2 * C)


def test_a_contradiction_beside_other_pairs_adds_two_while_its_items_are_near():
    X, pairs = preferences(seed=1)
    X = 0.05 * X  # so near that no |w·(x_a − x_b)| reaches 1
    fit = PairwiseRanker(**TIGHT).fit(X, pairs)
    more = PairwiseRanker(**TIGHT).fit(X, np.concatenate([pairs, [(0, 1), (1, 0)]]))
    assert abs(fit.coef_ @ (X[0] - X[1])) < 1
    assert more.certificate_.primal == pytest.approx(fit.certificate_.primal + 2, rel=1e-9)
    np.testing.assert_allclose(more.coef_, fit.coef_, atol=1e-4)


def test_a_pair_twice_is_a_pair_of_weight_two():
    X, pairs = preferences()
    times = np.random.default_rng(0).integers(0, 3, len(pairs))
    weighted = PairwiseRanker(**TIGHT).fit(X, np.column_stack([pairs, times]))
    repeated = PairwiseRanker(**TIGHT).fit(X, np.repeat(pairs, times, axis=0))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-9)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    assert weighted.score(X, np.column_stack([pairs, times])) == pytest.approx(
        weighted.score(X, np.repeat(pairs, times, axis=0))
    )


@pytest.mark.parametrize("path", ["listed", "counted"])
def test_an_item_twice_is_an_item_of_weight_two(path, request):
    if path == "counted":
        request.getfixturevalue("counted")
    X, grade, group = graded()
    times = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = PairwiseRanker(0.1, tol=1e-8).fit(X, grade, group, sample_weight=times)
    parts = (np.repeat(part, times, axis=0) for part in (X, grade, group))
    repeated = PairwiseRanker(0.1, tol=1e-8).fit(*parts)
    assert (weighted.solver_ == "rounded corner") == (path == "counted")
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=2e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_order_of_rows_and_pairs_does_not_matter():
    X, pairs = preferences()
    rng = np.random.default_rng(2)
    rows = rng.permutation(len(X))
    moved = np.argsort(rows)[pairs][rng.permutation(len(pairs))]
    fit, again = PairwiseRanker(**TIGHT).fit(X, pairs), PairwiseRanker(**TIGHT).fit(X[rows], moved)
    np.testing.assert_allclose(again.coef_, fit.coef_, atol=1e-4)


@pytest.mark.parametrize("t", [1e-3, 1e3])
def test_scaling_the_items_is_scaling_C(t):
    X, pairs = preferences()
    fit = PairwiseRanker(**TIGHT).fit(X, pairs)
    scaled = PairwiseRanker(1 / t**2, **TIGHT).fit(t * X, pairs)
    np.testing.assert_allclose(scaled.coef_ * t, fit.coef_, atol=1e-4)


@pytest.mark.parametrize("t", [1e-3, 1e3])
def test_scaling_the_items_is_scaling_C_for_grades(t, counted):
    X, grade, group = graded()
    fit = PairwiseRanker(0.1, tol=1e-8).fit(X, grade, group)
    scaled = PairwiseRanker(0.1 / t**2, tol=1e-8).fit(t * X, grade, group)
    np.testing.assert_allclose(scaled.coef_ * t, fit.coef_, atol=1e-3)


def test_moving_all_items_changes_nothing(counted):
    X, grade, group = graded()
    fit = PairwiseRanker(0.1).fit(X, grade, group)
    far = PairwiseRanker(0.1).fit(X + 1e6, grade, group)
    assert far.certificate_.holds(1e-6)
    np.testing.assert_allclose(far.coef_, fit.coef_, atol=1e-2)


@pytest.mark.parametrize("solver", ["newton", "descent"])
def test_sparse_items_and_single_precision_are_the_same_problem(solver):
    X, pairs = preferences()
    X = X * (np.abs(X) > 0.5)
    fit = PairwiseRanker(solver=solver, **TIGHT).fit(X, pairs)
    for other in (sparse.csr_matrix(X), sparse.csc_array(X)):
        again = PairwiseRanker(solver=solver, **TIGHT).fit(other, pairs)
        np.testing.assert_allclose(again.coef_, fit.coef_, atol=1e-4)
    single = PairwiseRanker(solver=solver).fit(X.astype(np.float32), pairs)
    np.testing.assert_allclose(single.coef_, fit.coef_, atol=1e-2)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, np.float32])
def test_counted_pairs_are_listed_pairs(storage, counted):
    X, grade, group = graded(90, groups=2)
    X = X * (np.abs(X) > 0.3)
    fit = PairwiseRanker(0.05).fit(storage(X), grade, group)
    pairs, _ = all_pairs(grade, group)
    listed = PairwiseRanker(0.05).fit(X, pairs)
    assert fit.solver_ == "rounded corner"
    assert fit.n_pairs_ == len(pairs)
    assert fit.certificate_.holds(1e-6)
    assert fit.certificate_.primal == pytest.approx(listed.certificate_.primal, rel=2e-6)
    value = pair_objective(X, pairs, fit.coef_, 0.05)
    assert value == pytest.approx(fit.certificate_.primal, rel=1e-6)
    assert fit.score(X, grade, group) == pytest.approx(listed.score(X, pairs), abs=0.01)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999), width=st.sampled_from([2.0, 0.3, 1e-3, 0.0]), C=st.floats(0.01, 9))
def test_certificates_of_counted_and_of_listed_pairs_agree(seed, width, C):
    """Any w and δ: the same primal, and the dual of the multipliers that δ implies."""
    rng = np.random.default_rng(seed)
    X, grade, group = graded(25, groups=3, seed=seed)
    weight = rng.integers(0, 3, len(X)) + 0.5
    w = rng.standard_normal(4)
    pairs, each = all_pairs(grade, group, weight)
    short = certify_grades(GradedProblem(as_rows(X), as_grades(grade, group, weight), C), w, width)
    z = 1.0 - (X[pairs[:, 0]] - X[pairs[:, 1]]) @ w
    share = (z > 0) * 1.0 if width == 0 else np.clip((z + width) / (2 * width), 0, 1)
    rows = PairRows(as_rows(X), pairs[:, 0].copy(), pairs[:, 1].copy())
    problem = Problem(rows, np.ones(len(pairs)), C * each, Hinge(), Bias.NONE)
    long = certify(problem, w, 0.0, C * each * share)
    assert short.certificate.primal == pytest.approx(long.primal, rel=1e-9)
    size = abs(long.dual) + long.primal
    assert short.certificate.dual == pytest.approx(long.dual, abs=1e-8 * size)


@pytest.mark.parametrize("width", [0.3, 1e-3, 1e-7, 0.0])
@pytest.mark.parametrize("way", [_counted, _cornered])
def test_sums_of_multipliers_are_as_far_off_as_they_say(way, width):
    """In fractions: multipliers in their boxes have this sum, and these sums for every item."""
    rng = np.random.default_rng(7)
    X, grade, group = graded(40, groups=2, seed=7)
    grade[5:] = np.minimum(grade[5:], grade[5:].min() + 1)  # most items are beaten by few
    weight = rng.uniform(0.5, 2.0, len(X))
    problem = GradedProblem(as_rows(X), as_grades(grade, group, weight), 0.7)
    f = centred(X @ rng.standard_normal(4))
    seen = _Scored(f, by_score(problem.grades, f), 0.0, 1.0 + 2.0 * np.abs(f).max())
    found = way(problem, seen, width)
    pairs, _ = all_pairs(grade, group, weight)
    exact, total, d = [Fraction(0)] * len(X), Fraction(0), Fraction(width)
    for u, v in pairs:
        z = 1 - (Fraction(f[u]) - Fraction(f[v]))
        share = min(max((z + d) / (2 * d), 0), 1) if width else Fraction(int(z > 0))
        alpha = Fraction(0.7) * Fraction(weight[u]) * Fraction(weight[v]) * share
        exact[u], exact[v], total = exact[u] + alpha, exact[v] - alpha, total + alpha
    near = Fraction(1e-8) if way is _cornered and 0 < width < 1e-3 else Fraction(1e-12)  # z rounds
    assert abs(Fraction(found.total) - total) <= Fraction(found.off_total) + near
    off = sum(abs(Fraction(a) - b) for a, b in zip(found.items, exact, strict=True))
    assert off <= Fraction(found.off_items) + 2 * near
    if width:  # what δ divides
        blunt = _counted(problem, seen, width)
        assert _cornered(problem, seen, width).off_items < blunt.off_items


TROUBLE = {
    "noise": lambda X, rng: X,
    "one feature": lambda X, rng: X[:, :1],
    "two values": lambda X, rng: (X > 0) * 1.0,
    "one of six": lambda X, rng: np.eye(6)[rng.integers(0, 6, len(X))],
    "scales": lambda X, rng: X * [1e-3, 1e-1, 1e1, 1e3],
    "tiny": lambda X, rng: 1e-9 * X,
    "huge": lambda X, rng: 1e7 * X,
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_counted_pairs_of_difficult_items(trouble):
    rng = np.random.default_rng(5)
    X, grade, _ = graded(700, seed=5)
    X = TROUBLE[trouble](X, rng)
    grade = rng.integers(0, 4, len(X)) if trouble == "noise" else grade
    fit = PairwiseRanker().fit(X, grade)
    assert fit.solver_ == "rounded corner"
    assert fit.certificate_.holds(1e-6)
    assert fit.coef_.any()


def test_counted_pairs_of_very_unequal_weights():
    X, grade, _ = graded(700, seed=5)
    weight = np.exp(3 * np.random.default_rng(6).standard_normal(700))
    fit = PairwiseRanker().fit(X, grade, sample_weight=weight)
    assert fit.solver_ == "rounded corner"
    assert fit.certificate_.holds(1e-6)


@pytest.mark.parametrize("path", ["listed", "counted"])
def test_pair_accuracy_is_a_count(path):
    X, grade, group = graded(40, groups=2)
    f = np.round(X[:, 0])
    pairs, _ = all_pairs(grade, group)
    up = f[pairs[:, 0]] - f[pairs[:, 1]]
    expected = np.mean((up > 0) + 0.5 * (up == 0))
    y = pairs if path == "listed" else grade
    groups = None if path == "listed" else group
    assert pair_accuracy(y, f, groups) == pytest.approx(expected)


# --- labels -----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_one_label_per_example_is_the_sum_rule(k, C):
    X, y = clouds(80, 3, k, seed=1)
    ranker = LabelRanker(C, tol=1e-9).fit(X, y)
    svm = LinearSVM(C, multiclass="sum", tol=1e-9).fit(X, y)
    assert ranker.n_pairs_ == 80 * (k - 1)
    assert ranker.certificate_.primal == pytest.approx(svm.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(ranker.coef_, svm.coef_, atol=2e-3)
    np.testing.assert_allclose(ranker.intercept_, svm.intercept_, atol=2e-2)
    assert (ranker.predict(X) == svm.predict(X)).mean() > 0.98


def test_two_classes_are_the_svm_with_half_of_C():
    """W₁ = −W₂ = w/2 makes ½‖W‖² a quarter of ‖w‖²: C here is 2C there."""
    X, y = cloud(80, 3, seed=2)
    ranker = LabelRanker(1.0, tol=1e-9).fit(X, y)
    svm = LinearSVM(2.0, tol=1e-9).fit(X, y)
    assert 2 * ranker.certificate_.primal == pytest.approx(svm.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(ranker.coef_[1] - ranker.coef_[0], svm.coef_[0], atol=1e-3)
    np.testing.assert_array_equal(ranker.predict(X), svm.predict(X))


@pytest.mark.parametrize("solver", ["newton", "descent"])
def test_reversing_every_label_pair_negates_W(solver):
    X, pairs = label_preferences()
    fit = LabelRanker(solver=solver, tol=1e-9, max_iter=10**5).fit(X, pairs)
    back = LabelRanker(solver=solver, tol=1e-9, max_iter=10**5).fit(X, pairs[:, [0, 2, 1]])
    np.testing.assert_allclose(back.coef_, -fit.coef_, atol=1e-3)
    assert back.certificate_.primal == pytest.approx(fit.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(fit.coef_.sum(axis=0), 0.0, atol=1e-9)
    assert fit.intercept_.sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_weights_of_pairs_and_examples_are_repetition(bias):
    X, pairs = label_preferences()
    rng = np.random.default_rng(3)
    times, often = rng.integers(0, 3, len(pairs)), rng.integers(1, 3, len(X))
    weighted = LabelRanker(fit_intercept=bias, tol=1e-9)
    weighted.fit(X, np.column_stack([pairs, times]), sample_weight=often)
    repeated = LabelRanker(fit_intercept=bias, tol=1e-9)
    repeated.fit(X, np.repeat(pairs, times * often[pairs[:, 0]], axis=0))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_order_of_examples_pairs_and_names_does_not_matter():
    X, pairs = label_preferences()
    rng = np.random.default_rng(4)
    rows, names = rng.permutation(len(X)), np.array(["d", "b", "a", "c"])
    table = [(int(np.argsort(rows)[i]), names[a], names[b]) for i, a, b in rng.permutation(pairs)]
    fit = LabelRanker(tol=1e-9).fit(X, pairs)
    again = LabelRanker(tol=1e-9).fit(X[rows], table)
    assert again.classes_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_allclose(again.coef_[np.argsort(np.argsort(names))], fit.coef_, atol=1e-3)


@pytest.mark.parametrize("t", [1e-2, 1e2])
def test_scaling_the_examples_is_scaling_C_for_labels(t):
    X, pairs = label_preferences()
    fit = LabelRanker(tol=1e-9).fit(X, pairs)
    scaled = LabelRanker(1 / t**2, tol=1e-9).fit(t * X, pairs)
    np.testing.assert_allclose(scaled.coef_ * t, fit.coef_, atol=2e-3)


@pytest.mark.parametrize("solver", ["newton", "descent"])
def test_sparse_examples_are_the_same_problem(solver):
    X, pairs = label_preferences()
    X = X * (np.abs(X) > 0.5)
    fit = LabelRanker(solver=solver, tol=1e-9, max_iter=10**5).fit(X, pairs)
    again = LabelRanker(solver=solver, tol=1e-9, max_iter=10**5).fit(sparse.csr_matrix(X), pairs)
    np.testing.assert_allclose(again.coef_, fit.coef_, atol=1e-3)


def test_preferences_without_a_cycle_cost_nothing():
    """tea ≻ milk ≻ mud and never the other way: biases alone order them."""
    X = np.random.default_rng(0).standard_normal((6, 2))
    table = [(0, "tea", "milk"), (1, "milk", "mud"), (2, "tea", "mud"), (3, "air", "mud")]
    fit = LabelRanker().fit(X, table)
    assert fit.certificate_.primal == fit.certificate_.dual == 0.0
    assert not fit.coef_.any()
    assert fit.score(X, table) == 1.0
    assert fit.certificate_.holds(1e-6)


# --- models, right and wrong ------------------------------------------------------------


def fitted():
    X, pairs = preferences()
    yield PairwiseRanker().fit(X, pairs), X, pairs, {}
    X, grade, group = graded(300)
    yield PairwiseRanker(0.01).fit(X, grade, group), X, grade, {"groups": group}
    X, pairs = label_preferences()
    yield LabelRanker().fit(X, pairs), X, pairs, {}
    yield LabelRanker(fit_intercept=False).fit(X, pairs), X, pairs, {}


@pytest.mark.parametrize("case", range(4))
def test_verify_agrees_and_wrong_models_are_found_out(case):
    model, X, y, other = next(itertools.islice(fitted(), case, None))
    again = verify(model, X, y, **other)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert again.relative_gap == pytest.approx(model.certificate_.relative_gap, abs=1e-9)
    best, model.coef_ = model.certificate_.primal, model.coef_ * 1.3 + 0.05
    wrong = verify(model, X, y, **other)
    assert wrong.primal > best
    assert wrong.dual <= best * (1 + 1e-9)
    assert not wrong.holds(1e-6)
    rows = slice(0, len(X) - 5)
    if np.ndim(y) == 1:  # other data: an honest bound, whatever it is
        less = verify(model, X[rows], y[rows], groups=other["groups"][rows])
        assert less.primal >= less.dual


@pytest.mark.parametrize("case", range(4))
def test_warm_start_reaches_the_same_optimum(case):
    model, X, y, other = next(itertools.islice(fitted(), case, None))
    model.set_params(warm_start=True, C=3 * model.C).fit(X, y, **other)
    cold = type(model)(**{**model.get_params(), "warm_start": False}).fit(X, y, **other)
    assert model.certificate_.holds(1e-6)
    assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-6)
    before = model.n_iter_
    model.fit(X, y, **other)
    assert model.n_iter_ <= before
