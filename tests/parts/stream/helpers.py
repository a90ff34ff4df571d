"""Small data with labels, and ways to cut them into chunks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from maxmargin.parts.files.sources import open_source
from maxmargin.parts.stream.fit import reading
from maxmargin.parts.stream.folder import WorkFolder
from maxmargin.parts.stream.memory_limit import parse_memory
from maxmargin.parts.stream.training_summary import TrainingSummary, summarise_training


def noisy(n=4000, d=12, k=2, seed=0, dtype=np.float64, is_sparse=False):
    """X and y of classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if is_sparse:
        X *= rng.random((n, d)) < 0.3
    W = rng.standard_normal((k, d))
    y = (X @ W.T + 1.5 * rng.gumbel(size=(n, k))).argmax(axis=1)
    X = X.astype(dtype)
    return (sparse.csr_matrix(X) if is_sparse else X), y


def cut(X, y, weight=None, at=(700, 700, 1500, 3001)):
    """Uneven chunks, one of them empty."""
    edges = [0, *at, len(y)]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    if weight is None:
        return [(X[p], y[p]) for p in parts]
    return [(X[p], y[p], weight[p]) for p in parts]


def summary_of(model, chunks, memory) -> TrainingSummary:
    """What a fitted model does on the rows of its fit."""
    with (
        WorkFolder(None, False) as folder,
        reading(open_source(chunks), parse_memory(memory), folder, None, None) as (rows, _),
    ):
        return summarise_training(model, rows)


def agree(streamed, whole, tol):
    """Both are proved, and so their objectives differ by no more than their gaps."""
    assert streamed.certificate_.holds(tol), streamed.certificate_
    low = max(streamed.certificate_.dual, whole.certificate_.dual)
    for model in (streamed, whole):
        primal = model.certificate_.primal
        assert low <= primal * (1 + 1e-9)
        assert primal - low <= tol * primal * (1 + 1e-6)
