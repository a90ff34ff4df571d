"""Values come back as they were, of the same types."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.app.store.codec import Reader, Writer
from maxmargin.app.store.container import DTYPES
from maxmargin.app.store.errors import ModelFileError

PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=20)
)
KEYS = st.one_of(st.booleans(), st.integers(), st.text(max_size=5))
VALUES = st.recursive(
    PLAIN,
    lambda inside: st.one_of(
        st.lists(inside, max_size=4),
        st.lists(inside, max_size=4).map(tuple),
        st.dictionaries(KEYS, inside, max_size=4),
    ),
    max_leaves=20,
)
ARRAYS = st.one_of(
    hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)),
    hnp.arrays(st.sampled_from(["<U1", "<U7"]), hnp.array_shapes(max_dims=1, max_side=40)),
)


def again(value):
    writer = Writer()
    node = json.loads(json.dumps(writer(value, "value"), allow_nan=False))
    return Reader(writer.arrays, "test")(node)


def same(a, b) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        pairs = zip(a.items(), b.items(), strict=True)
        return len(a) == len(b) and all(same(x[0], y[0]) and same(x[1], y[1]) for x, y in pairs)
    return a == b


@given(VALUES)
def test_plain_values(value):
    assert same(again(value), value)


@given(ARRAYS)
def test_arrays(array):
    other = again(array)
    assert other.dtype == array.dtype
    assert other.shape == array.shape
    if array.dtype.kind == "U":
        assert other.tolist() == array.tolist()
    else:
        assert other.tobytes() == array.tobytes()


@given(st.lists(st.text(max_size=5), min_size=16, max_size=60))
def test_many_words(words):
    assert again(words) == words
    objects = np.array([*words, None], dtype=object)[:-1]
    assert again(objects).tolist() == words


def test_the_order_in_memory_is_kept():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert again(array).flags.f_contiguous
    np.testing.assert_array_equal(again(array), array)


@pytest.mark.parametrize(
    "node",
    [
        {"~": "sparse", "shape": [2, 2], "as": "matrix", "data": 0, "indices": 1, "indptr": 2},
        {"~": "sparse", "shape": [2, 9], "as": "matrix", "data": 0, "indices": 1, "indptr": 3},
        {"~": "sparse", "shape": [2, -9], "as": "matrix", "data": 0, "indices": 1, "indptr": 2},
        {"~": "number", "value": "1e5"},
        {"~": "scalar", "dtype": "|O", "value": 1},
        {"~": "words", "bytes": 0, "ends": 1, "as": "list"},
        {"~": "map", "items": [[[1], 2]]},
        {"~": "objects", "values": [{"~": "array", "at": 0}]},
        {"~": "points", "rows": 1, "kernel": 2, "sparse": False, "centre": 0.0},
        {"~": "model", "of": "LinearSVM"},
        {"no": "kind"},
    ],
    ids=lambda node: node.get("~", "none"),
)
def test_nodes_that_do_not_fit(node):
    arrays = [
        np.ones(3), np.array([0, 5, 1]), np.array([0, 1, 3]), np.array([0, 5, 3])
    ]  # fmt: skip
    with pytest.raises((ModelFileError, ModuleNotFoundError)):
        Reader(arrays, "test")(node)
