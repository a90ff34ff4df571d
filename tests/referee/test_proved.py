"""Fits that ended without a proof once: proved now, also in exact arithmetic and by verify."""

from __future__ import annotations

import pytest

from maxmargin import verify

from .problems import problem
from .soak import beyond_float64, judge, proved, time_limit

# seed, number, family and estimator of ``problem``, and why it was not proved.
ONCE_UNPROVED = [
    (902, 122, "extreme", "LinearSVM"),  # inseparable rows of size 1e150: multipliers must cancel
    (902, 181, "outlier", "LinearSVM"),  # a row far out: weights rounded each alone miss its margin
    (902, 22, "scales", "LinearSVM"),  # "sum" rule, stuck
    (902, 160, "extreme", "LabelRanker"),
    (902, 140, "extreme", "LogisticRegression"),
    (902, 120, "weights", "LogisticRegression"),  # far from the origin without a bias
    (902, 170, "extreme", "PairwiseRanker"),
]


# The same for problems whose estimator is drawn.
DRAWN = [
    (501, 47, "constant"),  # kernel ridge: a grid of sums that only smaller coefficients refine
    (502, 39, "weights"),  # least squares: the rounding of its own proof
    (502, 91, "near"),
    (502, 147, "extreme"),  # "sum": what balances multipliers made one of 1e-112 negative
    (501, 179, "far"),  # a hard margin that costs more than all slack
    (502, 98, "extreme"),  # logistic: a thousand idle steps with too few digits
    (502, 182, "far"),  # weights of all classes must be rounded together
    # logistic, separable in part: steps that gain 1e-200 are not idle
    pytest.param((6001, 4, "extreme"), marks=pytest.mark.slow),
    (6001, 17, "weights"),  # "max": a bias near zero says what rounding of the others has lost
    # no time was left when there was no hard margin
    pytest.param((6001, 95, "large C"), marks=pytest.mark.slow),
    (8001, 149, "weights"),  # "sum": an interior point method that went round in circles
    (8001, 144, "outlier"),  # Fisher: a second criterion far below the first
    (9001, 61, "near", "FisherDiscriminant"),  # two classes: the difference of their weights counts
    (9001, 311, "outlier", "FisherDiscriminant"),
    (5001, 9, "scales"),  # kernel ridge: the nearest coefficients, not only near ones
    (9100, 145, "far"),  # pairs of labels: the weights of one class say what others have lost
    (9100, 676, "hard"),  # "sum": a margin a little wider is one that float64 can say
    (9100, 468, "hard"),  # "max": multipliers of 1e22, which steps from one did not reach
    (9100, 218, "outlier"),  # "sum": from no weights the interior point method had no room
    (9400, 1207, "outlier"),  # kernel "pairs": multipliers rounded alone balance only nearly
    (9400, 409, "hard"),  # an interior point method all of whose curvatures were below float64
]


each = pytest.mark.parametrize(
    "which", ONCE_UNPROVED, ids=lambda which: f"{which[2]}-{which[3]}-{which[1]}"
)


def posed_without_haste(which):
    posed = problem(*which)
    posed.params["max_seconds"] = 60.0  # machines differ
    return posed


@each
@pytest.mark.filterwarnings("ignore")
def test_proved_now_and_verify_agrees(which):
    posed = posed_without_haste(which)
    model = posed.fit()
    assert proved(model)
    assert verify(model, posed.data(), posed.targets(), posed.weight).holds(model.tol)


@each
@pytest.mark.slow
def test_true_in_exact_arithmetic(which):
    _, report = judge(posed_without_haste(which), slack=0.0)
    assert report.verdict != "refuted", report


@pytest.mark.parametrize("which", DRAWN, ids=lambda which: f"{which[2]}-{which[1]}")
@pytest.mark.filterwarnings("ignore")
def test_drawn_problems_are_proved_now_and_verify_agrees(which):
    posed = problem(*which)
    if "max_seconds" in posed.params:
        posed.params["max_seconds"] = 60.0
    model, report = judge(posed, slack=0.0)
    assert proved(model)
    found = verify(model, posed.data(), posed.targets(), posed.weight)
    assert found.holds(getattr(model, "tol", 1e-6))
    assert report.verdict != "refuted"


@pytest.mark.parametrize(
    "which",
    [
        (6001, 92, "far"),  # "sum" without a bias
        (6001, 60, "far"),  # logistic without a bias
        (5001, 32, "large C"),  # "max": one class has weights near zero, which may be any
        (6001, 14, "constant"),  # kernel ridge
        (9001, 415, "near", "FisherDiscriminant"),
        (9400, 1278, "far"),  # kernel "pairs": coefficients of one machine
        (9100, 354, "far"),  # "rest": one machine alone misses the gap of all
    ],
    ids=lambda which: f"{which[2]}-{which[1]}",
)
@pytest.mark.filterwarnings("ignore")
def test_what_no_float64_weights_can_do_is_proved(which):
    posed = problem(*which)
    if "max_seconds" in posed.params:
        posed.params["max_seconds"] = 60.0
    model, report = judge(posed, slack=0.0)
    assert not proved(model)
    assert beyond_float64(model)
    assert report.verdict != "refuted"


@pytest.mark.parametrize(
    ("family", "seed", "number"),
    [
        ("outlier", 4103, 88),  # Fisher: class shares are rounded, and criteria with them
        ("float32", 4105, 378),  # Fisher: means of equal rows differ in the hundredth digit
        ("large C", 4104, 138),  # a gap that primal − dual rounds downwards
        ("large C", 4104, 450),  # logistic: exp(−10⁸) is no fraction to compute with
    ],
)
def test_once_claimed_too_much_or_without_end(family, seed, number):
    posed = problem(seed, number, family)
    with time_limit(30):
        model, report = judge(posed, slack=0.0)
    assert model is not None
    assert report.verdict != "refuted", report.notes
