"""Scores of linear models on torch rows, where these are."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...core.rows.torch_rows import Precision, TorchRows
from .door import check_device_rows


def tensor_scores(model, X: Any) -> torch.Tensor:
    """X Wᵀ + b, (n,) for one row of weights and (n, m) for more: in float32, or float64."""
    name = type(model).__name__
    rows = check_device_rows(name, X, None)
    if rows.d != model.n_features_in_:
        raise ValueError(
            f"X has {rows.d} features, but {name} is expecting {model.n_features_in_} features as "
            "input."
        )
    W = torch.as_tensor(model.coef_).to(rows.device, torch.float64).T
    b = torch.as_tensor(model.intercept_).to(rows.device, torch.float64)
    found = scores(rows, W, b)
    several = len(model.classes_) > 2 or hasattr(model, "n_labels_")
    return found if several else found[:, 0]


def scores(rows: TorchRows, W: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """X W + b of all rows."""
    double = rows.dtype is torch.float64
    precision = Precision.EXACT if double else Precision.FINE
    operand, k = rows.operand(W, precision), W.shape[1]
    width = torch.float64 if double else torch.float32
    out = torch.empty((rows.n, k), dtype=width, device=rows.device)
    with rows.width(precision):
        for part, block in rows.chunks(k, precision):
            out[part] = rows.scores(block, operand, k)
    return out.add_(b.to(width))


def guesses(rows: TorchRows, W: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The class of every row by its highest score, without an (n, k) array."""
    double = rows.dtype is torch.float64
    precision = Precision.EXACT if double else Precision.FINE
    operand, k = rows.operand(W, precision), W.shape[1]
    out = torch.empty(rows.n, dtype=torch.int64, device=rows.device)
    with rows.width(precision):
        for part, block in rows.chunks(k, precision):
            S = rows.scores(block, operand, k)
            S += b.to(S.dtype)
            out[part] = S.argmax(1) if k > 1 else (S[:, 0] > 0).long()
    return out


def distances(f: torch.Tensor, W: np.ndarray) -> torch.Tensor:
    """min over c′ ≠ c of (f_c − f_c′)/‖W_c − W_c′‖, class by class."""
    apart = torch.cdist(*2 * (torch.from_numpy(W)[None],))[0].to(f.device, f.dtype)
    apart[apart == 0.0] = 1.0
    out = torch.empty_like(f)
    for c in range(len(W)):
        away = (f[:, [c]] - f) / apart[c]
        away[:, c] = torch.inf
        out[:, c] = away.amin(1)
    return out
