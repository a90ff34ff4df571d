"""Probabilities of a fit over parts: a uniform sample of the rows, judged by fits without them.

Every row is drawn or not by a lot of its own, so that the sample is uniform and one pass over the
parts has it.  The sample stands for all rows, each of its own weighing as much as n/m of them; it
is judged fold by fold in memory, by fits to the other folds, and the scores calibrate the model as
those of all rows would.  Their models know fewer rows, so that probabilities are a little less
sure than they could be.
"""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..models.calibration.calibration import learn
from ..models.calibration.error_estimate import counted
from ..models.calibration.unseen import FOLDED, FOLDS, by_folds, most_calibration_rows
from ..models.perceptron.perceptron import Perceptron
from .data import PartsData, class_weights
from .parts import Block

# Values of the sample, at most: 16 MB; and of what may be in hand, the share it may take.
MAX_SAMPLE_VALUES, ROOM_SHARE, VALUE_BYTES = 1 << 21, 0.25, 16
# Values that a sparse row is taken to store at most.
SPARSE_ROW_VALUES = 200


class Sample(NamedTuple):
    """Some rows, the places of their labels and their weights, class weights included."""

    X: Any
    codes: np.ndarray
    weight: np.ndarray


def calibrate(estimator: Any, data: PartsData) -> None:
    """What ``probability=True`` asks for, after a fit to all rows of ``data``."""
    X, codes, weight = sample = uniform_sample(data, seed=0)
    for_fits = None if isinstance(estimator, Perceptron) else weight * (data.n / len(codes))
    scores = by_folds(_judges(estimator), X, codes, for_fits, np.arange(len(codes)))
    some = np.flatnonzero(np.isfinite(scores).all(axis=1))  # not alone, and of some weight
    scores = scores[some]
    S, predicted = estimator._interpreted(scores)
    error = counted(predicted != codes[some], FOLDED)
    share = _row_weights(estimator, data, sample)[some] if data.weighed else None
    own = estimator._own_probabilities
    estimator.calibration_ = learn(S, codes[some], FOLDED, error, share, own)


def uniform_sample(data: PartsData, seed: int) -> Sample:
    """Rows drawn by lot, in one pass; of a class that has fewer than five of them five more of
    each part, for without it no fit would know the class."""
    k, d = len(data.classes), data.parts.n_features
    d = min(d, SPARSE_ROW_VALUES) if data.parts.sparse else d
    values = min(MAX_SAMPLE_VALUES, ROOM_SHARE * data.room / VALUE_BYTES)
    wanted = min(most_calibration_rows(k), max(FOLDS * k, values / max(1, d)))
    parts = list(data.parts.ask(_drawn, min(1.0, wanted / data.n), seed))
    drawn = np.sum([np.bincount(part.codes[chosen], minlength=k) for part, chosen in parts], axis=0)
    kept = []
    for part, chosen in parts:
        places = np.flatnonzero(chosen | (drawn[part.codes] < FOLDS))
        if len(places):
            kept.append([each[places] for each in part])
    X, codes, weight = zip(*kept, strict=True)
    whole = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
    return Sample(whole, np.concatenate(codes), np.concatenate(weight))


def _drawn(block: Block, state, share: float, seed: int):
    """The rows drawn from a part, and of every class its first in the draw; which were drawn."""
    n = len(block.y)
    weight = np.ones(n) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    lots = np.random.default_rng([seed, n, _print_of(block)]).random(n)
    lots[weight <= 0.0] = np.inf
    order = np.argsort(lots, kind="stable")
    first = np.zeros(n, dtype=bool)
    for code in np.unique(block.y):
        mine = order[block.y[order] == code][:FOLDS]
        first[mine[np.isfinite(lots[mine])]] = True
    index = np.flatnonzero((lots < share) | first)
    drawn = Sample(block.X[index], block.y[index].astype(np.int64), weight[index])
    return state, (drawn, lots[index] < share)


def _print_of(block: Block) -> int:
    """Of parts as long as each other other lots: of their labels and first values."""
    first = block.X.data[:64] if sparse.issparse(block.X) else block.X[:2]
    return zlib.crc32(np.ascontiguousarray(first).tobytes(), zlib.crc32(block.y.tobytes()))


def _judges(estimator: Any) -> Any:
    """The estimator as it is in memory; class weights are in the weights of the rows."""
    plain = estimator.plain() if hasattr(estimator, "where_") else _copied(estimator)
    if getattr(plain, "class_weight", None) is not None and not isinstance(plain, Perceptron):
        plain.class_weight = None
    return plain


def _copied(estimator: Any) -> Any:
    copied = type(estimator)(**estimator.get_params(deep=False))
    copied.classes_, copied.certificate_ = estimator.classes_, estimator.certificate_
    return copied


def _row_weights(estimator: Any, data: PartsData, sample: Sample) -> np.ndarray:
    """The weights that rows were given, without those of their classes."""
    given = getattr(estimator, "class_weight", None)
    if given is None or isinstance(estimator, Perceptron):
        return sample.weight
    return sample.weight / class_weights(given, data.classes, data.counts)[sample.codes]
