"""A model keeps the multipliers its slacks do not tell, unless they are as many as rows."""

import numpy as np
import pytest

from maxmargin import LinearSVM, fit_stream, verify, verify_stream
from maxmargin.parts.stream import multiplier_exceptions as odd

from .helpers import noisy


def test_numbers_go_on_from_part_to_part():
    answers = [(10, np.array([1, 7]), np.array([0.5, 0.25])), (5, np.array([0]), np.array([1.0]))]
    rows, values = odd.collect(iter(answers), limit=10_000)
    assert rows.tolist() == [1, 7, 10]
    assert values.tolist() == [0.5, 0.25, 1.0]
    for width in (0, 3):
        rows, values = odd.collect(iter(answers), limit=100, width=width)
        assert rows.size == values.size == 0
        assert values.shape[1:] == ((width,) if width else ())


@pytest.mark.parametrize("rule", ["rest", "max"])
def test_too_many_are_left_out_and_found_again(monkeypatch, rule):
    X, y = noisy(n=300, d=4, k=3)
    chunks = [(X[:150], y[:150]), (X[150:], y[150:])]
    model = LinearSVM(C=0.1, tol=1e-2, multiclass=rule)
    whole = fit_stream(model, chunks, memory="16MB").certificate_
    assert len(model._alpha_rows)
    assert verify(model, X, y).dual == pytest.approx(whole.dual, rel=1e-9)
    monkeypatch.setattr(odd, "EXCEPTIONS_SHARE", 0.0)
    fit_stream(model, chunks, memory="16MB")
    assert not len(model._alpha_rows)
    assert verify(model, X, y).dual <= whole.primal
    assert verify_stream(model, chunks, memory="16MB").holds(1e-2)
