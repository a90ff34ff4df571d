"""The perceptron over parts: weights travel from part to part, as over one long row of examples.

The rule is sequential, so parts do not work side by side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.rows.rows import as_rows
from ...core.solve.perceptron.linear_perceptron import LinearLearner, audit_weights, row_power
from ...core.solve.perceptron.updates import PerceptronWeights, Rule
from ..parts import Block


class Carry(NamedTuple):
    """What travels: weights, steps so far, and updates and loss of this pass."""

    weights: PerceptronWeights
    clock: float
    updates: int
    loss: float


class PartsLearner:
    """Weights under training; with a ``seed`` the rows of every part are visited in an order of
    its own, the same in all passes.  ``save`` is told where it stands after every pass."""

    def __init__(self, data: Any, rule: Rule, average: bool, seed: int | None):
        self.parts, self.save, self.seed = data.parts, data.save, seed
        d, k = data.parts.n_features, len(data.classes)
        height = 1 if k == 2 else k
        weights = PerceptronWeights(
            np.zeros((height, d)), np.zeros(height),
            np.zeros((height, d if average else 0)), np.zeros(height),
        )  # fmt: skip
        none = np.zeros(0, dtype=np.int64)
        self.learner = LinearLearner(None, none, rule, 1, weights, none, seed is not None)
        self.passes = 0

    def go_on(self, state: dict[str, Any] | None) -> None:
        """From the last whole pass of a run that was killed."""
        if state is None or "perceptron" not in state:
            return
        weights = PerceptronWeights(state["W"], state["b"], state["U"], state["u"])
        if weights.W.shape == self.learner.weights.W.shape:
            self.learner.weights, self.learner.clock = weights, float(state["clock"])
            self.passes = int(state["done"])

    def sweep(self, order: np.ndarray) -> tuple[int, float]:
        """One pass; the order is that of the parts."""
        learner = self.learner
        carry = Carry(learner.weights, learner.clock, 0, 0.0)
        carry = self.parts.relay(_pass, carry, learner.rule, self.seed)
        learner.weights, learner.clock = carry.weights, carry.clock
        self.passes += 1
        W, b, U, u = learner.weights
        self.save(perceptron=1, W=W, b=b, U=U, u=u, clock=learner.clock, done=self.passes)
        return carry.updates, carry.loss

    def count(self) -> tuple[int, int]:
        return self.audit(self.learner.weights.W, self.learner.weights.b)[:2]

    def audit(self, W: np.ndarray, b: np.ndarray) -> tuple[int, int, float, float]:
        """Rows that are wrong, rows that would be updated, their loss, and max ‖x‖²."""
        wrong, violating, loss, squared = 0, 0, 0.0, 0.0
        for some in self.parts.ask(_audit, self.learner.rule.margin, W, b):
            wrong, violating, loss = wrong + some[0], violating + some[1], loss + some[2]
            squared = max(squared, some[3])
        return wrong, violating, loss, squared

    def snapshot(self) -> tuple[np.ndarray, np.ndarray, None]:
        return self.learner.weights.W.copy(), self.learner.weights.b.copy(), None


def _pass(block: Block, state, carry: Carry, number: int, rule: Rule, seed: int | None):
    """Correct the weights at every mistake among the part's rows."""
    n = len(block.y)
    # What was sent is not ours to write.
    own = PerceptronWeights(*(np.array(array) for array in carry.weights))
    alpha = np.zeros((n, len(own.W)), dtype=np.int64)
    far = seed is not None
    rows = as_rows(block.X)
    learner = LinearLearner(rows, block.y, rule, 1, own, alpha, far, carry.clock)
    learner.power = row_power(rows)
    order = np.arange(n)
    if seed is not None:
        order = np.random.default_rng([seed, number]).permutation(n)
    made, met = learner.sweep(order)
    return state, Carry(learner.weights, learner.clock, carry.updates + made, carry.loss + met)


def _audit(block: Block, state, margin: float, W, b):
    return state, audit_weights(as_rows(block.X), block.y, margin, W, b)
