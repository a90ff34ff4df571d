"""What is stored of each model, and what must be true of it when it is read again.

Of a model the parameters and the fitted attributes named here are kept.  A line says what an
attribute is; letters are lengths that must agree: d features, k classes, m machines (rows of
weights), n training rows, s support vectors, c directions, p pairs, l landmarks, r features of
landmarks.  "m?" is left out where there are two classes.  Compiled code reads these arrays
without asking how long they are, so nothing that disagrees may pass.
"""

from __future__ import annotations

from importlib import import_module
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .codec import RECORDS, Reader, Writer, record_class


class Kind(NamedTuple):
    """Where a model lives, and its fitted attributes; those marked "!" must be there."""

    home: str
    fitted: dict[str, str]


_SEEN = {"n_features_in_": "count d !", "feature_names_in_": "words d"}
_TOLD = {
    "certificate_": "Certificate",
    "history_": "list",
    "n_iter_": "count",
    "solver_": "text",
    "solver_reason_": "text",
}
_LINEAR = {"classes_": "labels k !", "coef_": "float m d !", "intercept_": "float m !"} | _SEEN
_SUPPORT = {"support_": "int s", "support_kind_": "words s", "margin_": "number"}
_DUAL = {"alpha_": "float n m?", "slack_": "float n", "_codes": "int n"}
_STREAMED = {"_alpha_rows": "int r", "_alpha_values": "float r", "_alpha_machines": "int r"}
_PAIRS = {"alpha_": "float p", "slack_": "float p", "n_pairs_": "count"} | _SUPPORT
_PASSES = {
    "alpha_": "int n m?",
    "support_": "int s",
    "updates_": "count",
    "radius_": "number",
    "certificate_": "PerceptronCertificate",
    "mistake_bound_": "MistakeBound",
    "history_": "list",
    "n_iter_": "count",
}
_RIDGE = {
    "_kernel": "Kernel !",
    "alpha_": "number !",
    "dual_coef_": "float n m !",
    "X_fit_": "rows n d",
    "loo_": "LeaveOneOut",
    "certificate_": "NormalEquations",
} | _SEEN
# With ``rank``: a linear machine on r features, made of kernel values with l landmarks.
_LANDMARKS = {
    "_linear": "LinearSVM",
    "_map": "float l r",
    "rank_": "count r",
    "trace_error_": "number",
    "_about": "text",
}
_MANY = {"classes_": "labels k !", "estimators_": "models !"} | _SEEN

MODELS = {
    "LinearSVM": Kind("models.svm.linear_svm", _LINEAR | _DUAL | _STREAMED | _SUPPORT | _TOLD),
    "LogisticRegression": Kind("models.regression.logistic_regression", _LINEAR | _TOLD),
    "LeastSquaresClassifier": Kind(
        "models.regression.least_squares",
        _LINEAR | {"alpha_": "number !", "path_": "RidgePath", "certificate_": "NormalEquations"},
    ),
    "FisherDiscriminant": Kind(
        "models.regression.fisher",
        _LINEAR
        | {
            "scalings_": "float d c !",
            "criterion_": "float c",
            "explained_variance_ratio_": "float c",
            "means_": "float k d",
            "xbar_": "float d !",
            "priors_": "float k !",
            "certificate_": "FisherCriterion",
        },
    ),
    "Perceptron": Kind(
        "models.perceptron.perceptron",
        _LINEAR
        | _PASSES
        | {
            "last_coef_": "float m d",
            "last_intercept_": "float m",
            "_average_sums": "pair",
            "_clock": "number",
        },
    ),
    "KernelPerceptron": Kind(
        "models.perceptron.kernel_perceptron",
        {
            "classes_": "labels k !",
            "_kernel": "Kernel !",
            "dual_coef_": "float m s !",
            "intercept_": "float m !",
            "support_vectors_": "rows s d",
            "updated_": "int u",
        }
        | _SEEN
        | _PASSES
        | {"support_": "int s !"},
    ),
    "KernelSVM": Kind(
        "models.kernel.kernel_svm",
        {
            "classes_": "labels k !",
            "_expansion": "Expansion !",
            "intercept_": "float m !",
            "gamma_": "number",
            "support_vectors_": "rows s d",
        }
        | _SEEN
        | _DUAL
        | _SUPPORT
        | _TOLD
        | {"support_": "int s !"}
        | _LANDMARKS,
    ),
    "KernelRidge": Kind("models.kernel.kernel_ridge", _RIDGE | {"_flat": "flag !"}),
    "KernelRidgeClassifier": Kind(
        "models.kernel.kernel_ridge", _RIDGE | {"classes_": "labels k !"}
    ),
    "PairwiseRanker": Kind(
        "models.ranking.pairwise_ranker",
        {"coef_": "float d !", "_width": "number"} | _SEEN | _PAIRS | _TOLD,
    ),
    "LabelRanker": Kind("models.ranking.label_ranker", _LINEAR | _PAIRS | _TOLD),
    "OneVsRest": Kind("models.reduction.one_vs_rest", _MANY | {"_own": "int o !"}),
    "OneVsOne": Kind(
        "models.reduction.one_vs_one", _MANY | {"_duels": "int q t !", "_known": "parts"}
    ),
}
# Attributes that are a choice of classes, made again when read.
CHOICES = {"OneVsRest": ("positives_", "_own"), "OneVsOne": ("pairs_", "_duels")}


def model_class(name: str) -> Any:
    """The class of a stored model, from the list above."""
    return getattr(import_module(f"maxmargin.{MODELS[name].home}"), name)


def write_model(writer: Writer, model: Any, where: str) -> dict | None:
    """The model as a node of the header, or None where it is no model of ours."""
    name = type(model).__name__
    if name not in MODELS or not isinstance(model, model_class(name)):
        return None
    given = {
        key: writer(value, f"{name}.{key}")
        for key, value in sorted(model.get_params(deep=False).items())
        if not (key == "unknown" and isinstance(value, type))  # the default: nothing is unknown
    }
    has = vars(model)
    kept = [key for key in MODELS[name].fitted if key in has]
    fitted = {key: writer(has[key], f"{name}.{key}") for key in kept}
    return {"~": "model", "of": name, "parameters": given, "fitted": fitted}


def read_model(reader: Reader, node: dict):
    """The model of a node: parameters set, attributes checked against the table above."""
    name = node["of"]
    if name not in MODELS:
        raise reader.refuse(f"it holds a model of unknown kind {str(name)[:40]!r}")
    cls = model_class(name)
    parameters = {key: reader(value) for key, value in node["parameters"].items()}
    if unknown := set(parameters) - set(cls._get_param_names()):
        raise reader.refuse(f"{name} has no parameter {sorted(unknown)[0][:40]!r}")
    model = cls(**parameters)  # our constructors only keep what they are given
    fitted = {key: reader(value) for key, value in node["fitted"].items()}
    if fitted:
        try:
            Check(name, model, fitted).run()
        except Mismatch as error:
            raise reader.refuse(f"in its {name} {error}") from None
        if name in CHOICES:
            chosen, places = CHOICES[name]
            fitted[chosen] = fitted["classes_"][fitted[places]]
    vars(model).update(fitted)
    return model


class Mismatch(Exception):
    """What does not fit together."""


class Check:
    """Every attribute of a stored model is what the table says, and their lengths agree."""

    def __init__(self, name: str, model, fitted: dict[str, Any]):
        self.name, self.model, self.fitted = name, model, fitted
        self.kind = MODELS[name].fitted
        self.lengths: dict[str, int] = {}

    def run(self) -> None:
        unknown = set(self.fitted) - set(self.kind)
        missing = {key for key, line in self.kind.items() if "!" in line} - set(self.fitted)
        if missing:
            raise Mismatch(f"{sorted(missing)[0]} is missing")
        if unknown:
            raise Mismatch(f"{sorted(unknown)[0][:40]!r} does not belong")
        if "classes_" in self.fitted:
            self._look("classes_")
            self.lengths["m"] = self._machines(self.lengths["k"])
        for key in self.fitted:
            self._look(key)
        for key in ("support_", "_codes", "updated_", "_own", "_duels"):
            self._in_range(key)
        if self.name == "KernelSVM" and self.model.rank is not None:
            self._approximates()

    def _machines(self, k: int) -> int:
        if self.name == "LabelRanker":
            return k
        if k == 2:
            return 1
        return k * (k - 1) // 2 if getattr(self.model, "multiclass", "") == "pairs" else k

    def _look(self, key: str) -> None:
        what, *letters = [word for word in self.kind[key].split() if word != "!"]
        value = self.fitted[key]
        if not self._is(what, value, letters):
            raise Mismatch(f"{key} is not what it should be ({self.kind[key].rstrip(' !')})")

    def _is(self, what: str, value, letters: list[str]) -> bool:
        if what == "Expansion":
            return isinstance(value, record_class(what)) and self._expands(value)
        if what in RECORDS:
            return isinstance(value, record_class(what))
        if what in MODELS:
            return isinstance(value, model_class(what))
        if what == "count":
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            return bool(whole and value >= 0) and self._agree(
                (int(value),) if letters else (), letters
            )
        if what == "number":
            return isinstance(value, Real)
        if what in ("text", "flag", "list"):
            return isinstance(value, {"text": str, "flag": bool, "list": list}[what])
        if what == "models":
            models = value if isinstance(value, list) else [None]
            return all(type(model).__name__ in MODELS for model in models)
        if what == "pair":
            return isinstance(value, tuple) and len(value) == 2 and self._sums(*value)
        if what == "parts":
            parts = [] if value is None else value
            return isinstance(parts, list) and all(_kind(part) == "i" for part in parts)
        if what == "rows":
            return value is None or (
                (sparse.issparse(value) or (_kind(value) == "f" and value.ndim == 2))
                and self._agree(value.shape, letters)
            )
        return self._is_array(what, value, letters)

    def _is_array(self, what: str, value, letters: list[str]) -> bool:
        kinds = {"float": "f", "int": "iu", "words": "UO", "labels": "fiubUO"}[what]
        if not isinstance(value, np.ndarray) or _kind(value) not in kinds:
            return False
        if what == "labels" and (value.ndim != 1 or len(value) < 2):
            return False
        if what == "float" and value.size and not np.isfinite(value).all():
            return False
        return self._agree(value.shape, letters)

    def _expands(self, expansion) -> bool:
        """Places among the rows kept (columns of a matrix given), one coefficient a machine."""
        rows, places, coefficients = expansion.points.X, expansion.places, expansion.coefficients
        most = rows.shape[1 if expansion.points.kernel.precomputed else 0]
        if _kind(places) != "i" or places.ndim != 1 or _kind(coefficients) != "f":
            return False
        inside = not len(places) or (places.min() >= 0 and places.max() < most)
        shape = (len(places), self.lengths["m"])
        return bool(inside) and coefficients.shape == shape and self._agree(rows.shape[1:], ["d"])

    def _approximates(self) -> None:
        """The landmarks are those of the expansion, and the machine on their features is ours."""
        if missing := [key for key in _LANDMARKS if key not in self.fitted]:
            raise Mismatch(f"{missing[0]} is missing, which a model with rank has")
        linear, places = self.fitted["_linear"], self.fitted["_expansion"].places
        if (marks := self.lengths["l"]) != len(places):
            raise Mismatch(f"_map is for {marks} landmarks, but there are {len(places)}")
        same = (
            hasattr(linear, "coef_")
            and linear.coef_.shape == (self.lengths["m"], self.lengths["r"])
            and linear.multiclass == self.model.multiclass
            and np.array_equal(linear.classes_, self.fitted["classes_"])
        )
        if not same:
            raise Mismatch("_linear is a machine for another question")

    def _sums(self, U, u) -> bool:
        """A perceptron's running sums: as large as the weights, or empty."""
        m, d = self.lengths["m"], self.fitted["n_features_in_"]
        shapes = [np.shape(U), np.shape(u)]
        return _kind(U) == _kind(u) == "f" and shapes in ([(m, d), (m,)], [(m, 0), (m,)])

    def _agree(self, shape, letters: list[str]) -> bool:
        two = self.lengths.get("k") == 2
        letters = [letter[0] for letter in letters if not (letter.endswith("?") and two)]
        if len(letters) != len(shape):
            return False
        return all(
            self.lengths.setdefault(letter, length) == length
            for letter, length in zip(letters, shape, strict=True)
        )

    def _in_range(self, key: str) -> None:
        value = self.fitted.get(key)
        rows = "p" if "p" in self.lengths else "n"
        most = self.lengths.get("k" if key in ("_codes", "_own", "_duels") else rows)
        if value is None or most is None or len(value) == 0:
            return
        if value.min() < 0 or value.max() >= most:
            raise Mismatch(f"{key} points outside the {most} there are")


def _kind(value) -> str:
    return value.dtype.kind if isinstance(value, np.ndarray) else ""
