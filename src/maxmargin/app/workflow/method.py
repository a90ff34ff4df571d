"""Which method, where none was named: the SVM, or softmax where the SVM misses a class.

Where no label of a row is likelier than all the others together, the hinge of k classes need not
favour the likeliest [Tewari and Bartlett 2007: it is not consistent], and classes that overlap are
hardly named; the softmax loss has no such rows.  Of two classes both losses favour the likelier,
the logistic one with the help of rows far from the boundary, which matter where one is rare.  So
where the folds show that most of a class is missed, logistic regression is tuned on the same folds
and taken if it is better there by one standard error of the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...models.calibration.verdict import MISSED_SHARE
from ...models.tune.best import standard_error
from ...models.tune.scoring import in_words
from .judge import left_out_counts
from .plan import AUTO, Plan
from .tuning import Tuning, tune

if TYPE_CHECKING:
    from .rows import TuningRows


class Tuned(NamedTuple):
    """The plan with its method, its C, and the model of it; neither of these without time."""

    plan: Plan
    tuning: Tuning | None
    estimator: Any
    notes: list[str]


def choose(plan: Plan, rows: TuningRows, left: Callable[[], float]) -> Tuned:
    """Choose C, and the method where that is left to us; ``left`` tells the seconds there are."""
    svm = Tuned(plan, *tune(plan, plan.parameters(left()), rows))
    ours_to_choose = plan.method == AUTO and plan.resolved.name == "svm" and plan.multiclass is None
    missed = missed_class(svm.estimator) if ours_to_choose else None
    if svm.tuning is None or missed is None:
        return svm
    other = replace(plan, method="logistic", score=svm.tuning.score)
    softmax = Tuned(other, *tune(other, other.parameters(left()), rows))
    if softmax.tuning is None:
        return svm
    ours, theirs = _chosen_scores(softmax.tuning), _chosen_scores(svm.tuning)
    if not (ours - theirs).mean() > standard_error(ours - theirs):
        return svm
    note = (
        f"logistic was taken, as svm misses most of {missed!r}: {in_words(svm.tuning.score)} "
        f"{ours.mean():.3f} instead of {theirs.mean():.3f} on the folds (--method svm: in any case)"
    )
    first = [said for said in svm.notes if said not in softmax.notes and "C was chosen" in said]
    return softmax._replace(notes=[note, *first, *softmax.notes])


def missed_class(estimator) -> str | None:
    """The class of which the smallest share was found on rows left out, if it is missed."""
    table = None if estimator is None else left_out_counts(estimator)
    if table is None:
        return None
    found = table.diagonal() / np.maximum(table.sum(axis=1), 1)
    least = int(np.where(table.sum(axis=1) > 0, found, 1.0).argmin())
    return str(estimator.classes_[least]) if found[least] < MISSED_SHARE else None


def _chosen_scores(tuning: Tuning) -> np.ndarray:
    """The score of every fold for the C chosen."""
    return 1.0 - tuning.errors[:, tuning.best]
