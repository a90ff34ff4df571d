"""The house stays in order: its figures may get better, not worse."""

import ast
from pathlib import Path

import pytest

import maxmargin

from .calls import calls, follow, room
from .figures import count

SOURCE = Path(maxmargin.__file__).parent
# Of rooms, by how few ways each call goes; ``docs/design/figures.md`` says what is counted.
MOST_CROSSINGS = {
    "LinearSVM.fit, two classes": 1,
    "LinearSVM.fit, three classes, sparse": 1,
    "maxmargin fit data.csv": 5,
    "maxmargin fit … --memory": 7,
    "spread.LinearSVM.fit": 5,
    "a drag in the studio": 6,
    "KernelSVM.fit": 1,
}


@pytest.fixture(scope="module")
def figures():
    return count()


def test_calls_cross_few_rooms(tmp_path, capsys):
    pytest.importorskip("dask.array")
    for name, call in calls(tmp_path).items():
        found = follow(call).crossings(room)
        assert len(found) <= MOST_CROSSINGS[name], f"{name}: {sorted(found)}"


def test_no_class_name_means_two_things(figures):
    assert not figures.twice


def test_parameters_that_travel_together_are_records(figures):
    assert len(figures.many_private) <= 20, figures.many_private
    assert len(figures.many_compiled) <= 58, figures.many_compiled


def test_files_and_functions_are_short(figures):
    assert figures.quantile(0.5) <= 7
    assert figures.quantile(0.9) <= 20
    assert figures.longest_file <= 450


def test_ideas_stand_in_one_place(figures):
    assert figures.certificates <= 4
    assert figures.biases <= 1
    assert figures.losses <= 3


def test_no_kernel_assigns_an_array_to_a_slice():
    """numba then compiles, for two seconds, the message of an error about shapes: write a loop."""
    found = [line for path in SOURCE.rglob("*.py") for line in _slices_assigned(path)]
    assert not found


def _slices_assigned(path):
    """Where a compiled function of this file assigns more than a number to a slice."""
    for kernel in ast.walk(ast.parse(path.read_text())):
        if isinstance(kernel, ast.FunctionDef) and _is_compiled(kernel):
            for node in ast.walk(kernel):
                if isinstance(node, ast.Assign) and _has_slice(node) and not _is_number(node.value):
                    yield f"{path.name}:{node.lineno}: {ast.unparse(node)}"


def _is_compiled(function):
    marks = [ast.unparse(mark) for mark in function.decorator_list]
    return any("njit" in mark or mark.startswith(("rule(", "otherwise(")) for mark in marks)


def _has_slice(assigned):
    parts = [part for target in assigned.targets for part in ast.walk(target)]
    return any(isinstance(part, ast.Slice) for part in parts)


def _is_number(value):
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    return all(isinstance(one, ast.Constant) for one in values)


def test_that_such_an_assignment_would_be_found(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text("@njit(cache=True)\ndef f(x, y):\n    x[:] = 0.0\n    x[:] = y\n")
    assert list(_slices_assigned(path)) == ["kernel.py:4: x[:] = y"]
