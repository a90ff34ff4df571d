"""The loop of every working-set method: look at all rows, choose a few, solve these, look again.

Near the optimum most rows keep the multiplier they have, 0 or its cap, so few need to be solved for
at a time.  Which rows these are, how the others are told (as one vector, by their means, as scores
in a cache, not at all) and what is kept from round to round is each search's own; the order of
these steps, and that only a look at all rows may call the gap closed, is the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from .contract import Ending


class WorkingSet(ABC):
    """A search that solves for few rows at a time; where it stands is its own affair."""

    @abstractmethod
    def look(self) -> bool:
        """Ask all rows what the last solution is worth; True if the gap is closed."""

    @abstractmethod
    def choose(self) -> bool:
        """The rows of the next round; False if no choice would help."""

    @abstractmethod
    def solve(self) -> bool:
        """Solve for them; False if that led nowhere."""


def search_in_rounds(search: WorkingSet, most: int) -> Ending:
    """Rounds until the gap is closed, at most so many; a budget that runs out is raised."""
    for _ in range(most):
        if search.look():
            return Ending.REACHED
        if not (search.choose() and search.solve()):
            break
    return Ending.STALLED
