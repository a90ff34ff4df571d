"""verify_stream: a model's claim, recomputed from files that need not fit memory."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..files.sources import open_source
from ..verify import is_verified_by_parts, names_of_proofs, need_same, verify_parts
from .data import stream_data, weighed
from .fit import reading
from .folder import WorkFolder
from .memory_limit import parse_memory
from .progress import StreamProgress


def verify_stream(model: Any, source: Any, *, memory: Any = "1GB", tol: float | None = None) -> Any:
    """Recompute the certificate of a LinearSVM, LogisticRegression or closed form from a source.

    ``source`` and ``memory`` are as in ``fit_stream``, and the rows those of the fit, in its
    order.  ``tol``: the gap that should be shown, by default the model's own.  Where the
    multipliers stored with the model, or rebuilt from the margins, prove less, others are sought,
    which may take as many passes as a fit.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVM, fit_stream, verify_stream
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> chunks = [(X[:3], y[:3]), (X[3:], y[3:])]
    >>> svm = fit_stream(LinearSVM(loss="squared_hinge"), chunks)
    >>> verify_stream(svm, chunks).holds(1e-6)
    True
    """
    if not is_verified_by_parts(type(model)):
        known = ", ".join(names_of_proofs())
        raise TypeError(f"verify_stream recomputes {known}, got {type(model).__name__}.")
    check_is_fitted(model)
    progress = StreamProgress()
    with (
        WorkFolder(None, False) as folder,
        reading(open_source(source), parse_memory(memory), folder, progress, None) as (rows, _),
    ):
        data = stream_data(rows, progress=progress)
        need_same(model, data, rows.source.name)
        found = verify_parts(model, weighed(model, data), tol)
        progress.done()
        return found
