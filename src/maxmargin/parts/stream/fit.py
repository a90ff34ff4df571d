"""fit_stream: estimators fitted to data larger than memory, with the same optimum and proof."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.solve.threads import one_blas_thread
from ...models.fitting import make_monitor
from ...models.perceptron.perceptron import Perceptron
from ...models.validation import all_or_nothing
from ..files.sources import open_source
from ..fit import (
    FitResult,
    check_possible,
    fit_estimator,
    is_fitted_by_parts,
    names_of_fits,
    starts_from_sample,
    warn,
)
from .data import StreamData, stream_data, weighed
from .folder import WorkFolder
from .memory_limit import MemoryLimit, parse_memory
from .progress import StreamProgress
from .row_buffer import RowBuffer
from .rows import StreamedRows
from .sample import StreamSample


def fit_stream(
    estimator: Any,
    source: Any,
    *,
    memory: Any = "1GB",
    checkpoint: Any = None,
    resume: bool = False,
    told: Any = None,
) -> Any:
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
    name, known = type(estimator).__name__, names_of_fits()
    if not is_fitted_by_parts(type(estimator)) or name not in known:  # as a search is not
        raise TypeError(f"fit_stream fits {', '.join(known)}, got {name}.")
    check_possible(estimator, StreamData.where)
    limit, source = parse_memory(memory), open_source(source)
    progress = StreamProgress(getattr(estimator, "verbose", 0))
    seed = make_monitor(estimator).seed if starts_from_sample(estimator) else None
    with (
        all_or_nothing(estimator),
        WorkFolder(checkpoint, resume) as folder,
        reading(source, limit, folder, told or progress, seed) as (rows, kept),
    ):
        result = fit_rows(estimator, rows, kept, progress)
        progress.done()
    warn(estimator, result)
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
    estimator: Any, rows: StreamedRows, kept: RowBuffer | None,
    progress: StreamProgress | None = None,
) -> FitResult:  # fmt: skip
    """Fit to rows that have been read."""
    rows.folder.key = _key(estimator)
    data = stream_data(rows, kept, progress)
    data = weighed(estimator, data, by_class=not isinstance(estimator, Perceptron))
    return fit_estimator(estimator, data)


def _key(estimator) -> str:
    """What the optimum depends on besides the rows."""
    given = estimator.get_params(deep=False)
    for name in ("tol", "max_iter", "max_seconds", "max_passes", "verbose", "warm_start"):
        given.pop(name, None)
    return f"{type(estimator).__name__} {sorted(given.items())!r}"
