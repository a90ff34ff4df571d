"""Altered model files are read or refused in words; cases that once were neither stay mended."""

import pytest

import maxmargin as mm

from ...fuzz.models import judge
from ...fuzz.run import GOOD
from .files import CASES, GOLDEN, base_files
from .mutations import ModelFile, mutated

FILES = 1500


@pytest.fixture(scope="module")
def bases():
    return base_files()


def test_taking_a_file_apart_and_together_again_changes_nothing(bases, tmp_path):
    for data in bases:
        (tmp_path / "model").write_bytes(ModelFile(data).packed())
        assert judge(tmp_path / "model") == ("accepted", "")


@pytest.mark.parametrize("path", sorted(CASES.glob("*.maxmargin")), ids=lambda path: path.name)
def test_cases(path):
    outcome, words = judge(path)
    assert outcome in GOOD, words


def test_altered_files_are_read_or_refused_in_words(bases, tmp_path):
    """Some seconds of ``python -m tests.fuzz``, always the same; ``make soak`` draws others."""
    path, told = tmp_path / "model", {}
    for index in range(FILES):
        path.write_bytes(mutated(bases, 0, index))
        outcome, words = judge(path)
        assert outcome in GOOD, (index, words)
        assert outcome == "accepted" or words.startswith(str(path)), (index, words)
        told[outcome] = told.get(outcome, 0) + 1
    assert told["refused"] > FILES / 3  # the alterations matter
    assert told["accepted"] > FILES / 100


def test_the_last_guard_turns_what_nobody_thought_of_into_a_sentence(monkeypatch):
    path = GOLDEN / "logistic-1.maxmargin"
    for fault in (ZeroDivisionError("division by zero"), AttributeError("none"), MemoryError()):

        def fail(*_, fault=fault):
            raise fault

        monkeypatch.setattr("maxmargin.app.store.files.Reader", fail)
        with pytest.raises(mm.ModelFileError, match="no name yet") as caught:
            mm.load(path)
        assert caught.value.__cause__ is fault
    for through in (KeyboardInterrupt, PermissionError):

        def stop(*_, through=through):
            raise through

        monkeypatch.setattr("maxmargin.app.store.files.Reader", stop)
        with pytest.raises(through):
            mm.load(path)
