"""The methods by name: one table, for ``compare`` and for the command line.

Importing it costs nothing: estimators are named, and looked up when one is made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import maxmargin

# Ridges that leave-one-out errors choose from: two a power of ten, from 1e-4 to 1e4.
ALPHAS = [10.0 ** (half / 2) for half in range(-8, 9)]
# Rows up to which kernel ridge regression, of cost n³, is worth trying.
RIDGE_ROWS = 5_000


class Shape(NamedTuple):
    """What decides which methods and bases make sense."""

    rows: int
    columns: int
    classes: int
    sparse: bool


@dataclass(frozen=True)
class Method:
    """An estimator of ours, and how it is used where users name it.

    ``C`` is the parameter that the price of slack sets ("alpha" is 1/C); ``tuned`` says that its
    ``…CV`` chooses C by cross-validation.  ``fixed`` are parameters it always gets, ``compared``
    those it gets in ``compare``, and ``suits`` whether "all" should try it there.
    """

    name: str
    estimator: str
    C: str | None = "C"
    tuned: bool = True
    kernel: bool = False
    weights: bool = True
    fixed: dict[str, Any] = field(default_factory=dict)
    compared: dict[str, Any] = field(default_factory=dict)
    suits: Callable[[Shape], bool] = lambda shape: True

    @property
    def linear(self) -> bool:
        """Whether it may follow any change of basis; a kernel is one of its own."""
        return not self.kernel

    def estimator_class(self) -> Any:
        return getattr(maxmargin, self.estimator)

    def search_class(self) -> Any:
        return getattr(maxmargin, f"{self.estimator}CV")


def _many(shape: Shape) -> bool:
    return shape.classes > 2


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("svm", "LinearSVM"),
        Method("svm-sum", "LinearSVM", fixed={"multiclass": "sum"}, suits=_many),
        Method("svm-rest", "LinearSVM", fixed={"multiclass": "rest"}, suits=_many),
        Method("svm-pairs", "LinearSVM", fixed={"multiclass": "pairs"}, suits=_many),
        Method("logistic", "LogisticRegression"),
        Method("perceptron", "Perceptron", C=None, tuned=False, weights=False,
               fixed={"average": True, "max_passes": 100, "random_state": 0},
               compared={"max_passes": 1000}),
        Method("least-squares", "LeastSquaresClassifier", C="alpha", tuned=False),
        Method("fisher", "FisherDiscriminant", C=None, tuned=False,
               compared={"shrinkage": "auto"}, suits=lambda shape: not shape.sparse),
        Method("kernel-svm", "KernelSVM", kernel=True),
        Method("kernel-ridge", "KernelRidgeClassifier", C="alpha", tuned=False, kernel=True,
               suits=lambda shape: shape.rows <= RIDGE_ROWS),
        Method("kernel-perceptron", "KernelPerceptron", C=None, tuned=False, kernel=True,
               weights=False, fixed={"max_passes": 100, "random_state": 0},
               suits=lambda shape: False),
    )
}  # fmt: skip
