"""Cells in place of rows: Jensen's inequality, the same dual, and rows that matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from maxmargin.core.certify.multiclass import certify_classes
from maxmargin.core.problem.class_losses import CLASS_LOSSES, class_value
from maxmargin.core.problem.multiclass import MulticlassProblem
from maxmargin.core.problem.problem import Bias
from maxmargin.core.rows.rows import as_rows
from maxmargin.parts.certify.many_class import certify_class_parts
from maxmargin.parts.parts import Block
from maxmargin.parts.solve.many_class.cells import LookPayload, is_linear, look, pieces, settle
from maxmargin.parts.solve.many_class.tasks import ClassSpec, begin, pose_classes
from maxmargin.parts.solve.tasks import ask, ask_total
from tests.parts.core.helpers import Here

RULES = list(CLASS_LOSSES)


def looked_at(rule, X, y, W, b, values=0):
    """Parts that were asked once, what they answered, and the machine."""
    machine = ClassSpec(0.3, CLASS_LOSSES[rule], 3, Bias.NONE)
    parts = Here(X, y, [len(y) // 2])
    ask_total(parts, begin, machine, np.zeros(X.shape[1]))
    told = LookPayload(W, b, W, b, 0.2, values, values, 0)
    return machine, parts, list(ask(parts, look, machine, told)), told


def small_problem(machine, answers):
    cells = [cells for _, _, cells in answers]
    means = np.concatenate([each.sums / each.mass[:, None] for each in cells])
    y, mass = (np.concatenate([each[i] for each in cells]) for i in (1, 3))
    return MulticlassProblem(as_rows(means), y, mass, machine.loss, machine.k, machine.bias)


def somewhere(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((3, 4)), rng.standard_normal(3)


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_a_cell_never_costs_more_than_its_rows(rule):
    """And the same where the loss is linear on its pieces, at the point of the cells."""
    X, y = load_iris(return_X_y=True)
    W, b = somewhere(0)
    machine, _, answers, _ = looked_at(rule, X, y, W, b)
    small, whole = small_problem(machine, answers), pose_classes(Block(X, y, None), machine)
    assert small.c.sum() == pytest.approx(whole.c.sum())
    for at in (W, -W, 0.1 * W, somewhere(1)[0]):
        few = certify_classes(small, at, b, np.zeros((len(small.y), 3))).primal
        all_ = certify_classes(whole, at, b, np.zeros((len(y), 3))).primal
        assert few <= all_ * (1 + 1e-12)
        if at is W and is_linear(machine.rates):
            assert few == pytest.approx(all_, rel=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_multipliers_of_cells_are_feasible_for_rows_with_the_same_dual(rule):
    X, y = load_iris(return_X_y=True)
    W, b = somewhere(2)
    machine, parts, answers, told = looked_at(rule, X, y, W, b)
    list(ask(parts, look, machine, told))  # now the cells are those of the last problem
    small = small_problem(machine, answers)
    rates = np.random.default_rng(3).uniform(0.0, 0.4, (len(small.y), 3))
    rates[np.arange(len(rates)), small.y] = 0.0
    numbers = np.concatenate([cells.number for _, _, cells in answers])
    by_number = dict(zip(numbers.tolist(), rates, strict=True))
    none = np.zeros(0, dtype=int), np.zeros((0, 3))
    names = {sent.name: none for _, sent, _ in answers}
    ask_total(parts, settle, machine, names, by_number, True)
    beta = small.c[:, None] * np.stack([by_number[number] for number in numbers.tolist()])
    ours = certify_class_parts(parts, machine, W, b, np.zeros(4))
    assert ours.box_violation <= 1e-12
    assert ours.dual == pytest.approx(certify_classes(small, W, b, beta).dual, rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_part_sends_no_more_than_it_may_and_no_row_twice(kind):
    X, y = load_iris(return_X_y=True)
    W, b = somewhere(4)
    machine, parts, answers, told = looked_at(("max", "hinge"), kind(X), y, W, b, values=60)
    seen = {sent.name: list(sent.place) for _, sent, _ in answers}
    assert len(seen) == 2
    assert all(0 < sent.X.size <= 60 for _, sent, _ in answers)
    for _ in range(30):
        answers = list(ask(parts, look, machine, told))
        for _, sent, _ in answers:
            assert sent.X.size <= 60
            seen[sent.name] += list(sent.place)
    assert all(len(place) == len(set(place)) for place in seen.values())
    assert not any(cells.edge.any() for _, _, cells in answers)  # none that matters is left
    costs = sum(cells.mass.sum() for _, _, cells in answers)
    assert costs == pytest.approx(0.3 * (len(y) - sum(map(len, seen.values()))))


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_pieces_tell_the_loss_and_how_far_the_next_one_is(rule):
    rng = np.random.default_rng(7)
    s, y = rng.standard_normal((200, 5)), rng.integers(0, 5, 200)
    rates = ClassSpec(1.0, CLASS_LOSSES[rule], 5).rates
    here = pieces(rates, s, y)
    assert here.loss == pytest.approx(
        [class_value(CLASS_LOSSES[rule], *row) for row in zip(s, y, strict=True)]
    )
    # No class's score moves by half of it, so no difference moves by all of it.
    step = 0.499 * here.distance[:, None] * rng.choice([-1.0, 1.0], s.shape)
    assert (pieces(rates, s + step, y).blame == here.blame).all()
