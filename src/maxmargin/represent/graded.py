"""Grades: pairs that are implied, not listed.

Within a group every item of a higher grade is preferred to every item of a lower one: up to
n²/4 pairs, of which none is ever written down.  All that a sum over the pairs with
f_winner − f_loser < offset needs is, for every item, the weight of the others it forms such
a pair with.  One pass over the items in the order of their scores finds it, with the
weights seen so far kept by grade in a Fenwick tree: O(n log n).  [Joachims 2006; Lee & Lin 2014]

The weight of a pair is the product of the weights of its items, so that weight 2 means the
same as the item twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Grades(NamedTuple):
    """Items sorted by group, then by grade; ``rank`` counts the grades of a group from 1."""

    start: np.ndarray  # group g holds item[start[g]:start[g + 1]]
    item: np.ndarray
    rank: np.ndarray
    below: np.ndarray  # how many items of the group have a lower grade
    weight: np.ndarray  # by item, as ``f`` is

    @property
    def pairs(self) -> int:
        return int(self.below.sum())


class Tally(NamedTuple):
    """Sums over the pairs with f_winner − f_loser < offset, each counted with its weight."""

    pull: np.ndarray  # by item: weight of the pairs it should win, less those it should lose
    total: float  # Σ weights
    loss: float  # Σ weights · (1 − f_winner + f_loser)


def as_grades(grade: np.ndarray, group: np.ndarray, weight: np.ndarray | None = None) -> Grades:
    """Sort items of any grades and groups; weightless items form no pairs."""
    n = len(grade)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    item = np.lexsort((grade, group))
    item = item[weight[item] > 0.0]
    g, v = group[item], grade[item]
    new_group = np.append(True, g[1:] != g[:-1]) if len(g) else np.zeros(0, dtype=bool)
    start = np.append(np.flatnonzero(new_group), len(g))
    new_grade = new_group | np.append(True, v[1:] != v[:-1]) if len(g) else new_group
    steps = np.cumsum(new_grade)
    sizes = np.diff(start)
    rank = steps - np.repeat(steps[start[:-1]], sizes) + 1
    place = np.arange(len(g))
    first_of_grade = np.maximum.accumulate(np.where(new_grade, place, 0))
    below = first_of_grade - np.repeat(start[:-1], sizes)
    return Grades(start, item, rank, below, weight)


def by_score(grades: Grades, f: np.ndarray) -> np.ndarray:
    """Places in ``grades.item``, every group in ascending order of its scores."""
    order = np.empty(len(grades.item), dtype=np.int64)
    _sort_groups(grades, f, order)
    return order


def tally(grades: Grades, order: np.ndarray, f: np.ndarray, offset: float) -> Tally:
    """Sums over all pairs whose difference of scores is below ``offset``."""
    pull = np.zeros(len(f))
    total, loss = _tally(grades, order, f, offset, pull)
    return Tally(pull, total, loss)


def count(grades: Grades, order: np.ndarray, f: np.ndarray, offset: float) -> int:
    """How many pairs there are whose difference of scores is below ``offset``."""
    return int(_count(grades, order, f, offset))


def between(grades: Grades, order, f, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Winners and losers of all pairs with low ≤ f_winner − f_loser < high, listed."""
    size = count(grades, order, f, high) - count(grades, order, f, low)
    winner, loser = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    _list(grades, order, f, low, high, winner, loser)
    return winner, loser


def sample(grades: Grades, size: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Winners and losers of ``size`` pairs, drawn from all pairs alike."""
    ends = np.cumsum(grades.below)
    ticket = rng.integers(ends[-1], size=size)
    place = np.searchsorted(ends, ticket, side="right")
    group = np.searchsorted(grades.start, place, side="right") - 1
    lower = grades.start[group] + (ends[place] - 1 - ticket)
    return grades.item[place], grades.item[lower]


@njit(cache=True, nogil=True)
def _sort_groups(grades, f, order):
    for g in range(grades.start.shape[0] - 1):
        low, high = grades.start[g], grades.start[g + 1]
        order[low:high] = low + np.argsort(f[grades.item[low:high]])


@njit(cache=True, nogil=True)
def _add(tree, rank, amount):
    while rank < tree.shape[0]:
        tree[rank] += amount
        rank += rank & -rank


@njit(cache=True, nogil=True)
def _up_to(tree, rank):
    total = 0.0
    while rank > 0:
        total += tree[rank]
        rank -= rank & -rank
    return total


@njit(cache=True, nogil=True)
def _tally(grades, order, f, offset, pull):
    item, rank, weight = grades.item, grades.rank, grades.weight
    total, loss = 0.0, 0.0
    for g in range(grades.start.shape[0] - 1):
        low, high = grades.start[g], grades.start[g + 1]
        most = rank[high - 1]
        if most == 1:
            continue
        sums, moments = np.zeros(most + 1), np.zeros(most + 1)
        # Winners from the best score down: ever more losers lie within the offset.
        seen = high - 1
        for t in range(high - 1, low - 1, -1):
            u = item[order[t]]
            while seen >= low and f[u] - offset < f[item[order[seen]]]:
                v = item[order[seen]]
                _add(sums, rank[order[seen]], weight[v])
                _add(moments, rank[order[seen]], weight[v] * f[v])
                seen -= 1
            beaten = _up_to(sums, rank[order[t]] - 1)
            if beaten > 0.0:
                pull[u] += weight[u] * beaten
                total += weight[u] * beaten
                moment = _up_to(moments, rank[order[t]] - 1)
                loss += weight[u] * (beaten * (1.0 - f[u]) + moment)
        # Losers from the worst score up: ever more winners do.
        sums[:] = 0.0
        seen, everyone = low, 0.0
        for t in range(low, high):
            v = item[order[t]]
            while seen < high and f[item[order[seen]]] - offset < f[v]:
                weight_u = weight[item[order[seen]]]
                _add(sums, rank[order[seen]], weight_u)
                everyone += weight_u
                seen += 1
            if rank[order[t]] < most:
                pull[v] -= weight[v] * (everyone - _up_to(sums, rank[order[t]]))
    return total, loss


@njit(cache=True, nogil=True)
def _count(grades, order, f, offset):
    item, rank = grades.item, grades.rank
    total = 0.0
    for g in range(grades.start.shape[0] - 1):
        low, high = grades.start[g], grades.start[g + 1]
        sums = np.zeros(rank[high - 1] + 1)
        seen = high - 1
        for t in range(high - 1, low - 1, -1):
            u = item[order[t]]
            while seen >= low and f[u] - offset < f[item[order[seen]]]:
                _add(sums, rank[order[seen]], 1.0)
                seen -= 1
            total += _up_to(sums, rank[order[t]] - 1)
    return total


@njit(cache=True, nogil=True)
def _list(grades, order, f, low, high, winner, loser):
    """Two pointers follow the ends of the window of losers as the winner's score falls."""
    item, rank = grades.item, grades.rank
    size = 0
    for g in range(grades.start.shape[0] - 1):
        first, last = grades.start[g], grades.start[g + 1] - 1
        top, bottom = last, last
        for t in range(last, first - 1, -1):
            u = item[order[t]]
            while bottom >= first and f[u] - high < f[item[order[bottom]]]:
                bottom -= 1
            while top >= first and f[u] - low < f[item[order[top]]]:
                top -= 1
            for place in range(bottom + 1, top + 1):
                if rank[order[place]] < rank[order[t]]:
                    winner[size], loser[size] = u, item[order[place]]
                    size += 1
    return size
