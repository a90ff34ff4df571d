"""The perceptron on rows: weights in hand, one compiled call per pass.

Products of very small weights and rows underflow, and a score of zero has no sign; those of very
large ones overflow.  There the rule is followed with weights, biases and margin made longer by a
power of two, which changes no sign and rounds nothing:

    y (w·x + b) > margin   ⟺   y (2ᵖw·x + 2ᵖb) > 2ᵖ margin
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...rows.rows import DenseRows, Rows, shape
from .updates import PerceptronWeights, Rule, audit, batch_many, batch_two, single_two

NO_LOG = np.empty((0, 4))
# Binary exponents up to which the products of two numbers, and many of them together, are normal.
MAX_EXPONENT = 400
# The first so many values of the rows tell their size: whoever has such rows has no others.
SAMPLED_VALUES = 1000


def power_for(values: np.ndarray) -> int:
    """p such that 2ᵖ times the largest of these is of size one; 0 where they are no extremes."""
    most = float(np.abs(values).max(initial=0.0))
    exponent = int(np.frexp(most)[1]) if 0.0 < most < np.inf else 0
    return -exponent if abs(exponent) > MAX_EXPONENT else 0


def row_power(rows: Rows) -> int:
    """p for weights that are sums of such rows."""
    if isinstance(rows, DenseRows):
        return power_for(rows.X[: 1 + SAMPLED_VALUES // max(1, rows.X.shape[1])])
    return power_for(rows.data[:SAMPLED_VALUES])


def audit_weights(rows: Rows | None, codes, margin: float, W, b) -> tuple[int, int, float, float]:
    """``audit``, with no product lost."""
    p = power_for(W)
    wrong, violating, loss, radius = audit(
        rows, codes, float(np.ldexp(margin, p)), np.ldexp(W, p), np.ldexp(b, p)
    )
    return wrong, violating, _shorter(loss, p), radius


def _shorter(loss: float, power: int) -> float:
    """What was met with weights 2ᵖ times as long; it may be beyond all numbers."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(loss, -power))


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
    power: int = 0  # weights are made longer by 2ᵖ for a pass

    def sweep(self, order: np.ndarray) -> tuple[int, float]:
        log = np.empty((len(order), 4)) if self.trace else NO_LOG
        if self.power == 0:
            updates, loss = self._pass(order, self.rule, log)
        else:
            rate, margin, bias = self.rule
            longer = Rule(np.ldexp(rate, self.power), float(np.ldexp(margin, self.power)), bias)
            self._lengthen(self.power)
            try:
                updates, loss = self._pass(order, longer, log)
            finally:
                self._lengthen(-self.power)
            loss = _shorter(loss, self.power)
            log[:, 3] = [_shorter(each, self.power) for each in log[:, 3]]
        if self.trace:
            self.logs.append(log[:updates].copy())
        return updates, loss

    def _lengthen(self, power: int) -> None:
        for array in self.weights:
            np.ldexp(array, power, out=array)

    def _pass(self, order: np.ndarray, rule: Rule, log: np.ndarray) -> tuple[int, float]:
        size = min(self.size, len(order))
        data, state = (self.rows, self.codes, rule), (self.weights, self.alpha, log)
        if len(self.weights.W) > 1:
            updates, loss = batch_many(*data, order, size, self.far, self.clock, *state)
        elif size > 1:
            updates, loss = batch_two(*data, order, size, self.far, self.clock, *state)
        else:
            updates, loss = single_two(*data, order, self.far, self.clock, *state)
        self.clock += -(-len(order) // size)
        return updates, loss

    def count(self) -> tuple[int, int]:
        weights = self.weights.W, self.weights.b
        return audit_weights(self.rows, self.codes, self.rule.margin, *weights)[:2]

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
