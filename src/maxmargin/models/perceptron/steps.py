"""perceptron_steps(X, y): watch a perceptron learn, one update at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from sklearn.utils import check_random_state

from ...core.solve.perceptron.passes import orders
from ...core.solve.perceptron.trace import Update, trace_from
from ...core.types import ArrayLike, MatrixLike
from .inputs import check_plan, training_set
from .perceptron import Perceptron


def perceptron_steps(X: MatrixLike, y: ArrayLike, **parameters: Any) -> Iterator[Update]:
    """Yield every update of ``Perceptron(**parameters).fit(X, y)`` as it is made.

    Each ``Update`` has the ``point`` that violated (``points``, when a batch did), its
    ``loss``, the old weights and bias ``old_w, old_b`` and the new ones ``w, b``.  The run
    goes on pass by pass while the caller keeps asking, and ends after a pass without
    updates or ``max_passes`` passes.  ``tol`` and ``pocket`` have no say here.

    Examples
    --------
    >>> from maxmargin import perceptron_steps
    >>> for step in perceptron_steps([[2.0], [-1.0]], [1, 0], order="cycle"):
    ...     print(step.point, step.old_w, "->", step.w, step.b)
    0 [0.] -> [2.] 1.0
    """
    model = Perceptron(**parameters)
    plan = check_plan(model)
    X, classes, codes = training_set(model, X, y)
    learner = model._learner(X, classes, codes, None, None)
    learner.trace = True
    return _replay(learner, plan, check_random_state(model.random_state))


def _replay(learner, plan, rng) -> Iterator[Update]:
    done = 0
    for order in islice(orders(plan.order, len(learner.codes), rng), plan.max_passes):
        start = learner.weights.W.copy(), learner.weights.b.copy()
        updates, _ = learner.sweep(order)
        log = learner.logs.pop()
        rule = learner.rule
        for update in trace_from(log, learner.rows, learner.codes, rule.rate, rule.bias, start):
            yield update._replace(step=done)
            done += 1
        if updates == 0 and (plan.order != "random" or learner.count()[1] == 0):
            return


__all__ = ["Update", "perceptron_steps"]
