"""From rows to a model: choice of C, fit, proof and judgement; `maxmargin fit` but for words."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...models.calibration.error_estimate import ErrorEstimate
from ...models.calibration.verdict import Verdict, by_error, by_table, by_training_rows
from ...models.compiling import compile_seconds
from ...models.deadline import OutOfTimeError, deadline
from ...parts.files.columns import UnexpectedValues
from ...parts.files.form import FileOptions, as_form
from ...parts.files.model import TableModel
from ...parts.files.preparation import Choices
from ...parts.files.training import Labelled
from .budget import work_within
from .judge import Errors, LeftOutErrors, judge
from .method import choose
from .plan import Plan
from .rows import MemoryRows, TrainingRows, counted_classes
from .tuning import Tuning

# Of a budget, what choosing C may take; the rest is for the final fit and its proof.
FOLDS_SHARE = 0.7
# How many times a budget a fit may take that is being proved, or does not look at a clock.
OVERTIME = 2.0
# Scores at the margin are 1; a model whose scores differ by less than this has no weights.
SCORE_ROUNDING = 1e-9


@dataclass
class Fitted:
    """The model, the rows it was trained on, and what there is to tell.

    ``left_out`` is what the training rows tell of new ones, ``test`` the errors on others.
    ``method`` is the one that was fitted, where the plan left it open.
    Of a stream ``data`` and ``X`` are some of the rows, drawn at random; ``missing`` values of a
    column and the range of ``weights`` are of all rows.
    """

    model: TableModel
    data: Labelled
    X: Any
    tuning: Tuning | None
    training: Errors
    left_out: LeftOutErrors
    test: Errors | None
    proved: bool
    seconds: dict[str, float]
    notes: list[str] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    weights: tuple[float, float] | None = None
    method: str = ""

    @property
    def expected(self) -> ErrorEstimate | None:
        """The error on new rows as the training rows tell it."""
        return self.left_out.error

    @property
    def unseen(self) -> tuple[str, np.ndarray] | None:
        """Rows the model had not seen, in a word and by true and predicted class."""
        if self.test is not None and self.test.table is not None:
            return "test", self.test.table
        return None if self.left_out.table is None else ("left-out", self.left_out.table)

    @property
    def verdict(self) -> Verdict:
        """Whether it is better than always giving the commonest answer."""
        classes = self.model.summary["classes"]
        labels, counts = [label for label, _ in classes], np.array([n for _, n in classes])
        judged = self.expected if self.test is None else self.test.estimate
        if judged is None or not judged.rows:
            return by_training_rows(labels, counts, self.training.table, self.training.share)
        table = self.left_out.table if self.test is None else self.test.table
        if table is None or not table.sum():
            return by_error(labels, counts, judged)
        return by_table(labels, counts, table, judged)

    @property
    def rows(self) -> int:
        """How many rows it was trained on."""
        return self.training.rows

    @property
    def streamed(self) -> bool:
        return "streamed" in self.model.summary

    def judge(self, batches, unexpected: UnexpectedValues) -> None:
        """Errors on rows of their own, kept with the model; the ``unexpected`` is noted."""
        self.test = judge(self.model.model, batches)
        self.model.summary["test"] = self.test.to_dict()
        self.model.summary["verdict"] = self.verdict.to_dict()
        self.notes += [f"test data, {sentence}" for sentence in unexpected.sentences()]


def fit_table(
    data: Labelled, plan: Plan, choices: Choices, test: Labelled | None = None, holdout: float = 0.0
) -> Fitted:
    """Fit ``plan``'s method to rows in memory; judge it on ``test``, or on a share held out."""
    plan.check_weights(data.weight is not None)
    began = time.perf_counter()
    if holdout:
        data, test = split(data, holdout, plan.seed)
    result = fit_rows(MemoryRows(data, choices, plan.basis), plan, began)
    if holdout:
        result.model.summary["holdout"] = {"share": holdout, "seed": plan.seed}
    if test is not None:
        judge_table(result, test)
    return result


def judge_table(fitted: Fitted, test: Labelled) -> None:
    """Judge on rows in memory, which are one batch."""
    unexpected = UnexpectedValues()
    fitted.judge([(fitted.model.features(test.rows, unexpected), test.y)], unexpected)


def fit_files(
    files: FileOptions, plan: Plan, choices: Choices, memory, checkpoint: Path, resume: bool = False
) -> Fitted:
    """Fit ``plan``'s method to a file or a folder of files within ``memory``.

    ``checkpoint``: a folder, of which nothing is left when the fit ends well.
    """
    from .stream_rows import open_stream, refuse_unless_streamed, test_batches

    refuse_unless_streamed(plan, choices)
    plan.check_weights(files.weights is not None)
    began = time.perf_counter()
    with open_stream(files, choices, memory, checkpoint, resume, plan.seed) as rows:
        result = fit_rows(rows, plan, began)
    if files.test is not None:
        form = as_form(files.format)
        result.judge(*test_batches(result.model, files.test, form.format, memory))
    return result


def fit_rows(rows: TrainingRows, plan: Plan, began: float) -> Fitted:
    """Choose C where that was asked for, fit, and say what there is to say."""
    compiled = compile_seconds()
    result = _fit_in_time(rows, plan, began)
    result.seconds["compile"] = compile_seconds() - compiled
    result.model.summary.update(summary_of(result, result.method, rows.classes()) | rows.summary())
    result.model.summary["verdict"] = result.verdict.to_dict()
    return result


def _fit_in_time(rows: TrainingRows, plan: Plan, began: float) -> Fitted:
    """Fits end by themselves when the budget is used up; what never looks at a clock is left."""
    if np.isinf(plan.budget):
        return _fit_rows(rows, plan, began)
    found: list[Fitted] = []

    def work() -> None:
        with deadline(plan.budget, FOLDS_SHARE):
            found.append(_fit_rows(rows, plan, began))

    if not work_within(OVERTIME * plan.budget, work):
        raise OutOfTimeError(
            f"There was no model yet after {OVERTIME * plan.budget:g} s, {OVERTIME:g} times the "
            "--budget. Give more, fewer rows, or another --method."
        )
    return found[0]


def _fit_rows(rows: TrainingRows, plan: Plan, began: float) -> Fitted:
    prepared = time.perf_counter()
    ends = prepared + plan.max_seconds

    def left() -> float:
        return max(1e-3, ends - time.perf_counter())

    method, notes, C = plan.resolved, rows.notes, plan.C
    tuning: Tuning | None = None
    estimator: Any = None
    if method.tuned and C is None:
        C = 1.0
        if plan.tune:
            some = rows.tuning_rows(plan.seed)
            plan, tuning, estimator, warned = choose(plan, some, left)
            C = 1.0 if tuning is None else tuning.C
            notes += warned if rows.whole else [*warned, f"C was chosen on {some.which}"]
    tuned = time.perf_counter()
    if estimator is None or not rows.whole:
        estimator = plan.estimator(C, left(), calibrated=True)
        notes += rows.fit(estimator)
    fitted = time.perf_counter()
    return Fitted(
        TableModel(estimator, rows.preparation, rows.basis, rows.data.target, {}),
        rows.data, rows.X, tuning, rows.errors(estimator), rows.left_out(estimator), None,
        is_proved(estimator),
        {"tune": tuned - prepared, "fit": fitted - tuned, "total": fitted - began},
        notes, rows.missing, rows.weights, plan.resolved.name,
    )  # fmt: skip


def split(data: Labelled, share: float, seed: int) -> tuple[Labelled, Labelled]:
    """A share of every class held out at random."""
    from sklearn.model_selection import train_test_split

    if not 0.0 < share < 1.0:
        raise ValueError(f"--holdout must be a share between 0 and 1, got {share:g}.")
    try:
        fit, judge = train_test_split(
            np.arange(len(data)), test_size=share, stratify=data.y, random_state=seed
        )
    except ValueError as error:
        raise ValueError(f"--holdout {share:g} is not possible here: {error}") from None
    return data.take(np.sort(fit)), data.take(np.sort(judge))


def is_proved(estimator) -> bool:
    """Whether the certificate shows what was asked; a perceptron's says it has no errors."""
    certificate = estimator.certificate_
    if not hasattr(certificate, "holds"):
        return bool(certificate.separates)
    return certificate.holds(getattr(estimator, "tol", 1e-6))


def summary_of(result: Fitted, method: str, classes: list | None = None) -> dict:
    """What the model file tells about the fit: plain numbers and words."""
    classes = counted_classes(result.data.y) if classes is None else classes
    estimator = result.model.model
    summary: dict[str, Any] = {
        "library": __version__,
        "method": method,
        "data": result.data.name,
        "rows": sum(count for _, count in classes),
        "classes": classes,
        "features": int(estimator.n_features_in_),
        "C": float(estimator.C) if hasattr(estimator, "C") else None,
        "alpha": _ridge(estimator),
        "training": result.training.to_dict(),
        "certificate": str(estimator.certificate_),
        "proved": result.proved,
        "seconds": dict(result.seconds),
        "notes": result.notes,
    }
    if result.data.form:
        summary["form"] = dict(result.data.form)
    if result.expected is not None:
        summary["expected"] = result.expected.to_dict()
    if result.tuning is not None:
        summary["tuning"] = result.tuning.to_dict()
    if hasattr(estimator, "margin_"):
        summary["margin"] = np.inf if weightless(estimator, result.X) else float(estimator.margin_)
    if hasattr(estimator, "support_kind_"):
        kinds, each = np.unique(estimator.support_kind_, return_counts=True)
        summary["support"] = dict(zip(kinds.tolist(), each.tolist(), strict=True))
    elif hasattr(estimator, "_alpha_rows") and np.isinf(estimator.C):  # streamed, and all of them
        summary["support"] = {"margin": len(np.unique(estimator._alpha_rows))}
    return summary


def weightless(estimator, X) -> bool:
    """Whether weights are nothing: scores differ by rounding only, and all rows get one answer."""
    if not hasattr(estimator, "coef_"):
        return False
    reach = np.maximum(_dense(X.max(axis=0)), -_dense(X.min(axis=0)))
    scores = np.abs(np.atleast_2d(estimator.coef_)) @ np.abs(reach)
    return bool(scores.max() < SCORE_ROUNDING * max(1.0, np.abs(estimator.intercept_).max()))


def _dense(values) -> np.ndarray:
    return np.ravel(values.toarray() if hasattr(values, "toarray") else values)


def _ridge(estimator) -> float | None:
    """The α of a closed form; of others ``alpha_`` are multipliers."""
    alpha = getattr(estimator, "alpha_", None)
    return float(alpha) if alpha is not None and np.ndim(alpha) == 0 else None
