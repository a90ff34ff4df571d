"""What comes in through the door as tensors, or is to be computed on a device: checked once.

What has n rows and many columns stays where it is, or goes to the device and does not come back;
labels may visit the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from ...core.rows.torch_design import TorchDesign
from ...core.rows.torch_rows import CHUNK_VARIABLE, WIDTHS, TorchRows
from ..labels import label_codes
from ..validation import check_class_weight
from .tensors import is_tensor


@dataclass(frozen=True)
class DeviceData:
    """Rows on their device, labels as codes or as columns of 0 and 1, weights in [0, 1].

    ``price``: the largest weight, by which C is to be multiplied.  ``home``: where results belong,
    None for NumPy arrays.
    """

    rows: TorchRows
    classes: np.ndarray
    codes: torch.Tensor | None
    columns: torch.Tensor | None
    weight: torch.Tensor | None
    price: float
    home: torch.device | None

    def design(self, centred: bool) -> TorchDesign:
        return TorchDesign(self.rows, self.weight, centred)

    def tell(self, value: torch.Tensor) -> Any:
        """A result in float64 where the input was."""
        value = value.detach().double()
        return value.cpu().numpy() if self.home is None else value.to(self.home)

    def part(self, index: np.ndarray) -> DeviceData:
        """Some rows; their weights keep their meaning."""
        at = torch.as_tensor(index, device=self.rows.device)
        codes, columns, weight = (
            None if each is None else each[at] for each in (self.codes, self.columns, self.weight)
        )
        rows = self.rows.take(at)
        return replace(self, rows=rows, codes=codes, columns=columns, weight=weight)


def check_device_data(estimator, X, y, sample_weight=None, several: bool = False) -> DeviceData:
    """Rows, labels and weights for a fit; ``several``: labels may be columns of 0 and 1."""
    name = type(estimator).__name__
    device = getattr(estimator, "device", None)
    rows = check_device_rows(name, X, device)
    estimator.n_features_in_ = rows.d
    estimator.__dict__.pop("feature_names_in_", None)
    labels = y if is_tensor(y) else np.asarray(y)
    if len(labels) != rows.n:
        raise ValueError(f"There are {rows.n} rows in X but {len(labels)} labels in y.")
    if labels.ndim == 2 and labels.shape[1] > 1:
        if not several:
            raise ValueError(f"{name} takes one label a row, got y of shape {tuple(labels.shape)}.")
        columns, classes, codes = check_columns(labels, rows.device), np.array([0, 1]), None
    else:
        columns, (classes, codes) = None, _codes(name, labels.reshape(-1), rows.device)
    by_class = getattr(estimator, "class_weight", None)
    weight, price = _weights(rows, classes, codes, sample_weight, by_class)
    home = X.device if is_tensor(X) else None
    return DeviceData(rows, classes, codes, columns, weight, price, home)


def check_device_rows(name: str, X: Any, device: Any) -> TorchRows:
    """X as rows on the device: two dimensions, floating-point, finite."""
    if hasattr(X, "toarray"):
        raise ValueError(
            f"{name} with device={device!r} takes dense rows, got a sparse matrix. Leave device "
            "out: sparse data are fitted on the CPU."
        )
    X = X.detach() if is_tensor(X) else torch.from_numpy(np.ascontiguousarray(np.asarray(X)))
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must have rows and columns, got shape {tuple(X.shape)}.")
    if X.dtype not in WIDTHS:
        if X.dtype.is_complex:
            raise ValueError(f"X must hold real numbers, got {X.dtype}.")
        X = X.float()
    rows = TorchRows(X, _device(device, X.device))
    for _, block in rows.chunks():
        if not bool(block.isfinite().all()):
            raise ValueError(
                "Input X contains NaN, infinity or a value too large for its type. Fill in or "
                "leave out such rows first."
            )
    return rows


def _device(device: Any, found: torch.device) -> torch.device:
    asked = torch.device(found if device is None else device)
    if asked.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} was asked for, but torch sees no CUDA device here. Use "
            "device='cpu', or leave device out."
        )
    if asked.type == "cuda" and asked.index is None:
        asked = torch.device("cuda", torch.cuda.current_device())
    return asked


def _codes(name: str, y: Any, device) -> tuple[np.ndarray, torch.Tensor]:
    if is_tensor(y):
        found, codes = torch.unique(y, return_inverse=True)
        classes = found.cpu().numpy()
    else:
        classes, places = label_codes(y)
        codes = torch.from_numpy(np.asarray(places, dtype=np.int64))
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs at least two classes, but y holds only one class: {classes[0]}. Check "
            "that the target column is right and that the training part contains examples of "
            "every class."
        )
    return classes, codes.to(device=device, dtype=torch.int64)


def check_columns(y: Any, device: Any) -> torch.Tensor:
    """Labels of 0 and 1, one problem a column; each must occur in every column."""
    T = y if is_tensor(y) else torch.from_numpy(np.ascontiguousarray(y))
    whole = T.bool()
    if not bool((whole.to(T.dtype) == T).all()):
        raise ValueError(
            "y with several columns must hold 0 and 1 only, one label a column, got other values."
        )
    ones = whole.sum(0)
    if lone := torch.nonzero((ones == 0) | (ones == len(T))).flatten().tolist():
        raise ValueError(
            f"Every column of y must hold both 0 and 1, but column {lone[0]} does not"
            + (f", nor do {len(lone) - 1} others" if len(lone) > 1 else "")
            + ". Leave such labels out."
        )
    return whole.to(device)


def _weights(rows, classes, codes, sample_weight, class_weight):
    """ω in [0, 1] and the largest weight; None and one where there are none."""
    weight = None
    if sample_weight is not None:
        weight = torch.as_tensor(sample_weight).to(rows.device, torch.float64).reshape(-1)
        if len(weight) != rows.n:
            raise ValueError(f"There are {rows.n} rows in X but {len(weight)} sample weights.")
        if not bool(weight.isfinite().all()) or float(weight.min()) < 0.0:
            raise ValueError("sample_weight must hold finite numbers of at least 0.")
    if class_weight is not None:
        if codes is None:
            raise ValueError("class_weight is for one label a row, got y with several columns.")
        labels = classes[codes.cpu().numpy()]
        by_class = torch.from_numpy(check_class_weight(class_weight, classes, labels))
        mine = by_class.to(rows.device, torch.float64)[codes]
        weight = mine if weight is None else weight * mine
    if weight is None:
        return None, 1.0
    price = float(weight.max())
    if price == 0.0:
        raise ValueError("Every weight is 0: no example is left to fit to.")
    return weight / price, price


@contextmanager
def tidy(chunk: int) -> Iterator[None]:
    """Where a device's memory does not suffice: said in words, and all of it given back."""
    failed = ""
    try:
        yield
    except torch.OutOfMemoryError as error:
        failed = str(error).split(". ")[0]
    if failed:  # outside of the handler, whose traceback would keep every tensor alive
        torch.cuda.empty_cache()
        raise MemoryError(
            f"{failed}. Rows are multiplied {chunk:,} at a time: set {CHUNK_VARIABLE} to a "
            "smaller number, or move what else is on the device away."
        )
