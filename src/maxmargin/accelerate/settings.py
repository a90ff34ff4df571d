"""What was asked of the acceleration: one set for the process, as modules are."""

from __future__ import annotations

# The relative duality gap to which fits are solved here: no answer of scikit-learn's can then be
# better by more than this.
GAP = 1e-9
# The smallest gap worth asking for: below, it is rounding.
MIN_GAP = 1e-14
# A gap short of the aim with which a search in float64 may end: a hundred digits would take a
# hundred times as long as scikit-learn.
ENOUGH = 1e-11


def aim(tol: float, usual: float) -> float:
    """The gap to aim at: weights err by its root, so a tolerance below the usual asks for less."""
    return GAP if tol >= usual else max(MIN_GAP, GAP * (tol / usual) ** 2)


class Settings:
    """``compare``: let scikit-learn solve as well and judge its answer; ``eager``: load at once;
    ``every_size``: solve also what scikit-learn is known to be quicker at, for tests."""

    def __init__(self) -> None:
        self.compare = self.eager = self.every_size = False


SETTINGS = Settings()
