"""The perceptron on rows: weights in hand, one compiled call per pass."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...rows.rows import Rows, shape
from .updates import PerceptronWeights, Rule, audit, batch_many, batch_two, single_two

NO_LOG = np.empty((0, 4))


@dataclass
class LinearLearner:
    """Weights under training; ``sweep`` is one pass, ``clock`` counts the batches so far."""

    rows: Rows | None  # None between the calls of a stream
    codes: np.ndarray
    rule: Rule
    size: int
    weights: PerceptronWeights
    alpha: np.ndarray
    far: bool = False  # rows are visited out of order
    clock: float = 0.0
    trace: bool = False
    logs: list[np.ndarray] = field(default_factory=list)

    def sweep(self, order: np.ndarray) -> tuple[int, float]:
        log = np.empty((len(order), 4)) if self.trace else NO_LOG
        size = min(self.size, len(order))
        data, state = (self.rows, self.codes, self.rule), (self.weights, self.alpha, log)
        if len(self.weights.W) > 1:
            updates, loss = batch_many(*data, order, size, self.far, self.clock, *state)
        elif size > 1:
            updates, loss = batch_two(*data, order, size, self.far, self.clock, *state)
        else:
            updates, loss = single_two(*data, order, self.far, self.clock, *state)
        self.clock += -(-len(order) // size)
        if self.trace:
            self.logs.append(log[:updates].copy())
        return updates, loss

    def count(self) -> tuple[int, int]:
        wrong, violating, _, _ = audit(
            self.rows, self.codes, self.rule.margin, self.weights.W, self.weights.b
        )
        return wrong, violating

    def snapshot(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.weights.W.copy(), self.weights.b.copy(), self.alpha.copy()

    def average(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the weights over all steps so far."""
        W, b, U, u = self.weights
        T = max(1.0, self.clock)
        return W - U / T, b - u / T


def fresh_weights(n_rows: int, rows: Rows, average: bool) -> PerceptronWeights:
    """w = 0 and b = 0, one row of weights per class (one in all for two classes)."""
    _, d = shape(rows)
    return PerceptronWeights(
        np.zeros((n_rows, d)),
        np.zeros(n_rows),
        np.zeros((n_rows, d if average else 0)),
        np.zeros(n_rows),
    )
