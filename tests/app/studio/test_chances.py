"""Prediction sets and shades of probability in the playground."""

import numpy as np

from maxmargin.app.studio.playground import code, solve


def asked(**more):
    rng = np.random.default_rng(0)
    points = [
        [float(x), float(y), c] for c in (0, 1) for x, y in rng.standard_normal((30, 2)) + 1.5 * c
    ]
    return {"points": points, "labels": ["a", "b"], "method": "svm", **more}


def labels_of(answer):
    return {mark.get("label") for mark in answer["scene"]["marks"]}


def test_sets_are_drawn_when_misses_are_allowed():
    assert "several labels" not in labels_of(solve(asked()))
    drawn = solve(asked(values={"misses": 0.05}))
    assert "several labels" in labels_of(drawn)
    assert "no label" in labels_of(solve(asked(values={"misses": 0.4})))
    for method in ("logistic", "least-squares", "fisher", "kernel-svm"):
        assert "several labels" in labels_of(solve(asked(method=method, values={"misses": 0.02})))


def test_the_program_asks_for_probabilities():
    assert "probability=True" in code(asked(values={"misses": 0.05}))["program"]
