"""The records a model file may hold: their classes, their fields, and what a field may be."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np

# Where each record is defined.  Nothing else is ever looked up or called.
RECORDS = {
    "Certificate": "core.certify.certificate",
    "NormalEquations": "core.certify.normal_equations",
    "FisherCriterion": "core.certify.fisher",
    "GaussianFit": "models.regression.gaussian_fit",
    "Separation": "core.certify.separability",
    "PerceptronCertificate": "core.certify.mistakes",
    "MistakeBound": "core.certify.mistakes",
    "Kernel": "core.kernels.kernels",
    "Expansion": "models.kernel.expansion",
    "Step": "core.solve.contract",
    "Pass": "core.solve.perceptron.passes",
    "LeaveOneOut": "core.solve.closed_form.ridge_path",
    "RidgePath": "models.regression.least_squares",
    "Calibration": "models.calibration.calibration",
    "ErrorEstimate": "models.calibration.error_estimate",
    "TableModel": "parts.files.model",
    "MatrixPreparation": "parts.files.preparation",
    "Preparation": "parts.files.preparation",
    "Number": "parts.files.columns",
    "Category": "parts.files.columns",
    "Text": "parts.files.columns",
    "Basis": "parts.files.basis",
}
# Fields of any type that hold arrays; all others are looked at by their class.
ARRAY_FIELDS = ("shift", "scale", "idf", "centers")
MAX_LIST_DIMENSIONS = 3
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "float": lambda v: isinstance(v, Real) and not isinstance(v, bool | np.bool_),
    "int": lambda v: isinstance(v, Integral) and not isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "bool": lambda v: isinstance(v, bool | np.bool_),
    "dict": lambda v: isinstance(v, dict),
    "list": lambda v: isinstance(v, list),
    "tuple": lambda v: isinstance(v, tuple | list),
    "str | Callable": lambda v: isinstance(v, str),
}


def record_class(name: str) -> type:
    """The class of a record, from the list above."""
    return getattr(import_module(f"maxmargin.{RECORDS[name]}"), name)


def record_fields(cls: type) -> dict[str, str]:
    """Names of the fields and their annotations as written."""
    if dataclasses.is_dataclass(cls):
        return {field.name: str(field.type) for field in dataclasses.fields(cls)}
    return {name: str(cls.__annotations__[name]) for name in cls._fields}  # type: ignore[attr-defined]


def check_field(name: str, annotation: str, value: Any) -> bool:
    """Whether a value may be that of a field; where its annotation tells nothing, it may."""
    plain = annotation.removesuffix(" | None")
    if value is None and plain != annotation:
        return True
    if plain in RECORDS:
        return isinstance(value, record_class(plain))
    if plain.startswith("np.ndarray") or (annotation == "Any" and name in ARRAY_FIELDS):
        return value is None or is_numeric(value)
    check = _CHECKS.get(plain) or _CHECKS.get(plain.partition("[")[0])
    return check is None or check(value)


def is_numeric(value: Any, dimensions: int = MAX_LIST_DIMENSIONS) -> bool:
    """A number, numbers in an array, or in lists: what numpy takes for an array without taking
    more memory than it has.  Of words it would make an array as wide as the longest."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub" and dimensions == MAX_LIST_DIMENSIONS
    if isinstance(value, list | tuple) and dimensions:
        return all(is_numeric(each, dimensions - 1) for each in value)
    return isinstance(value, Real)
