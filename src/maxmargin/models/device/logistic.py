"""LogisticRegression on torch rows: two classes, k classes, or several labels of 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...core.problem.class_losses import Softmax
from ...core.problem.losses import Logistic
from ...core.problem.multiclass import summary
from ...core.problem.problem import Bias, two_class_summary
from ...core.problem.torch_outputs import LogisticOutputs, SoftmaxOutputs
from ...core.problem.torch_problem import TorchProblem
from ...core.solve.contract import Solution
from ...core.solve.softmax.torch_form import solve_torch
from ..fitting import make_monitor, note, warn_unless_reached
from ..validation import all_or_nothing, one_of, positive
from .door import DeviceData, check_device_data, tidy


def fit(model, X, y, sample_weight=None) -> Any:
    with all_or_nothing(model):
        data = check_device_data(model, X, y, sample_weight, several=True)
        return fit_data(model, data)


def fit_data(model, data: DeviceData) -> Any:
    """Fit to data that are checked."""
    with all_or_nothing(model):
        monitor = make_monitor(model)
        check_solver(model)
        problem = pose(model, data, positive("C", model.C))
        with tidy(data.rows.chunk):
            solution = solve_torch(problem, monitor, present_weights(model, problem))
        tell(model, data, solution)
    warn_unless_reached(model, solution.ending, solution.certificate)
    return model


def check_solver(model) -> None:
    if one_of("solver", model.solver, ["auto", "newton", "descent"]) == "descent":
        raise ValueError(
            "solver='descent' works on NumPy arrays and sparse matrices, got torch rows. Use "
            "solver='newton' or 'auto'."
        )


def pose(model, data: DeviceData, C: float) -> TorchProblem:
    """The problem of the model's parameters; rows are centred where biases are free."""
    bias = Bias.FREE if model.fit_intercept else Bias.NONE
    n, d, k = data.rows.n, data.rows.d, len(data.classes)
    design, C = data.design(bool(bias)), C * data.price
    if data.codes is not None and k > 2:
        text = summary(Softmax(), k, bias, n, d)
        return TorchProblem(design, SoftmaxOutputs(data.codes, k), C, Softmax(), bias, text)
    text = two_class_summary(Logistic(), bias, n, d, False)
    T = data.columns
    if T is None:
        assert data.codes is not None
        T = (data.codes == 1)[:, None]
    else:
        text = f"{T.shape[1]} labels, each {text}"
    return TorchProblem(design, LogisticOutputs(T), C, Logistic(), bias, text)


def present_weights(model, problem: TorchProblem):
    """The present solution, if it is wanted and of the right shape."""
    shape = (problem.outputs.k, problem.shape[1])
    if not model.warm_start or tuple(getattr(model, "coef_", np.empty(0)).shape) != shape:
        return None
    device = problem.design.rows.device
    W = torch.as_tensor(model.coef_).to(device, torch.float64)
    b = torch.as_tensor(model.intercept_).to(device, torch.float64)
    return W.T.contiguous(), b if problem.bias else torch.zeros_like(b)


def tell(model, data: DeviceData, solution: Solution) -> None:
    """What a fit tells, where the input was."""
    model.classes_ = data.classes
    model.__dict__.pop("n_labels_", None)
    if data.columns is not None:
        model.n_labels_ = data.columns.shape[1]
    W, b = solution.point.W, solution.point.b
    if data.columns is None and len(data.classes) > 2:
        b = b - b.mean()  # of equal shifts, which change nothing, the one that adds up to zero
    model.coef_, model.intercept_ = data.tell(W.contiguous()), data.tell(b)
    note(model, solution, solution.certificate)
