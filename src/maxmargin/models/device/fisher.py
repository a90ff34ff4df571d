"""Fisher's discriminant on torch rows: class means and the covariance within classes are all of it.

They are summed up in float64 where the rows are, k × d and d × d numbers.  The discriminant of any
rows with these means and this covariance is the same, so the one that is there for arrays finds and
proves it on d rows made for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...core.problem.torch_outputs import SoftmaxOutputs
from ...core.rows.design import Design
from ...core.rows.torch_design import TorchDesign
from ...core.rows.torch_rows import Precision
from ...core.solve.closed_form.discriminant import directions
from ...core.solve.closed_form.within import Spread
from ...core.solve.threads import one_blas_thread
from ..validation import all_or_nothing, one_of
from .closed_forms import TargetSums
from .door import DeviceData, check_device_data, check_device_rows, tidy
from .predict import scores

# What a fit tells that belongs where the rows are.
TOLD_AS_TENSORS = ("coef_", "intercept_", "scalings_", "means_", "xbar_")


def fit(model, X, y, sample_weight=None) -> Any:
    with all_or_nothing(model):
        one_of("covariance", model.covariance, ["within", "none"])
        one_of("threshold", model.threshold, ["priors", "midpoint"])
        if model.shrinkage == "auto":
            raise ValueError(
                "shrinkage='auto' looks at every product of two features in every row, which "
                "works on NumPy arrays, got torch rows. Give shrinkage a number between 0 and 1."
            )
        model._check_shrinkage(sample_weight)
        data = check_device_data(model, X, y, sample_weight)
        model.classes_ = data.classes
        with tidy(data.rows.chunk):
            sums = TargetSums(data.design(True), _classes(data), signs=False)
            share = sums.total.cpu().numpy()
            model.priors_ = _priors(model, share / share.sum())
            most = model._check_components(np.empty((0, data.rows.d)))
            spread, means = _spread(data, sums, model.priors_, model.covariance, model.shrinkage)
        with one_blas_thread():
            H = (means - model.priors_ @ means).T
            found = directions(spread, H, model.priors_, most)
            model.__dict__.update(model._told(found, means, model.priors_))
        for name in TOLD_AS_TENSORS:
            setattr(model, name, data.tell(torch.from_numpy(np.array(getattr(model, name)))))
    return model


def transform(model, X) -> torch.Tensor:
    """The projections of a tensor's rows, where that is."""
    rows = check_device_rows(type(model).__name__, X, None)
    V = torch.as_tensor(model.scalings_).to(rows.device, torch.float64)
    xbar = torch.as_tensor(model.xbar_).to(rows.device, torch.float64)
    return scores(rows, V, -(xbar @ V))


def _classes(data: DeviceData) -> SoftmaxOutputs:
    assert data.codes is not None
    return SoftmaxOutputs(data.codes, len(data.classes))


def _priors(model, share: np.ndarray) -> np.ndarray:
    """Those asked for, checked as for arrays, or the classes' shares."""
    if model.priors is None:
        return share
    return model._check_priors(None, None)


def _spread(data: DeviceData, sums: TargetSums, priors: np.ndarray, covariance: str, shrinkage):
    """Σ within classes as that of d rows in memory, and the class means."""
    assert data.codes is not None
    rows, d, design = data.rows, data.rows.d, sums.design
    means = sums.XT.T / sums.total[:, None]  # about the mean of all
    # Every class counts by its prior: weights π_c/n_c, with which rows are summed up again.
    prior = torch.from_numpy(priors).to(rows.device)
    share = (prior / sums.total)[data.codes]
    share = share if data.weight is None else share * data.weight
    top = share.max()
    moments = TorchDesign(rows, share / top, centred=False)
    moments.mu = design.mu  # summed about the mean of all rows
    S = top * moments.gram(Precision.EXACT) - (means.T * prior) @ means
    mean = (means + design.mu).cpu().numpy()
    within = 0.5 * (S + S.T)
    variance = float(within.diagonal().mean()) or 1.0
    if covariance == "none" or shrinkage == 1.0:
        return Spread(None, variance, np.ones(d)), mean
    share_kept = 1.0 if shrinkage is None else 1.0 - shrinkage
    values, U = torch.linalg.eigh(within)
    root = (share_kept * values.clamp_min(0.0)).sqrt()
    A = (root[:, None] * U.T).cpu().numpy()
    # One row more than columns, of zeros: the system of the columns is the one to be solved.
    A = np.vstack([A, np.zeros((1, d))])
    return Spread(Design(A, None, centred=False), (1.0 - share_kept) * variance, np.ones(d)), mean
