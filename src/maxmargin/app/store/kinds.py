"""Models in a file: what their classes say is kept, and what must be true when it is read again.

``models/stored.py`` explains the lines of ``_stored``.  Only classes that the registry lists are
ever looked up.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from ...models.registry import ESTIMATORS, estimator_class
from ...models.stored import LANDMARKS
from .codec import Reader, Writer
from .errors import NotStorableError, shown
from .records import RECORDS, record_class


def write_model(writer: Writer, model: Any, where: str) -> dict | None:
    """The model as a node of the header, or None where it is no model of ours."""
    name = type(model).__name__
    if name not in ESTIMATORS or not isinstance(model, estimator_class(name)):
        return None
    if not hasattr(model, "_stored"):
        raise NotStorableError(
            f"{name} cannot be stored: it does not declare what a model file keeps of it (_stored)."
        )
    given = {
        key: writer(value, f"{name}.{key}")
        for key, value in sorted(model.get_params(deep=False).items())
        if not (key == "unknown" and isinstance(value, type))  # the default: nothing is unknown
    }
    has = vars(model)
    kept = [key for key in model._stored if key in has]
    fitted = {key: writer(has[key], f"{name}.{key}") for key in kept}
    if hasattr(model, "_chosen"):  # which the reader makes again
        writer.made += has[model._chosen[0]].nbytes
    return {"~": "model", "of": name, "parameters": given, "fitted": fitted}


def read_model(reader: Reader, node: dict):
    """The model of a node: parameters set, attributes checked against what its class declares."""
    name = node["of"]
    known = isinstance(name, str) and name in ESTIMATORS
    if not known or not hasattr(cls := estimator_class(name), "_stored"):
        raise reader.refuse(f"it holds a model of unknown kind {shown(name)}")
    parameters = reader.named(node, "parameters")
    if unknown := set(parameters) - set(cls._get_param_names()):
        raise reader.refuse(f"{name} has no parameter {shown(min(unknown))}")
    model = cls(**parameters)  # our constructors only keep what they are given
    fitted = reader.named(node, "fitted")
    if fitted:
        try:
            Check(reader, model, fitted).run()
        except Mismatch as error:
            raise reader.refuse(f"in its {name} {error}") from None
        if hasattr(cls, "_chosen"):
            chosen, places = cls._chosen
            reader.budget.take(fitted[places].size * fitted["classes_"].itemsize)
            fitted[chosen] = fitted["classes_"][fitted[places]]
    vars(model).update(fitted)
    return model


class Mismatch(Exception):
    """What does not fit together."""


class Check:
    """Every attribute of a stored model is what its class declares, and their lengths agree."""

    def __init__(self, reader: Reader, model, fitted: dict[str, Any]):
        self.reader, self.model, self.fitted = reader, model, fitted
        self.kind = type(model)._stored
        self.lengths: dict[str, int] = {}

    def run(self) -> None:
        unknown = set(self.fitted) - set(self.kind)
        missing = {key for key, line in self.kind.items() if "!" in line} - set(self.fitted)
        if missing:
            raise Mismatch(f"{sorted(missing)[0]} is missing")
        if unknown:
            raise Mismatch(f"{shown(min(unknown))} does not belong")
        if "classes_" in self.fitted:
            self._look("classes_")
            self.lengths["m"] = self._machines(self.lengths["k"])
        for key in self.fitted:
            self._look(key)
        for key in ("support_", "_codes", "updated_", "_own", "_duels"):
            self._in_range(key)
        if "_linear" in self.kind and self.model.rank is not None:
            self._approximates()
        if "estimators_" in self.kind:
            self._answer_all()

    def _machines(self, k: int) -> int:
        if isinstance(labels := self.fitted.get("n_labels_"), int):
            return labels
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
        if what == "Calibration":
            return isinstance(value, record_class(what)) and self._calibrates(value)
        if what in RECORDS:
            return isinstance(value, record_class(what))
        if what in ESTIMATORS:
            return isinstance(value, estimator_class(what))
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
            return all(type(model).__name__ in ESTIMATORS for model in models)
        if what == "pair":
            return isinstance(value, tuple) and len(value) == 2 and self._sums(*value)
        if what == "parts":
            parts = [] if value is None else value
            return isinstance(parts, list) and all(
                _kind(part) == "i" and part.ndim == 1 for part in parts
            )
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
        if what == "float" and not self.reader.finite(value):
            return False
        return self._agree(value.shape, letters)

    def _expands(self, expansion) -> bool:
        """Places among the rows kept (columns of a matrix given), one coefficient a machine."""
        if type(expansion.points).__name__ != "KernelPoints":
            return False
        rows, places, coefficients = expansion.points.X, expansion.places, expansion.coefficients
        most = rows.shape[1 if expansion.points.kernel.precomputed else 0]
        if _kind(places) != "i" or places.ndim != 1 or _kind(coefficients) != "f":
            return False
        shape = (len(places), self.lengths["m"])
        return (
            self.reader.within(places, most)
            and coefficients.shape == shape
            and self._agree(rows.shape[1:], ["d"])
        )

    def _calibrates(self, calibration) -> bool:
        """Scores of every class (of two, one number) and the place of a label for each row."""
        scores, codes, offset = calibration.scores, calibration.codes, calibration.offset
        k = self.lengths["k"]
        if (_kind(scores), _kind(codes), _kind(offset)) != ("f", "i", "f"):
            return False
        shape = (len(codes),) if k == 2 else (len(codes), k)
        return (
            codes.ndim == 1
            and (scores.shape, offset.shape) == (shape, (k,))
            and self.reader.within(codes, k)
            and self.reader.finite(scores)
            and self.reader.finite(offset)
            and bool(np.isfinite(calibration.slope))
            and self._mixes(calibration, k)
        )

    def _mixes(self, calibration, k: int) -> bool:
        """Of two classes with rows: weights of each, if any, that are not all zero."""
        if not calibration.mixed:
            return True
        weight, n = calibration.weight, len(calibration.codes)
        if weight is None:
            return k == 2 and n > 0
        fits = k == 2 and _kind(weight) == "f" and weight.shape == (n,)
        return bool(fits and self.reader.finite(weight) and (weight >= 0).all() and weight.any())

    def _approximates(self) -> None:
        """The landmarks are those of the expansion, and the machine on their features is ours."""
        if missing := [key for key in LANDMARKS if key not in self.fitted]:
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
        if not _kind(U) == _kind(u) == "f":
            return False
        m, d = self.lengths["m"], self.fitted["n_features_in_"]
        return [U.shape, u.shape] in ([(m, d), (m,)], [(m, 0), (m,)])

    def _answer_all(self) -> None:
        """Every question has its classifier of two classes, which sees the columns there are."""
        models, k = self.fitted["estimators_"], self.lengths["k"]
        asked = self.fitted["_duels" if "_duels" in self.kind else "_own"]
        if type(self.model.estimator).__name__ not in ESTIMATORS:
            raise Mismatch("the estimator is no model")
        if len(models) != len(asked):
            raise Mismatch(f"there are {len(models)} estimators for {len(asked)} questions")
        if asked.ndim == 2:
            whole = k * (k - 1) // 2 == len(asked) and asked.shape[1] == 2
            if not whole or not np.array_equal(asked, np.column_stack(np.triu_indices(k, 1))):
                raise Mismatch(f"_duels are not all pairs of {k} classes")
        elif len(asked) not in (k - 1, k) or not (asked[1:] > asked[:-1]).all():
            raise Mismatch(f"_own is no choice of {k} classes")
        widths = self._widths(len(models))
        for place, (model, width) in enumerate(zip(models, widths, strict=True)):
            two = len(getattr(model, "classes_", ())) == 2
            if not two or model.n_features_in_ != width:
                raise Mismatch(f"estimators_[{place}] is for another question")

    def _widths(self, count: int) -> list[int]:
        """How many columns each estimator sees; of a Gram matrix those of its own rows."""
        d, known = self.lengths["d"], self.fitted.get("_known")
        if known is None:
            return [d] * count
        # Every row belongs to a class, and so to some of the questions.
        last = max((self.reader.extent(part)[1] for part in known), default=-1)
        inside = last == d - 1 and all(self.reader.within(part, d) for part in known)
        if len(known) != count or not inside:
            raise Mismatch("_known points outside the columns there are")
        return [len(part) for part in known]

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
        if value is None or most is None:
            return
        if not self.reader.within(value, most):
            raise Mismatch(f"{key} points outside the {most} there are")


def _kind(value) -> str:
    return value.dtype.kind if isinstance(value, np.ndarray) else ""
