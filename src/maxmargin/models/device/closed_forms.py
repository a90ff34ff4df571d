"""Least squares on torch rows: what it needs of the data is small.

    (G + αI) W = Σ ω x̃ tᵀ,     G = Σ ω x̃ x̃ᵀ  (d × d),     Σ ω x̃ tᵀ  (d × k)

Both are summed up in float64 where the rows are and solved there; the gradient, which corrects W
and proves it, is taken from the rows again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from ...core.certify.normal_equations import NormalEquations
from ...core.certify.rounding import gamma
from ...core.problem.torch_outputs import LogisticOutputs, SoftmaxOutputs
from ...core.rows.torch_design import TorchDesign
from ...core.rows.torch_rows import EXACT_CHUNK_VALUES, Precision, product
from ..validation import all_or_nothing, at_least_zero
from .door import DeviceData, check_device_data, tidy

# Eigenvalues of G below this share of the largest are none: rounding of sums of many rows.
RANK_SHARE = 1e-11
# Corrections by the gradient from the rows; each gains the digits the last one had.
REFINEMENTS = 2


def targets_of(data: DeviceData) -> Any:
    """Columns to be met: 1 of k, or −1 and 1 of two classes (as 0 and 1, doubled later)."""
    if data.columns is not None:
        return LogisticOutputs(data.columns)
    assert data.codes is not None
    if len(data.classes) == 2:
        return LogisticOutputs((data.codes == 1)[:, None])
    return SoftmaxOutputs(data.codes, len(data.classes))


class TargetSums:
    """Σ ω t, Σ ω x̃ tᵀ and Σ ω t² of the targets, which are −1 and 1 where they are signs."""

    def __init__(self, design: TorchDesign, targets, signs: bool):
        self.design, self.targets, self.signs = design, targets, signs
        self.k = targets.k
        total, XT, squares = design.zeros(self.k), design.zeros(design.rows.d, self.k), 0.0
        for part, block in design.rows.chunks(self.k, Precision.EXACT):
            T = self.block(part)
            share = design.share(part, torch.float64)
            weighted = T if share is None else T * share
            total += weighted.sum(0)
            squares += float((weighted * T).sum())
            XT += product(block.T, weighted)
        self.total, self.squares = total, squares
        self.XT = XT - torch.outer(design.mu, total)

    def block(self, part: slice) -> torch.Tensor:
        T = self.targets.block(part, torch.float64)
        return 2.0 * T - 1.0 if self.signs else T


def fit_least_squares(model, X, y, sample_weight=None) -> Any:
    """W with (G + αI) W = Σ ω x̃ tᵀ, by eigenvectors of G: the smallest W where there are many."""
    with all_or_nothing(model):
        if model.alphas is not None:
            raise ValueError(
                "alphas= leaves every row out in turn, which works on NumPy arrays, got torch "
                "rows. Give one alpha, or pass arrays and no device."
            )
        alpha = at_least_zero("alpha", model.alpha)
        data = check_device_data(model, X, y, sample_weight, several=True)
        with tidy(data.rows.chunk):
            W, b, certificate = _least_squares(model, data, alpha)
        model.classes_, model.alpha_ = data.classes, alpha
        model.__dict__.pop("n_labels_", None)
        model.__dict__.pop("path_", None)
        if data.columns is not None:
            model.n_labels_ = data.columns.shape[1]
        model.coef_, model.intercept_ = data.tell(W.T.contiguous()), data.tell(b)
        model.certificate_ = certificate
    if not model.certificate_.holds(1e-6):
        model._warn()
    return model


def _least_squares(model, data: DeviceData, alpha: float):
    """(W, b, proof); a weight ω means price·ω, so the ridge is divided by that."""
    design, ridge = data.design(bool(model.fit_intercept)), alpha / data.price
    signs = data.codes is None or len(data.classes) == 2
    sums = TargetSums(design, targets_of(data), signs)
    G = design.gram(Precision.EXACT)
    values, U = torch.linalg.eigh(G)
    keep = values > RANK_SHARE * values.max()
    inverse = torch.where(keep, 1.0 / (values + ridge).clamp_min(1e-300), 0.0)[:, None]
    offset = sums.total / design.mass if model.fit_intercept else design.zeros(sums.k)
    W = U @ (inverse * (U.T @ sums.XT))
    for _ in range(REFINEMENTS):
        slope, _ = _slopes(design, sums, W, offset, ridge)
        W = W + U @ (inverse * (U.T @ slope[:-1]))
    slope, loss = _slopes(design, sums, W, offset, ridge)
    solved = _Solved(W, ridge, slope, loss, values, keep)
    proof = _normal_equations(design, sums, solved, data.price)
    return W, offset - design.mu @ W, proof


class _Solved(NamedTuple):
    """The weights, minus the gradient and the loss there, and eigenvalues of G, with those kept."""

    W: torch.Tensor
    ridge: float
    slope: torch.Tensor
    loss: float
    values: torch.Tensor
    keep: torch.Tensor


def _slopes(design: TorchDesign, sums: TargetSums, W, offset, ridge: float):
    """Minus the gradient, biases' last, and the loss, from the rows in float64."""
    rows, k = design.rows, sums.k
    total, bias, loss = design.zeros(rows.d, k), design.zeros(k), design.zeros(1)
    shift = offset - design.mu @ W
    for part, block in rows.chunks(k, Precision.EXACT):
        R = sums.block(part) - product(block, W) - shift
        share = design.share(part, torch.float64)
        weighted = R if share is None else R * share
        loss += 0.5 * (weighted * R).sum()
        bias += weighted.sum(0)
        total += product(block.T, weighted)
    slope = total - torch.outer(design.mu, bias) - ridge * W
    return torch.cat([slope, bias[None]]), float(loss)


def _normal_equations(
    design: TorchDesign, sums: TargetSums, solved: _Solved, price: float
) -> NormalEquations:
    """The certificate: the gradient relative to features and targets, and what it leaves."""
    W, ridge, slope, loss, values, keep = solved
    n, d = design.shape
    centred = sums.squares - float((sums.total**2).sum()) / design.mass
    free = bool(design.centred)
    length = max(centred if free else sums.squares, 0.0) ** 0.5 or 1.0
    scale = design.column_norms[:, None] * length
    entries = slope[:-1].abs() / torch.where(scale > 0, scale, torch.inf)
    relative = float(entries.max())
    if free:
        relative = max(relative, float(slope[-1].abs().max()) / (design.mass**0.5 * length))
    doubt = _rounding(design, sums, W, loss, length)
    kept = values[keep]
    least = float(kept.min()) + ridge if len(kept) else ridge
    excess = 0.5 * float(slope[:-1].square().sum()) / least if least > 0 else np.inf
    if free:
        excess += 0.5 * float(slope[-1].square().sum()) / design.mass
    alpha = ridge * price
    return NormalEquations(
        objective=price * (loss + 0.5 * ridge * float(W.square().sum())),
        relative_residual=relative + doubt,
        excess=price * excess,
        null_objective=price * 0.5 * length**2,
        alpha=alpha,
        system="columns",
        factorisation="eigenvectors",
        size=d,
        rank=int(keep.sum()) if ridge == 0.0 else d,
        condition=(float(values.max()) + ridge) / least if least > 0 else np.inf,
        refinements=REFINEMENTS,
        problem=f"least squares, {n} rows, {d} columns, {W.shape[1]} targets, alpha={alpha:g}",
        method=f"recomputed from the data on {design.rows.device.type} in float64",
        rounding=doubt,
    )


def _rounding(design: TorchDesign, sums: TargetSums, W, loss: float, length: float) -> float:
    """What rounding can have done to the largest entry of the gradient, relative as that is.

    |δ r_i| ≤ γ_d ‖x_i‖ ‖W‖, and a sum over rows is off by γ_chunk ‖column‖ ‖r‖.
    """
    n, d = design.shape
    chunk = min(design.rows.chunk, max(256, EXACT_CHUNK_VALUES // max(d, sums.k)))
    whole = float((design.column_norms.square() + design.mass * design.mu.square()).max().sqrt())
    narrow = float(design.column_norms.max()) or 1.0
    added = gamma(chunk + n // chunk + 8) * (2.0 * loss) ** 0.5 * whole / narrow
    scores = gamma(d + 4) * float(W.norm()) * float(design.lengths.norm())
    return (added + scores) / length
