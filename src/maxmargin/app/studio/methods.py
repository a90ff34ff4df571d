"""The lectures' methods, from knobs to estimators.  Nothing heavy is loaded until one is built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...models.registry import estimator_class
from .parameters import PARAMETERS, Parameter

# A perceptron on inseparable data never stops; after so many passes the page has seen enough.
MAX_PERCEPTRON_PASSES = 200
# The kernel perceptron pays for every pass with a row of kernel values per point.
MAX_KERNEL_PASSES = 50
# Passes of the delta rule within a tenth of a second, and how nearly they solve the equations.
MAX_UNIT_PASSES, UNIT_TOL = 1000, 1e-3
# A little of a round Gaussian in each: points in a line have a covariance without an inverse.
GAUSSIAN_SHRINKAGE = 0.01
# The label of regions that no class, or more than one, claims.
UNKNOWN_LABEL = -1


# What a knob is called by the estimator.
PARAMETER = {
    "rule": "multiclass", "duels": "multiclass", "seed": "random_state", "bias": "fit_intercept",
}  # fmt: skip
# Knobs of the picture, of which no estimator knows.
PICTURE_KNOBS = ("arrow", "sizes")
BASIS_KNOBS = ("basis", "degree", "gamma", "centers")
KERNEL_PARAMETERS = ("kernel", "degree", "gamma")


@dataclass(frozen=True)
class StudioMethod:
    """A method as the page offers it: knobs in the order they are shown, and the estimator they
    set, by its name in the registry.  A ``base`` estimator for two classes is asked about many."""

    name: str
    title: str
    group: str
    words: str
    knobs: tuple[str, ...]
    estimator_name: str
    fixed: dict[str, Any] = field(default_factory=dict)
    base: str | None = None

    @property
    def bases(self) -> bool:
        """Kernels have a basis of their own."""
        return "kernel" not in self.knobs

    @property
    def parameters(self) -> list[Parameter]:
        return [PARAMETERS[name] for name in (*self.knobs, *(BASIS_KNOBS if self.bases else ()))]

    def estimator(self, values: dict[str, Any]) -> Any:
        """The estimator for these knobs, behind its basis where it has one."""
        from sklearn.pipeline import make_pipeline

        given = {
            PARAMETER.get(knob, knob): values[knob]
            for knob in self.knobs
            if knob not in (*KERNEL_PARAMETERS, *PICTURE_KNOBS, "hard", "misses")
        }
        if values.get("misses"):  # sets need probabilities
            given["probability"] = True
        if not self.bases:
            given |= _kernel(values)
        if values.get("hard"):
            given["C"] = float("inf")
        if self.base is not None:
            given = {"estimator": estimator_class(self.base)(**given)}
        model = estimator_class(self.estimator_name)(**given, **self.fixed)
        basis = _basis(values) if self.bases else None
        return model if basis is None else make_pipeline(basis, model)


def _basis(v: dict[str, Any]) -> Any:
    from ...models import bases

    makers: dict[str, Any] = {
        "none": lambda: None,
        "quadratic": bases.QuadraticBasis,
        "polynomial": lambda: bases.PolynomialBasis(v["degree"]),
        "polar": lambda: bases.PolarBasis("mean"),
        "radial": lambda: bases.RadialBasis(v["centers"], gamma=v["gamma"]),
    }
    return makers[v["basis"]]()


def _kernel(v: dict[str, Any]) -> dict[str, Any]:
    """A polynomial kernel gets its constant, so that it has all lower powers too."""
    if v["kernel"] == "poly":
        return {"kernel": "poly", "degree": v["degree"], "gamma": v["gamma"], "coef0": 1.0}
    return {"kernel": "rbf", "gamma": v["gamma"]} if v["kernel"] == "rbf" else {"kernel": "linear"}


PERCEPTRON_GROUP, SVM_GROUP, REDUCTION_GROUP = (
    "Perceptrons",
    "Support vector machines",
    "Many classes by two",
)
CLOSED_FORM_GROUP, KERNEL_GROUP = "Probabilities and closed forms", "Kernels"
RUN = {"max_passes": MAX_PERCEPTRON_PASSES, "explain": True}

STUDIO_METHODS = {
    method.name: method
    for method in (
        StudioMethod("perceptron", "Perceptron", PERCEPTRON_GROUP,
               "Corrects the weights at every mistake, until there is none.",
               ("order", "seed", "bias", *PICTURE_KNOBS), "Perceptron", RUN),
        StudioMethod("averaged", "Averaged perceptron", PERCEPTRON_GROUP,
               "Predicts with the mean of all the weights it ever had.",
               ("order", "seed", "bias", *PICTURE_KNOBS), "Perceptron", RUN | {"average": True}),
        StudioMethod("margin", "Margin perceptron", PERCEPTRON_GROUP,
               "Also corrects points that are right by too little.",
               ("margin", "order", "seed", "bias", *PICTURE_KNOBS), "Perceptron", RUN),
        StudioMethod("linear-unit", "Linear unit, delta rule", PERCEPTRON_GROUP,
               "Goes downhill on the squared error, to the minimum of least squares.",
               ("bias", "arrow"), "LinearUnit",
               {"max_passes": MAX_UNIT_PASSES, "tol": UNIT_TOL}),
        StudioMethod("hard", "Hard margin", SVM_GROUP,
               "The widest street between the classes, or a proof that there is none.",
               ("rule", "bias", *PICTURE_KNOBS), "LinearSVM", {"C": float("inf")}),
        StudioMethod("svm", "Soft-margin SVM", SVM_GROUP,
               "A wide street, and a price C for every point that stands in it.",
               ("C", "loss", "rule", "misses", "bias", *PICTURE_KNOBS), "LinearSVM"),
        StudioMethod("one-vs-rest", "One against the rest", REDUCTION_GROUP,
               "One SVM per class. Where none or several say yes, the answer is unknown.",
               ("C", "loss", "bias", "arrow"), "OneVsRest",
               {"unknown": UNKNOWN_LABEL}, "LinearSVM"),
        StudioMethod("one-vs-one", "One against one", REDUCTION_GROUP,
               "One SVM per pair. Where no class wins all its duels, the answer is unknown.",
               ("C", "loss", "bias", "arrow"), "OneVsOne", {"unknown": UNKNOWN_LABEL}, "LinearSVM"),
        StudioMethod("logistic", "Logistic regression, softmax", CLOSED_FORM_GROUP,
               "Scores become probabilities; no point is ever quite free.",
               ("C", "misses", "bias", "arrow"), "LogisticRegression"),
        StudioMethod("least-squares", "Least squares", CLOSED_FORM_GROUP,
               "Aims at ±1, and so charges points for being far on the right side.",
               ("alpha", "misses", "bias", "arrow"), "LeastSquaresClassifier"),
        StudioMethod("fisher", "Fisher's discriminant", CLOSED_FORM_GROUP,
               "The direction that spreads the means most for the spread within.",
               ("covariance", "misses", "arrow"), "FisherDiscriminant"),
        StudioMethod("quadratic", "A Gaussian for each class", CLOSED_FORM_GROUP,
               "A mean and a covariance each: boundaries are conics.",
               (), "QuadraticDiscriminant", {"shrinkage": GAUSSIAN_SHRINKAGE}),
        StudioMethod("kernel-svm", "Kernel SVM", KERNEL_GROUP,
               "The same street, in the space of a kernel.",
               ("C", "hard", *KERNEL_PARAMETERS, "duels", "misses", "sizes"), "KernelSVM"),
        StudioMethod("kernel-perceptron", "Kernel perceptron", KERNEL_GROUP,
               "Counts mistakes instead of adding up weights.",
               (*KERNEL_PARAMETERS, "order", "seed", "sizes"), "KernelPerceptron",
               {"max_passes": MAX_KERNEL_PASSES}),
    )
}  # fmt: skip


def catalogue() -> dict:
    """Methods and knobs, for the page to make its controls from."""
    return {
        "methods": [
            {"name": m.name, "title": m.title, "group": m.group, "words": m.words,
             "parameters": [p.name for p in m.parameters], "kernelised": not m.bases}
            for m in STUDIO_METHODS.values()
        ],
        "parameters": {p.name: p.to_dict() for p in PARAMETERS.values()},
    }  # fmt: skip
