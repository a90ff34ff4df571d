"""Perceptron on Dask: the weights travel from part to part, as over one long row of examples."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...core.certify.mistakes import PerceptronCertificate
from ...core.rows.rows import as_rows
from ...core.solve.perceptron.linear_perceptron import LinearLearner
from ...core.solve.perceptron.passes import Halt, run_passes
from ...core.solve.perceptron.updates import PerceptronWeights, Rule, audit
from ...models.perceptron import perceptron as in_memory
from ...models.perceptron.inputs import check_plan
from ..parts import Block
from .common import OnDask
from .dask_parts import DaskParts
from .inputs import DaskData, class_weights


class Perceptron(OnDask, in_memory.Perceptron):
    """``maxmargin.Perceptron`` on a cluster: the updates of one machine, part after part.

    The rule is sequential, so parts do not work side by side.  ``order="cycle"`` makes exactly
    the updates of one machine; ``"shuffle"`` shuffles the rows of every part.
    """

    _weigh_classes = False

    def fit(self, X, y):  # type: ignore[override]
        """Fit to a Dask array or dataframe X and labels y; there are no weights of rows."""
        return super().fit(X, y)

    def _fit_parts(self, data: DaskData) -> None:
        plan = check_plan(self)
        self._refuse()
        seed = check_random_state(self.random_state).randint(2**31)
        rate = np.full(len(data.classes), float(self.learning_rate))
        if self.class_weight is not None:
            rate = rate * class_weights(self.class_weight, data.classes, data.counts)
        rule = Rule(rate, float(self.margin), float(self.fit_intercept))
        learner = _Learner(data, rule, self.average, seed if self.order == "shuffle" else None)
        run = run_passes(learner, plan._replace(order="cycle"), 0, None)
        if run.pocket is not None:
            W, b, _ = run.pocket
            learner.learner.weights = learner.learner.weights._replace(W=W, b=b)
        self._keep(learner.learner, data.dtype)
        self._tell(data, run, learner)

    def _refuse(self) -> None:
        only = {"batch_size": 1, "trace": False, "explain": False}
        for name, value in only.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"Perceptron of maxmargin.spread has {name}={value!r} only, got "
                    f"{name}={getattr(self, name)!r}."
                )
        if self.order == "random":
            raise ValueError("order='random' jumps about all rows. Use 'cycle' or 'shuffle' here.")

    def _tell(self, data: DaskData, run, learner: _Learner) -> None:
        W, b = self.coef_.astype(np.float64), self.intercept_.astype(np.float64)
        wrong, violating, loss, squared = learner.audit(W, b)
        made = sum(line.updates for line in run.history)
        self.updates_, self.history_, self.n_iter_ = made, run.history, len(run.history)
        self.radius_ = float(np.sqrt(squared + bool(self.fit_intercept)))
        self.certificate_ = PerceptronCertificate(
            data.n, wrong, violating, loss, made, len(run.history), run.halt.value,
            False, None, len(data.classes),
        )  # fmt: skip
        self._halt = run.halt

    def _farewell(self) -> None:
        if self.__dict__.pop("_halt") in (Halt.PASSES, Halt.INTERRUPTED):
            text = in_memory.farewell(self, (self.coef_, self.intercept_))
            warnings.warn(text, ConvergenceWarning, stacklevel=3)


class _Learner:
    """Weights that every part corrects in its turn."""

    def __init__(self, data: DaskData, rule: Rule, average: bool, seed: int | None):
        d, k = data.parts.n_features, len(data.classes)
        height = 1 if k == 2 else k
        weights = PerceptronWeights(
            np.zeros((height, d)), np.zeros(height),
            np.zeros((height, d if average else 0)), np.zeros(height),
        )  # fmt: skip
        none = np.zeros(0, dtype=np.int64)
        self.parts: DaskParts = data.parts
        self.learner = LinearLearner(None, none, rule, 1, weights, none, seed is not None)
        self.seed = seed

    def sweep(self, order: np.ndarray) -> tuple[int, float]:
        updates, loss = 0, 0.0
        for part in range(self.parts.n_parts):
            learner = self.learner
            weights, clock, made, met = self.parts.ask_one(
                part, _pass, learner.rule, learner.weights, learner.clock, self.seed, part
            )
            learner.weights, learner.clock = weights, clock
            updates, loss = updates + made, loss + met
        return updates, loss

    def count(self) -> tuple[int, int]:
        return self.audit(self.learner.weights.W, self.learner.weights.b)[:2]

    def audit(self, W: np.ndarray, b: np.ndarray) -> tuple[int, int, float, float]:
        """Rows that are wrong, rows that would be updated, their loss, and max ‖x‖²."""
        answers = list(self.parts.ask(_audit, self.learner.rule.margin, W, b))
        wrong, violating, loss, _ = (sum(column) for column in zip(*answers, strict=True))
        return wrong, violating, loss, max(answer[3] for answer in answers)

    def snapshot(self) -> tuple[np.ndarray, np.ndarray, None]:
        return self.learner.weights.W.copy(), self.learner.weights.b.copy(), None


def _pass(
    block: Block, memory, rule: Rule, weights: PerceptronWeights, clock: float, seed, part: int
):
    """Correct the weights at every mistake among the part's rows."""
    n = len(block.y)
    own = PerceptronWeights(
        *(np.array(array) for array in weights)
    )  # what was told is not ours to write
    alpha = np.zeros((n, len(own.W)), dtype=np.int64)
    learner = LinearLearner(as_rows(block.X), block.y, rule, 1, own, alpha, seed is not None, clock)
    order = np.arange(n)
    if seed is not None:
        order = np.random.default_rng([seed, part]).permutation(n)
    made, met = learner.sweep(order)
    return memory, (learner.weights, learner.clock, made, met)


def _audit(block: Block, memory, margin: float, W, b):
    return memory, audit(as_rows(block.X), block.y, margin, W, b)
