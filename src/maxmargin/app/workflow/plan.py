"""What a user of the command line asks for, and the estimator that does it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...models.registry import METHODS, RIDGE_ALPHAS, Method

# The SVM, or logistic regression where that is better at classes the SVM misses: method.py.
AUTO = "auto"


@dataclass(frozen=True)
class Plan:
    """What the user asked for.  ``balanced``: every class weighs the same; None: as method.py
    finds best."""

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
    score: str | None = None
    balanced: bool | None = None
    budget: float = np.inf

    @cached_property
    def resolved(self) -> Method:
        """The method asked for, of the registry, the SVM where it is ours to choose; what cannot
        be is refused.  ``--kernel`` alone asks for the kernel machine."""
        name = "svm" if self.method == AUTO else self.method
        if name not in METHODS:
            known = ", ".join((*METHODS, AUTO))
            raise ValueError(f"--method must be one of {known}, got {name!r}.")
        if self.kernel is not None and name == "svm":
            name = "kernel-svm"
        method = METHODS[name]
        if self.kernel is not None and not method.kernel:
            raise ValueError(f"--kernel goes with the kernel methods, not with --method {name}.")
        if self.basis is not None and method.kernel:
            raise ValueError("--basis and a kernel are two ways to the same end. Use one of them.")
        rule = method.fixed.get("multiclass")
        if rule is not None and self.multiclass not in (None, rule):
            raise ValueError(f"--method {name} is --multiclass {rule}, not {self.multiclass}.")
        if self.score is not None and not method.tuned:
            raise ValueError(f"--score says how to choose C, which --method {name} does not do so.")
        if self.balanced and not _weighs_classes(method):
            raise ValueError(f"--method {name} has no weights of classes.")
        if self.C is not None and method.C is None:
            raise ValueError(f"--method {name} has no C.")
        return method

    @property
    def weighs_classes(self) -> bool:
        """Whether the method has weights of classes."""
        return _weighs_classes(self.resolved)

    def check_weights(self, given: bool) -> None:
        """Refuse weights of rows where the method has no use for them."""
        if given and not self.resolved.weights:
            raise ValueError(
                f"--method {self.resolved.name} takes no weights: its result depends on the order."
            )

    def estimator(self, C: float | None, seconds: float = np.inf, calibrated: bool = False) -> Any:
        """The estimator with its parameters; of closed forms α is 1/C.  ``calibrated``: with
        probabilities."""
        method, price = self.resolved, dict[str, Any]()
        if calibrated and "probability" in method.estimator_class()._get_param_names():
            price["probability"] = True
        if method.C is not None and C is not None:
            price[method.C] = 1.0 / C if method.C == "alpha" else C
        elif method.C == "alpha" and self.tune:
            price["alphas"] = RIDGE_ALPHAS
        return method.estimator_class()(**self.parameters(seconds), **price)

    def parameters(self, seconds: float) -> dict[str, Any]:
        """What the estimator is given besides its price of slack."""
        method = self.resolved
        names = set(method.estimator_class()._get_param_names())
        given: dict[str, Any] = dict(method.fixed)
        if method.kernel:
            given["kernel"] = self.kernel or "rbf"
        wanted = {"tol": self.tol, "multiclass": self.multiclass, "random_state": self.seed}
        given |= {key: value for key, value in wanted.items() if value is not None and key in names}
        if self.balanced:
            given["class_weight"] = "balanced"
        if "max_seconds" in names:
            given["max_seconds"] = seconds
        return given


def _weighs_classes(method: Method) -> bool:
    return "class_weight" in method.estimator_class()._get_param_names()
