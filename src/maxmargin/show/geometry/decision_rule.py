"""How the answers of a classifier's machines elect a class.

Every rule of the package is a few linear contrasts of the answers a(x): class c wins by itself
where all its contrasts are positive, and is free of slack where all are at least 1.

    the highest score           a_c − a_j        for all j ≠ c
    one against the rest        a_c,  −a_j       for all j ≠ c
    one against one             ± a_q            for all duels q of c

Where the answers are linear in x, both are intersections of half-planes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...models.reduction.votes import votes

UNDECIDED = -1
Contrasts = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class DecisionRule:
    """``wins`` and ``clear`` hold a (contrasts, answers) matrix for every class.

    ``complete``: some class wins by itself everywhere, ties apart.  Otherwise ``runoff`` says
    who is elected where none does, or None that it stays unknown; ``favour`` (k, answers) are
    the sums of scores by which a runoff decides between classes with as many votes.
    """

    wins: Contrasts
    complete: bool
    clear: Contrasts | None = None  # None: the loss knows no margin
    pays_all: bool = False  # a point pays for every contrast below 1, not only for the least
    runoff: Callable[[np.ndarray], np.ndarray] | None = None
    favour: np.ndarray | None = None

    def lead(self, answers: np.ndarray) -> np.ndarray:
        """(n, k): the least contrast of every class; positive where it wins by itself."""
        return least(self.wins, answers)

    def decide(self, answers: np.ndarray, lead: np.ndarray | None = None) -> np.ndarray:
        """(n,): who is elected; ``lead`` if it is known."""
        lead = self.lead(answers) if lead is None else lead
        winner = lead.argmax(axis=1)
        if not self.complete:
            open_ = lead.max(axis=1) <= 0.0
            winner[open_] = UNDECIDED if self.runoff is None else self.runoff(answers[open_])
        return winner

    def firmness(self, answers: np.ndarray, lead: np.ndarray) -> np.ndarray:
        """(n,): how far the answers are from electing another; it vanishes on every border.

        Where a runoff elects, the border is not where the lead vanishes, but where a duel turns
        that matters, or the sums of two classes with as many duels tie.
        """
        if self.runoff is None or self.favour is None:
            return np.abs(lead.max(axis=1))
        return _until_another(self, self.favour, answers)

    def without_guessing(self, claims: Contrasts | None = None) -> DecisionRule:
        """The same machines where only a class that wins by itself is named."""
        return replace(self, wins=claims or self.wins, complete=False, runoff=None, favour=None)


def least(contrasts: Contrasts, answers: np.ndarray) -> np.ndarray:
    """(n, k): the least contrast of every class.

    A contrast takes one or two answers, so columns are added; a matrix product is far slower.
    """
    columns = np.ascontiguousarray(answers.T)
    out = np.full((len(contrasts), len(answers)), np.inf)
    for c, M in enumerate(contrasts):
        for row in M:
            terms = [row[j] * columns[j] for j in np.flatnonzero(row)]
            np.minimum(out[c], sum(terms), out=out[c])
    return out.T


def two_sides() -> DecisionRule:
    """One answer: positive for the second class."""
    sides = (np.array([[-1.0]]), np.array([[1.0]]))
    return DecisionRule(sides, complete=True, clear=sides)


def highest(k: int) -> DecisionRule:
    """One answer per class: the highest wins."""
    contrasts = []
    for c in range(k):
        M = -np.eye(k)
        M[:, c] += 1.0
        contrasts.append(np.delete(M, c, axis=0))
    return DecisionRule(tuple(contrasts), complete=True, clear=tuple(contrasts))


def claims(k: int, own: np.ndarray | None = None) -> Contrasts:
    """One answer per class of ``own``: class c alone says yes; a class not in it, when none do."""
    own = np.arange(k) if own is None else own
    no = -np.eye(len(own))
    contrasts = [no.copy() for _ in range(k)]
    for place, c in enumerate(own):
        contrasts[c][place, place] = 1.0
    return tuple(contrasts)


def highest_or_rest(k: int, own: np.ndarray) -> DecisionRule:
    """One answer per class of ``own``: the highest that says yes; if none does, the class left."""
    contrasts = list(claims(k, own))
    for place, c in enumerate(own):
        M = -np.eye(len(own))
        M[:, place] += 1.0
        M[place, place] = 1.0
        contrasts[c] = M
    return DecisionRule(tuple(contrasts), complete=True)


def duels(k: int, first: float) -> DecisionRule:
    """One answer per pair; an answer of the sign ``first`` is a win for the first of the pair."""
    pairs = list(combinations(range(k), 2))
    favour = np.zeros((k, len(pairs)))
    for q, (a, c) in enumerate(pairs):
        favour[a, q], favour[c, q] = first, -first
    wins = tuple(np.diag(row)[row != 0] for row in favour)

    def runoff(answers: np.ndarray) -> np.ndarray:
        return votes(first * answers, k).argmax(axis=1)

    return DecisionRule(
        wins, complete=False, clear=wins, pays_all=True, runoff=runoff, favour=favour
    )


def duels_won(election: DecisionRule, answers: np.ndarray) -> np.ndarray:
    """(n, k): how many duels every class wins."""
    return np.column_stack([(answers @ M.T > 0).sum(axis=1) for M in election.wins])


def _until_another(election: DecisionRule, favour: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """(n,): the least of the sums between the elected and those it ties with, and of the duels
    that would elect another if they turned."""
    each = np.arange(len(answers))
    won, sums = duels_won(election, answers), answers @ favour.T
    doubt = sums / (3.0 * (np.abs(sums) + 1.0))  # as in votes
    elected = (won + doubt).argmax(axis=1)
    ahead = np.abs(sums[each, elected][:, None] - sums)
    ahead[won < won[each, elected][:, None]] = np.inf
    ahead[each, elected] = np.inf
    nearest = ahead.min(axis=1)
    for q, pair in enumerate(favour.T):
        turned = won + doubt
        turned -= np.sign(answers[:, q])[:, None] * pair
        matters = turned.argmax(axis=1) != elected
        nearest[matters] = np.minimum(nearest[matters], np.abs(answers[matters, q]))
    return np.minimum(nearest, np.abs(answers).max(axis=1))  # nothing matters: a bound will do
