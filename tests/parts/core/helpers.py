"""Parts in one process, one after another: what any other executor must agree with."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np

from maxmargin.parts.parts import Block, Parts


class Here(Parts):
    """Parts held in memory; every question and memory is pickled, as on its way to a machine."""

    def __init__(self, X, y, cuts, weight=None):
        edges = [0, *cuts, len(y)]
        self.blocks = [
            Block(X[a:b], np.asarray(y[a:b]), None if weight is None else weight[a:b])
            for a, b in pairwise(edges)
        ]
        self.memory = [None] * len(self.blocks)
        self.n_parts, self.n_features = len(self.blocks), X.shape[1]
        self.rounds = 0

    def ask(self, task, *told):
        self.rounds += 1
        for k, block in enumerate(self.blocks):
            memory = pickle.dumps(self.memory[k])
            new, answer = task(block, pickle.loads(memory), *pickle.loads(pickle.dumps(told)))
            self.memory[k] = new
            yield answer
