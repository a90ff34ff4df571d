"""Ordinary fits, one by one, with the same arrays at the end."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..reduction.fit_all import fit_all
from .problems import Problems
from .result import ManyFits


class OneFit(NamedTuple):
    """What is kept of one fit."""

    coef: Any
    intercept: Any
    certificate: Any
    score: float
    decision: np.ndarray | None


def fit_one_by_one(
    estimator, problems: Problems, decisions: bool, n_jobs: int | None, why: str
) -> ManyFits:
    """Every fit by ``estimator.fit``."""
    places = list(product(*map(range, problems.counts)))
    fits = fit_places(estimator, problems, places, decisions, n_jobs)
    shape, n = problems.shape, problems.X.shape[0]
    held = None
    if decisions:
        held = np.full((len(places), n), np.nan)
        for line, fit, (_, _, fold) in zip(held, fits, places, strict=True):
            line[problems.splits[fold][1]] = fit.decision
    certificates = [fit.certificate for fit in fits]
    return ManyFits(
        classes=problems.classes,
        coef=stacked([fit.coef for fit in fits], shape),
        intercept=stacked([fit.intercept for fit in fits], shape),
        gap=np.array([_gap(found) for found in certificates]).reshape(shape),
        scores=np.array([fit.score for fit in fits]).reshape(shape) if problems.axes[2] else None,
        decisions=None if held is None else held.reshape(*shape, n),
        tol=float(getattr(estimator, "tol", np.nan)),
        how=f"by ordinary fits, one by one: {why}",
        certificate_at=lambda place: certificates[flat(place, shape)],
    )


def fit_places(
    estimator, problems: Problems, places: Iterable, decisions: bool, n_jobs: int | None
) -> list[OneFit]:
    """The fits at some places (labelling, columns, fold)."""
    jobs = {
        problems.name(*place): partial(_fit, estimator, problems, place, decisions)
        for place in places
    }
    return fit_all("fit_many", jobs, n_jobs, 0) if jobs else []


def _fit(estimator, problems: Problems, place, decisions: bool) -> OneFit:
    labelling, subset, fold = place
    rows, held = problems.splits[fold]
    X = problems.X if not problems.axes[1] else problems.X[:, problems.columns[subset]]
    y = problems.classes[problems.codes[labelling]]
    given = {} if problems.weight is None else {"sample_weight": problems.weight[rows]}
    model = clone(estimator).fit(X[rows], y[rows], **given)
    score = float(np.mean(model.predict(X[held]) == y[held])) if len(held) else np.nan
    decision = model.decision_function(X[held]) if decisions and len(held) else None
    return OneFit(
        getattr(model, "coef_", None), getattr(model, "intercept_", None),
        getattr(model, "certificate_", None), score, decision,
    )  # fmt: skip


def _gap(certificate) -> float:
    return float(getattr(certificate, "relative_gap", np.nan))


def flat(place: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """The place among all fits, counted one by one."""
    return int(np.ravel_multi_index(place, shape)) if shape else 0


def stacked(values: list, shape: tuple[int, ...]) -> np.ndarray:
    """One array, with the axes of the fits first; an array of objects where sizes differ."""
    sizes = {np.shape(value) for value in values}
    if len(sizes) == 1 and values[0] is not None:
        return np.array(values).reshape(*shape, *sizes.pop())
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out.reshape(shape)
