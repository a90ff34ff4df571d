"""fit_many: thousands of small fits over one X, checked once, each with its certificate."""

from __future__ import annotations

from typing import Any

from ...core.types import ArrayLike, MatrixLike
from .batch import fit_in_batches, why_not_in_batches
from .loop import fit_one_by_one
from .problems import check_problems
from .result import ManyFits


def fit_many(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    *,
    columns: Any = None,
    cv: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    decisions: bool = False,
    n_jobs: int | None = None,
) -> ManyFits:
    """Fit an estimator to every labelling of X, on every subset of columns, in every fold.

    A permutation test has many labellings, a searchlight many subsets of columns; both have folds.
    ``LinearSVM`` with two classes, a finite C and dense rows is fitted by compiled batches, in
    tens of microseconds for a hundred rows; every other estimator by ordinary fits, one by one.
    ``how`` of the result says which it was.  Either way each fit has a certificate, of its gap to
    the optimum, if the estimator makes one.

    Parameters
    ----------
    estimator : what to fit; it is not changed
    X : (n, d), dense or sparse
    y : (n,), or (labellings, n): a line for every labelling
    columns : lists of column numbers, or masks: a fit for each; None: all columns
    cv : folds as scikit-learn knows them: a number, a splitter, pairs of indices.  They are
        made once, with the first labelling, for all.  None: all rows are fitted, and no scores
        are told.
    groups : passed on to the splitter
    sample_weight : (n,), for all fits; scores do not use it
    decisions : keep w·x + b of the held-out rows, too; for two classes
    n_jobs : threads; None means one, −1 all cores

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import LinearSVM, fit_many
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X[:100] - X.mean(axis=0)) / X.std(axis=0)
    >>> labels = np.random.default_rng(0).permuted(np.tile(y[:100], (20, 1)), axis=1)
    >>> found = fit_many(LinearSVM(C=0.1), X, labels, cv=5)
    >>> found.scores.shape, bool(found.proved.all())
    ((20, 5), True)
    """
    problems = check_problems(X, y, columns, cv, groups, sample_weight)
    if decisions and len(problems.classes) != 2:
        raise ValueError(
            f"decisions=True keeps one number per row, which two classes have; y holds "
            f"{len(problems.classes)}. Leave it out, and fit the estimator where you need scores."
        )
    why = why_not_in_batches(estimator, problems)
    if why is None:
        return fit_in_batches(estimator, problems, decisions, n_jobs)
    return fit_one_by_one(estimator, problems, decisions, n_jobs, why)
