"""The estimators, listed once: where each lives, its search for C, and the methods users name.

Whoever needs an estimator by name reads it here: ``maxmargin.<name>``, model files, ``compare``,
the command line and the studio.  What an estimator can do, it says itself: ``_stored`` is what a
model file keeps of it, ``_in_words()`` what it minimises.  To add one, write its class, a line in
``ESTIMATORS`` and, where users should be able to ask for it, one in ``METHODS``.

Importing this costs nothing: a class is loaded when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

# Ridges that leave-one-out errors choose from: two a power of ten, from 1e-4 to 1e4.
RIDGE_ALPHAS = [10.0 ** (half / 2) for half in range(-8, 9)]
# Rows up to which kernel ridge regression, of cost n³, is worth trying.
MAX_KERNEL_RIDGE_ROWS = 5_000
# Columns up to which a covariance for every class, k d² numbers, is worth trying.
MAX_GAUSSIAN_COLUMNS = 200


class Home(NamedTuple):
    """The module of an estimator, and that of its ``…CV``, which chooses C, if it has one."""

    module: str
    search: str | None = None


# A closed list: a model file that names anything else is refused.
ESTIMATORS: dict[str, Home] = {
    "LinearSVM": Home("models.svm.linear_svm", "models.tune.linear_svm_cv"),
    "LogisticRegression": Home(
        "models.regression.logistic_regression", "models.tune.logistic_regression_cv"
    ),
    "LeastSquaresClassifier": Home("models.regression.least_squares"),
    "FisherDiscriminant": Home("models.regression.fisher"),
    "QuadraticDiscriminant": Home("models.regression.quadratic_discriminant"),
    "Perceptron": Home("models.perceptron.perceptron"),
    "LinearUnit": Home("models.perceptron.linear_unit"),
    "KernelPerceptron": Home("models.perceptron.kernel_perceptron"),
    "KernelSVM": Home("models.kernel.kernel_svm", "models.tune.kernel_svm_cv"),
    "KernelRidge": Home("models.kernel.kernel_ridge"),
    "KernelRidgeClassifier": Home("models.kernel.kernel_ridge"),
    "PairwiseRanker": Home("models.ranking.pairwise_ranker"),
    "LabelRanker": Home("models.ranking.label_ranker"),
    "OneVsRest": Home("models.reduction.one_vs_rest"),
    "OneVsOne": Home("models.reduction.one_vs_one"),
    "ConstantLabel": Home("models.reduction.multilabel"),
}


def homes() -> dict[str, str]:
    """Every class by name, searches included, and its module."""
    searches = {f"{name}CV": home.search for name, home in ESTIMATORS.items() if home.search}
    return {name: home.module for name, home in ESTIMATORS.items()} | searches


def estimator_class(name: str) -> Any:
    """The class of a name listed above."""
    return getattr(import_module(f"maxmargin.{ESTIMATORS[name].module}"), name)


class Shape(NamedTuple):
    """What decides which methods and bases make sense."""

    rows: int
    columns: int
    classes: int
    sparse: bool


@dataclass(frozen=True)
class Method:
    """An estimator of ours, and how it is used where users name it.

    ``C`` is the parameter that the price of slack sets ("alpha" is 1/C).  ``fixed`` are parameters
    it always gets, ``compared`` those it gets in ``compare``, and ``suits`` whether "all" should
    try it there.
    """

    name: str
    estimator: str
    C: str | None = "C"
    kernel: bool = False
    weights: bool = True
    fixed: dict[str, Any] = field(default_factory=dict)
    compared: dict[str, Any] = field(default_factory=dict)
    suits: Callable[[Shape], bool] = lambda shape: True

    @property
    def linear(self) -> bool:
        """Whether it may follow any change of basis; a kernel is one of its own."""
        return not self.kernel

    @property
    def tuned(self) -> bool:
        """Whether a search chooses its C by cross-validation."""
        return ESTIMATORS[self.estimator].search is not None

    def estimator_class(self) -> Any:
        return estimator_class(self.estimator)

    def search_class(self) -> Any:
        home = ESTIMATORS[self.estimator].search
        return getattr(import_module(f"maxmargin.{home}"), f"{self.estimator}CV")


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
        Method("perceptron", "Perceptron", C=None, weights=False,
               fixed={"average": True, "max_passes": 100, "random_state": 0},
               compared={"max_passes": 1000}),
        Method("least-squares", "LeastSquaresClassifier", C="alpha"),
        Method("fisher", "FisherDiscriminant", C=None, compared={"shrinkage": "auto"},
               suits=lambda shape: not shape.sparse),
        Method("quadratic", "QuadraticDiscriminant", C=None, compared={"shrinkage": 0.1},
               suits=lambda shape: not shape.sparse and shape.columns <= MAX_GAUSSIAN_COLUMNS),
        # Its minimum is that of least squares; it is for those who want to see the way there.
        Method("linear-unit", "LinearUnit", C=None, weights=False,
               fixed={"max_passes": 10_000, "random_state": 0}, suits=lambda shape: False),
        Method("kernel-svm", "KernelSVM", kernel=True),
        Method("kernel-ridge", "KernelRidgeClassifier", C="alpha", kernel=True,
               suits=lambda shape: shape.rows <= MAX_KERNEL_RIDGE_ROWS),
        Method("kernel-perceptron", "KernelPerceptron", C=None, kernel=True, weights=False,
               fixed={"max_passes": 100, "random_state": 0}, suits=lambda shape: False),
    )
}  # fmt: skip
