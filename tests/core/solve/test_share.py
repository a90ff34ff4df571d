"""One row's best multipliers: no feasible point of the row's own problem is better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin.core.problem.class_losses import CLASS_LOSSES
from maxmargin.core.solve.many_class.row_subproblem import limits, share

K, Y = 5, 2
numbers = arrays(np.float64, K, elements=st.floats(-3, 3))
shares = arrays(np.float64, K, elements=st.floats(0, 1))


def gain(beta, s, old, A, limit):
    _, each, _, total = limit
    value = beta @ (1.0 + s - s[Y]) - 0.5 * A * ((beta - old) ** 2).sum()
    value -= 0.5 * A * (beta.sum() - old.sum()) ** 2
    return value - 0.5 * each * (beta**2).sum() - 0.5 * total * beta.sum() ** 2


def feasible(beta, limit):
    beta = np.minimum(beta, limit[0])
    beta[Y] = 0.0
    return beta * min(1.0, limit[2] / max(beta.sum(), 1e-300))


@pytest.mark.parametrize("rule", CLASS_LOSSES, ids="-".join)
@given(s=numbers, old=shares, other=shares, A=st.floats(0.01, 10), c=st.floats(0.01, 10))
def test_no_other_point_is_better(rule, s, old, other, A, c):
    limit = limits(CLASS_LOSSES[rule], c)
    old, other = feasible(c * old, limit), feasible(c * other, limit)
    D = 1.0 + s + A * old
    D[Y] = -np.inf
    beta = np.empty(K)
    _, total = share(limit, D, K, Y, s[Y] - A * old.sum(), A, s[Y], beta)
    assert beta.min() >= 0.0
    assert beta[Y] == 0.0
    assert beta.max() <= limit[0] * (1 + 1e-12)
    assert total == pytest.approx(beta.sum())
    assert total <= limit[2] * (1 + 1e-9)
    best = gain(beta, s, old, A, limit)
    for point in (other, old, 0.5 * (beta + other), 0.99 * beta + 0.01 * other):
        assert gain(point, s, old, A, limit) <= best + 1e-7 * max(1.0, abs(best))
