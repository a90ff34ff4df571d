"""What a support vector machine asks of the form in which its problem is posed.

Two classes, k at once or two at a time are forms; a module with these functions is one, too.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.solve.contract import Ending, Monitor
from ..bias_column import fit_joined, prove_joined, with_ones


class ModelForm(Protocol):
    """How a model's problem is posed, solved, told and proved."""

    def fit(self, model: Any, X: Any, codes: Any, weight: Any, monitor: Monitor) -> Ending:
        """Solve, and leave on the model all that a fit tells; why the solver stopped."""

    def dual_coef(self, model: Any) -> np.ndarray:
        """Signed multipliers of the support vectors, one row per machine or class."""

    def recertify(self, model: Any, X: Any, codes: Any, weight: Any) -> Certificate:
        """The certificate of the model's numbers on any data."""


class LinearForm(ModelForm, Protocol):
    """A form whose weights are known."""

    def norm(self, W: np.ndarray) -> float:
        """The length whose inverse is the margin."""


class PenalizedBias:
    """A linear form on rows with a column of ones, whose weight is the bias."""

    def __init__(self, form: LinearForm):
        self.form = form

    def fit(self, model, X, codes, weight, monitor: Monitor) -> Ending:
        def fit(inner) -> Ending:
            return self.form.fit(inner, with_ones(X), codes, weight, monitor)

        return fit_joined(model, fit, self.form.norm)

    def dual_coef(self, model) -> np.ndarray:
        return self.form.dual_coef(model)

    def recertify(self, model, X, codes, weight) -> Certificate:
        def prove(inner) -> Certificate:
            return self.form.recertify(inner, with_ones(X), codes, weight)

        return prove_joined(model, prove)

    def norm(self, W: np.ndarray) -> float:
        return self.form.norm(W)
