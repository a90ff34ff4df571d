"""A problem on torch rows: several columns of scores, as one problem or each its own.

min over W, b    ½‖W‖² + C Σ ω_i ℓ(Wᵀx_i + b, t_i)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..rows.torch_design import TorchDesign
from .problem import Bias
from .torch_outputs import Outputs


@dataclass(frozen=True)
class TorchProblem:
    """Rows with weights, labels with a loss, the price C of the largest weight, and a bias.

    ``loss`` names the loss for the driver; ``text`` is what a certificate calls the problem.
    """

    design: TorchDesign
    outputs: Outputs
    price: float
    loss: Any
    bias: Bias
    text: str

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    def summary(self) -> str:
        return self.text
