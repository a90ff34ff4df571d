"""Which method, and how classes weigh, where that was not said.

The loss weighs classes as the score does: where a score is named in which every class counts the
same, every class weighs the same in the fit, too.  Minimising errors and choosing among the minima
by another score finds classes by accident; over 45 tables weights gain five points.

Else it is the SVM, every row weighing the same, as long as it finds the classes.  Where no label of
a row is likelier than all the others together, the hinge of k classes need not favour the likeliest
[Tewari and Bartlett 2007: it is not consistent], and classes that overlap are hardly named; the
softmax loss has no such rows.  Of two classes both losses favour the likelier, the logistic one
with the help of rows far from the boundary, which matter where one is rare.  So where the folds
show that most of a class is missed, logistic regression is tuned on the same folds, and where C was
chosen by balanced accuracy weights of classes as well; what is best there is taken if it is better
by one standard error of the difference.

Where choosing C for an SVM of many classes would take long it is logistic regression at once: seven
to ten times as quick, and hardly better or worse (docs/design/command_line.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

# Scores in which every class counts the same, however many rows it has.
EQUAL_CLASS_SCORES = ("balanced_accuracy", "recall_macro")
# Values of dense rows times classes up to which choosing C for more than two takes the SVM some two
# seconds: 560 × 18 of 4 classes, 4e4, take it 1.9 s and logistic regression 0.3, 660 × 13 of 11,
# 9e4, 4.5 and 0.6, 360 × 90 of 15, 5e5, 4.7 and 0.45.
MAX_SVM_SEARCH_SIZE = 50_000
_QUICKER = (
    "logistic was taken: of so many rows, columns and classes svm takes several times as long to "
    "choose C, for answers that are hardly better or worse (--method svm: in any case)"
)


class Tuned(NamedTuple):
    """The plan with its method, its C, and the model of it; neither of these without time."""

    plan: Plan
    tuning: Tuning | None
    estimator: Any
    notes: list[str]

    @property
    def scores(self) -> np.ndarray:
        """The score of every fold for the C chosen."""
        assert self.tuning is not None
        return 1.0 - self.tuning.errors[:, self.tuning.best]


def choose(plan: Plan, rows: TuningRows, left: Callable[[], float]) -> Tuned:
    """Choose C, and method and weights of classes where they are left to us; ``left`` tells the
    seconds there are."""
    if _takes_long(plan, rows):
        found = choose(replace(plan, method="logistic"), rows, left)
        return found._replace(notes=[_QUICKER, *found.notes])
    if plan.score and _may_weigh_classes(plan, plan.score, rows):
        plan = replace(plan, balanced=True)
    first = _tuned(plan, rows, left)
    missed = None if first.tuning is None else missed_class(first.estimator)
    if missed is None:
        return first
    others = [_tuned(other, rows, left) for other in _alternatives(first, rows)]
    known = [other for other in others if other.tuning is not None]
    best = max(known, key=lambda each: each.scores.mean(), default=first)
    gain = best.scores - first.scores
    if not gain.mean() > standard_error(gain):
        return first
    kept = [said for said in first.notes if said not in best.notes and "C was chosen" in said]
    return best._replace(notes=[_why(first, best, missed), *kept, *best.notes])


def missed_class(estimator) -> str | None:
    """The class of which the smallest share was found on rows left out, if it is missed."""
    table = None if estimator is None else left_out_counts(estimator)
    if table is None:
        return None
    found = table.diagonal() / np.maximum(table.sum(axis=1), 1)
    least = int(np.where(table.sum(axis=1) > 0, found, 1.0).argmin())
    return str(estimator.classes_[least]) if found[least] < MISSED_SHARE else None


def _tuned(plan: Plan, rows: TuningRows, left: Callable[[], float]) -> Tuned:
    return Tuned(plan, *tune(plan, plan.parameters(left()), rows))


def _alternatives(first: Tuned, rows: TuningRows) -> Iterator[Plan]:
    """What else may be better at a class that is missed, by the score that C was chosen by."""
    plan, score = first.plan, first.tuning.score if first.tuning else ""
    if _may_take_another(plan):
        yield replace(plan, method="logistic", score=score)
    if _may_weigh_classes(plan, score, rows):
        yield replace(plan, balanced=True, score=score)


def _may_take_another(plan: Plan) -> bool:
    """Whether the method is left to us."""
    return plan.method == AUTO and plan.resolved.name == "svm" and plan.multiclass is None


def _takes_long(plan: Plan, rows: TuningRows) -> bool:
    """Of sparse rows the SVM is the quicker one."""
    if not _may_take_another(plan) or hasattr(rows.X, "tocsr"):
        return False
    classes = len(np.unique(rows.y))
    return classes > 2 and rows.X.size * classes > MAX_SVM_SEARCH_SIZE


def _may_weigh_classes(plan: Plan, score: str, rows: TuningRows) -> bool:
    """Whether the score asks for weights of classes, and nobody has said how rows weigh."""
    ours = plan.balanced is None and rows.weight is None
    return ours and plan.weighs_classes and score in EQUAL_CLASS_SCORES


def _why(first: Tuned, best: Tuned, missed: str) -> str:
    """Why something else was taken than is asked for at first."""
    assert first.tuning is not None
    name = first.plan.resolved.name
    what, instead = f"{best.plan.resolved.name} was taken", f"--method {name}: in any case"
    if best.plan.balanced and not first.plan.balanced:
        what, instead = "every class weighs the same", "--weights none: every row does"
    return (
        f"{what}, as {name} misses most of {missed!r}: {in_words(first.tuning.score)} "
        f"{best.scores.mean():.3f} instead of {first.scores.mean():.3f} on the folds ({instead})"
    )
