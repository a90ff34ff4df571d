import pytest

from .helpers import Program, people, write


@pytest.fixture
def maxmargin(capfd, tmp_path, monkeypatch):
    """The program, in a folder of its own; with --memory it reads small files in pieces, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("maxmargin.app.cli.fit.BYTES_IN_MEMORY", float("inf"))
    return Program(capfd)


@pytest.fixture
def table(tmp_path):
    """A CSV file of people."""
    return write(people(), tmp_path / "people.csv")
