"""Laws of cutting: nothing is lost, nothing is counted twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.show.geometry.polygons import BORDER, area, borders, cells, outlines, zone

from .shapes import covered, inside, ring_area

number = st.floats(-3, 3).map(lambda x: round(x, 3))
lines = st.lists(st.tuples(number, number, number), max_size=9)


@given(lines)
@settings(max_examples=60, deadline=None)
def test_cells_tile_the_window(some):
    pieces = cells(some)
    areas = [area(piece) for piece in pieces]
    assert min(areas) > 0
    assert sum(areas) == pytest.approx(1.0, abs=1e-9)
    for a, b, c in some:  # no line passes through the inside of a cell
        if np.hypot(a, b) > 1e-6:
            for piece in pieces:
                side = np.array([a * x + b * y + c for x, y in piece]) / np.hypot(a, b)
                assert side.max() <= 1e-9 or side.min() >= -1e-9


@given(lines)
@settings(max_examples=60, deadline=None)
def test_a_zone_is_the_intersection_of_half_planes(some):
    ring, edges = zone(some)
    places = np.random.default_rng(0).random((300, 2))
    sides = np.array([[a * x + b * y + c for a, b, c in some] for x, y in places])
    sides = sides.reshape(300, len(some))
    clearly = np.all(np.abs(sides) > 1e-9, axis=1)
    wanted = (sides > 0).all(axis=1)
    found = inside([np.array(ring)], places) if len(ring) > 2 else np.zeros(300, dtype=bool)
    assert np.array_equal(found[clearly], wanted[clearly])
    for p, q, edge in zip(ring, ring[1:] + ring[:1], edges, strict=True):
        if edge != BORDER:
            a, b, c = some[edge]
            assert abs(a * p[0] + b * p[1] + c) < 1e-9
            assert abs(a * q[0] + b * q[1] + c) < 1e-9


@given(lines, st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_outlines_keep_the_area_of_every_label_and_have_no_inner_edges(some, seed):
    pieces = cells(some)
    labels = np.random.default_rng(seed).integers(3, size=len(pieces)).tolist()
    found = outlines(pieces, labels)
    places = np.random.default_rng(seed).random((200, 2))
    for label in set(labels):
        own = [piece for piece, mine in zip(pieces, labels, strict=True) if mine == label]
        # Signed areas: outer rings are anticlockwise, holes clockwise.
        assert sum(ring_area(ring) for ring in found[label]) == pytest.approx(
            sum(map(area, own)), abs=1e-9
        )
        by_pieces = np.any([inside([np.array(piece)], places) for piece in own], axis=0)
        by_rings = inside([np.array(ring) for ring in found[label]], places)
        assert np.array_equal(by_pieces, by_rings)
    if len(set(labels)) == 1:
        assert borders(pieces, labels) == []
        assert covered([np.array(ring) for ring in found[labels[0]]]) == pytest.approx(1.0)


def test_three_lines_through_a_point_leave_no_slivers():
    # s0 − s1, s1 − s2, s0 − s2 always meet in one point; rounding must not make a cell of it.
    rng = np.random.default_rng(1)
    for _ in range(200):
        s = rng.standard_normal((3, 3))
        pieces = cells([(s[0] - s[1]).tolist(), (s[1] - s[2]).tolist(), (s[0] - s[2]).tolist()])
        assert len(pieces) <= 6
        assert min(area(piece) for piece in pieces) > 1e-9
