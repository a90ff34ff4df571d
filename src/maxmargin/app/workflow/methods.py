"""What a user of the command line asks for, and the estimator that does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...models.registry import ALPHAS, METHODS, Method


@dataclass(frozen=True)
class Plan:
    """What the user asked for."""

    method: str = "svm"
    C: float | None = None
    tune: bool = True
    folds: int = 5
    kernel: str | None = None
    basis: str | None = None
    multiclass: str | None = None
    tol: float | None = None
    max_seconds: float = np.inf
    seed: int = 0
    threads: int | None = None


def find_method(plan: Plan) -> Method:
    """The method asked for; ``--kernel`` alone asks for the kernel machine."""
    name = plan.method
    if plan.kernel is not None and name == "svm":
        name = "kernel-svm"
    if name not in METHODS:
        raise ValueError(f"--method must be one of {', '.join(METHODS)}, got {name!r}.")
    method = METHODS[name]
    if plan.kernel is not None and not method.kernel:
        raise ValueError(f"--kernel goes with the kernel methods, not with --method {name}.")
    if plan.basis is not None and method.kernel:
        raise ValueError("--basis and a kernel are two ways to the same end. Use one of them.")
    rule = method.fixed.get("multiclass")
    if rule is not None and plan.multiclass not in (None, rule):
        raise ValueError(f"--method {name} is --multiclass {rule}, not {plan.multiclass}.")
    if plan.C is not None and method.C is None:
        raise ValueError(f"--method {name} has no C.")
    return method


def check_weights(method: Method, given: bool) -> None:
    """Refuse weights of rows where the method has no use for them."""
    if given and not method.weights:
        raise ValueError(
            f"--method {method.name} takes no weights: its result depends on the order."
        )


def make_estimator(method: Method, plan: Plan, C: float | None, seconds: float):
    """The estimator with its parameters; of closed forms α is 1/C."""
    price: dict[str, Any] = {}
    if method.C is not None and C is not None:
        price[method.C] = 1.0 / C if method.C == "alpha" else C
    elif method.C == "alpha" and plan.tune:
        price["alphas"] = ALPHAS
    return method.estimator_class()(**parameters(method, plan, seconds), **price)


def parameters(method: Method, plan: Plan, seconds: float) -> dict[str, Any]:
    """What the estimator is given besides its price of slack."""
    names = set(method.estimator_class()._get_param_names())
    given: dict[str, Any] = dict(method.fixed)
    if method.kernel:
        given["kernel"] = plan.kernel or "rbf"
    wanted = {"tol": plan.tol, "multiclass": plan.multiclass, "random_state": plan.seed}
    given |= {name: value for name, value in wanted.items() if value is not None and name in names}
    if "max_seconds" in names:
        given["max_seconds"] = seconds
    return given
