"""What the fits along a path of C leave for one another."""

from __future__ import annotations

from dataclasses import dataclass

from .quasi_newton import Known


@dataclass
class Memory:
    """Of a chain of fits to the same rows and labels, one C after another.

    It belongs to whoever leads the chain, not to a model, and refers to no data.
    ``estimate``: see ``Watch``; fits of the chain may end without proof.
    """

    estimate: float = 0.0
    known: Known | None = None
