"""Data validated once for many fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...core.solve.softmax.path_state import PathState
from ..validation import check_sample_weight, check_training, check_weights


def checked(estimator, X, y, sample_weight) -> CheckedData:
    """Validate; names and number of the features are noted on the estimator."""
    X, classes, codes = check_training(estimator, X, y)
    weight = check_sample_weight(X, sample_weight)
    return CheckedData(X, classes[codes], weight, classes, codes)


@dataclass(frozen=True)
class CheckedData:
    """Validated rows, labels as the user wrote them, weights or None, and labels as numbers."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    classes: np.ndarray
    codes: np.ndarray

    def part(self, index: np.ndarray) -> CheckedData:
        weight = None if self.weight is None else self.weight[index]
        return CheckedData(self.X[index], self.y[index], weight, self.classes, self.codes[index])

    def fit(self, model, memory: PathState | None = None) -> None:
        """Fit, without validating again what has been validated."""
        if not hasattr(model, "_fit_checked") or self.lacks_a_class:
            model.fit(self.X, self.y, **self.given())
            return
        X, classes, codes = self.X, self.classes, self.codes
        weight = check_weights(model, X, codes, classes, self.weight, model.class_weight)
        model.n_features_in_ = X.shape[1]
        model._fit_checked(X, classes, codes, weight, memory)

    @cached_property
    def lacks_a_class(self) -> bool:
        return len(np.unique(self.codes)) < len(self.classes)

    def given(self) -> dict:
        """What a fit gets besides X and y."""
        return {} if self.weight is None else {"sample_weight": self.weight}

    @property
    def nbytes(self) -> int:
        X = self.X
        return X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
