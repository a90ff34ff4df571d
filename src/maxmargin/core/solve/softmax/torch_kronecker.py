"""The Kronecker model of the Hessian of smooth losses on torch rows.

I + C/Σω · G ⊗ A,   G = Σ ω x̃ x̃ᵀ,   A = Σ ω ∇²f_i
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from .torch_newton import TorchNewton

# Curvatures below this share of the largest are not seen: equal shifts of all classes.
UNSEEN_SHARE = 1e-10


class TorchKronecker:
    """(I + C/Σω · G ⊗ A)⁻¹ for weights, (C A)⁺ for biases; A a matrix, or one number a column."""

    def __init__(self, search: TorchNewton, Q: torch.Tensor):
        design, outputs, C = search.design, search.outputs, search.C
        A: Any = 0.0
        size = design.rows.chunk
        for start in range(0, design.rows.n, size):
            part = slice(start, start + size)
            some = Q[part]
            A = A + outputs.curvature(some, part, design.share(part, some.dtype))
        self.V: torch.Tensor | None = None
        self.level = outputs.level
        self.diagonal = A.diagonal() if outputs.joint else A
        if outputs.joint:
            values, vectors = torch.linalg.eigh(A)
            self.V = vectors.to(search.work)
        else:
            values = A
        values = values.clamp_min(0.0)
        U, spectrum = design.spectrum
        self.U = None if U is None else U.to(search.work)
        bend = C / design.mass * torch.outer(spectrum.double(), values)
        self.weights = (1.0 / (1.0 + bend)).to(search.work)
        seen = values > UNSEEN_SHARE * values.max()
        self.biases = torch.where(seen, 1.0 / (C * values).clamp_min(1e-300), 0.0).to(search.work)
        if not search.problem.bias:
            self.biases.zero_()

    def bias(self, r: torch.Tensor) -> torch.Tensor:
        """(C A)⁺ r."""
        if self.V is None:
            return r * self.biases
        return self.level(self.V.double() @ ((r @ self.V.double()) * self.biases))

    def __call__(self, R: torch.Tensor) -> torch.Tensor:
        top, bias = R[:-1], R[-1]
        if self.V is not None:
            top, bias = top @ self.V, bias @ self.V
        if self.U is not None:
            top = self.U.T @ top
        top, bias = top * self.weights, bias * self.biases
        if self.U is not None:
            top = self.U @ top
        if self.V is not None:
            top, bias = top @ self.V.T, self.V @ bias
        return self.level(torch.cat([top, bias[None]]))
