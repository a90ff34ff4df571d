"""Notes 004: one-vs-rest and one-vs-one leave regions that belong to no class, or to two.

Three clusters at the corners of a triangle, looked at on a fine grid.
"""

import numpy as np
import pytest

from maxmargin import LinearSVM, OneVsOne, OneVsRest

CORNERS = np.array([[0.0, 2.0], [-np.sqrt(3), -1.0], [np.sqrt(3), -1.0]])
GRID = np.stack(np.meshgrid(np.linspace(-6, 6, 121), np.linspace(-6, 6, 121)), axis=-1)
GRID = GRID.reshape(-1, 2)
CENTRE = [[0.0, 0.0]]


def clusters(turn=0.0):
    """Three clusters of five points; ``turn`` stretches each along a tilted line."""
    cross = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]) * 0.3
    X, y = [], []
    for c, corner in enumerate(CORNERS):
        outward = corner / 2.0
        along = outward * np.cos(turn) + np.array([-outward[1], outward[0]]) * np.sin(turn)
        X += [corner + cross + s * along for s in (-0.5 * bool(turn), 0.0, 0.5 * bool(turn))]
        y += [c] * 15
    return np.vstack(X), np.array(y)


def region(model, chosen):
    """The grid points for which that many classes claim the point."""
    return GRID[chosen(model.claims(GRID).sum(axis=1))]


def test_k_classifiers_leave_the_middle_to_nobody():
    model = OneVsRest(LinearSVM(C=100.0), unknown="unknown").fit(*clusters())
    nobody, several = region(model, lambda m: m == 0), region(model, lambda m: m > 1)
    assert model.predict(CENTRE) == ["unknown"]
    # A triangle around the centre …
    assert len(nobody) > 100
    assert np.linalg.norm(nobody, axis=1).max() < 2.0
    # … and beyond each of its corners, between two clusters, a wedge that both claim.
    assert len(several) > 100
    for bisector in -CORNERS:
        assert model.claims([2.5 * bisector]).sum() == 2
        assert model.predict([2.5 * bisector]) == ["unknown"]
    assert model.score(*clusters()) == 1.0


@pytest.mark.parametrize("rest", [0, 1, 2])
def test_k_minus_one_classifiers_leave_a_wedge_to_two(rest):
    model = OneVsRest(LinearSVM(C=100.0), unknown=-1, rest=rest).fit(*clusters())
    assert len(model.estimators_) == 2
    assert rest not in model.positives_
    count = model.claims(GRID).sum(axis=1)
    assert count.min() == 1  # nobody's points are the rest's
    assert model.predict(CENTRE) == [rest]
    away = -2.5 * CORNERS[[rest]]  # between the two others
    assert model.claims(away).sum() == 2
    assert model.predict(away) == [-1]
    assert model.score(*clusters()) == 1.0


@pytest.mark.parametrize("rest", [0, 1, 2])
def test_k_minus_one_classifiers_guess_where_they_conflict(rest):
    usual = OneVsRest(LinearSVM(C=100.0), rest=rest).fit(*clusters())
    claims, guess = usual.claims(GRID), usual.predict(GRID)
    assert claims[np.arange(len(GRID)), guess].all()  # one of those who claim the point
    np.testing.assert_array_equal(guess, usual.decision_function(GRID).argmax(axis=1))


def test_a_full_set_of_duels_leaves_only_the_middle():
    """With tilted clusters the three lines enclose a triangle where each beats the next."""
    model = OneVsOne(LinearSVM(C=100.0), unknown=None).fit(*clusters(turn=1.0))
    claims = model.claims(GRID)
    assert len(model.estimators_) == 3
    assert claims.sum(axis=1).max() == 1
    circle = GRID[claims.sum(axis=1) == 0]
    assert 0 < len(circle) < 0.05 * len(GRID)
    assert model.predict(circle).tolist() == [None] * len(circle)
    # In the circle every class has one vote, and the triangle is at the centre.
    votes = model.decision_function(circle).round()
    np.testing.assert_array_equal(votes, 1.0)
    assert np.linalg.norm(circle, axis=1).max() < 2.0
    assert model.score(*clusters(turn=1.0)) == 1.0


def test_regions_of_one_class_are_convex():
    model = OneVsOne(LinearSVM(C=100.0), unknown=-1).fit(*clusters(turn=1.0))
    rng = np.random.default_rng(0)
    for c in range(3):
        mine = GRID[model.predict(GRID) == c]
        pairs = rng.integers(len(mine), size=(2, 500))
        between = 0.5 * (mine[pairs[0]] + mine[pairs[1]])
        assert (model.predict(between) == c).all()
