"""The perceptron on a stream: rows as they come, pass after pass."""

from __future__ import annotations

import numpy as np

from ...core.rows.rows import as_rows
from ...core.solve.perceptron.linear_perceptron import LinearLearner
from ...core.solve.perceptron.updates import PerceptronWeights, Rule, audit
from .rows import StreamedRows


class StreamLearner:
    """Weights under training; ``shuffle`` visits the rows of every block in an order of its own,
    the same in all passes."""

    def __init__(self, rows: StreamedRows, rule: Rule, average: bool, shuffle: bool, seed: int):
        d, k = rows.n_features, len(rows.classes)
        height = 1 if k == 2 else k
        weights = PerceptronWeights(
            np.zeros((height, d)), np.zeros(height),
            np.zeros((height, d if average else 0)), np.zeros(height),
        )  # fmt: skip
        self.rows, self.shuffle, self.seed = rows, shuffle, seed
        none = np.zeros(0, dtype=np.int64)
        self.learner = LinearLearner(None, none, rule, 1, weights, none, shuffle)
        self.done = 0

    def sweep(self, order: np.ndarray) -> tuple[int, float]:
        """One pass; the order is that of the stream."""
        learner, updates, loss = self.learner, 0, 0.0
        height = len(learner.weights.W)
        for first, block in self.rows.blocks():
            n = len(block.y)
            visit = np.arange(n)
            if self.shuffle:
                visit = np.random.default_rng([self.seed, first]).permutation(n)
            learner.rows, learner.codes = as_rows(block.X), block.y
            learner.alpha = np.zeros((n, height), dtype=np.int64)
            made, met = learner.sweep(visit)
            updates, loss = updates + made, loss + met
        learner.rows = None
        self.done += 1
        self.save()
        return updates, loss

    def count(self) -> tuple[int, int]:
        return self.audit(self.learner.weights.W, self.learner.weights.b)[:2]

    def audit(self, W: np.ndarray, b: np.ndarray) -> tuple[int, int, float, float]:
        """Rows that are wrong, rows that would be updated, their loss, and max ‖x‖²."""
        wrong, violating, loss, squared = 0, 0, 0.0, 0.0
        for _, block in self.rows.blocks():
            some = audit(as_rows(block.X), block.y, self.learner.rule.margin, W, b)
            wrong, violating, loss = wrong + some[0], violating + some[1], loss + some[2]
            squared = max(squared, some[3])
        return wrong, violating, loss, squared

    def snapshot(self) -> tuple[np.ndarray, np.ndarray, None]:
        return self.learner.weights.W.copy(), self.learner.weights.b.copy(), None

    # --- checkpoints ------------------------------------------------------------------------

    def save(self) -> None:
        W, b, U, u = self.learner.weights
        self.rows.folder.save(
            perceptron=1, W=W, b=b, U=U, u=u, clock=self.learner.clock, done=self.done
        )

    def go_on(self) -> None:
        """From the last whole pass of a run that was killed."""
        state = self.rows.folder.load()
        if state is None or "perceptron" not in state:
            return
        weights = PerceptronWeights(state["W"], state["b"], state["U"], state["u"])
        if weights.W.shape == self.learner.weights.W.shape:
            self.learner.weights, self.learner.clock = weights, float(state["clock"])
            self.done = int(state["done"])
