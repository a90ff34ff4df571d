"""Starts for fits to the same rows with another C, whoever leads the loop over C.

``GridSearchCV``, ``cross_val_score`` in a loop, ``LogisticRegressionCV`` and plain loops all come
back to the same training rows with another C, often after other folds.  The last few solutions are
kept, and the nearest C begins where it ended.  A start is a hint: the answer is proved all the
same, so the rows are known again by a sample of their values.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

# Problems remembered (folds times classes times kinds of model), and numbers in all: 160 MB.
MAX_PROBLEMS, MAX_NUMBERS = 2000, 2e7
# Values of X that enter its fingerprint.
SAMPLED_VALUES = 512

_lock, _here = threading.Lock(), threading.local()
_known: OrderedDict[tuple, dict[float, Any]] = OrderedDict()
_numbers: dict[tuple, int] = {}


def fingerprint(X: Any, y: np.ndarray, *rest: Any) -> tuple:
    """Of rows, labels and whatever else but C makes the problem; ``rest`` must be hashable."""
    values = X.data if sparse.issparse(X) else X.ravel(order="K")
    step = max(1, len(values) // SAMPLED_VALUES)
    return X.shape, len(values), values[::step].tobytes(), hash(y.tobytes()), *rest


@contextmanager
def from_cold() -> Iterator[None]:
    """No starts, and nothing remembered, in this thread: for a fair clock."""
    _here.cold = True
    try:
        yield
    finally:
        _here.cold = False


def start(key: tuple, C: float) -> Any:
    """The solution for the nearest C, or None."""
    with _lock:
        if key not in _known or getattr(_here, "cold", False):
            return None
        _known.move_to_end(key)
        nearest = min(_known[key], key=lambda other: abs(np.log(other / C)))
        return _known[key][nearest]


def keep(key: tuple, C: float, solution: Any, numbers: int) -> None:
    """Remember a solution of so many numbers; of one problem the last two."""
    if numbers > MAX_NUMBERS / 4 or getattr(_here, "cold", False):
        return
    with _lock:
        mine = _known.setdefault(key, {})
        mine[C] = solution
        while len(mine) > 2:
            del mine[next(iter(mine))]
        _known.move_to_end(key)
        _numbers[key] = numbers * len(mine)
        while len(_known) > MAX_PROBLEMS or sum(_numbers.values()) > MAX_NUMBERS:
            gone, _ = _known.popitem(last=False)
            del _numbers[gone]


def forget() -> None:
    """Let go of all solutions."""
    with _lock:
        _known.clear()
        _numbers.clear()
