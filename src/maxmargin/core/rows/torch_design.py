"""Torch rows with their weights, centred by arithmetic: mean, Gram matrix, and both products.

    x̃_i = x_i − μ,    μ = Σ ω x / Σ ω,    X̃ V = X V − μᵀV,    Σ x̃ rᵀ = Σ x rᵀ − μ (Σ r)ᵀ

Costs are c_i = C ω_i with the largest ω one, so that what is multiplied keeps within the narrowest
width, and what depends on the rows alone serves every C.
"""

from __future__ import annotations

from functools import cached_property

import torch

from .torch_rows import Precision, TorchRows, added, product, split

# Columns up to which the Gram matrix is diagonalised; beyond, its diagonal stands for it.
MAX_EIGEN_COLUMNS = 6000
# float16 has few exponents: what rows are combined with, at most one in size, is scaled by this.
HALF_SCALE = 1024.0


class TorchDesign:
    """Rows, weights ω in [0, 1] (None: all one), and whether a free bias lets them be centred."""

    def __init__(self, rows: TorchRows, weight: torch.Tensor | None = None, centred: bool = True):
        self.rows, self.weight, self.centred = rows, weight, centred
        self.shape = rows.n, rows.d
        self.mass = float(rows.n) if weight is None else float(weight.sum())

    def zeros(self, *size: int) -> torch.Tensor:
        return torch.zeros(size, dtype=torch.float64, device=self.rows.device)

    def share(self, part: slice, dtype: torch.dtype) -> torch.Tensor | None:
        """The weights of some rows, as a column."""
        return None if self.weight is None else self.weight[part, None].to(dtype)

    @cached_property
    def mu(self) -> torch.Tensor:
        """The weighted mean, by products in float64; zero where rows are not centred."""
        total = self.zeros(self.rows.d)
        if not self.centred:
            return total
        for part, block in self.rows.chunks(1, Precision.EXACT):
            wide = block.double()
            total += wide.sum(0) if self.weight is None else self.weight[part].double() @ wide
        return total / self.mass

    @cached_property
    def lengths(self) -> torch.Tensor:
        """‖x‖ of every row, in float64."""
        found = [block.double().norm(dim=1) for _, block in self.rows.chunks(1, Precision.EXACT)]
        return torch.cat(found)

    @cached_property
    def column_norms(self) -> torch.Tensor:
        """‖column of x̃‖, weighted."""
        total = self.zeros(self.rows.d)
        for part, block in self.rows.chunks(1, Precision.EXACT):
            squares = (block.double() - self.mu).square()
            share = self.share(part, torch.float64)
            total += (squares if share is None else squares * share).sum(0)
        return total.sqrt()

    def gram(self, precision: Precision = Precision.QUICK) -> torch.Tensor:
        """Σ ω x̃ x̃ᵀ in float64; about μ before it is summed where that is to be exact."""
        total = self.zeros(self.rows.d, self.rows.d)
        exact = precision is Precision.EXACT
        with self.rows.width(precision):
            for part, block in self.rows.chunks(self.rows.d, precision):
                block = block.double() - self.mu if exact else block
                share = self.share(part, block.dtype)
                right = block if share is None else block * share
                total += product(block.T, right)
        return total if exact else total - self.mass * torch.outer(self.mu, self.mu)

    @cached_property
    def spectrum(self) -> tuple[torch.Tensor | None, torch.Tensor]:
        """Eigenvectors and eigenvalues of the Gram matrix, or None and its diagonal."""
        G = self.gram()
        if self.rows.d > MAX_EIGEN_COLUMNS:
            return None, G.diagonal().clamp_min(0.0)
        values, vectors = torch.linalg.eigh(G)
        return vectors, values.clamp_min(0.0)

    def combine(self, block: torch.Tensor, R: torch.Tensor, precision: Precision) -> torch.Tensor:
        """Σ x rᵀ of a chunk; R wider than the data is multiplied in parts."""
        rows = self.rows
        if precision is Precision.EXACT or not rows.narrow:
            return product(block.T, R if precision is Precision.EXACT else R.to(rows.dtype))
        half = rows.dtype is torch.float16
        parts = precision.residual_parts
        if R.dtype is not rows.dtype:
            R = split(R * HALF_SCALE if half else R, rows.dtype, parts)
        total = added(product(block.T, R), R.shape[1] // parts)
        return total / HALF_SCALE if half else total
