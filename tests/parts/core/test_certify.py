"""Over parts a certificate is that of memory: the same sums, digits and repairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.certify.multiclass import certify_classes
from maxmargin.core.certify.repair import repair
from maxmargin.core.certify.softmax import certify_softmax
from maxmargin.core.certify.two_class import certify
from maxmargin.core.problem.class_losses import CLASS_LOSSES
from maxmargin.core.problem.losses import LOSSES
from maxmargin.core.problem.problem import Bias
from maxmargin.core.solve.contract import Monitor
from maxmargin.core.solve.softmax.form import certify_logistic
from maxmargin.parts.certify.many_class import certify_class_parts
from maxmargin.parts.certify.smooth import certify_smooth, recertify_smooth
from maxmargin.parts.certify.two_class import certify_parts, repair_parts
from maxmargin.parts.parts import Block
from maxmargin.parts.solve import smooth
from maxmargin.parts.solve.many_class.tasks import ClassSpec, ClassState, pose_classes
from maxmargin.parts.solve.two_class.tasks import BinarySpec, BinaryState, pose
from maxmargin.parts.stream.certify import certify_hinge
from maxmargin.parts.stream.plane import HingeTask, Multipliers, StreamPlane
from tests.core.certify.test_conclude import on_the_margin
from tests.parts.core.helpers import Here

CUTS = {"one": [], "uneven": [3, 7], "empty": [5, 5]}


def hold(parts: Here, key, states) -> None:
    parts.memory = [{key: state} for state in states]


def two_class_parts(X, codes, machine, alpha, cuts):
    parts, none = Here(X, codes, cuts), np.zeros(0)
    hold(parts, machine.key, [BinaryState(none, a, a[None]) for a in np.split(alpha, cuts)])
    return parts


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
def test_slacks_over_parts_are_as_sharp_as_in_memory(cuts):
    X, y, W, b = on_the_margin(k=2)
    w, bias, none = W[0] - W[1], float(b[0] - b[1]), np.zeros(len(y))
    machine = BinarySpec(1e9, LOSSES["hinge"], positive=0)
    parts = two_class_parts(X, y, machine, none, cuts)
    whole = certify(pose(Block(X, y, None), machine), w, bias, none, tol=0.9999)
    found = certify_parts(parts, machine, w, bias, X.mean(axis=0), tol=0.9999)
    assert "twice the digits" in whole.method  # float64 leaves more rounding than that
    assert "twice the digits" in found.method
    assert found.primal == pytest.approx(whole.primal, rel=1e-13)
    assert found.kkt_violation == pytest.approx(whole.kkt_violation, rel=1e-6)


class Blocks:
    """As much of a stream as its certificate asks for."""

    def __init__(self, X, y, size: int):
        self.X, self.y, self.size = X, y, size
        (self.n, self.n_features), self.n_parts = X.shape, -(-len(X) // size)

    def blocks(self):
        for first in range(0, self.n, self.size):
            part = slice(first, first + self.size)
            yield first, Block(self.X[part], self.y[part], None)


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
def test_those_of_a_stream_too(bias):
    X, y, W, b = on_the_margin(k=2)
    plane = StreamPlane(W[1] - W[0], float(b[1] - b[0]))
    machine, task = BinarySpec(1e9, LOSSES["hinge"], bias), HingeTask(1e9, bias, Monitor())
    problem = machine.pose(Block(X, y, None))
    alpha = repair(problem, np.where(np.arange(len(y)) % 3, 1e9, 0.3))
    known = Multipliers(plane, np.arange(len(y)), alpha)
    whole = certify(problem, *plane, alpha)
    found = certify_hinge(Blocks(X, y, 5), task, plane, known)
    for name in ("primal", "dual", "stationarity", "bias_residual", "box_violation"):
        theirs = getattr(whole, name)
        assert getattr(found.certificate, name) == pytest.approx(theirs, rel=1e-9, abs=1e-15)
    assert found.certificate.problem == whole.problem
    told = Multipliers(plane, found.rows, found.alpha)
    assert np.array_equal(told.of(0, problem.rows, problem.y, problem.c), alpha)


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
@pytest.mark.parametrize("rule", ["max", "sum"])
def test_those_of_several_classes_as_well(cuts, rule):
    X, y, W, b = on_the_margin()
    machine, none = ClassSpec(1e9, CLASS_LOSSES[rule, "hinge"], 3), np.zeros((len(y), 3))
    parts, nothing = Here(X, y, cuts), np.zeros(0)
    hold(
        parts, machine.key, [ClassState(nothing, nothing, a, a[None]) for a in np.split(none, cuts)]
    )
    problem = pose_classes(Block(X, y, None), machine)
    whole = certify_classes(problem, W, b, none, tol=0.9999)
    found = certify_class_parts(parts, machine, W, b, X.mean(axis=0), tol=0.9999)
    assert "twice the digits" in whole.method
    assert "twice the digits" in found.method
    assert found.primal == pytest.approx(whole.primal, rel=1e-13)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
@pytest.mark.parametrize("k", [2, 3])
def test_a_smooth_certificate_does_not_depend_on_the_cuts(store, bias, k):
    rng = np.random.default_rng(0)
    X, y = store(rng.standard_normal((30, 3)) + 2.0), rng.integers(0, k, 30)
    asked = smooth.Asked(k, 0.7, bias)
    W = 0.1 * rng.standard_normal((asked.columns, 3))
    b, place = np.zeros(asked.columns), np.full(3, 2.0)
    proofs = [certify_smooth(Here(X, y, cuts), asked, W, b, 1e-9, place) for cuts in CUTS.values()]
    for biases, found in proofs[1:]:
        assert biases == pytest.approx(proofs[0][0], abs=1e-9)
        for name in ("primal", "dual", "stationarity", "bias_residual", "box_violation"):
            one = getattr(proofs[0][1], name)
            assert getattr(found, name) == pytest.approx(one, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
@pytest.mark.parametrize("k", [2, 3])
def test_a_smooth_certificate_of_any_biases_is_that_of_memory(bias, k):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 3)) + 2.0, rng.integers(0, k, 30)
    asked = smooth.Asked(k, 0.7, bias)
    W = 0.1 * rng.standard_normal((asked.columns, 3))
    b = rng.standard_normal(asked.columns) if bias else np.zeros(asked.columns)
    found = recertify_smooth(Here(X, y, [7, 20]), asked, W, b, 1e-9, X.mean(axis=0))
    problem = smooth.pose(Block(X, y, None), asked)
    whole = (
        certify_softmax(problem, W, b) if k > 2 else certify_logistic(problem, W[0], float(b[0]))
    )
    assert found.primal == pytest.approx(whole.primal, rel=1e-12)
    assert found.dual == pytest.approx(whole.dual, rel=1e-8)
    assert found.problem == whole.problem
    assert found.feasible


def lopsided(kind: str, n: int) -> np.ndarray:
    """Multipliers whose Σαy is off by much, by little with free ones, by little with none."""
    rng = np.random.default_rng(5)
    if kind == "much":
        return rng.uniform(-0.1, 1.2, n)
    if kind == "nothing":
        return np.zeros(n)
    alpha = np.where(np.arange(n) % 4 < 2, 1.0, 0.0)
    alpha[0] -= 1e-9
    if kind == "little":
        alpha[4] = 0.5
        alpha[5] = 0.5
    return alpha


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
@pytest.mark.parametrize("kind", ["much", "little", "little, none free", "nothing"])
def test_repair_over_parts_is_that_of_memory(kind, cuts):
    n = 12
    X, codes = np.zeros((n, 1)), np.arange(n) % 2
    machine = BinarySpec(1.0, LOSSES["hinge"])
    problem, alpha = pose(Block(X, codes, None), machine), lopsided(kind, n)
    parts = two_class_parts(X, codes, machine, alpha, cuts)
    repair_parts(parts, machine)
    found = np.concatenate([memory[machine.key].alpha for memory in parts.memory])
    assert found == pytest.approx(repair(problem, alpha), rel=1e-12, abs=1e-15)
    assert abs(found @ problem.y) <= 1e-14 * max(1.0, found.sum())
    assert found.min() >= 0.0
    assert found.max() <= 1.0


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS.keys())
def test_a_small_residual_is_borne_by_few_multipliers(cuts):
    """All at their bounds, whose caps differ a little: scaling would move every one of a class."""
    n = 12
    X, codes, weight = np.zeros((n, 1)), np.arange(n) % 2, np.ones(n)
    weight[0] += 1e-9
    machine = BinarySpec(1.0, LOSSES["hinge"])
    parts, none = Here(X, codes, cuts, weight), np.zeros(0)
    states = [BinaryState(none, a, a[None]) for a in np.split(weight, cuts)]
    hold(parts, machine.key, states)
    repair_parts(parts, machine)
    found = np.concatenate([memory[machine.key].alpha for memory in parts.memory])
    problem = pose(Block(X, codes, weight), machine)
    assert abs(found @ problem.y) <= 1e-15 * found.sum()
    assert 1 <= np.count_nonzero(found != weight) <= parts.n_parts
    assert np.count_nonzero(repair(problem, weight) != weight) == 1
