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

# Groups up to this size are sorted by insertion.
INSERTION_SORT_SIZE = 40


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


class GradeTally(NamedTuple):
    """Sums over the pairs with f_winner − f_loser < offset, each counted with its weight.

    By item: those it should win, less those it should lose.
    """

    pull: np.ndarray  # Σ weights
    slack: np.ndarray  # Σ weights · (offset − f_winner + f_loser)
    total: float  # Σ weights, over all pairs
    loss: float  # Σ weights · (offset − f_winner + f_loser), over all pairs


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


def tally(grades: Grades, order: np.ndarray, f: np.ndarray, offset: float) -> GradeTally:
    """Sums over all pairs whose difference of scores is below ``offset``."""
    item, score, rank = _in_order(grades, order, f)
    pull, slack = np.zeros(len(f)), np.zeros(len(f))
    by_place = np.zeros(len(order)), np.zeros(len(order))
    weight = grades.weight[item]
    total, loss = _tally(grades.start, score, rank, weight, offset, by_place[0], by_place[1])
    pull[item], slack[item] = by_place
    return GradeTally(pull, slack, total, loss)


def _in_order(grades: Grades, order, f) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items, scores and ranks side by side in the order of a pass: memory is then read in line."""
    item = grades.item[order]
    return item, f[item], grades.rank[order]


def ramp(grades: Grades, order, f: np.ndarray, width: float) -> tuple[np.ndarray, float, float]:
    """Each pair counted by clip((z + width)/(2 width), 0, 1), z = 1 − f_winner + f_loser.

    Returns the pull on every item, the sum over all pairs, and how large the terms are, in units of
    differences of scores, that these are differences of.  Width 0: pairs with slack.
    """
    if width == 0.0:
        whole = tally(grades, order, f, 1.0)
        return whole.pull, whole.total, whole.total
    high, low = tally(grades, order, f, 1.0 + width), tally(grades, order, f, 1.0 - width)
    twice = 2.0 * width
    terms = (high.total + low.total) / twice
    return (high.slack - low.slack) / twice, (high.loss - low.loss) / twice, terms


def count(grades: Grades, order: np.ndarray, f: np.ndarray, offset: float) -> int:
    """How many pairs there are whose difference of scores is below ``offset``."""
    _, score, rank = _in_order(grades, order, f)
    return int(_count(grades.start, score, rank, offset))


def between(grades: Grades, order, f, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Winners and losers of all pairs with low ≤ f_winner − f_loser < high, listed."""
    size = count(grades, order, f, high) - count(grades, order, f, low)
    winner, loser = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    item, score, rank = _in_order(grades, order, f)
    first, after = _windows(grades.start, score, low, high)
    _list(item, rank, first, after, winner, loser)
    return winner, loser


def sample_between(grades: Grades, order, f, window: tuple[float, float], size: int, rng):
    """Some pairs with f_winner − f_loser in the window, and the weight that each stands for.

    Drawn by weight from the windows of scores in which a loser may lie; those who are no
    losers for their grade are left out.
    """
    item, score, rank = _in_order(grades, order, f)
    first, after = _windows(grades.start, score, *window)
    weight = grades.weight[item]
    sums = np.append(0.0, np.cumsum(weight))
    ends = np.cumsum(weight * (sums[after] - sums[first]))
    if len(ends) == 0 or not ends[-1] > 0.0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 0.0
    ticket = np.sort(rng.random(size)) * ends[-1]
    u = np.minimum(np.searchsorted(ends, ticket, side="right"), len(ends) - 1)
    place = np.searchsorted(sums, sums[after[u]] - (ends[u] - ticket) / weight[u], side="right") - 1
    v = np.clip(place, first[u], after[u] - 1)
    lower = rank[v] < rank[u]
    return item[u[lower]], item[v[lower]], float(ends[-1]) / size


@njit(cache=True, nogil=True)
def _sort_groups(grades, f, order):
    item = grades.item
    for g in range(grades.start.shape[0] - 1):
        low, high = grades.start[g], grades.start[g + 1]
        if high - low > INSERTION_SORT_SIZE:
            sorted_here = np.argsort(f[item[low:high]])
            for t in range(low, high):
                order[t] = low + sorted_here[t - low]
            continue
        for t in range(low, high):  # insertion: no calls, no copies
            value, place = f[item[t]], t
            while place > low and f[item[order[place - 1]]] > value:
                order[place] = order[place - 1]
                place -= 1
            order[place] = t


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
def _tally(start, f, rank, weight, offset, pull, slack):
    """Two passes over every group, its items in ascending order of their scores."""
    total, loss = 0.0, 0.0
    if len(rank) == 0:
        return total, loss
    all_sums, all_moments = np.zeros(rank.max() + 1), np.zeros(rank.max() + 1)
    for g in range(start.shape[0] - 1):
        low, high = start[g], start[g + 1]
        most = rank[low:high].max()
        if most == 1:
            continue
        sums, moments = all_sums[: most + 1], all_moments[: most + 1]
        sums[:] = 0.0
        moments[:] = 0.0
        # Winners from the best score down: ever more losers lie within the offset.
        seen = high - 1
        for t in range(high - 1, low - 1, -1):
            while seen >= low and f[t] - offset < f[seen]:
                _add(sums, rank[seen], weight[seen])
                _add(moments, rank[seen], weight[seen] * f[seen])
                seen -= 1
            beaten = _up_to(sums, rank[t] - 1)
            if beaten > 0.0:
                moment = _up_to(moments, rank[t] - 1)
                mine = weight[t] * (beaten * (offset - f[t]) + moment)
                pull[t] += weight[t] * beaten
                slack[t] += mine
                total += weight[t] * beaten
                loss += mine
        # Losers from the worst score up: ever more winners do.  Ranks are counted from the top, so
        # that sums of winners are sums: as differences they would bear the rounding of all items.
        sums[:] = 0.0
        moments[:] = 0.0
        seen = low
        for t in range(low, high):
            while seen < high and f[seen] - offset < f[t]:
                _add(sums, most + 1 - rank[seen], weight[seen])
                _add(moments, most + 1 - rank[seen], weight[seen] * f[seen])
                seen += 1
            if rank[t] < most:
                better = _up_to(sums, most - rank[t])
                moment = _up_to(moments, most - rank[t])
                pull[t] -= weight[t] * better
                slack[t] -= weight[t] * (better * (offset + f[t]) - moment)
    return total, loss


@njit(cache=True, nogil=True)
def _count(start, f, rank, offset):
    total = 0.0
    for g in range(start.shape[0] - 1):
        low, high = start[g], start[g + 1]
        sums = np.zeros(rank[low:high].max() + 1)
        seen = high - 1
        for t in range(high - 1, low - 1, -1):
            while seen >= low and f[t] - offset < f[seen]:
                _add(sums, rank[seen], 1.0)
                seen -= 1
            total += _up_to(sums, rank[t] - 1)
    return total


@njit(cache=True, nogil=True)
def _windows(start, f, low, high):
    """Where, for every place t, the losers with low ≤ f_t − f_v < high lie.

    Two pointers follow the ends of the window as the winner's score falls.
    """
    first, after = np.empty(len(f), dtype=np.int64), np.empty(len(f), dtype=np.int64)
    for g in range(start.shape[0] - 1):
        begin, end = start[g], start[g + 1]
        top, bottom = end - 1, end - 1
        for t in range(end - 1, begin - 1, -1):
            while bottom >= begin and f[t] - high < f[bottom]:
                bottom -= 1
            while top >= begin and f[t] - low < f[top]:
                top -= 1
            first[t], after[t] = bottom + 1, top + 1
    return first, after


@njit(cache=True, nogil=True)
def _list(item, rank, first, after, winner, loser):
    size = 0
    for t in range(item.shape[0]):
        for place in range(first[t], after[t]):
            if rank[place] < rank[t]:
                winner[size], loser[size] = item[t], item[place]
                size += 1
