"""From Dask collections to parts: checked, one block of rows for every thread of the cluster."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from ...models.validation import FLOAT_DTYPES, canonical
from ..data import Duel, PartsData, weights_by_class
from ..parts import Block
from ..side_by_side import jobs_at_once
from .cluster_wait import gather, wait_for_a_worker
from .dask_parts import DaskParts
from .optional_dask import need_dask
from .sample import draw


@dataclass(frozen=True)
class DaskData(PartsData):
    """Rows on a cluster."""

    parts: DaskParts

    where = "of maxmargin.spread"

    def problems_at_once(self, duels: list[Duel]) -> int:
        # All parts' responses come at the same time.
        return jobs_at_once(self.parts.n_features, self.parts.n_parts)

    def sample(self, seed: int) -> Block:
        return draw(self, seed)


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection."""
    dask, _ = need_dask()
    return dask.is_dask_collection(X)


def spread_out(estimator: Any, client: Any, X, y, sample_weight, weigh: bool = True) -> DaskData:
    """Check the data where they are, and hold one block per thread; rows never come here."""
    dask, _ = need_dask()
    if not is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} of maxmargin.spread fits Dask arrays and dataframes, got "
            f"{type(X).__name__}. Use maxmargin.{type(estimator).__name__} for data in memory, "
            "or wrap them: dask.array.from_array(X, chunks=(100_000, -1))."
        )
    names = np.asarray(X.columns, dtype=object) if hasattr(X, "columns") else None
    pieces, targets, weights = matched(X, y, sample_weight, whole_rows(X))
    homes = _homes(client, len(pieces))
    collect = dask.delayed(_collect, pure=False, nout=1)
    raw = []
    for home, group in zip(homes, np.array_split(np.arange(len(pieces)), len(homes)), strict=True):
        first, last = int(group[0]), int(group[-1]) + 1
        part = collect(pieces[first:last], targets[first:last], weights[first:last], first)
        raw.append(client.compute(part, workers=[home], allow_other_workers=True))
    seen = gather(client, [client.submit(_seen, part, pure=False) for part in raw])
    for part in seen:
        if isinstance(part, Complaint):
            raise ValueError(part.text)
    return _encode(estimator, client, raw, seen, names, weigh)


def matched(X, y, sample_weight, rows) -> tuple[list, list, list]:
    """Pieces of the rows of X with their labels and weights, or with None."""
    frame = hasattr(X, "columns")
    pieces = rows.to_delayed().ravel().tolist()
    found = []
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is None:
            found.append([None] * len(pieces))
        else:
            found.append(_like_rows(name, given, rows, frame).to_delayed().ravel().tolist())
    return pieces, *found


def whole_rows(X):
    """A Dask array of whole rows."""
    X = _array(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features, got {X.ndim}.")
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def _array(collection):
    """A dataframe or series as an array."""
    if not hasattr(collection, "to_dask_array"):
        return collection
    with warnings.catch_warnings():
        # Columns of pandas' own types come as objects; ``numbers`` and ``labels`` know them.
        warnings.filterwarnings("ignore", "Dask currently has limited support", UserWarning)
        return collection.to_dask_array()


def _like_rows(name: str, y, X, frame: bool):
    """A Dask vector cut like the rows of X."""
    import dask.array as da

    known = not np.isnan(X.chunks[0]).any()
    y = _array(y)
    if not hasattr(y, "to_delayed"):
        if not known:
            first = "X.to_dask_array(lengths=True)" if frame else "X.compute_chunk_sizes()"
            raise ValueError(
                f"{name} is no Dask collection, and the chunk sizes of X are unknown, so its rows "
                f"cannot be matched. Give {first} instead of X, or make {name} from the "
                "same collection as X."
            )
        y = np.asarray(y)
        if len(y) != sum(X.chunks[0]):
            raise ValueError(f"X has {sum(X.chunks[0])} rows, but {name} has {len(y)}.")
        return da.from_array(y, chunks=(X.chunks[0],))
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.reshape(-1) if known else y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got {y.ndim}.")
    if known and not np.isnan(y.chunks[0]).any():
        if sum(y.chunks[0]) != sum(X.chunks[0]):
            raise ValueError(f"X has {sum(X.chunks[0])} rows, but {name} has {sum(y.chunks[0])}.")
        return y if y.chunks[0] == X.chunks[0] else y.rechunk((X.chunks[0],))
    if y.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            f"X comes in {X.numblocks[0]} partitions and {name} in {y.numblocks[0]}, of unknown "
            "sizes, so their rows cannot be matched. Call compute_chunk_sizes() on both, or take "
            "both from the same collection."
        )
    return y


def _homes(client, pieces: int) -> list[str]:
    """One worker for every part: each thread gets one, as far as partitions go."""
    wait_for_a_worker(client)
    workers = client.scheduler_info(n_workers=-1)["workers"]
    threads = {address: int(info["nthreads"]) for address, info in sorted(workers.items())}
    homes = [
        address
        for turn in range(max(threads.values()))
        for address, count in threads.items()
        if turn < count
    ]
    return homes[: max(1, min(len(homes), pieces))]


# --- on the workers -----------------------------------------------------------------------


class Complaint(NamedTuple):
    """What is wrong with a part.  An answer, not an error: Dask would print its traceback too."""

    text: str


def _collect(pieces: list, labels: list, weights: list, first: int) -> Block | Complaint:
    """The partitions of one part, checked and put together; labels as they came."""
    Xs, ys, ws = [], [], []
    for number, (X, y, weight) in enumerate(zip(pieces, labels, weights, strict=True), first):
        try:
            X, y = _check_piece(X, y, number)
            ws.append(_check_weight(weight, len(y), number))
        except ValueError as error:
            return Complaint(str(error))
        Xs.append(X)
        ys.append(y)
    whole = [X for X in Xs if X.shape[0]] or Xs[:1]
    dtype = np.result_type(*whole) if len({X.dtype for X in whole}) > 1 else whole[0].dtype
    if any(sparse.issparse(X) for X in whole):
        X = canonical(sparse.csr_matrix(sparse.vstack(whole, format="csr", dtype=dtype)))
    else:
        X = whole[0] if len(whole) == 1 else np.concatenate(whole)
        X = np.ascontiguousarray(X, dtype=dtype)
    weight = None if ws[0] is None else np.concatenate(ws)
    return Block(X, np.concatenate(ys), weight)


def numbers(X):
    """float32 or float64 rows, dense or CSR; what is missing becomes NaN."""
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.dtype in FLOAT_DTYPES:
        return X
    if X.dtype == object:  # columns of pandas' own types
        X = np.where(_missing(X), np.nan, X)
    return X.astype(np.float64)


def labels(y) -> np.ndarray:
    """Labels of one dtype; whole numbers and truth values that come as objects are themselves."""
    y = np.asarray(y).ravel()
    if y.dtype != object:
        return y
    kinds = {type(label) for label in y[~_missing(y)]}
    for kind, dtype in ((bool | np.bool_, bool), (int | np.integer, np.int64)):
        if kinds and len(y) and all(issubclass(each, kind) for each in kinds):
            return y if _missing(y).any() else y.astype(dtype)
    return y


def _missing(values: np.ndarray) -> np.ndarray:
    """Where there is None, NaN or pandas' NA among objects."""
    try:
        from pandas import isna
    except ImportError:
        return np.vectorize(lambda v: v is None or v != v, otypes=[bool])(values)
    return isna(values)


def _check_piece(X, y, number: int):
    try:
        X = numbers(X)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Partition {number} of X holds what is no number: {error}. Turn words and categories "
            "into numbers first, for instance with dask.dataframe.get_dummies."
        ) from None
    values = X.data if sparse.issparse(X) else X
    y = labels(y)
    if X.shape[0] != len(y):
        raise ValueError(
            f"Partition {number} has {X.shape[0]} rows in X, but {len(y)} labels in y. "
            "Cut both at the same rows."
        )
    if not np.isfinite(values).all():
        bad = ~np.isfinite(values)
        row = (
            np.searchsorted(X.indptr, np.flatnonzero(bad)[0], "right") - 1
            if sparse.issparse(X)
            else np.flatnonzero(bad.any(axis=1))[0]
        )
        raise ValueError(
            f"Partition {number} of X holds NaN or infinity, first in its row {int(row)}. "
            "Fill or drop such rows first."
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"Partition {number} of y holds NaN or infinity.")
    if y.dtype == object and _missing(y).any():
        row = int(np.flatnonzero(_missing(y))[0])
        raise ValueError(
            f"Partition {number} of y has no label in {int(_missing(y).sum())} rows, first in its "
            f"row {row}. Drop such rows first."
        )
    return X, y


def _check_weight(weight, n: int, number: int):
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64).ravel()
    if len(weight) != n:
        raise ValueError(f"Partition {number} has {n} rows, but {len(weight)} weights.")
    if n and not (np.isfinite(weight).all() and weight.min() >= 0):
        raise ValueError(f"Partition {number} of sample_weight holds a negative or NaN weight.")
    return weight


class BlockSummary(NamedTuple):
    labels: np.ndarray
    width: int
    rows: int
    dtype: np.dtype


def _seen(block: Block | Complaint) -> BlockSummary | Complaint:
    if isinstance(block, Complaint):
        return block
    y = block.y
    if len(y) and y.dtype.kind not in "iub":
        try:
            check_classification_targets(y)
        except ValueError as error:
            return Complaint(str(error))
    return BlockSummary(np.unique(y), block.X.shape[1], len(y), block.X.dtype)


def _coded(block: Block, classes: np.ndarray, dtype) -> Block:
    codes = np.searchsorted(classes, block.y).astype(np.int64)
    X = block.X if block.X.dtype == dtype else block.X.astype(dtype)
    return Block(X, codes, block.weight)


def _tally(block: Block, k: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows and weights by class, and how many rows have another weight than 1."""
    counts, mass = np.bincount(block.y, minlength=k), np.bincount(block.y, block.weight, k)
    return counts, mass, 0 if block.weight is None else int((block.weight != 1.0).sum())


def _weighted(block: Block, by_class: np.ndarray) -> Block:
    weight = by_class[block.y]
    return block._replace(weight=weight if block.weight is None else weight * block.weight)


# --- put together -------------------------------------------------------------------------


def _encode(estimator, client, raw, seen: list[BlockSummary], names, weigh: bool) -> DaskData:
    """Labels to codes of all classes; class weights into the rows' weights."""
    name = type(estimator).__name__
    full = [part for part in seen if part.rows]
    if not full:
        raise ValueError(f"{name} needs rows to learn from, but every partition of X is empty.")
    if len({part.width for part in full}) > 1:
        found = sorted({part.width for part in full})
        raise ValueError(f"All partitions of X must have as many columns, found {found}.")
    raw = [part for part, what in zip(raw, seen, strict=True) if what.rows]
    classes = np.unique(np.concatenate([part.labels for part in full]))
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs at least two classes, but y holds only one class: {classes[0]}. "
            "Check that the target column is right."
        )
    dtype = np.result_type(*[part.dtype for part in full])
    submit = client.submit
    blocks = [submit(_coded, part, classes, dtype, pure=False) for part in raw]
    tallies = gather(client, [submit(_tally, block, len(classes), pure=False) for block in blocks])
    counts, mass, unlike = (sum(column) for column in zip(*tallies, strict=True))
    parts = DaskParts(client, blocks, full[0].width)
    data = DaskData(parts, classes, counts, mass, np.dtype(dtype), names, bool(unlike))
    return weighed(data, estimator) if weigh else data


def weighed(data: DaskData, estimator) -> DaskData:
    """Class weights into the rows' weights."""
    by_class = weights_by_class(estimator, data)
    if by_class is None:
        return data
    submit, old = data.parts.client.submit, data.parts
    blocks = [submit(_weighted, block, by_class, pure=False) for block in old.blocks]
    parts = DaskParts(old.client, blocks, old.n_features, old.traffic)
    return replace(data, parts=parts, mass=data.mass * by_class)
