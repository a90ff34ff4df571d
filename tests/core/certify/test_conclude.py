"""Tallies add up however rows are cut; rounding does not decide; only proofs count."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.certify.conclude import Tally, first_that_proves, lengthened, sum_of
from maxmargin.core.certify.label_pairs import pairs_tally
from maxmargin.core.certify.multiclass import class_tally
from maxmargin.core.certify.two_class import certify, from_margins, tally
from maxmargin.core.problem.class_losses import CLASS_LOSSES
from maxmargin.core.problem.label_pairs import LabelPairsProblem
from maxmargin.core.problem.losses import LOSSES, Logistic, slope
from maxmargin.core.problem.multiclass import MulticlassProblem
from maxmargin.core.problem.problem import Bias, Problem
from maxmargin.core.rows.rows import as_rows, take
from maxmargin.core.solve.contract import Ending, settled

STORES = {"dense": np.asarray, "sparse": sparse.csr_array}
CUTS = {"halves": [20], "one row": [1, 2], "empty": [0, 17, 17, 40]}


def cut(problem, cuts):
    """The same rows as several problems."""
    n = len(problem.y)
    for some in np.split(np.random.default_rng(1).permutation(n), cuts):
        yield (
            replace(problem, rows=take(problem.rows, some), y=problem.y[some], c=problem.c[some]),
            some,
        )


def same(found: Tally, whole: Tally) -> None:
    for name in ("rows", "loss", "conjugate", "mass", "box", "closest"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-12), name
    assert found.r == pytest.approx(whole.r, abs=1e-12)
    assert found.w == pytest.approx(whole.w, abs=1e-11)
    assert found.kkt == pytest.approx(whole.kkt)


def added(tallies) -> Tally:
    first, *others = tallies
    for other in others:
        first = first + other
    return first


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    "loss", [*LOSSES.values(), Logistic()], ids=lambda loss: type(loss).__name__
)
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
def test_tallies_of_two_classes_add_up(store, loss, cuts):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)) + 5.0, np.where(rng.random(40) < 0.5, 1.0, -1.0)
    c = rng.uniform(0.0, 2.0, 40) * (rng.random(40) < 0.9)
    problem = Problem(as_rows(STORES[store](X)), y, c, LOSSES.get(loss, Logistic()))
    w, b, place = rng.standard_normal(3), 0.3, X.mean(axis=0)
    alpha = rng.uniform(0.0, 1.0, 40) * np.minimum(problem.cap, 3.0)
    some = (tally(part, w, b, alpha[own], place=place) for part, own in cut(problem, cuts))
    same(added(some), tally(problem, w, b, alpha, place=place))


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("rule", CLASS_LOSSES, ids=" ".join)
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
def test_tallies_of_several_classes_add_up(store, rule, cuts):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)) + 5.0, rng.integers(0, 4, 40)
    c = rng.uniform(0.0, 2.0, 40) * (rng.random(40) < 0.9)
    problem = MulticlassProblem(as_rows(STORES[store](X)), y, c, CLASS_LOSSES[rule], 4)
    W, b, place = rng.standard_normal((4, 3)), rng.standard_normal(4), X.mean(axis=0)
    beta = rng.uniform(0.0, 0.3, (40, 4)) * c[:, None]
    beta[np.arange(40), y] = 0.0
    some = (class_tally(part, W, b, beta[own], place=place) for part, own in cut(problem, cuts))
    same(added(some), class_tally(problem, W, b, beta, place=place))


@pytest.mark.parametrize("loss", [*LOSSES, "logistic"])
def test_multipliers_from_margins_are_slopes(loss):
    rng = np.random.default_rng(0)
    m, c = np.append(rng.uniform(-3.0, 3.0, 20), 1.0), rng.uniform(0.0, 2.0, 21)
    problem = Problem(as_rows(m[:, None]), np.ones(21), c, LOSSES.get(loss, Logistic()))
    slopes = [-slope(problem.loss, each) for each in m]
    assert from_margins(problem, m) == pytest.approx(c * slopes)
    hard = replace(problem, c=np.where(c > 1.0, np.inf, 0.0))
    assert np.array_equal(from_margins(hard, m) > 0.0, (c > 1.0) & (m <= 1.0))


# --- rounding ---------------------------------------------------------------------------


def exact(values) -> list[Fraction]:
    return [Fraction(float(v)) for v in np.ravel(values)]


def dot(u, v) -> Fraction:
    return sum((p * q for p, q in zip(exact(u), exact(v), strict=True)), Fraction(0))


def on_the_margin(n=12, d=4, k=3, far=300.0):
    """Rows far from the origin that lie on their margin but for rounding, and W, b, labels."""
    rng = np.random.default_rng(2)
    W, b, y = rng.standard_normal((k, d)), rng.standard_normal(k), rng.integers(0, k, n)
    X = rng.standard_normal((n, d)) + far
    for i, own in enumerate(y):
        others = [c for c in range(k) if c != own]
        across, beyond = W[own] - W[others], b[own] - b[others]
        X[i] += np.linalg.pinv(across) @ (1.0 - across @ X[i] - beyond)
    return X, y, W, b


def class_losses(X, y, W, b, biggest: bool) -> Fraction:
    """Σ max(0, max_c z) or Σ_c max(0, z), z = 1 − s_y + s_c, without rounding."""
    total = Fraction(0)
    for x, own in zip(X, y, strict=True):
        s = [dot(w, x) + bias for w, bias in zip(W, exact(b), strict=True)]
        z = [max(Fraction(0), 1 - s[own] + other) for c, other in enumerate(s) if c != own]
        total += max(z) if biggest else sum(z)
    return total


def right(primal: float, W, loss: Fraction, C: float) -> bool:
    truth = dot(W, W) / 2 + Fraction(C) * loss
    return bool(abs(Fraction(primal) - truth) <= Fraction(1e-6) * truth)


@pytest.mark.parametrize("rule", ["max", "sum"])
def test_a_large_C_does_not_multiply_the_rounding_of_k_classes(rule):
    X, y, W, b = on_the_margin()
    C, loss = 1e9, class_losses(X, y, W, b, rule == "max")
    c, none = np.full(len(y), C), np.zeros((len(y), 3))
    problem = MulticlassProblem(as_rows(X), y, c, CLASS_LOSSES[rule, "hinge"], 3)
    for sharp in (False, True):
        found = class_tally(problem, W, b, none, sharp=sharp)
        bounded(found, loss, C)
        assert right(found.loss + 0.5 * np.vdot(W, W), W, loss, C) is sharp


def test_nor_that_of_two_classes_and_of_pairs_of_labels():
    X, y, W, b = on_the_margin(k=2)
    C, ones = 1e9, np.full(len(y), 1e9)
    w, bias = np.array([1.0, -1.0]) @ W, float(b[0] - b[1])
    two = Problem(as_rows(X), np.where(y == 0, 1.0, -1.0), ones, LOSSES["hinge"])
    pairs = LabelPairsProblem(as_rows(X), 2, np.arange(len(y)), y, 1 - y, ones)
    none = np.zeros(len(y))
    rows = zip(X, two.y, strict=True)
    slack = (1 - Fraction(sign) * (dot(w, x) + Fraction(bias)) for x, sign in rows)
    loss = sum((max(Fraction(0), z) for z in slack), Fraction(0))
    of_pairs = class_losses(X, y, W, b, True)
    for sharp in (False, True):
        found = tally(two, w, bias, none, sharp=sharp)
        bounded(found, loss, C)
        assert right(found.loss + 0.5 * w @ w, w, loss, C) is sharp
        found = pairs_tally(pairs, W, b, none, sharp=sharp)
        bounded(found, of_pairs, C)
        assert right(found.loss + 0.5 * np.vdot(W, W), W, of_pairs, C) is sharp


def bounded(found: Tally, loss: Fraction, C: float) -> None:
    """The loss in real arithmetic is no more than the tally and its bound."""
    assert Fraction(found.loss) + Fraction(found.rounding.loss) >= Fraction(C) * loss
    assert found.rounding.loss < np.inf


# --- which proof ------------------------------------------------------------------------


def proof(primal=1.0, dual=1.0, slack=0.0, **others):
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    made = certify(Problem(as_rows(X), y, np.ones(2), LOSSES["hinge"]), X[0], 0.0, np.zeros(2))
    kkt = {"zero": slack, "free": 0.0, "bound": 0.0}
    return replace(made, primal=primal, dual=dual, kkt_violation=kkt, **others)


def test_only_a_proof_says_reached():
    good, bad = proof(), proof(dual=0.5)
    for ending in Ending:
        assert settled(ending, good, 1e-6) is Ending.REACHED
        kept = Ending.STALLED if ending is Ending.REACHED else ending
        assert settled(ending, bad, 1e-6) is kept
        assert settled(ending, None, 1e-6) is kept
        assert settled(ending, replace(good, bias_residual=1e-3), 1e-6) is kept


def test_no_multipliers_prove_more_than_bad_ones():
    none = proof(dual=0.0)
    for bad in (proof(dual=-1.0), proof(dual=np.nan), proof(box_violation=1.0)):
        assert first_that_proves(lambda bad=bad: bad, lambda: none) is none
    good = proof(dual=0.2)
    assert first_that_proves(lambda: proof(dual=-1.0), lambda: good, lambda: none) is good


def test_weights_are_lengthened_only_where_rounding_is_all_that_is_missing():
    tried = []

    def shorter(t):
        tried.append(t)
        return proof(primal=1.5)

    off = proof(primal=2.0, slack=1e-12)
    assert lengthened(off, 1e-6, shorter).primal == 1.5
    assert tried == [pytest.approx(1.0, abs=1e-11)]
    assert tried[0] > 1.0 + 1e-12
    for found in (proof(slack=1e-12), proof(primal=2.0, slack=1e-3), proof(primal=2.0)):
        assert lengthened(found, 1e-6, shorter) is found
    assert len(tried) == 1
    assert lengthened(off, 1e-6, lambda t: proof(primal=3.0)) is off


def test_a_sum_of_proofs_hides_nothing():
    whole = sum_of([proof(3.0, 2.5, 0.1), proof(1.0, 1.0)], "both")
    assert (whole.primal, whole.dual, whole.problem) == (4.0, 3.5, "both")
    assert whole.kkt_violation["zero"] == 0.1
    wrong = sum_of([proof(3.0, 2.5), proof(1.0, 1.4)], "one contradicts weak duality")
    assert not wrong.sound
    assert not wrong.holds(1.0)
    assert "nothing is proved" in str(wrong)


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
def test_what_a_bias_owes_is_seen(bias):
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    problem = Problem(as_rows(X), y, np.ones(2), LOSSES["hinge"], bias)
    lopsided = certify(problem, X[0], 0.0, np.array([0.5, 0.0]))
    assert lopsided.feasible is (bias is Bias.NONE)
    moved = certify(problem, X[0], 0.1, np.array([0.5, 0.5]))
    assert moved.feasible is (bias is Bias.FREE)
