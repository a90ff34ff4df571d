"""Calibrated probabilities as ONNX nodes: softmax(a s + b), of two classes mixed with steps, in
agreement with the label."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...models.calibration.maps import PREDICTED_LABEL_LEAD


def calibrated(estimator) -> bool:
    """Whether probabilities are those of a calibration, not of the model itself."""
    return hasattr(estimator, "calibration_") and not estimator._own_probabilities


def probability_nodes(graph, estimator, f: str, place: str) -> str:
    """(n, k) from the scores of the machines and the place of the label predicted."""
    known, k = estimator.calibration_, len(estimator.classes_)
    S = _class_scores(graph, f, k, getattr(estimator, "multiclass", "") == "pairs")
    Z = graph("Mul", S, graph.constant(np.float64(known.slope)))
    Z = graph("Add", Z, graph.constant(np.asarray(known.offset, dtype=np.float64)))
    P = graph("Softmax", Z, axis=1)
    if known.mixed:
        steps, share = known.steps
        apart = graph("Sub", _on_steps(graph, f, steps), P)
        P = graph("Add", P, graph("Mul", apart, graph.constant(np.float64(share))))
    return _agreeing(graph, P, place, k)


def _on_steps(graph, f: str, steps: np.ndarray) -> str:
    """(1 − p, p) where p is linear between the steps: a ramp from each of them to the next."""
    place, value = steps.T
    way, rise = np.diff(place), np.diff(value)
    p = graph.constant(np.float64(value[0]))
    if len(way):
        ramp = graph("Sub", f, graph.constant(place[None, :-1]))
        ramp = graph("Max", ramp, graph.constant(np.float64(0.0)))
        ramp = graph("Min", ramp, graph.constant(way[None]))
        p = graph("Add", graph("MatMul", ramp, graph.constant((rise / way)[:, None])), p)
    else:
        p = graph("Add", graph("Mul", f, graph.constant(np.float64(0.0))), p)
    return graph("Concat", graph("Sub", graph.constant(np.float64(1.0)), p), p, axis=1)


def _class_scores(graph, f: str, k: int, pairs: bool) -> str:
    """As ``class_scores`` of maps.py."""
    if k == 2:
        zero = graph("Mul", f, graph.constant(np.float64(0.0)))
        return graph("Concat", zero, f, axis=1)
    if not pairs:
        return f
    first, second = np.zeros((2, k * (k - 1) // 2, k))
    for q, (a, c) in enumerate(combinations(range(k), 2)):
        first[q, a], second[q, c] = 1.0, 1.0
    twice = graph("Mul", f, graph.constant(np.float64(2.0)))
    won = graph("MatMul", _log_expit(graph, twice), graph.constant(first))
    lost = graph("MatMul", _log_expit(graph, graph("Neg", twice)), graph.constant(second))
    return graph("Add", won, lost)


def _log_expit(graph, x: str) -> str:
    """min(x, 0) − log(1 + exp(−|x|))."""
    one = graph.constant(np.float64(1.0))
    tail = graph("Log", graph("Add", graph("Exp", graph("Neg", graph("Abs", x))), one))
    return graph("Sub", graph("Min", x, graph.constant(np.float64(0.0))), tail)


def _agreeing(graph, P: str, place: str, k: int) -> str:
    """As ``agree`` of maps.py."""
    double, axis = graph.onnx.TensorProto.DOUBLE, graph.constant(np.array([1], dtype=np.int64))
    one = graph.constant(np.float64(1.0))
    column = graph("Unsqueeze", place, axis)
    is_own = graph("Equal", column, graph.constant(np.arange(k, dtype=np.int64)[None]))
    mine = graph("Cast", is_own, to=double)
    others = graph("Sub", one, mine)
    own = graph("ReduceSum", graph("Mul", P, mine), axis, keepdims=1)
    ahead = graph("Cast", graph("GreaterOrEqual", P, own), to=double)
    ahead = graph("Mul", ahead, others)
    total = graph("Add", own, graph("ReduceSum", graph("Mul", P, ahead), axis, keepdims=1))
    level = graph("Div", total, graph("Add", one, graph("ReduceSum", ahead, axis, keepdims=1)))
    level = graph("Mul", level, graph.constant(np.float64(1.0 - PREDICTED_LABEL_LEAD)))
    rest = graph("Sub", others, ahead)
    Q = graph("Add", graph("Mul", P, rest), graph("Mul", level, ahead))
    left = graph("Sub", one, graph("ReduceSum", Q, axis, keepdims=1))
    return graph("Add", Q, graph("Mul", mine, left))
