"""Questions about one problem: the rows of a part posed as that problem, with its own state.

A ``spec`` says what is asked of all parts: ``spec.pose(block)`` is the part's share of the problem,
``spec.key`` where the part keeps what it knows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.solve.contract import Ending
from ..parts import Block, Parts


class ProvedWeights(NamedTuple):
    """Weights with the certificate of them and of the multipliers that the parts hold."""

    w: np.ndarray
    b: Any
    certificate: Certificate


class PartsSolution(NamedTuple):
    """Certified weights; but for ``rows`` their multipliers stay with the parts."""

    w: np.ndarray  # (d,), or (k, d)
    b: Any  # a number, or (k,)
    certificate: Certificate
    ending: Ending
    solver: str
    why: str
    rows: np.ndarray | None = None  # numbers of the rows whose multipliers are known here
    alpha: np.ndarray | None = None  # these, (rows,), or (rows, k)


def spec_task(block: Block, states: Any, task: Callable, spec: Any, *payload: Any):
    """Run ``task(problem, state, …)`` on one part, which keeps one state for every key."""
    states = dict(states or {})
    states[spec.key], response = task(spec.pose(block), states.get(spec.key), *payload)
    return states, response


def ask(parts: Parts, task: Callable, spec: Any, *payload: Any) -> Iterator[Any]:
    """Every part's response about ``spec``."""
    return parts.ask(spec_task, task, spec, *payload)


def ask_total(parts: Parts, task: Callable, spec: Any, *payload: Any) -> Any:
    """The sum of the parts' responses about ``spec``."""
    return parts.total(spec_task, task, spec, *payload)
