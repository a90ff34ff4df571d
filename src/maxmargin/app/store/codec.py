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

import re
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from ...models.device.tensors import as_numpy, is_tensor
from .budget import Budget, word_array_bytes, words_bytes
from .container import DTYPES
from .errors import ModelFileError, NotStorableError, shown
from .records import RECORDS, check_field, record_class, record_fields

PLAIN_TYPES = (str, int, bool, type(None))
# From this many words on a list of them is kept as an array.
MIN_ARRAY_WORDS = 16
# Models inside models are ten deep or so; each level takes a few calls of Python's thousand.
MAX_DEPTH = 100
WORD_ARRAY_PATTERN = re.compile("<U[0-9]{1,9}")
_SCALAR_TYPES = {"f": (float, int), "i": (int,), "u": (int,), "b": (bool,)}


class Writer:
    """Turns values into JSON, and collects their arrays."""

    def __init__(self, model: Callable | None = None) -> None:
        self.arrays: list[np.ndarray] = []
        self._places: dict[int, int] = {}
        self._model = model
        self.made = 0  # bytes that reading will make of words

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
        if is_tensor(value):  # a model file knows of no device
            return self._array(as_numpy(value), where)
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
        self.made += word_array_bytes(len(codes), array.dtype.itemsize // 4)
        return self.words(levels.tolist(), kind) | {"codes": self.put(codes)}

    def words(self, values: list[str], kind: str) -> dict:
        coded = [word.encode("utf-8", "surrogatepass") for word in values]
        text = np.frombuffer(b"".join(coded), dtype=np.uint8)
        ends = np.cumsum([len(word) for word in coded], dtype=np.int64)
        self.made += words_bytes(len(ends), len(text))
        if kind not in ("list", "objects"):
            self.made += word_array_bytes(len(ends), int(kind[2:]))
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
        by_products = {} if points.quick == points.kernel.by_products else {"quick": points.quick}
        return {"~": "points", "sparse": points.csr is not None, **by_products, **node}

    def _record(self, value, where: str) -> dict:
        names = record_fields(type(value))
        fields = {name: self(getattr(value, name), f"{where}.{name}") for name in names}
        return {"~": "record", "of": type(value).__name__, "fields": fields}


_KNOWN_DTYPES = {dtype.str: dtype for dtype in DTYPES}


def all_words(values) -> bool:
    return all(type(value) is str for value in values)


class Reader:
    """The values of a header, with arrays taken from the table.  Refuses what it does not know.

    ``size`` is that of the file in bytes, to which the memory of what is made here is proportional.
    """

    def __init__(
        self,
        arrays: list[np.ndarray],
        name: str,
        model: Callable | None = None,
        size: int | None = None,
    ):
        self.arrays, self.name, self._model = arrays, name, model
        self.budget = Budget(sum(array.nbytes for array in arrays) if size is None else size)
        self._depth = 0
        self._facts: dict[tuple, Any] = {}
        self._matrices: dict[tuple, Any] = {}

    def refuse(self, why: str) -> ModelFileError:
        return ModelFileError(f"{self.name} is damaged: {why}.")

    def __call__(self, node) -> Any:
        if isinstance(node, (PLAIN_TYPES, float)):
            return node
        if self._depth >= MAX_DEPTH:
            raise self.refuse(f"its values are nested more than {MAX_DEPTH} deep")
        self._depth += 1
        try:
            return self._list(node) if isinstance(node, list) else self._read(node)
        finally:
            self._depth -= 1

    def _list(self, nodes) -> list:
        if not isinstance(nodes, list):
            raise ValueError(f"{shown(nodes)} is no list of values")
        return [self(node) for node in nodes]

    def _read(self, node: dict) -> Any:
        kind = node.get("~")
        if not isinstance(kind, str) or kind not in NODE_KINDS:
            raise self.refuse(f"it holds a value of unknown kind {shown(kind)}")
        try:
            return getattr(self, f"_read_{kind}")(node)
        except ModelFileError:
            raise
        except KeyError as error:
            raise self.refuse(f"a value of kind {kind!r} has no {shown(error.args[0])}") from None
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            raise self.refuse(
                f"a value of kind {kind!r} is not what it should be ({str(error)[:200]})"
            ) from None

    def named(self, node: dict, key: str) -> dict[str, Any]:
        """The values that a node keeps by name under ``key``."""
        if not isinstance(found := node[key], dict):
            raise ValueError(f"{key!r} is {shown(found)}, not an object")
        return {name: self(value) for name, value in found.items()}

    def finite(self, array: np.ndarray) -> bool:
        """Whether all values are; looked at once, however often the file refers to an array."""
        return self._once("finite", array, lambda: bool(np.isfinite(array).all()))

    def extent(self, array: np.ndarray) -> tuple[int, int]:
        """The smallest and the largest value of whole numbers, (0, -1) where there are none."""
        if not array.size:
            return 0, -1
        return self._once("extent", array, lambda: (int(array.min()), int(array.max())))

    def _once(self, what: str, array: np.ndarray, find: Callable) -> Any:
        # The arrays of the table live as long as their reader, so that an address is one array.
        key = (what, array.__array_interface__["data"][0], array.size, array.dtype.str)
        if key not in self._facts:
            self._facts[key] = find()
        return self._facts[key]

    def array(self, at) -> np.ndarray:
        if type(at) is not int or not 0 <= at < len(self.arrays):
            raise self.refuse(f"there is no array number {shown(at)}")
        return self.arrays[at]

    def _read_number(self, node) -> float:
        if (value := node["value"]) not in ("inf", "-inf", "nan"):
            raise ValueError(f"{shown(value)} is not inf, -inf or nan")
        return float(value)

    def _read_scalar(self, node):
        dtype, value = _KNOWN_DTYPES[node["dtype"]], self(node["value"])
        # An array, or a list, would be copied.
        if type(value) not in _SCALAR_TYPES[dtype.kind]:
            raise ValueError(f"{shown(value)} is no number of dtype {dtype}")
        with np.errstate(over="ignore"):
            return dtype.newbyteorder("=").type(value)

    def _read_array(self, node) -> np.ndarray:
        array = self.array(node["at"])
        return array.T if node.get("transposed") is True else array

    def _read_words(self, node):
        text, ends = self.array(node["bytes"]), self.array(node["ends"])
        if text.dtype != np.uint8 or ends.dtype != np.int64 or (text.ndim, ends.ndim) != (1, 1):
            raise ValueError("words are bytes and their ends")
        self.budget.take(words_bytes(len(ends), len(text)))
        if not _in_order(ends, len(text)):
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
        if "codes" not in node:
            return array
        codes = self._codes(node["codes"], len(array))
        self.budget.take(len(codes) * array.itemsize)
        return array[codes]

    def within(self, places: np.ndarray, most: int) -> bool:
        """Whether these are places among so many."""
        least, last = self.extent(places)
        return least >= 0 and last < most

    def _codes(self, at, levels: int) -> np.ndarray:
        codes = self.array(at)
        if codes.dtype.kind not in "iu" or codes.ndim != 1 or not len(codes):
            raise ValueError("places of words are whole numbers")
        if not self.within(codes, levels):
            raise ValueError(f"there are {levels} words only")
        return codes

    def _word_array(self, words: list[str], kind: str) -> np.ndarray:
        longest = max((len(word) for word in words), default=0)
        if not (isinstance(kind, str) and WORD_ARRAY_PATTERN.fullmatch(kind)):
            raise ValueError(f"no array of words is {shown(kind)}")
        width = int(kind[2:])
        # The array takes 4 · width bytes a word, so width must not be more than the words need.
        if width > max(longest, 64) or width < longest:
            raise ValueError(f"words of {longest} letters in an array of {kind}")
        self.budget.take(word_array_bytes(len(words), width))
        return np.array(words, dtype=f"U{max(width, 1)}")

    def _read_objects(self, node) -> np.ndarray:
        values = self._list(node["values"])
        if not all(isinstance(value, (PLAIN_TYPES, float)) for value in values):
            raise ValueError("not plain values")
        return np.array([*values, None], dtype=object)[:-1]

    def _read_sparse(self, node):
        places = tuple(node[name] for name in ("data", "indices", "indptr"))
        data, indices, indptr = (self.array(place) for place in places)
        n, d = node["shape"]
        if any(type(length) is not int or not 0 <= length < 1 << 47 for length in (n, d)):
            raise ValueError("no shape of a matrix")
        # Estimators inside one model share their rows, and so do those who read them.
        key = (*places, n, d, node["as"] == "array")
        if key not in self._matrices:
            self.budget.take(data.nbytes + indices.nbytes + indptr.nbytes)  # scipy may copy
            self._check_sparse(data, indices, indptr, n, d)
            kind = sparse.csr_array if node["as"] == "array" else sparse.csr_matrix
            self._matrices[key] = kind((data, indices, indptr), shape=(n, d))
        return self._matrices[key]

    def _check_sparse(self, data, indices, indptr, n: int, d: int) -> None:
        if data.dtype.kind != "f" or indices.dtype.kind != "i" or indptr.dtype != indices.dtype:
            raise ValueError("wrong dtypes")
        if (data.ndim, indices.ndim, indptr.ndim) != (1, 1, 1):
            raise ValueError("wrong dimensions")
        if len(indptr) != n + 1 or len(indices) != len(data) or indptr[0] != 0:
            raise ValueError("wrong lengths")
        if not _in_order(indptr, len(data)):
            raise ValueError("the rows are not in order")
        if not self.within(indices, d):
            raise ValueError("a column that is not there")

    def _read_tuple(self, node) -> tuple:
        return tuple(self._list(node["values"]))

    def _read_map(self, node) -> dict:
        return {self(key): self(value) for key, value in node["items"]}

    def _read_record(self, node):
        name = node["of"]
        if not isinstance(name, str) or name not in RECORDS:
            raise self.refuse(f"it holds a record of unknown kind {shown(name)}")
        cls = record_class(name)
        fields = record_fields(cls)
        values = self.named(node, "fields")
        if unknown := set(values) - set(fields):
            raise ValueError(f"{name} has no {shown(min(unknown))}")
        for key, value in values.items():
            if not check_field(key, fields[key], value):
                raise ValueError(f"{name}.{key} is {shown(value)}")
        return cls(**values)

    def _read_points(self, node):
        block = import_module("maxmargin.core.kernels.kernel_block")
        kernel, rows = self(node["kernel"]), self(node["rows"])
        centre = self(node["centre"])
        if not isinstance(kernel, record_class("Kernel")) or not _is_matrix(rows):
            raise ValueError("no rows under a kernel")
        shape = centre.shape if _is_numbers(centre) else ()
        if shape not in ((), (rows.shape[1],)) or not (shape or isinstance(centre, float | int)):
            raise ValueError("a centre of another width")
        if node["sparse"] and isinstance(rows, np.ndarray):
            self.budget.take(2 * rows.nbytes)  # their values other than zero are kept once more
        quick = getattr(kernel, "by_products", False) and node.get("quick", True) is True
        like = SimpleNamespace(csr=True if node["sparse"] else None, centre=centre, quick=quick)
        return block.KernelPoints(rows, kernel, like=like)

    def _read_model(self, node):
        if self._model is None:
            raise ValueError("no model belongs here")
        return self._model(self, node)


def _in_order(ends: np.ndarray, most: int) -> bool:
    """Whether these rise from 0 or more to ``most``.  Compared and not subtracted: the difference
    of two numbers of 64 bits may have another sign."""
    if not len(ends):
        return True
    return bool(ends[0] >= 0 and ends[-1] == most and (ends[1:] >= ends[:-1]).all())


def _is_numbers(value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiub"


def _is_matrix(value) -> bool:
    return (sparse.issparse(value) or _is_numbers(value)) and value.ndim == 2


NODE_KINDS = {name.removeprefix("_read_") for name in vars(Reader) if name.startswith("_read_")}
