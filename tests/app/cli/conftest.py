import pytest

from .helpers import Program, people, write


@pytest.fixture
def maxmargin(capfd, tmp_path, monkeypatch):
    """The program, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Program(capfd)


@pytest.fixture
def table(tmp_path):
    """A CSV file of people."""
    return write(people(), tmp_path / "people.csv")
