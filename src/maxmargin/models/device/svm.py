"""LinearSVM on torch rows: two classes, k classes at once, or each against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.functional import one_hot

from ...core.certify.torch_hinge import row_facts
from ...core.problem.class_losses import CLASS_LOSSES
from ...core.problem.losses import LOSSES
from ...core.problem.multiclass import summary
from ...core.problem.problem import Bias, two_class_summary
from ...core.problem.torch_hinges import HingeOutputs, MaxOutputs, SumOutputs
from ...core.problem.torch_problem import TorchProblem
from ...core.problem.torch_squares import SquaredHingeOutputs, SquaredSumOutputs
from ...core.solve.contract import Solution
from ...core.solve.softmax.torch_form import solve_torch
from ...core.solve.softmax.torch_multipliers import TorchPoint
from ..fitting import make_monitor, note, warn_unless_reached
from ..svm.reduced import REDUCTION_NAMES
from ..svm.two_class import kinds_of
from ..validation import all_or_nothing, one_of, positive
from .door import DeviceData, check_device_data, tidy
from .logistic import present_weights

COLUMNS: dict[str, Any] = {"hinge": HingeOutputs, "squared_hinge": SquaredHingeOutputs}
RULES: dict[tuple[str, str], Any] = {
    ("max", "hinge"): MaxOutputs,
    ("sum", "hinge"): SumOutputs,
    ("sum", "squared_hinge"): SquaredSumOutputs,
}
# Multipliers below this share of their cap are none: exponentials do not come to zero.
LEAST_MULTIPLIER_SHARE = 1e-12
# What a fit to arrays keeps of every row, and one to tensors may not.
ROW_ATTRIBUTES = ("alpha_", "_alpha_rows", "_alpha_machines", "_alpha_values")


def fit(model, X, y, sample_weight=None) -> Any:
    with all_or_nothing(model):
        if model.probability:
            raise ValueError(
                "probability=True calibrates on NumPy arrays, got torch rows. Leave it out, or "
                "use LogisticRegression, whose scores are log-odds."
            )
        return fit_data(model, check_device_data(model, X, y, sample_weight))


def fit_data(model, data: DeviceData) -> Any:
    """Fit to data that are checked."""
    with all_or_nothing(model):
        monitor = make_monitor(model)
        check_solver(model)
        problem = pose(model, data, positive("C", model.C))
        with tidy(data.rows.chunk):
            solution = solve_torch(problem, monitor, present_weights(model, problem))
            tell(model, data, problem, solution)
    warn_unless_reached(model, solution.ending, solution.certificate)
    return model


def check_solver(model) -> None:
    """Refuse what is offered on arrays alone."""
    one_of("loss", model.loss, LOSSES)
    one_of("multiclass", model.multiclass, ["max", "sum", "rest", "pairs"])
    asked = {
        f"solver={model.solver!r}": model.solver != "auto",
        "penalize_bias=True": bool(model.penalize_bias and model.fit_intercept),
    }
    for what, meant in asked.items():
        if meant:
            raise ValueError(
                f"{what} works on NumPy arrays and sparse matrices, got torch rows. Leave it out, "
                "or pass arrays and no device."
            )


def pose(model, data: DeviceData, C: float) -> TorchProblem:
    """The problem of the model's parameters; rows are centred where biases are free."""
    assert data.codes is not None
    bias = Bias.FREE if model.fit_intercept else Bias.NONE
    n, d, k = data.rows.n, data.rows.d, len(data.classes)
    design, C = data.design(bool(bias)), C * data.price
    margin = LOSSES[model.loss]
    each = two_class_summary(margin, bias, n, d, False)
    if k == 2:
        outputs = COLUMNS[model.loss](data.codes[:, None] == 1)
        return TorchProblem(design, outputs, C, margin, bias, each)
    if model.multiclass == "rest":
        text = f"{REDUCTION_NAMES['rest']}: {k} problems, each {each}"
        outputs = COLUMNS[model.loss](one_hot(data.codes, k).bool())
        return TorchProblem(design, outputs, C, margin, bias, text)
    rule = model.multiclass, model.loss
    if rule not in RULES:
        raise ValueError(
            f"multiclass={rule[0]!r} with loss={rule[1]!r} and {k} classes works on NumPy arrays "
            "and sparse matrices, got torch rows. Use 'max' with the hinge, 'sum' or 'rest'."
        )
    loss = CLASS_LOSSES[rule]
    text = summary(loss, k, bias, n, d)
    return TorchProblem(design, RULES[rule](data.codes, k), C, loss, bias, text)


def tell(model, data: DeviceData, problem: TorchProblem, solution: Solution) -> None:
    """What a fit tells, where the input was.

    Of k classes the multipliers of a row are as many; only whether there are any is kept.
    """
    found = solution.point
    for name in ROW_ATTRIBUTES:
        model.__dict__.pop(name, None)
    model.classes_, model._codes = data.classes, data.codes
    b = found.b - found.b.mean() if problem.outputs.joint else found.b
    model.coef_, model.intercept_ = data.tell(found.W.contiguous()), data.tell(b)
    _tell_rows(model, data, problem, found)
    lengths = found.W.square().sum(1)
    longest = float(2.0 * lengths.sum() if problem.outputs.joint else lengths.max()) ** 0.5
    model.margin_ = 1.0 / longest if longest > 0 else np.inf
    note(model, solution, solution.certificate)


def _tell_rows(model, data: DeviceData, problem: TorchProblem, found) -> None:
    """Slacks, and which rows have multipliers; of two classes these themselves."""
    capped = isinstance(found, TorchPoint)
    weights = place = found.W.T, found.b + problem.design.mu @ found.W.T
    if capped:
        problem.outputs.margin, place = found.margin, (found.V, found.v)
    facts = row_facts(problem, weights, place, found.tilt if capped else None)
    seen = torch.ones_like(facts.slack) if data.weight is None else data.weight.double()
    has = (facts.beta > LEAST_MULTIPLIER_SHARE) & (seen > 0)
    support = torch.nonzero(has).flatten()
    below = (facts.least < 1.0 - LEAST_MULTIPLIER_SHARE)[support] & capped
    kinds = kinds_of(facts.worst[support].cpu().numpy(), below.cpu().numpy())
    model.slack_ = data.tell(facts.slack * (seen > 0))
    model.support_ = support.cpu().numpy() if data.home is None else support.to(data.home)
    model.support_kind_ = kinds
    if len(data.classes) == 2:
        alpha = problem.price * seen * facts.beta * has
        model.alpha_ = data.tell(alpha if capped or not problem.bias else _levelled(alpha, data))


def _levelled(alpha: torch.Tensor, data: DeviceData) -> torch.Tensor:
    """Multipliers without a cap, those of one class made longer and of the other shorter, so that
    both add up to as much."""
    assert data.codes is not None
    sign = 2.0 * data.codes.eq(1).double() - 1.0
    return alpha * (1.0 - sign * (sign @ alpha) / alpha.sum().clamp_min(1e-300))
