"""The methods of the command line by name, and how their parameters are called there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import maxmargin

# Ridges that leave-one-out errors choose from.
ALPHAS = np.logspace(-4, 4, 17)


@dataclass(frozen=True)
class Method:
    """An estimator, what ``--C`` sets of it, and whether its C is chosen by cross-validation."""

    name: str
    estimator: str
    C: str | None = "C"
    tuned: bool = True
    kernel: bool = False
    weights: bool = True
    fixed: dict[str, Any] = field(default_factory=dict)


METHODS = {
    method.name: method
    for method in (
        Method("svm", "LinearSVM"),
        Method("logistic", "LogisticRegression"),
        Method("least-squares", "LeastSquaresClassifier", C="alpha", tuned=False),
        Method("fisher", "FisherDiscriminant", C=None, tuned=False),
        Method("perceptron", "Perceptron", C=None, tuned=False, weights=False,
               fixed={"average": True, "max_passes": 100}),
        Method("kernel-svm", "KernelSVM", kernel=True),
        Method("kernel-ridge", "KernelRidgeClassifier", C="alpha", tuned=False, kernel=True),
        Method("kernel-perceptron", "KernelPerceptron", C=None, tuned=False, kernel=True,
               weights=False, fixed={"max_passes": 100}),
    )
}  # fmt: skip


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
    if plan.C is not None and method.C is None:
        raise ValueError(f"--method {name} has no C.")
    return method


def make_estimator(method: Method, plan: Plan, C: float | None, seconds: float):
    """The estimator with its parameters; of closed forms α is 1/C."""
    cls = getattr(maxmargin, method.estimator)
    names = set(cls._get_param_names())
    given: dict[str, Any] = dict(method.fixed)
    if method.kernel:
        given["kernel"] = plan.kernel or "rbf"
    if method.C is not None and C is not None:
        given[method.C] = 1.0 / C if method.C == "alpha" else C
    elif method.C == "alpha" and plan.tune:
        given["alphas"] = ALPHAS
    wanted = {"tol": plan.tol, "multiclass": plan.multiclass, "random_state": plan.seed}
    given |= {name: value for name, value in wanted.items() if value is not None and name in names}
    if "max_seconds" in names:
        given["max_seconds"] = seconds
    return cls(**given)
