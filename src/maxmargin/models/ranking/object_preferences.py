"""Preferences among objects: pairs of rows, grades within groups, comparisons by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.rows.graded import Grades, as_grades, between, by_score
from ...core.types import ArrayLike
from .preference_tables import as_table, refuse_row, weights, whole_numbers, within


def pairs_from_grades(grades: ArrayLike, groups: ArrayLike | None = None) -> np.ndarray:
    """All (winner, loser) rows that grades within groups imply: up to n²/4 of them.

    ``PairwiseRanker`` does not need the list: give it the grades.

    >>> from maxmargin import pairs_from_grades
    >>> pairs_from_grades([2, 0, 1, 5], groups=[1, 1, 1, 2]).tolist()
    [[0, 1], [0, 2], [2, 1]]
    """
    grades = np.asarray(grades)
    grades = as_grades(grades, group_codes(groups, len(grades)))
    return np.column_stack(listed(grades))


def pairs_from_comparisons(
    item_a: Any, item_b: Any, winner: Any, items: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """(winner, loser) rows from comparisons by name, and the items' names in row order.

    ``items`` names the rows of X; without it the items are sorted.

    >>> from maxmargin import pairs_from_comparisons
    >>> pairs, items = pairs_from_comparisons(["tea", "mud"], ["mud", "milk"], ["tea", "milk"])
    >>> pairs.tolist(), items.tolist()
    ([[2, 1], [0, 1]], ['milk', 'mud', 'tea'])
    """
    columns = [np.asarray(column).tolist() for column in (item_a, item_b, winner)]
    if len({len(column) for column in columns}) != 1:
        raise ValueError(
            "item_a, item_b and winner must be equally long, got "
            f"{', '.join(str(len(column)) for column in columns)} rows."
        )
    if not columns[0]:
        raise ValueError("There is no comparison to learn from: the table has no rows.")
    names = sorted(set(columns[0]) | set(columns[1])) if items is None else list(items)
    place = {name: row for row, name in enumerate(names)}
    pairs = np.empty((len(columns[0]), 2), dtype=np.int64)
    for row, (a, b, best) in enumerate(zip(*columns, strict=True)):
        for name in (a, b):
            if name not in place:
                refuse_row(
                    "comparisons", row, f"names an unknown item {name!r}", "add its features"
                )
        if a == b:
            refuse_row("comparisons", row, f"compares {a!r} with itself", "remove it")
        if best not in (a, b):
            found = f"has the winner {best!r}, which is neither {a!r} nor {b!r}"
            refuse_row("comparisons", row, found, "name one of the two")
        pairs[row] = place[best], place[b if best == a else a]
    return pairs, np.array(names)


def check_pairs(pairs, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Winners, losers and weights of a table of row numbers of X."""
    winner, loser, *rest = as_table(pairs, (2, 3), "pairs", "(winner, loser[, weight])")
    winner = whole_numbers("pairs", "item", winner)
    loser = whole_numbers("pairs", "item", loser)
    within("pairs", "item", winner, n)
    within("pairs", "item", loser, n)
    same = np.flatnonzero(winner == loser)
    if len(same):
        row = int(same[0])
        refuse_row("pairs", row, f"prefers item {int(winner[row])} to itself", "remove it")
    weight = weights("pairs", rest[0]) if rest else np.ones(len(winner))
    return winner, loser, weight


def check_grades(grades, groups, weight) -> Grades:
    """Sorted grades that imply at least one pair."""
    n = len(grades)
    sorted_grades = as_grades(grades, group_codes(groups, n), weight)
    if sorted_grades.pairs == 0:
        raise ValueError(
            f"The grades imply no pair (n_samples = {n}): within every group all grades are equal, "
            "so nothing is preferred to anything. Check y and groups."
        )
    return sorted_grades


def group_codes(groups, n: int) -> np.ndarray:
    """A number for every row's group; one group where none are given."""
    if groups is None:
        return np.zeros(n, dtype=np.int64)
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(
            f"groups must name the group of every row: {n} entries, got shape {groups.shape}. "
            "Group sizes can be turned into names by np.repeat(np.arange(len(sizes)), sizes)."
        )
    return np.unique(groups, return_inverse=True)[1]


def listed(grades: Grades) -> tuple[np.ndarray, np.ndarray]:
    """Winners and losers of all implied pairs, in the order of the winners' rows."""
    f = np.zeros(len(grades.weight))
    winner, loser = between(grades, by_score(grades, f), f, -np.inf, np.inf)
    order = np.lexsort((loser, winner))
    return winner[order], loser[order]
