"""fit_stream: estimators fitted to data larger than memory, with the same optimum and proof."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from ...core.solve.threads import one_blas_thread
from ...models.fitting import make_monitor
from ...models.validation import all_or_nothing
from ..files.sources import open_source
from . import estimators as machines
from .folder import WorkFolder
from .memory_limit import MemoryLimit, parse_memory
from .progress import StreamProgress
from .row_buffer import RowBuffer
from .rows import StreamedRows
from .sample import StreamSample

FITS: dict[str, Callable[..., Any]] = {
    "LinearSVM": machines.fit_svm,
    "LogisticRegression": machines.fit_logistic,
    "LeastSquaresClassifier": machines.fit_least_squares,
    "FisherDiscriminant": machines.fit_fisher,
    "Perceptron": machines.fit_perceptron,
}
# Estimators whose methods begin with a sample of the rows.
SAMPLED = ("LinearSVM", "LogisticRegression")


def fit_stream(estimator, source, *, memory="1GB", checkpoint=None, resume=False, told=None):
    """Fit ``estimator`` to a source of chunks that may be larger than memory; returns it.

    The optimum and its certificate are those of ``estimator.fit`` on all rows at once, within the
    gap ``tol``.  Rows are read once, written to a cache on disk in a faster layout where it has
    room, and passed over as often as the method needs.

    Parameters
    ----------
    estimator : LinearSVM, LogisticRegression, LeastSquaresClassifier, FisherDiscriminant or
        Perceptron
    source : what ``open_source`` returns, or takes
    memory : str or int, default="1GB"
        Limit for rows in memory and everything made of them.  The model, and the libraries
        themselves, come on top.
    checkpoint : path of a folder or None
        Where the cache lies, and where the fit stands, so that a run that was killed can be
        continued.  It is removed when the fit has ended well.  None: the folder for temporary
        files, and nothing is left whatever happens.
    resume : bool, default=False
        Continue what the checkpoint holds, if it is of the same files; else start.
    told : callable or None
        Called as ``told(passes, rows_done, rows)``, instead of a line on a terminal.

    Of every row nothing is kept: ``alpha_``, ``slack_`` and ``support_`` are absent.  At C = ∞ a
    ``NotSeparableError`` has the rows that prove it, by their numbers, in ``proof.rows``.
    """
    name = type(estimator).__name__
    if name not in FITS:
        raise TypeError(f"fit_stream fits {', '.join(FITS)}, got {name}.")
    machines.check(estimator)
    limit, source = parse_memory(memory), open_source(source)
    progress = StreamProgress(getattr(estimator, "verbose", 0))
    seed = make_monitor(estimator).seed if name in SAMPLED else None
    with (
        all_or_nothing(estimator),
        WorkFolder(checkpoint, resume) as folder,
        reading(source, limit, folder, told or progress, seed) as (rows, kept),
    ):
        stopped = fit_rows(estimator, rows, kept, progress)
        progress.done()
    machines.warn(estimator, stopped)
    return estimator


@contextmanager
def reading(source, limit: MemoryLimit, folder: WorkFolder, told, seed: int | None):
    """The rows of a source, read once, and a sample of them if there is a ``seed`` for it."""
    sample = None if seed is None else StreamSample(limit.sample, seed)
    rows = StreamedRows(source, limit, folder, told, sample)
    try:
        kept = None
        if sample is not None and rows.kept_all:
            kept = sample.finish(rows.place, rows.base if rows.sparse else 0, rows.n_features)
        elif seed is not None:  # a cache was gone on with
            kept = _gathered(StreamSample(limit.sample, seed), rows)
        with one_blas_thread():
            yield rows, kept
    finally:
        rows.close()


def _gathered(sample: StreamSample, rows: StreamedRows) -> RowBuffer:
    """A sample, in a pass of its own."""
    for _, block in rows.blocks():
        sample(block.X, block.y, block.weight)
    return sample.finish(np.arange(len(rows.classes)), 0, rows.n_features)


def fit_rows(
    estimator, rows: StreamedRows, kept: RowBuffer | None, progress: StreamProgress | None = None
):
    """Fit to rows that have been read; says why it stopped."""
    name = type(estimator).__name__
    monitor = make_monitor(estimator) if name in SAMPLED else None
    if progress is not None:
        progress.monitor = monitor
        if monitor is not None and progress.terminal and not monitor.verbose:
            monitor._shown = np.inf  # passes have a line of their own
    rows.folder.key = _key(estimator)
    _introduce(estimator, rows)
    if kept is not None and rows.by_class is not None:
        kept.c[: kept.count] *= rows.by_class[kept.y[: kept.count].astype(int)]
    _forget(estimator)
    return FITS[name](estimator, rows, monitor, kept)


def _key(estimator) -> str:
    """What the optimum depends on besides the rows."""
    given = estimator.get_params(deep=False)
    for name in ("tol", "max_iter", "max_seconds", "max_passes", "verbose", "warm_start"):
        given.pop(name, None)
    return f"{type(estimator).__name__} {sorted(given.items())!r}"


def _introduce(estimator, rows: StreamedRows) -> None:
    """Classes, features and class weights."""
    source = rows.source
    estimator.classes_ = rows.classes
    estimator.n_features_in_ = int(rows.n_features)
    estimator.__dict__.pop("feature_names_in_", None)
    if source.names is not None and len(source.names) == rows.n_features:
        estimator.feature_names_in_ = np.array(source.names, dtype=object)
    given = getattr(estimator, "class_weight", None)
    if given is not None and type(estimator).__name__ != "Perceptron":
        rows.weigh(class_weights(given, rows))
    mass = rows.mass if rows.by_class is None else rows.mass * rows.by_class
    for label, weight in zip(rows.classes, mass, strict=True):
        if not weight > 0:
            raise ValueError(f"Every row of class {label} has weight 0. Remove it, or weigh it.")


def class_weights(given, rows: StreamedRows) -> np.ndarray:
    """One weight for every class, from a dict or from how many rows each has."""
    if isinstance(given, str) and given == "balanced":
        return rows.n / (len(rows.counts) * rows.counts)
    weight = compute_class_weight(given, classes=rows.classes, y=rows.classes)
    if not (np.isfinite(weight).all() and weight.min() >= 0):
        raise ValueError(f"class_weight must hold finite weights of at least 0, got {given!r}.")
    return weight


def _forget(estimator: Any) -> None:
    """What an earlier fit knew of every row."""
    for name in (
        "alpha_", "slack_", "support_", "support_kind_", "_codes", "trace_", "path_",
        "_alpha_rows", "_alpha_values", "_alpha_machines",
    ):  # fmt: skip
        estimator.__dict__.pop(name, None)
