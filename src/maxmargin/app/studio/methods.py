"""The lectures' methods, from knobs to estimators.  Nothing heavy is loaded until one is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .parameters import PARAMETERS, Parameter

# A perceptron on inseparable data never stops; after so many passes the page has seen enough.
PASSES = 200
# The kernel perceptron pays for every pass with a row of kernel values per point.
KERNEL_PASSES = 50
# The label of regions that no class, or more than one, claims.
UNKNOWN = -1


@dataclass(frozen=True)
class StudioMethod:
    """A method as the page offers it: knobs in the order they are shown, and how it is built."""

    name: str
    title: str
    group: str
    words: str
    knobs: tuple[str, ...]
    build: Callable[[dict[str, Any]], Any]
    bases: bool = True  # kernels have a basis of their own

    @property
    def parameters(self) -> list[Parameter]:
        basis = ("basis", "degree", "gamma", "centers") if self.bases else ()
        return [PARAMETERS[name] for name in (*self.knobs, *basis)]

    def estimator(self, values: dict[str, Any]) -> Any:
        """The estimator for these knobs, behind its basis where it has one."""
        from sklearn.pipeline import make_pipeline

        model = self.build(values)
        basis = _basis(values) if self.bases else None
        return model if basis is None else make_pipeline(basis, model)


def _basis(v: dict[str, Any]) -> Any:
    from ... import PolarBasis, PolynomialBasis, QuadraticBasis, RadialBasis

    makers = {
        "none": lambda: None,
        "quadratic": QuadraticBasis,
        "polynomial": lambda: PolynomialBasis(v["degree"]),
        "polar": lambda: PolarBasis("mean"),
        "radial": lambda: RadialBasis(v["centers"], gamma=v["gamma"]),
    }
    return makers[v["basis"]]()


def _perceptron(**fixed: Any) -> Callable[[dict[str, Any]], Any]:
    def build(v):
        from ... import Perceptron

        more = {"margin": v["margin"]} if "margin" in v else {}
        return Perceptron(v["order"], max_passes=PASSES, random_state=v["seed"], **fixed, **more)

    return build


def _hard(v):
    from ... import LinearSVM

    return LinearSVM(C=float("inf"), multiclass=v["rule"])


def _svm(v):
    from ... import LinearSVM

    return LinearSVM(C=v["C"], loss=v["loss"], multiclass=v["rule"])


def _one_vs_rest(v):
    from ... import LinearSVM, OneVsRest

    return OneVsRest(LinearSVM(C=v["C"], loss=v["loss"]), unknown=UNKNOWN)


def _one_vs_one(v):
    from ... import LinearSVM, OneVsOne

    return OneVsOne(LinearSVM(C=v["C"], loss=v["loss"]), unknown=UNKNOWN)


def _logistic(v):
    from ... import LogisticRegression

    return LogisticRegression(C=v["C"])


def _least_squares(v):
    from ... import LeastSquaresClassifier

    return LeastSquaresClassifier(alpha=v["alpha"])


def _fisher(v):
    from ... import FisherDiscriminant

    return FisherDiscriminant(covariance=v["covariance"])


def _kernel(v) -> dict[str, Any]:
    """A polynomial kernel gets its constant, so that it has all lower powers too."""
    if v["kernel"] == "poly":
        return {"kernel": "poly", "degree": v["degree"], "gamma": v["gamma"], "coef0": 1.0}
    return {"kernel": "rbf", "gamma": v["gamma"]} if v["kernel"] == "rbf" else {"kernel": "linear"}


def _kernel_svm(v):
    from ... import KernelSVM

    C = float("inf") if v["hard"] else v["C"]
    return KernelSVM(C=C, multiclass=v["duels"], **_kernel(v))


def _kernel_perceptron(v):
    from ... import KernelPerceptron

    return KernelPerceptron(
        order=v["order"], max_passes=KERNEL_PASSES, random_state=v["seed"], **_kernel(v)
    )


RUNS, MACHINES, MANY = "Perceptrons", "Support vector machines", "Many classes by two"
CLOSED, KERNELISED = "Probabilities and closed forms", "Kernels"
KERNEL_KNOBS = ("kernel", "degree", "gamma")

METHODS = {
    method.name: method
    for method in (
        StudioMethod("perceptron", "Perceptron", RUNS,
               "Corrects the weights at every mistake, until there is none.",
               ("order", "seed"), _perceptron(explain=True)),
        StudioMethod("averaged", "Averaged perceptron", RUNS,
               "Predicts with the mean of all the weights it ever had.",
               ("order", "seed"), _perceptron(average=True, explain=True)),
        StudioMethod("margin", "Margin perceptron", RUNS,
               "Also corrects points that are right by too little.",
               ("margin", "order", "seed"), _perceptron(explain=True)),
        StudioMethod("hard", "Hard margin", MACHINES,
               "The widest street between the classes, or a proof that there is none.",
               ("rule",), _hard),
        StudioMethod("svm", "Soft-margin SVM", MACHINES,
               "A wide street, and a price C for every point that stands in it.",
               ("C", "loss", "rule"), _svm),
        StudioMethod("one-vs-rest", "One against the rest", MANY,
               "One SVM per class. Where none or several say yes, the answer is unknown.",
               ("C", "loss"), _one_vs_rest),
        StudioMethod("one-vs-one", "One against one", MANY,
               "One SVM per pair. Where no class wins all its duels, the answer is unknown.",
               ("C", "loss"), _one_vs_one),
        StudioMethod("logistic", "Logistic regression, softmax", CLOSED,
               "Scores become probabilities; no point is ever quite free.",
               ("C",), _logistic),
        StudioMethod("least-squares", "Least squares", CLOSED,
               "Aims at ±1, and so charges points for being far on the right side.",
               ("alpha",), _least_squares),
        StudioMethod("fisher", "Fisher's discriminant", CLOSED,
               "The direction that spreads the means most for the spread within.",
               ("covariance",), _fisher),
        StudioMethod("kernel-svm", "Kernel SVM", KERNELISED,
               "The same street, in the space of a kernel.",
               ("C", "hard", *KERNEL_KNOBS, "duels"), _kernel_svm, bases=False),
        StudioMethod("kernel-perceptron", "Kernel perceptron", KERNELISED,
               "Counts mistakes instead of adding up weights.",
               (*KERNEL_KNOBS, "order", "seed"), _kernel_perceptron, bases=False),
    )
}  # fmt: skip


def catalogue() -> dict:
    """Methods and knobs, for the page to make its controls from."""
    return {
        "methods": [
            {"name": m.name, "title": m.title, "group": m.group, "words": m.words,
             "parameters": [p.name for p in m.parameters], "kernelised": not m.bases}
            for m in METHODS.values()
        ],
        "parameters": {p.name: p.to_dict() for p in PARAMETERS.values()},
    }  # fmt: skip
