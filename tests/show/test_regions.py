"""Regions against ``predict``: every polygon is where its class is predicted, and all of it."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_circles
from sklearn.tree import DecisionTreeClassifier

from maxmargin import KernelSVM
from maxmargin.show.geometry.decision_rule import duels
from maxmargin.show.geometry.model_adapter import doubtful_election, subject_of
from maxmargin.show.geometry.plane import features_plane
from maxmargin.show.geometry.regions import MAX_TIE_LINES, regions_of

from .shapes import RULES, covered, inside, ring_area, with_weights

WINDOW = (-1.0, 2.0, -0.5, 1.0)
AREA = 4.5


def look(model, X=None, grid=200, window=WINDOW, election=None):
    X = np.zeros((3, 2)) if X is None else X
    subject = subject_of(model, X)
    plane = features_plane(subject, np.zeros(len(X), dtype=int), (0, 1))
    return regions_of(subject, plane, window, election, grid=grid)


def places(n=400, window=WINDOW, seed=0):
    left, right, bottom, top = window
    return np.random.default_rng(seed).uniform([left, bottom], [right, top], (n, 2))


def clear_of_borders(regions, points, distance):
    """Points that far from every border."""
    ends = regions.border
    if len(ends) == 0:
        return np.ones(len(points), dtype=bool)
    p, q = ends[:-1], ends[1:]
    some = ~np.isnan(p + q).any(axis=1)
    p, q = p[some], q[some]
    along = q - p
    length = np.maximum(np.sum(along**2, axis=1), 1e-300)
    t = np.clip(np.einsum("nmj,mj->nm", points[:, None] - p, along) / length, 0, 1)
    nearest = p + t[..., None] * along
    return np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1) > distance


@pytest.mark.parametrize("rule", RULES)
@given(k=st.integers(3, 6), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None)
def test_polygons_are_where_predict_says_so(rule, k, seed):
    rng = np.random.default_rng(seed)
    W, b = rng.standard_normal((15, 2)), 0.5 * rng.standard_normal(15)
    model = with_weights(rule, k, W, b)
    regions = look(model)
    assert regions.exact
    everything = [*regions.rings, regions.unknown]
    assert sum(covered(rings) for rings in everything) == pytest.approx(AREA, rel=1e-9)
    points = places(seed=seed)
    points = points[clear_of_borders(regions, points, 1e-6)]
    said = model.predict(points)
    for label, rings in zip([*range(k), -1], everything, strict=True):
        assert np.array_equal(inside(rings, points), said == label), label


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_the_highest_score_makes_one_convex_polygon_of_each_class(seed):
    rng = np.random.default_rng(seed)
    model = with_weights("max", 5, rng.standard_normal((5, 2)), rng.standard_normal(5))
    for rings in look(model).rings:
        assert len(rings) <= 1
        for ring in rings:
            one, two = np.roll(ring, -1, axis=0) - ring, np.roll(ring, -2, axis=0) - ring
            assert (one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0] >= -1e-12).all()


def test_two_classes_are_two_sides_of_a_line():
    model = with_weights("max", 2, np.array([[1.0, 2.0]]), np.array([-0.5]))
    regions = look(model)
    assert len(regions.border) == 2
    assert np.abs(regions.border @ [1.0, 2.0] - 0.5).max() < 1e-12
    assert sum(ring_area(ring) for (ring,) in regions.rings) == pytest.approx(AREA)
    for line, value in zip(regions.margins, (-1.0, 1.0), strict=True):
        assert np.abs(line @ [1.0, 2.0] - 0.5 - value).max() < 1e-12


@pytest.mark.parametrize("rule", ["max", "rest", "pairs"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None)
def test_margin_lines_are_where_slack_begins(rule, seed):
    """A step inwards of class c's margin line a point of c has no slack; outwards it has."""
    rng = np.random.default_rng(seed)
    k = 4
    model = with_weights(rule, k, 3 * rng.standard_normal((6, 2)), rng.standard_normal(6))
    regions = look(model)
    answers = subject_of(model, np.zeros((3, 2))).answers
    for c, line in enumerate(regions.margins):
        ends = line[~np.isnan(line[:, 0])].reshape(-1, 2, 2)
        least = _least_contrast(rule, answers(ends.mean(axis=1)), c, k) if len(ends) else []
        assert np.allclose(least, 1.0, atol=1e-9)


def _least_contrast(rule, a, c, k):
    """The lectures' constraints of class c, written out."""
    if rule == "max":
        return (a[:, [c]] - np.delete(a, c, axis=1)).min(axis=1)
    if rule == "rest":
        return np.minimum(a[:, c], -np.delete(a, c, axis=1).max(axis=1))
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    own = [a[:, q] if i == c else -a[:, q] for q, (i, j) in enumerate(pairs) if c in (i, j)]
    return np.min(own, axis=0)


def test_a_class_without_a_region_and_equal_scores_go_to_the_first():
    W = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    model = with_weights("max", 3, W, np.array([0.0, 0.0, 0.0]))
    regions = look(model)
    assert [len(rings) for rings in regions.rings] == [1, 0, 1]
    nowhere = with_weights("max", 3, np.zeros((3, 2)), np.array([0.0, 1.0, 0.0]))
    assert [len(rings) for rings in look(nowhere).rings] == [0, 1, 0]
    assert len(look(nowhere).border) == 0


@pytest.mark.parametrize("rule", ["one-vs-rest", "one-vs-one"])
def test_doubt_is_the_same_whether_or_not_the_model_guesses(rule):
    rng = np.random.default_rng(4)
    W, b = rng.standard_normal((6, 2)), 0.3 * rng.standard_normal(6)
    guessing, sure = with_weights(rule, 4, W, b), with_weights(f"{rule} unknown", 4, W, b)
    points = places()
    unknown = sure.predict(points) == -1
    assert unknown.any()
    for model in (sure, guessing):
        regions = look(model, election=doubtful_election(model))
        clear = clear_of_borders(regions, points, 1e-6)
        assert np.array_equal(inside(regions.unknown, points)[clear], unknown[clear])


@pytest.mark.parametrize("rule", ["pairs", "rest", "max"])
def test_contours_of_a_kernel_follow_predict_up_to_the_grid(rule):
    X, y = make_blobs(60, centers=3, cluster_std=2.0, random_state=2)
    model = KernelSVM(C=5, multiclass=rule).fit(X, y)
    window = (-15.0, 6.0, -16.0, 8.0)
    regions = look(model, X, window=window)
    assert not regions.exact
    assert "grid of 200 × 200" in regions.words
    step = 24.0 / 199
    points = places(window=window)
    clear = clear_of_borders(regions, points, step)
    said = model.predict(points)
    for c, rings in enumerate(regions.rings):
        assert np.array_equal(inside(rings, points)[clear], (said == c)[clear])
    assert sum(map(covered, regions.rings)) == pytest.approx(21 * 24, rel=1e-3)


def test_contours_of_two_classes_are_the_zero_and_the_margins():
    X, y = make_circles(80, factor=0.4, noise=0.05, random_state=0)
    model = KernelSVM(C=1, kernel="poly", degree=2).fit(X, y)
    regions = look(model, X, window=(-1.5, 1.5, -1.5, 1.5))
    for line, value in [(regions.border, 0.0), *zip(regions.margins, (-1.0, 1.0), strict=True)]:
        f = model.decision_function(line[~np.isnan(line[:, 0])])
        assert np.abs(f - value).max() < 2e-3  # a quadratic between points of the grid


def test_a_tie_on_a_whole_region_goes_to_the_class_predict_names():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([0, 1, 2, 2])
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    regions = look(model, X)
    assert [len(rings) for rings in regions.rings] == [1, 0, 1]
    assert [covered(rings) for rings in regions.rings] == pytest.approx([2.25, 0, 2.25], rel=0.02)


@pytest.mark.parametrize("k", [3, 5])
def test_the_firmness_of_duels_vanishes_on_borders_and_nowhere_else(k):
    election = duels(k, 1.0)
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((2, 300, k * (k - 1) // 2))
    assert (election.firmness(one, election.lead(one)) > 0).all()
    before, after = election.decide(one), election.decide(other)
    apart = before != after
    one, other, before = one[apart], other[apart], before[apart]
    for _ in range(50):  # to where another is elected
        middle = 0.5 * (one + other)
        same = election.decide(middle) == before
        one[same], other[~same] = middle[same], middle[~same]
    for side in (one, other):
        assert election.firmness(side, election.lead(side)).max() < 1e-12


def test_more_duels_than_can_be_cut_exactly_fall_back_to_a_grid():
    k = 12
    assert k * (k - 1) // 2 > MAX_TIE_LINES
    rng = np.random.default_rng(0)
    model = with_weights("pairs", k, rng.standard_normal((66, 2)), rng.standard_normal(66))
    regions = look(model, grid=100)
    assert regions.grid == 100
    points = places(200)
    clear = clear_of_borders(regions, points, 0.05)
    said = model.predict(points)
    for c, rings in enumerate(regions.rings):
        assert np.array_equal(inside(rings, points)[clear], (said == c)[clear])


@pytest.mark.parametrize("rule", RULES)
def test_five_classes_take_little_time(rule):
    rng = np.random.default_rng(3)
    model = with_weights(rule, 5, rng.standard_normal((10, 2)), 0.3 * rng.standard_normal(10))
    subject = subject_of(model, np.zeros((3, 2)))
    plane = features_plane(subject, np.zeros(3, dtype=int), (0, 1))
    regions_of(subject, plane, WINDOW)
    best = min(_seconds(lambda: regions_of(subject, plane, WINDOW)) for _ in range(5))
    assert best < 0.05  # processor time; about 0.005 on the machine this was written on


def _seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start
