"""Values as JSON: numbers, words, containers, arrays and a few known records; no code.

A value that JSON has no word for is an object with the key "~", which names its kind:

    {"~": "number", "value": "inf"}                     what JSON has no number for
    {"~": "scalar", "dtype": "<i8", "value": 3}         a numpy number
    {"~": "array", "at": 0}                             an array of the table, or "transposed"
    {"~": "words", "bytes": 1, "ends": 2, "as": "list"} many words: UTF-8, one after another;
                                                        "codes": an array of places among them
    {"~": "objects", "values": […]}                     a one-dimensional array of plain values
    {"~": "sparse", "shape": [n, d], "data": 3, "indices": 4, "indptr": 5}
    {"~": "tuple", "values": […]}, {"~": "map", "items": [[key, value], …]}
    {"~": "record", "of": "Certificate", "fields": {…}} one of ``RECORDS``
    {"~": "points", "rows": …, "kernel": …}             rows under a kernel
    {"~": "model", "of": "LinearSVM", …}                see ``kinds``
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import import_module
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from .container import DTYPES
from .errors import ModelFileError, NotStorableError

# Where each record is defined.  Nothing else is ever looked up or called.
RECORDS = {
    "Certificate": "core.certify.certificate",
    "NormalEquations": "core.certify.normal_equations",
    "FisherCriterion": "core.certify.fisher",
    "Separation": "core.certify.separability",
    "PerceptronCertificate": "core.certify.mistakes",
    "MistakeBound": "core.certify.mistakes",
    "Kernel": "core.kernels.kernels",
    "Expansion": "models.kernel.expansion",
    "Step": "core.solve.contract",
    "Pass": "core.solve.perceptron.passes",
    "LeaveOneOut": "core.solve.closed_form.ridge_path",
    "RidgePath": "models.regression.least_squares",
    "TableModel": "parts.files.model",
    "MatrixPreparation": "parts.files.preparation",
    "Preparation": "parts.files.preparation",
    "Number": "parts.files.columns",
    "Category": "parts.files.columns",
    "Text": "parts.files.columns",
    "Basis": "parts.files.basis",
}
PLAIN_TYPES = (str, int, bool, type(None))
# From this many words on a list of them is kept as an array.
MIN_ARRAY_WORDS = 16
_SCALAR_CHECKS: dict[str, Callable[[Any], bool]] = {
    "float": lambda v: isinstance(v, Real) and not isinstance(v, bool | np.bool_),
    "int": lambda v: isinstance(v, Integral) and not isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "bool": lambda v: isinstance(v, bool | np.bool_),
}


def record_class(name: str) -> type:
    """The class of a record, from the list above."""
    return getattr(import_module(f"maxmargin.{RECORDS[name]}"), name)


def record_fields(cls: type) -> dict[str, str]:
    """Names of the fields and their annotations as written."""
    if dataclasses.is_dataclass(cls):
        return {field.name: str(field.type) for field in dataclasses.fields(cls)}
    return {name: str(cls.__annotations__[name]) for name in cls._fields}  # type: ignore[attr-defined]


class Writer:
    """Turns values into JSON, and collects their arrays."""

    def __init__(self, model: Callable | None = None) -> None:
        self.arrays: list[np.ndarray] = []
        self._places: dict[int, int] = {}
        self._model = model

    def __call__(self, value, where: str) -> Any:
        if isinstance(value, PLAIN_TYPES):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else {"~": "number", "value": repr(float(value))}
        if isinstance(value, np.generic) and value.dtype.kind in "fiub":
            plain = self(value.item(), where)
            return {"~": "scalar", "dtype": value.dtype.newbyteorder("<").str, "value": plain}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sparse.issparse(value):
            return self._sparse(value, where)
        if type(value).__name__ in RECORDS and type(value) is record_class(type(value).__name__):
            return self._record(value, where)
        if type(value).__name__ == "KernelPoints" and hasattr(value, "centre"):
            return self._points(value, where)
        if isinstance(value, list | tuple):
            return self._sequence(value, where)
        if isinstance(value, dict):
            items = [[self(k, where), self(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {"~": "map", "items": items}
        if self._model is not None and (node := self._model(self, value, where)) is not None:
            return node
        kind = "functions" if callable(value) else f"objects of {type(value).__name__}"
        raise NotStorableError(
            f"{where} cannot be stored: a model file holds numbers and words, no {kind}. "
            "Keep it in your program and store the rest, or use a value that can be written down."
        )

    def put(self, array: np.ndarray) -> int:
        """The place of an array in the table; an array that two values share has one."""
        place = self._places.setdefault(id(array), len(self.arrays))
        if place == len(self.arrays):
            self.arrays.append(array)
        return place

    def _sequence(self, values, where: str):
        if isinstance(values, list) and len(values) >= MIN_ARRAY_WORDS and all_words(values):
            return self.words(values, "list")
        inside = [self(value, f"{where}[{i}]") for i, value in enumerate(values)]
        return inside if isinstance(values, list) else {"~": "tuple", "values": inside}

    def _array(self, array: np.ndarray, where: str) -> dict:
        if array.dtype.kind in "fiub" and array.dtype.newbyteorder("<").str in _KNOWN_DTYPES:
            if array.flags.f_contiguous and not array.flags.c_contiguous:
                # The order of sums, and so their rounding, depends on how an array lies.
                return {"~": "array", "at": self.put(array.T), "transposed": True}
            return {"~": "array", "at": self.put(array)}
        if array.dtype.kind == "U" and array.ndim == 1:
            return self._word_array(array)
        if array.dtype == object and array.ndim == 1:
            values = array.tolist()
            if len(values) >= MIN_ARRAY_WORDS and all_words(values):
                return self.words(values, "objects")
            return {"~": "objects", "values": [self(v, where) for v in values]}
        raise NotStorableError(
            f"{where} cannot be stored: a model file holds no array of {array.dtype} with "
            f"{array.ndim} dimensions. Convert it to numbers or to words."
        )

    def _word_array(self, array: np.ndarray) -> dict:
        kind = array.dtype.newbyteorder("<").str
        if len(array) < MIN_ARRAY_WORDS:
            return self.words(array.tolist(), kind)
        levels, codes = np.unique(array, return_inverse=True)
        if len(levels) > len(array) / 2:
            return self.words(array.tolist(), kind)
        codes = codes.astype(np.uint8 if len(levels) < 256 else np.int32)
        return self.words(levels.tolist(), kind) | {"codes": self.put(codes)}

    def words(self, values: list[str], kind: str) -> dict:
        coded = [word.encode("utf-8", "surrogatepass") for word in values]
        text = np.frombuffer(b"".join(coded), dtype=np.uint8)
        ends = np.cumsum([len(word) for word in coded], dtype=np.int64)
        return {"~": "words", "bytes": self.put(text), "ends": self.put(ends), "as": kind}

    def _sparse(self, matrix, where: str) -> dict:
        rows = matrix.tocsr()
        parts = {name: self.put(getattr(rows, name)) for name in ("data", "indices", "indptr")}
        kind = "array" if isinstance(matrix, sparse.sparray) else "matrix"
        return {"~": "sparse", "shape": [int(n) for n in rows.shape], "as": kind, **parts}

    def _points(self, points, where: str) -> dict:
        """Rows under a kernel; whether they are met as sparse rows decides how sums are rounded."""
        parts = {"rows": points.X, "kernel": points.kernel, "centre": points.centre}
        node = {name: self(value, f"{where}.{name}") for name, value in parts.items()}
        return {"~": "points", "sparse": points.csr is not None, **node}

    def _record(self, value, where: str) -> dict:
        names = record_fields(type(value))
        fields = {name: self(getattr(value, name), f"{where}.{name}") for name in names}
        return {"~": "record", "of": type(value).__name__, "fields": fields}


_KNOWN_DTYPES = {dtype.str: dtype for dtype in DTYPES}


def all_words(values) -> bool:
    return all(type(value) is str for value in values)


class Reader:
    """The values of a header, with arrays taken from the table.  Refuses what it does not know."""

    def __init__(self, arrays: list[np.ndarray], name: str, model: Callable | None = None):
        self.arrays, self.name, self._model = arrays, name, model

    def refuse(self, why: str) -> ModelFileError:
        return ModelFileError(f"{self.name} is damaged: {why}.")

    def __call__(self, node) -> Any:
        if isinstance(node, (PLAIN_TYPES, float)):
            return node
        if isinstance(node, list):
            return [self(item) for item in node]
        kind = node.get("~")
        method = getattr(self, f"_read_{kind}", None) if kind in NODE_KINDS else None
        if method is None:
            raise self.refuse(f"it holds a value of unknown kind {str(kind)[:40]!r}")
        try:
            return method(node)
        except ModelFileError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise self.refuse(
                f"a value of kind {kind!r} is not what it should be ({error})"
            ) from None

    def array(self, at) -> np.ndarray:
        if type(at) is not int or not 0 <= at < len(self.arrays):
            raise self.refuse(f"there is no array number {str(at)[:40]}")
        return self.arrays[at]

    def _read_number(self, node) -> float:
        if node["value"] not in ("inf", "-inf", "nan"):
            raise ValueError(str(node["value"])[:40])
        return float(node["value"])

    def _read_scalar(self, node):
        return _KNOWN_DTYPES[node["dtype"]].newbyteorder("=").type(self(node["value"]))

    def _read_array(self, node) -> np.ndarray:
        array = self.array(node["at"])
        return array.T if node.get("transposed") is True else array

    def _read_words(self, node):
        text, ends = self.array(node["bytes"]), self.array(node["ends"])
        if text.dtype != np.uint8 or ends.dtype != np.int64 or text.ndim + ends.ndim != 2:
            raise ValueError("words are bytes and their ends")
        steps = np.diff(ends, prepend=0)
        if len(ends) and (steps.min() < 0 or ends[-1] != len(text)):
            raise ValueError("the ends of words are not in order")
        whole, at, words = text.tobytes(), 0, []
        for end in ends.tolist():
            words.append(whole[at:end].decode("utf-8", "surrogatepass"))
            at = end
        kind = node["as"]
        if kind == "list":
            return words
        if kind == "objects":
            return np.array([*words, None], dtype=object)[:-1]
        array = self._word_array(words, kind)
        return array if "codes" not in node else array[self._codes(node["codes"], len(array))]

    def _codes(self, at, levels: int) -> np.ndarray:
        codes = self.array(at)
        if codes.dtype.kind not in "iu" or codes.ndim != 1 or not len(codes):
            raise ValueError("places of words are whole numbers")
        if codes.min() < 0 or codes.max() >= levels:
            raise ValueError(f"there are {levels} words only")
        return codes

    def _word_array(self, words: list[str], kind: str) -> np.ndarray:
        longest = max((len(word) for word in words), default=0)
        if not (isinstance(kind, str) and kind.startswith("<U") and kind[2:].isdigit()):
            raise ValueError(f"no array of words is {str(kind)[:20]!r}")
        width = int(kind[2:])
        # The array takes 4 · width bytes a word, so width must not be more than the words need.
        if width > max(longest, 64) or width < longest:
            raise ValueError(f"words of {longest} letters in an array of {kind}")
        return np.array(words, dtype=f"U{max(width, 1)}")

    def _read_objects(self, node) -> np.ndarray:
        values = [self(value) for value in node["values"]]
        if not all(isinstance(value, (PLAIN_TYPES, float)) for value in values):
            raise ValueError("not plain values")
        return np.array([*values, None], dtype=object)[:-1]

    def _read_sparse(self, node):
        data, indices, indptr = (self.array(node[name]) for name in ("data", "indices", "indptr"))
        n, d = node["shape"]
        if data.dtype.kind != "f" or indices.dtype.kind != "i" or indptr.dtype != indices.dtype:
            raise ValueError("wrong dtypes")
        if len(indptr) != n + 1 or len(indices) != len(data) or indptr[0] != 0:
            raise ValueError("wrong lengths")
        if indptr[-1] != len(data) or np.diff(indptr).min(initial=0) < 0:
            raise ValueError("the rows are not in order")
        if len(data) and not 0 <= indices.min() <= indices.max() < d:
            raise ValueError("a column that is not there")
        kind = sparse.csr_array if node["as"] == "array" else sparse.csr_matrix
        return kind((data, indices, indptr), shape=(n, d))

    def _read_tuple(self, node) -> tuple:
        return tuple(self(value) for value in node["values"])

    def _read_map(self, node) -> dict:
        return {self(key): self(value) for key, value in node["items"]}

    def _read_record(self, node):
        if node["of"] not in RECORDS:
            raise self.refuse(f"it holds a record of unknown kind {str(node['of'])[:40]!r}")
        cls = record_class(node["of"])
        names = record_fields(cls)
        values = {name: self(value) for name, value in node["fields"].items()}
        if unknown := set(values) - set(names):
            raise ValueError(f"{node['of']} has no {sorted(unknown)[0][:40]!r}")
        for name, value in values.items():
            if names[name] in _SCALAR_CHECKS and not _SCALAR_CHECKS[names[name]](value):
                raise ValueError(f"{node['of']}.{name} is {str(value)[:40]!r}")
        return cls(**values)

    def _read_points(self, node):
        block = import_module("maxmargin.core.kernels.kernel_block")
        kernel, rows = self(node["kernel"]), self(node["rows"])
        centre = self(node["centre"])
        if not isinstance(kernel, record_class("Kernel")) or getattr(rows, "ndim", 0) != 2:
            raise ValueError("no rows under a kernel")
        if np.shape(centre) not in ((), (rows.shape[1],)):
            raise ValueError("a centre of another width")
        like = SimpleNamespace(csr=True if node["sparse"] else None, centre=centre)
        return block.KernelPoints(rows, kernel, like=like)

    def _read_model(self, node):
        if self._model is None:
            raise ValueError("no model belongs here")
        return self._model(self, node)


NODE_KINDS = {name.removeprefix("_read_") for name in vars(Reader) if name.startswith("_read_")}
