"""fit_table: features, choice of C, fit, proof and judgement; all of `maxmargin fit` but words."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import __version__
from ...parts.files.basis import Basis, learn_basis
from ...parts.files.columns import Notes
from ...parts.files.learn import learn_matrix, learn_table
from ...parts.files.model import TableModel
from ...parts.files.preparation import Choices, MatrixPreparation
from ...parts.files.training import Labelled, without_missing
from .judge import Errors, count_errors
from .methods import Plan, check_weights, find_method, make_estimator, parameters
from .tuning import Tuning, fit_quietly, tune


@dataclass
class Streamed:
    """What was counted over all rows of a stream, of which only some are at hand."""

    missing: dict[str, int]
    weights: tuple[float, float] | None


@dataclass
class Fitted:
    """The model, the rows it was trained on, and what there is to tell.

    Of a stream ``data`` and ``X`` are some of the rows, drawn by lot.
    """

    model: TableModel
    data: Labelled
    X: Any
    tuning: Tuning | None
    training: Errors
    test: Errors | None
    proved: bool
    seconds: dict[str, float]
    notes: list[str] = field(default_factory=list)
    streamed: Streamed | None = None

    @property
    def rows(self) -> int:
        """How many rows it was trained on."""
        return self.training.rows


def fit_table(
    data: Labelled, plan: Plan, choices: Choices, test: Labelled | None = None, holdout: float = 0.0
) -> Fitted:
    """Fit ``plan``'s method to ``data``; judge it on ``test``, or on a share held out."""
    method = find_method(plan)
    check_weights(method, data.weight is not None)
    began = time.perf_counter()
    if holdout:
        data, test = split(data, holdout, plan.seed)
    data, preparation, basis, X, notes = _prepare(data, plan, choices)
    prepared = time.perf_counter()
    deadline = prepared + plan.max_seconds

    def left() -> float:
        return max(1e-3, deadline - time.perf_counter())

    tuning: Tuning | None = None
    estimator: Any = None
    C = plan.C
    if method.tuned and plan.C is None:
        C = 1.0
        if plan.tune:
            tuning, estimator, warned = tune(
                method, parameters(method, plan, left()),
                X, data.y, data.weight, plan.folds, plan.seed, plan.threads,
            )  # fmt: skip
            notes += warned
            C = tuning.C
    tuned = time.perf_counter()
    if estimator is None:
        estimator = make_estimator(method, plan, C, left())
        given = {} if data.weight is None else {"sample_weight": data.weight}
        notes += fit_quietly(estimator, X, data.y, **given)
    fitted = time.perf_counter()
    model = TableModel(estimator, preparation, basis, data.target, {})
    result = Fitted(
        model, data, X, tuning,
        training=count_errors(estimator.predict(X), data.y, estimator.classes_),
        test=None if test is None else judge_on(model, test, notes),
        proved=is_proved(estimator),
        seconds={"tune": tuned - prepared, "fit": fitted - tuned, "total": fitted - began},
        notes=notes,
    )  # fmt: skip
    model.summary.update(summary_of(result, method.name))
    return result


def split(data: Labelled, share: float, seed: int) -> tuple[Labelled, Labelled]:
    """A share of every class held out, by lot."""
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


def judge_on(model: TableModel, test: Labelled, notes: list[str]) -> Errors:
    """Errors on rows the model has not seen."""
    odd = Notes()
    X = model.features(test.rows, odd)
    errors = count_errors(model.model.predict(X), test.y, model.model.classes_)
    notes += [f"test data, {sentence}" for sentence in odd.sentences()]
    return errors


def features_of(data: Labelled, plan: Plan, choices: Choices) -> tuple:
    """X, y and what there is to tell, for commands that fit no model to keep."""
    data, _, _, X, notes = _prepare(data, plan, choices)
    return X, data.y, notes


def _prepare(data: Labelled, plan: Plan, choices: Choices):
    """Features of the training rows, and what made them."""
    notes = list(data.notes)
    preparation: Any
    if data.is_table:
        features = [name for name in data.rows.schema.names if name not in choices.drop]
        if choices.missing == "drop":
            before = len(data.notes)
            data = without_missing(data, features)
            notes += data.notes[before:]
        learned = learn_table(data.rows, features, choices, data.name, data.numbers)
        preparation = learned.preparation
        notes += learned.sentences()
    elif choices.scale and not hasattr(data.rows, "tocsr"):
        preparation = learn_matrix([data.rows])  # dense: scaled like tables
    else:
        preparation = MatrixPreparation(data.rows.shape[1], data.base)
    X = preparation(data.rows, Notes())
    basis: Basis | None = None
    if plan.basis is not None:
        basis = learn_basis(plan.basis, X)
        X = basis(X)
    return data, preparation, basis, X, notes


def is_proved(estimator) -> bool:
    """Whether the certificate shows what was asked; a perceptron's says it has no errors."""
    certificate = estimator.certificate_
    if not hasattr(certificate, "holds"):
        return bool(certificate.separates)
    return certificate.holds(getattr(estimator, "tol", 1e-6))


def summary_of(result: Fitted, method: str, classes: list | None = None) -> dict:
    """What the model file tells about the fit: plain numbers and words.

    ``classes``: pairs of label and count, of rows that are not at hand.
    """
    if classes is None:
        labels, counts = np.unique(result.data.y, return_counts=True)
        classes = [[str(label), int(n)] for label, n in zip(labels, counts, strict=True)]
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
        "notes": list(result.notes),
    }
    if result.tuning is not None:
        summary["tuning"] = result.tuning.to_dict()
    if result.test is not None:
        summary["test"] = result.test.to_dict()
    if hasattr(estimator, "margin_"):
        summary["margin"] = float(estimator.margin_)
    if hasattr(estimator, "support_kind_"):
        kinds, each = np.unique(estimator.support_kind_, return_counts=True)
        summary["support"] = dict(zip(kinds.tolist(), each.tolist(), strict=True))
    elif hasattr(estimator, "_alpha_rows") and np.isinf(estimator.C):  # streamed, and all of them
        summary["support"] = {"margin": len(np.unique(estimator._alpha_rows))}
    return summary


def _ridge(estimator) -> float | None:
    """The α of a closed form; of others ``alpha_`` are multipliers."""
    alpha = getattr(estimator, "alpha_", None)
    return float(alpha) if alpha is not None and np.ndim(alpha) == 0 else None
