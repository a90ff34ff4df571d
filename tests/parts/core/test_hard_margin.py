"""The hard margin over parts: the optimum and the proofs of one machine, from a few of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LinearSVM
from maxmargin.core.certify.multiclass import certify_classes
from maxmargin.core.certify.separability import NotSeparableError
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.class_losses import CLASS_LOSSES
from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.problem.problem import Bias
from maxmargin.core.solve.contract import Ending, Monitor
from maxmargin.parts.parts import Block
from maxmargin.parts.solve.hard_margin import rounds as hard_margin
from maxmargin.parts.solve.hard_margin.rounds import solve_hard, verify_hard
from maxmargin.parts.solve.hard_margin.tasks import HeldRows, Wish, look, values_of
from maxmargin.parts.solve.many_class.driver import solve_class_hinge
from maxmargin.parts.solve.many_class.tasks import ClassSpec
from maxmargin.parts.solve.two_class.driver import solve_hinge
from maxmargin.parts.solve.two_class.tasks import BinarySpec
from tests.biases import BIASES, posed
from tests.class_helpers import class_problem, corners
from tests.helpers import oracle, problem, separable_cloud
from tests.parts.core.helpers import Here

CUTS = {"one": [], "uneven": [7, 11], "empty": [20, 20], "one class": [5, 30]}
HARD = BinarySpec(np.inf, LOSSES["hinge"])


@pytest.fixture(autouse=True)
def few_rows_a_round(monkeypatch):
    """Small data must not be fetched whole in the first round."""
    monkeypatch.setattr(hard_margin, "FEWEST_JOINING", 6)
    monkeypatch.setattr(hard_margin, "MIN_SENT_ROWS", 1)
    monkeypatch.setattr(hard_margin, "ADDED_ROWS_PER_COLUMN", 1)


def apart(n=60, d=4, seed=3, gap=0.2):
    """Separable points, sorted by class, so that a part may lack one."""
    X, y = separable_cloud(n, d, gap, seed)
    order = np.argsort(-y, kind="stable")
    return X[order], y[order]


def codes(y):
    return (y > 0).astype(np.int64)


def solve(X, y, cuts=(25, 40), machine=HARD, weight=None, tol=1e-6, **monitor):
    return solve_hinge(Here(X, codes(y), cuts, weight), machine, Monitor(tol=tol, **monitor))


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", BIASES)
def test_same_optimum_as_an_independent_solver(cuts, loss, bias):
    X, y = apart()
    if bias == "none":
        X = X + 0.3 * y[:, None]  # far from the origin on either side: a plane through it will do
    Z, own = posed(X, bias)
    parts = Here(Z, codes(y), cuts)
    fit = solve_hinge(parts, BinarySpec(np.inf, LOSSES[loss], own), Monitor(tol=1e-6))
    optimum, w, _ = oracle(X, y, np.inf, loss, bias)
    assert fit.ending is Ending.REACHED
    assert fit.certificate.holds(1e-6)
    assert fit.certificate.primal == pytest.approx(optimum, rel=2e-6)
    assert fit.certificate.dual <= optimum * (1 + 1e-7)
    assert fit.w == pytest.approx(w, rel=1e-4, abs=1e-4)
    assert parts.memory == [None] * parts.n_parts  # nothing is left behind
    assert parts.rounds > 3


def test_the_certificate_is_the_one_of_all_rows_in_memory():
    X, y = apart()
    fit = solve(X, y)
    alpha = np.zeros(len(y))
    alpha[fit.rows] = fit.alpha
    whole = certify(problem(X, y, np.inf), fit.w, fit.b, alpha)
    assert whole.holds(1e-6)
    for name in ("primal", "dual", "box_violation"):
        assert getattr(fit.certificate, name) == pytest.approx(getattr(whole, name), rel=1e-9)
    assert fit.certificate.problem == whole.problem
    assert fit.certificate.kkt_violation == pytest.approx(whole.kkt_violation, abs=1e-12)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, np.float32], ids=["sparse", "float32"])
def test_other_storages(kind):
    X, y = apart(200, 6)
    X = X * (np.abs(X) > 0.3) + 0.5 * y[:, None] * (np.arange(6) < 2)
    other = kind(X) if kind is sparse.csr_matrix else X.astype(kind)
    whole = LinearSVM(C=np.inf).fit(X, y)
    fit = solve(other, y, [50, 120, 121])
    assert fit.certificate.holds(1e-6)
    assert fit.certificate.primal == pytest.approx(whole.certificate_.primal, rel=2e-6)
    assert fit.b == pytest.approx(whole.intercept_[0], rel=1e-3, abs=1e-4)


def test_order_and_repetition_of_rows_and_positive_weights_change_nothing():
    X, y = apart(120)
    one = solve(X, y)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    again = np.repeat(np.arange(len(y)), 1 + 200 * (np.arange(len(y)) % 40 == 0))
    for index, weight in ((order, None), (again, None), (order, rng.uniform(0.1, 9.0, len(y)))):
        fit = solve(X[index], y[index], [31, 77], weight=weight)
        assert fit.certificate.holds(1e-6)
        assert fit.w == pytest.approx(one.w, rel=1e-6)
        assert fit.b == pytest.approx(one.b, rel=1e-6)


def test_scaling_the_features_scales_the_weights():
    X, y = apart()
    one, other = solve(X, y), solve(1000.0 * X, y)
    assert 1000.0 * other.w == pytest.approx(one.w, rel=1e-6)
    assert other.b == pytest.approx(one.b, rel=1e-6)


def test_rows_without_weight_do_not_count():
    X, y = apart()
    bad = np.arange(0, len(y), 7)
    wrong, weight = y.copy(), np.ones(len(y))
    wrong[bad], weight[bad] = -y[bad], 0.0
    fit = solve(X, wrong, weight=weight)
    rest = np.delete(np.arange(len(y)), bad)
    assert fit.certificate.primal == pytest.approx(oracle(X[rest], y[rest], np.inf)[0], rel=2e-6)
    assert not set(fit.rows) & set(bad)


def test_weak_duality_in_every_round():
    X, y = apart(2000, 8, gap=0.05)
    monitor = Monitor(tol=1e-8, max_iter=10**6)
    fit = solve_hinge(Here(X, codes(y), [500, 900]), HARD, monitor)
    optimum = fit.certificate.primal
    assert all(step.dual <= optimum * (1 + 1e-9) <= step.primal * (1 + 2e-9)
               for step in monitor.history)  # fmt: skip
    duals = [step.dual for step in monitor.history]
    assert duals == sorted(duals)


@pytest.mark.parametrize("machine", [(2, None), (0, 2)], ids=["rest", "pairs"])
def test_one_machine_of_several_classes(machine):
    X, y = corners(90, 3, k=3, gap=6.0)
    positive, negative = machine
    mine = np.ones(len(y), dtype=bool) if negative is None else (y == positive) | (y == negative)
    signs = np.where(y[mine] == positive, 1.0, -1.0)
    asked = HARD._replace(positive=positive, negative=negative)
    fit = solve_hinge(Here(X, y, [20, 50]), asked, Monitor())
    assert fit.certificate.holds(1e-6)
    assert fit.certificate.primal == pytest.approx(oracle(X[mine], signs, np.inf)[0], rel=2e-6)
    assert mine[fit.rows].all()
    w = X[fit.rows].T @ (fit.alpha * np.where(y[fit.rows] == positive, 1.0, -1.0))
    assert w == pytest.approx(fit.w, rel=1e-6)  # rows are numbered as they come
    assert f"{mine.sum()} margin constraints" in fit.certificate.problem


# --- k classes at once ------------------------------------------------------------------


def solve_classes(X, y, cuts, k, rule=("max", "hinge"), bias=Bias.FREE):
    X, own = posed(X, bias)
    machine = ClassSpec(np.inf, CLASS_LOSSES[rule], k, own)
    return solve_class_hinge(Here(X, y, cuts), machine, Monitor(tol=1e-6, max_iter=10_000))


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("rule", [("max", "hinge"), ("sum", "squared_hinge")], ids="-".join)
def test_all_classes_at_once(rule, bias):
    X, y = corners(80, 3, k=3, gap=6.0, seed=1)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    fit = solve_classes(X, y, [20, 33], 3, rule, bias)
    assert fit.certificate.holds(1e-6)
    beta = np.zeros((len(y), 3))
    beta[fit.rows] = fit.alpha
    proof = certify_classes(class_problem(X, y, np.inf, rule, bias), fit.w, fit.b, beta)
    assert proof.holds(1e-6)
    assert fit.certificate.dual == pytest.approx(proof.dual, rel=1e-9)
    assert fit.certificate.problem == proof.problem
    whole = LinearSVM(
        C=np.inf, multiclass=rule[0], loss=rule[1], fit_intercept=bias != "none",
        penalize_bias=bias == "penalized",
    ).fit(X, y)  # fmt: skip
    assert fit.certificate.primal == pytest.approx(whole.certificate_.primal, rel=2e-6)
    b = fit.w[:, -1] if bias == "penalized" else fit.b
    assert b == pytest.approx(whole.intercept_, rel=1e-4, abs=1e-4)


# --- no margin --------------------------------------------------------------------------


def meets(X, y, proof, bias):
    """The proof, checked by hand: one point in the hulls of both classes."""
    signs, X = y[proof.rows], X[proof.rows]
    assert (proof.weights > 0).all()
    assert (np.diff(proof.rows) > 0).all()
    assert np.abs(X.T @ (proof.weights * signs)).max() < 1e-12
    for side in (1.0, -1.0):
        if bias == "penalized":  # the ones cancel, too
            assert proof.weights[signs == side].sum() == pytest.approx(0.5)
        elif bias != "none":
            assert proof.weights[signs == side].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("noise", ["one row", "many"])
def test_no_separator_is_proved_by_rows(noise, bias):
    X, y = apart(400, 3)
    X -= X.mean(axis=0)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    if noise == "one row":
        y[np.abs(X - [0.8, 0.0, 0.0]).sum(axis=1).argmin()] *= -1.0
    else:
        y = np.where(np.random.default_rng(0).random(400) > 0.5, 1.0, -1.0)
    Z, own = posed(X, bias)
    with pytest.raises(NotSeparableError, match="not separable") as error:
        solve(Z, y, [100, 250], BinarySpec(np.inf, LOSSES["hinge"], own))
    meets(X, y, error.value.proof, bias)
    assert "proof.rows" in str(error.value)


def test_one_flipped_row_in_many_is_found_in_a_few_rounds(monkeypatch):
    monkeypatch.undo()
    X, y = apart(30_000, 8, gap=0.1)
    inside = int(np.argmin(np.abs(X - X[y > 0].mean(axis=0)).sum(axis=1)))
    y[inside] *= -1.0
    parts = Here(X, codes(y), [9000, 9001, 20_000])
    with pytest.raises(NotSeparableError) as error:
        solve_hinge(parts, HARD, Monitor())
    assert inside in error.value.proof.rows
    meets(X, y, error.value.proof, "free")
    assert parts.rounds < 15


def test_classes_that_cannot_be_separated_at_once():
    X, y = corners(120, 3, k=4, gap=6.0)
    y[5] = (y[5] + 1) % 4
    X[5] = X[y == (y[5] - 1) % 4].mean(axis=0)
    with pytest.raises(NotSeparableError) as error:
        solve_classes(X, y, [40, 80], 4)
    proof = error.value.proof
    alpha = -proof.weights
    alpha[np.arange(len(alpha)), y[proof.rows]] = proof.weights.sum(axis=1)
    assert np.abs(alpha.T @ X[proof.rows]).max() < 1e-12
    assert np.abs(alpha.sum(axis=0)).max() < 1e-12
    assert proof.weights.sum() == pytest.approx(1.0)
    assert proof.weights[np.arange(len(alpha)), y[proof.rows]].max() == 0.0


# --- room, samples, budgets, verification -----------------------------------------------


def test_few_rows_in_hand_are_enough(monkeypatch):
    X, y = apart(3000, 8, gap=0.05)
    plenty = solve(X, y, [800, 1500])
    sizes = []
    join = hard_margin.join

    def watched(some):
        whole = join(some)
        sizes.append(whole.nbytes)
        return whole

    monkeypatch.setattr(hard_margin, "join", watched)
    room = 40 * (8 + 2) * 8
    fit = solve_hard(Here(X, codes(y), [800, 1500]), HARD, Monitor(tol=1e-6), room)
    assert fit.certificate.holds(1e-6)
    assert fit.w == pytest.approx(plenty.w, rel=1e-5)
    assert max(sizes) <= room


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_a_part_sends_no_more_than_it_was_asked_for(kind):
    X, y = apart(300, 5)
    block = Block(kind(X), codes(y), None)
    w = np.ones((1, 5))
    for rows, nbytes, most in ((40, np.inf, 40), (1000, 10 * values_of(block.X) / 300, 10)):
        _, seen = look(block, None, HARD, w, np.zeros(2), Wish(np.inf, rows, nbytes))
        assert np.bincount(seen.worst.y).tolist() == [most, most]
        margin = y * X.sum(axis=1)
        for code, side in ((0, -1.0), (1, 1.0)):  # half of them the worst of their class
            worst = np.sort(margin[y == side])[: most // 2]
            assert set(worst.round(9)) <= set(seen.margin[seen.worst.y == code].round(9))


def test_too_little_room_is_told():
    X, y = apart(300, 40, gap=0.01)
    with pytest.raises(ValueError, match=r"decide the hard margin, which is more than the 0.00\d+"):
        solve_hard(Here(X, codes(y), [100]), HARD, Monitor(), 16 * 42 * 8)


def test_a_sample_saves_questions():
    X, y = apart(5000, 8, gap=0.05)
    plain, ahead = Here(X, codes(y), [2000]), Here(X, codes(y), [2000])
    ids = np.sort(np.random.default_rng(0).permutation(len(y))[:2500])
    sample = HeldRows(X[ids], codes(y)[ids], ids)
    one, other = (
        solve_hard(plain, HARD, Monitor()),
        solve_hard(ahead, HARD, Monitor(), sample=sample),
    )
    assert other.certificate.holds(1e-6)
    assert other.w == pytest.approx(one.w, rel=1e-6)
    assert ahead.rounds < plain.rounds


def test_a_sample_that_is_inseparable_names_rows_of_all():
    X, y = apart(400, 3)
    y[200:] = np.where(np.arange(200) % 2, 1.0, -1.0)
    sample = HeldRows(X[200:], codes(y)[200:], np.arange(200, 400))
    parts = Here(X, codes(y), [100])
    with pytest.raises(NotSeparableError) as error:
        solve_hard(parts, HARD, Monitor(), sample=sample)
    meets(X, y, error.value.proof, "free")
    assert parts.rounds == 0


@pytest.mark.parametrize("budget", [{"max_iter": 5}, {"max_seconds": 0.0}], ids=str)
def test_a_budget_that_is_too_small_is_admitted(budget):
    X, y = apart(2000, 8, gap=0.02)
    fit = solve(X, y, [500], **budget)
    assert fit.ending in (Ending.ITERATIONS, Ending.TIME)
    assert not fit.certificate.holds(1e-6)
    assert fit.certificate.feasible
    whole = LinearSVM(C=np.inf).fit(X, y).certificate_
    assert fit.certificate.dual <= whole.primal * (1 + 1e-9)
    assert fit.certificate.primal >= whole.dual * (1 - 1e-9)


def test_verification_needs_only_the_weights():
    X, y = apart(500, 5)
    parts = Here(X, codes(y), [100, 300])
    fit = solve_hinge(parts, HARD, Monitor())
    assert verify_hard(parts, HARD, fit.w, fit.b).holds(1e-6)
    longer = verify_hard(parts, HARD, 1.1 * fit.w, 1.1 * fit.b)
    assert longer.primal == pytest.approx(1.21 * fit.certificate.primal)
    assert longer.relative_gap == pytest.approx(1.0 - 1.0 / 1.21, rel=1e-4)
    shorter = verify_hard(parts, HARD, 0.9 * fit.w, 0.9 * fit.b)
    assert np.isinf(shorter.primal)
    assert shorter.kkt_violation["zero"] == pytest.approx(0.1, rel=1e-6)
    backwards = verify_hard(parts, HARD, -fit.w, -fit.b)
    assert np.isinf(backwards.primal)
    flipped = codes(y)
    flipped[::5] ^= 1
    assert np.isinf(verify_hard(Here(X, flipped, [100]), HARD, fit.w, fit.b).primal)


def test_verification_of_classes_at_once():
    X, y = corners(80, 3, k=3, gap=6.0, seed=1)
    fit = solve_classes(X, y, [30], 3)
    machine = ClassSpec(np.inf, CLASS_LOSSES["max", "hinge"], 3)
    assert verify_hard(Here(X, y, [30]), machine, fit.w, fit.b).holds(1e-6)
    assert not verify_hard(Here(X, y, [30]), machine, 1.1 * fit.w, fit.b).holds(1e-2)
