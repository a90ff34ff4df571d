"""Classes that no cycle of preferences joins: settled by their free biases, at no cost.

Multipliers flow from class to class and must form a circulation, so a pair of classes on no
cycle has multiplier zero: nobody prefers the other way, even through third classes.  Its margin
holds once the biases are far enough apart, which costs nothing.  So these pairs are left out,
the others are solved, and every group of classes joined by cycles is lifted by one number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ...certify.label_pairs import pair_slacks
from ...problem.label_pairs import LabelPairsProblem

# Lifted by this much more than needed, relatively: rounding must not leave a slack.
LIFT_SPARE = 1e-9


def cycles(problem: LabelPairsProblem) -> tuple[np.ndarray, np.ndarray]:
    """The group of every class, and which pairs lie within one; without free biases all do."""
    if not problem.bias:
        return np.zeros(problem.k, dtype=np.int64), np.ones(len(problem.c), dtype=bool)
    arcs = np.ones(len(problem.c)), (problem.winner, problem.loser)
    graph = csr_array(arcs, shape=(problem.k, problem.k))
    _, group = connected_components(graph, directed=True, connection="strong")
    return group, group[problem.winner] == group[problem.loser]


def part_of(problem: LabelPairsProblem, chosen: np.ndarray) -> LabelPairsProblem:
    """The same with some of the pairs."""
    example, winner, loser, c = (
        column[chosen] for column in (problem.example, problem.winner, problem.loser, problem.c)
    )
    return replace(problem, example=example, winner=winner, loser=loser, c=c)


def lift(problem: LabelPairsProblem, W: np.ndarray, b: np.ndarray, group: np.ndarray) -> np.ndarray:
    """b with every group raised until the pairs between groups have no slack; sums to zero."""
    across = part_of(problem, group[problem.winner] != group[problem.loser])
    need = np.maximum(pair_slacks(across, W, b), 0.0) * (1.0 + LIFT_SPARE) + LIFT_SPARE
    upper, lower = group[across.winner], group[across.loser]
    level = np.zeros(int(group.max()) + 1)
    for _ in range(len(level)):  # there is no cycle: no path is longer
        before = level.copy()
        np.maximum.at(level, upper, level[lower] + need)
        if np.array_equal(before, level):
            break
    raised = b + level[group]
    return raised - raised.mean()
