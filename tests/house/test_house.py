"""The house stays in order: its figures may get better, not worse."""

import pytest

from .calls import calls, follow, room
from .figures import count

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
    assert len(figures.many_compiled) <= 55, figures.many_compiled


def test_files_and_functions_are_short(figures):
    assert figures.quantile(0.5) <= 7
    assert figures.quantile(0.9) <= 20
    assert figures.longest_file <= 450


def test_ideas_stand_in_one_place(figures):
    assert figures.certificates <= 4
    assert figures.biases <= 1
    assert figures.losses <= 3
