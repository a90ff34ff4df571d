"""Small data, and Dask collections of them in every shape."""

from __future__ import annotations

import gc
import os
import time
from itertools import pairwise

import dask
import dask.array as da
import numpy as np
from scipy import sparse


def clouds(n=240, d=4, k=2, seed=0):
    """Gaussian clouds with string labels."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(k, size=n)
    codes[:k] = np.arange(k)
    X = rng.standard_normal((n, d)) + 1.2 * rng.standard_normal((k, d))[codes]
    return X, np.array(["ash", "elm", "fir", "oak"])[codes]


def spread(X, y, cuts, unknown=False):
    """Dask arrays cut at ``cuts``; sparse rows stay sparse; sizes may be left unknown."""
    edges = [0, *cuts, len(y)]
    pieces = list(pairwise(edges))
    meta = X[:0] if sparse.issparse(X) else np.empty((0, 0), X.dtype)
    rows = [
        da.from_delayed(
            dask.delayed(X[a:b]), (np.nan if unknown else b - a, X.shape[1]), X.dtype, meta=meta
        )
        for a, b in pieces
    ]
    labels = [
        da.from_delayed(dask.delayed(y[a:b]), (np.nan if unknown else b - a,), y.dtype)
        for a, b in pieces
    ]
    return (
        da.concatenate(rows, allow_unknown_chunksizes=unknown),
        da.concatenate(labels, allow_unknown_chunksizes=unknown),
    )


class Deadly:
    """A task that ends its worker the first time it is run; a file tells that it was."""

    def __init__(self, task, marker):
        self.task, self.marker = task, str(marker)

    def __call__(self, *args):
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return self.task(*args)
        os._exit(1)


def at_question(monkeypatch, number, do):
    """``do(parts, task)`` when question ``number`` is asked; what it returns is asked instead."""
    from maxmargin.parts.dask.dask_parts import DaskParts

    once, asked = DaskParts._round, []

    def watched(self, task, *told):
        asked.append(task)
        return once(self, do(self, task) if len(asked) == number else task, *told)

    monkeypatch.setattr(DaskParts, "_round", watched)
    return asked


def held(client):
    """How many futures the client holds once all that was let go of is gone."""
    gc.collect()

    async def nothing():
        return None

    client.sync(nothing)  # let go of in the client's own thread, in order
    return len(client.futures)


def nothing_held(client):
    """Whether that is none at last: a question that was interrupted is still being answered."""
    until = time.monotonic() + 60.0
    while held(client) and time.monotonic() < until:
        time.sleep(0.01)
    return held(client) == 0
