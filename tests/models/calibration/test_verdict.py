"""Better than the commonest answer or not: by errors, by classes found, and in words."""

import numpy as np
import pytest

from maxmargin.app.workflow.fit import fit_table
from maxmargin.app.workflow.plan import Plan
from maxmargin.models.calibration.error_estimate import counted, wilson
from maxmargin.models.calibration.verdict import (
    BETTER,
    NO_BETTER,
    UNCLEAR,
    UNKNOWN,
    advice,
    by_error,
    by_table,
    by_training_rows,
)
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import Labelled


def judged(table, labels=("no", "yes", "perhaps"), counts=None):
    table = np.array(table)
    wrong = np.arange(table.sum()) >= table.trace()
    error = counted(wrong, "cross-validation")
    counts = table.sum(axis=1) if counts is None else np.array(counts)
    return by_table(labels[: len(table)], counts, table, error)


@pytest.mark.parametrize(
    ("table", "status"),
    [
        ([[90, 10], [10, 90]], BETTER),
        ([[4141, 0], [32, 0]], NO_BETTER),  # always the same answer
        ([[3700, 441], [11, 21]], BETTER),  # more errors, but a rare class is found
        ([[40, 60], [60, 40]], NO_BETTER),
        ([[52, 3], [40, 5]], UNCLEAR),  # two errors fewer of a hundred
        ([[50, 5], [44, 1]], NO_BETTER),
        ([[30, 0, 0], [0, 30, 0], [0, 30, 0]], BETTER),
    ],
)
def test_by_rows_that_were_not_seen(table, status):
    assert judged(table).status == status


def test_fewer_errors_are_said_first_and_classes_found_where_errors_are_more():
    fewer = judged([[90, 10], [10, 90]])
    assert fewer.first() == (
        "Better than always “no”: 10.00 % of new rows wrong instead of 50.00 %"
    )
    rare = judged([[3700, 441], [11, 21]])
    assert rare.first().startswith(
        "Better than always “no” at finding every class: balanced accuracy 77.49 % instead of 50.00"
    )
    assert rare.finds() == "It finds “no” (3,700 of 4,141), “yes” (21 of 32)"


def test_classes_that_are_never_predicted_are_named():
    found = judged([[30, 0, 0], [0, 30, 0], [0, 30, 0]])
    assert found.never == ["perhaps"]
    assert "misses most of “perhaps” (0 of 30); never predicted: perhaps" in found.finds()
    plain = found.to_dict()
    assert plain["never_predicted"] == ["perhaps"]
    assert plain["classes"][2] == {"class": "perhaps", "rows": 30, "recall": 0.0, "precision": None}


def test_the_constant_is_the_commonest_answer_of_the_training_rows():
    found = judged([[10, 0], [0, 90]], counts=[60, 40])
    assert (found.constant, found.constant_error) == ("no", 0.9)


def test_a_corrected_error_counts():
    """The choice of C flatters the table; the error that is told decides."""
    table = np.array([[60, 0], [30, 10]])
    error = counted(np.arange(100) >= 59, "cross-validation")  # 41 %, the constant has 40 %
    assert by_table(("no", "yes"), table.sum(axis=1), table, error).fewer is False


def test_without_counts_the_interval_decides():
    counts = np.array([60, 40])
    for wrong, status in ((20, BETTER), (38, UNCLEAR), (40, NO_BETTER)):
        error = counted(np.arange(100) < wrong, "leave-one-out")
        assert (error.low, error.high) == wilson(wrong / 100, 100)
        assert by_error(("no", "yes"), counts, error).status == status


def test_training_rows_tell_of_a_constant_only():
    counts = np.array([60, 40])
    same = by_training_rows(("no", "yes"), counts, np.array([[60, 0], [40, 0]]), 0.4)
    other = by_training_rows(("no", "yes"), counts, np.array([[60, 0], [0, 40]]), 0.0)
    assert (same.status, other.status) == (NO_BETTER, UNKNOWN)
    assert other.finds() is None
    assert "no rows were kept" in other.first()


def test_advice_leaves_out_what_was_tried():
    found, counts = judged([[4141, 0], [32, 0]]), [("no", 4141), ("yes", 32)]
    tried = advice(found, {"class_weight": "balanced", "kernel": "rbf"}, counts)
    assert tried == ["more rows of “yes” (32 now), or columns that tell it apart"]
    assert "--weights balanced" in advice(found, {"class_weight": None}, counts)[0]
    assert advice(judged([[90, 10], [10, 90]]), {}, counts) == []


def test_where_the_fewest_errors_are_of_one_answer_classes_count_the_same():
    """Sixteen of sixty, told apart by one column a little: by errors no C beats "no"."""
    rng = np.random.default_rng(7)
    y = np.where(np.arange(60) < 16, "yes", "no")
    X = rng.standard_normal((60, 3)) + (y == "yes")[:, None] * [1, 0, 0]
    data = Labelled("rows", X, y, "y")
    by_errors = fit_table(data, Plan(score="accuracy"), Choices())
    assert by_errors.verdict.status == NO_BETTER
    found = fit_table(data, Plan(), Choices())
    assert found.tuning.score == "balanced_accuracy"
    assert any("gives every row the same answer" in note for note in found.notes)
    assert found.verdict.balanced > by_errors.verdict.balanced
