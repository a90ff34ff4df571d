"""The two-class problem in the space of a kernel, where w is never formed.

    min over w, b    ½‖w‖² + Σ c_i max(0, 1 − y_i (w·φ(x_i) + b)),      k(x, z) = φ(x)·φ(z)

At the optimum w = Σ β_i φ(x_i) with β_i = α_i y_i, so that w·φ(x) = Σ β_i k(x_i, x) and
‖w‖² = βᵀKβ.  C = ∞ asks for the hard margin, as in the space of the features.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..kernels.kernel_block import KernelPoints
from ..kernels.kernels import Kernel
from .problem import Problem


@dataclass(frozen=True)
class KernelProblem(Problem):
    """Rows under a kernel, labels y in {−1, +1} and costs c; the hinge and a free bias."""

    rows: KernelPoints

    @property
    def shape(self) -> tuple[int, int]:
        n = len(self.rows)
        return n, n

    def summary(self) -> str:
        n = len(self.rows)
        slacks = 0 if self.hard else n
        return (
            f"{type(self.loss).__name__}, bias {self.bias.value}, {describe(self.rows.kernel)}: "
            f"{n} multipliers, 1 bias, {slacks} slacks, {n} margin constraints"
        )


def describe(kernel: Kernel) -> str:
    """A kernel in words, with the parameters that it has."""
    if callable(kernel.name):
        return f"kernel {getattr(kernel.name, '__name__', 'given')}"
    if kernel.name == "poly":
        given = f" (γ {kernel.gamma:.4g}, coef0 {kernel.coef0:g}, degree {kernel.degree})"
    else:
        given = f" (γ {kernel.gamma:.4g})" if kernel.name in ("rbf", "laplacian") else ""
    return f"{kernel.name} kernel{given}"
