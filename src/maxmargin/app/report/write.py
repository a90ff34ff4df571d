"""write_report: one page about a result, written whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.types import ArrayLike, MatrixLike
from ...models.probe import ProbeResult
from ...models.tune.comparison import Comparison
from ...models.tune.path import CPath
from ...models.tune.search import CSearch
from ...parts.files.atomic import replacing
from ...parts.files.columns import UnexpectedValues
from ...parts.files.model import TableModel, with_columns
from ...parts.files.training import Labelled
from ..workflow.fit import Fitted, is_proved, summary_of
from ..workflow.judge import count_errors, left_out
from ..workflow.rows import counted_classes
from ..workflow.tuning import Tuning
from .compare import compare_report
from .data import About
from .fit import fit_report
from .path import path_report
from .probe import probe_report


def write_report(
    result: Any,
    path: Any,
    X: MatrixLike | None = None,
    y: ArrayLike | None = None,
    *,
    name: str = "data",
) -> Path:
    """Write a page about a fitted classifier, a ``Comparison``, a ``CPath`` or a probe's result.

    One HTML file that loads nothing and runs nothing: what data, what was done, how good, how
    sure, pictures, coefficients, the rows worth a look, versions.  Of a classifier X and y are
    the rows it was fitted to; of the others they are described if given.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVM, write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(LinearSVM().fit(X, y), Path(folder) / "iris.html", X, y)
    ...     "petal width" in page.read_text(encoding="utf-8")
    True
    """
    page = _page(result, X, y, name)
    with replacing(path) as file:
        file.write(page.encode())
    return Path(path)


def _page(result, X, y, name: str) -> str:
    if isinstance(result, ProbeResult):
        return probe_report(result, name)
    if isinstance(result, Comparison | CPath):
        data = None
        if X is not None and y is not None:
            data = About(
                name, str(getattr(y, "name", None) or "label"), np.shape(X)[1], counted_classes(y)
            )
        if isinstance(result, CPath):
            return path_report(result, data)
        return compare_report(result, data)
    if not hasattr(getattr(result, "model", result), "certificate_"):
        raise TypeError(
            "write_report tells of a fitted classifier of maxmargin, a Comparison, a CPath or what "
            f"probe returns; got {type(result).__name__}."
        )
    if X is None or y is None:
        raise ValueError("The report of a model needs the rows it was fitted to: give X and y.")
    if hasattr(X, "__dask_graph__") or hasattr(y, "__dask_graph__"):
        raise TypeError(
            "The report shows single rows, but X and y are on a cluster. Give some of them, "
            "for instance X[:10_000].compute() and y[:10_000].compute(); errors are then counted "
            "on these."
        )
    return fit_report(_fitted(result, X, y, name))


def _fitted(result, X, y, name: str) -> Fitted:
    """What `maxmargin fit` would have kept of this fit."""
    from ...parts.files.model import _as_data

    tuning, seconds = None, {"tune": 0.0, "fit": 0.0, "total": 0.0}
    if isinstance(result, CSearch):
        tuning, result = _tuning(result), result.plain()
    model: TableModel = with_columns(result)
    y = np.asarray(y)
    rows: Any = _as_data(X, model)
    data = Labelled(name, rows, y, model.target)
    odd = UnexpectedValues()
    Z = model.features(X, odd)
    estimator = model.model
    errors = replace(count_errors(estimator.predict(Z), y, estimator.classes_), seen=True)
    fitted = Fitted(
        model, data, Z, tuning, errors, left_out(estimator, Z, y), None,
        is_proved(estimator), seconds,
    )  # fmt: skip
    fitted.missing = odd.missing
    model.summary.update(summary_of(fitted, type(estimator).__name__))
    return fitted


def _tuning(search) -> Tuning | None:
    """The choice of C as errors, where it was made by accuracy."""
    if getattr(search, "scoring", None) not in (None, "accuracy"):
        return None
    return Tuning(np.asarray(search.Cs_), 1.0 - search.scores_, int(search.best_index_))
