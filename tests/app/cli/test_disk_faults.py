"""The disk fails at every one of its changes, or the machine stops there: nothing is lost.

Every command that writes is run once to count its changes of the disk: files opened for writing,
writes, syncs, renames, new folders.  Then the n-th of them fails, for every n; or nothing reaches
the disk from the n-th on, which is what a kill at that moment leaves.
"""

from __future__ import annotations

import builtins
import errno
import os
import shutil
import time

import numpy as np
import pytest

import maxmargin as mm

from .helpers import people, write

CHANGES = ("replace", "rename", "fsync", "mkdir", "unlink", "rmdir", "remove")
# What cleans up changes the disk, too, but may fail without harm.
HARMLESS = ("unlink", "rmdir", "remove")
COMMANDS = {
    "fit": ["fit", "people.csv", "-t", "answer", "--C", "1", "-o", "out.maxmargin"],
    "fit in pieces": ["fit", "people.csv", "-t", "answer", "--C", "1", "-o", "out.maxmargin",
                      "--no-report", "--memory", "100MB"],
    "predict csv": ["predict", "model.maxmargin", "people.csv", "-o", "out.csv"],
    "predict parquet": ["predict", "model.maxmargin", "people.csv", "-o", "out.parquet"],
    "compare": ["compare", "people.csv", "-t", "answer", "--methods", "fisher", "--report",
                "out.html"],
    "path": ["path", "people.csv", "-t", "answer", "--report", "out.html"],
    "rank": ["rank", "--out", "out.csv"],
    "export": ["export", "model.maxmargin", "--onnx", "out.onnx"],
}  # fmt: skip
# More than this many changes are tried one by one by `make soak` only.
MANY_CHANGES = 8
OUTPUTS = ("out.maxmargin", "report.html", "out.csv", "out.parquet", "out.html", "out.onnx")


class Killed(BaseException):
    """The process is no more: what would still run changes nothing."""


class Disk:
    """Counts the changes of a folder, and fails at one of them, or from one of them on."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.patch = os.path.realpath(folder), monkeypatch
        self.count, self.fails_at, self.error, self.dead = 0, None, None, False
        for name in CHANGES:
            self._wrap(os, name)
        self._wrap_open(os, "open", lambda flags=0, *_, **__: flags & (os.O_WRONLY | os.O_RDWR))
        self._wrap_open(builtins, "open", lambda mode="r", *_, **__: set(mode) & set("wax+"))
        real = os.fdopen
        monkeypatch.setattr(os, "fdopen", lambda *a, **k: Written(real(*a, **k), self))

    def change(self, what: str) -> None:
        """One more change, which may be the last."""
        if self.dead:
            raise Killed
        if what in HARMLESS:
            return
        self.count += 1
        if self.fails_at is not None and self.count - 1 == self.fails_at:
            if self.error is None:
                self.dead = True
                raise Killed
            raise OSError(self.error, os.strerror(self.error))

    def _here(self, path) -> bool:
        return isinstance(path, int) or os.path.realpath(path).startswith(self.folder)

    def _wrap(self, module, name: str) -> None:
        real = getattr(module, name)

        def call(path, *args, **kwargs):
            if self._here(path):
                self.change(name)
            return real(path, *args, **kwargs)

        self.patch.setattr(module, name, call)

    def _wrap_open(self, module, name: str, writes) -> None:
        real = getattr(module, name)

        def call(path, *args, **kwargs):
            if self._here(path) and not isinstance(path, int) and writes(*args, **kwargs):
                self.change("open")
                found = real(path, *args, **kwargs)
                return found if isinstance(found, int) else Written(found, self)
            return real(path, *args, **kwargs)

        self.patch.setattr(module, name, call)


class Written:
    """A file whose writes are changes."""

    def __init__(self, file, disk: Disk):
        self.file, self.disk = file, disk

    def write(self, data):
        self.disk.change("write")
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


@pytest.fixture
def folder(tmp_path, maxmargin):
    """Inputs, a model, and earlier outputs of every kind."""
    write(people(60), tmp_path / "people.csv")
    maxmargin("fit", "people.csv", "-t", "answer", "--C", 1, "-o", "model.maxmargin", "--no-report")
    for name in OUTPUTS:
        (tmp_path / name).write_text("from before")
    return tmp_path


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def restore(folder, before: dict[str, bytes]) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, data in before.items():
        (folder / name).write_bytes(data)


def changes_of(command, folder, maxmargin, monkeypatch) -> int:
    with monkeypatch.context() as patch:
        disk = Disk(folder, patch)
        maxmargin(*COMMANDS[command])
    return disk.count


def check_kept(folder, before: dict[str, bytes]) -> None:
    """Inputs are what they were, outputs too, or new and whole."""
    after = contents(folder)
    for name, data in before.items():
        if after[name] != data:
            assert name in OUTPUTS
            assert after[name] != b""
            if name == "out.maxmargin":
                mm.load(folder / name)
            elif name.endswith(".html"):
                assert after[name].rstrip().endswith(b"</html>")


def some(changes: int, soak: bool) -> list[int]:
    """Every change in a soak; else some of many, and the last ones."""
    step = 1 if soak else max(1, changes // MANY_CHANGES)
    return [n for n in range(changes) if n % step == 0 or n > changes - 5]


SOAK = pytest.mark.parametrize("soak", [False, pytest.param(True, marks=pytest.mark.slow)])


@SOAK
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_at_every_change(command, soak, folder, maxmargin, monkeypatch):
    before = contents(folder)
    changes = changes_of(command, folder, maxmargin, monkeypatch)
    assert changes >= 4  # made, written, synced, renamed
    for fails_at in some(changes, soak):
        restore(folder, before)
        with monkeypatch.context() as patch:
            disk = Disk(folder, patch)
            disk.fails_at, disk.error = fails_at, (errno.ENOSPC, errno.EROFS)[fails_at % 2]
            with pytest.raises(SystemExit) as ending:
                run(COMMANDS[command])
        out, err = maxmargin.capfd.readouterr()
        assert ending.value.code in (0, 2), (fails_at, out, err)
        assert "Traceback" not in err
        if ending.value.code == 2:
            assert err.strip().splitlines()[-1].startswith("maxmargin: "), (fails_at, err)
            assert os.strerror(disk.error) in err, (fails_at, err)
        check_kept(folder, before)
        assert not [name for name in contents(folder) if name.endswith(".part")], fails_at


@SOAK
@pytest.mark.parametrize("command", COMMANDS)
def test_a_kill_at_every_change(command, soak, folder, maxmargin, monkeypatch):
    before = contents(folder)
    changes = changes_of(command, folder, maxmargin, monkeypatch)
    for fails_at in some(changes, soak):
        restore(folder, before)
        with monkeypatch.context() as patch:
            disk = Disk(folder, patch)
            disk.fails_at = fails_at
            with pytest.raises((Killed, SystemExit)):
                run(COMMANDS[command])
        maxmargin.capfd.readouterr()
        check_kept(folder, before)
    maxmargin(*COMMANDS[command])  # what was left behind is in nobody's way
    assert contents(folder)["people.csv"] == before["people.csv"]


def run(words):
    from maxmargin.app.cli.app import main

    main(list(words))


def test_evaluate_and_verify_change_nothing(folder, maxmargin, monkeypatch):
    before = contents(folder)
    for command in ("evaluate", "verify"):
        with monkeypatch.context() as patch:
            disk = Disk(folder, patch)
            maxmargin(command, "model.maxmargin", "people.csv")
        assert disk.count == 0
    assert contents(folder) == before


def test_data_that_change_while_they_are_fitted(folder, maxmargin, monkeypatch):
    from maxmargin.parts.stream import cache

    real = cache.open if hasattr(cache, "open") else open
    data = folder / "people.csv"

    def grow(path, *args, **kwargs):
        found = real(path, *args, **kwargs)
        if not grow.done:
            grow.done = True
            with real(data, "a") as file:
                file.write("30,1.0,true,2020-01-01,東京,likes it a lot\n")
        return found

    grow.done = False
    monkeypatch.setattr(cache, "open", grow, raising=False)
    kept = (folder / "out.maxmargin").read_bytes()
    said = maxmargin.complaint(*COMMANDS["fit in pieces"])
    assert "was changed while it was being fitted" in said
    assert (folder / "out.maxmargin").read_bytes() == kept


@pytest.fixture
def clock_going_back(monkeypatch):
    """An hour earlier at every look."""
    now = [time.time()]

    def back():
        now[0] -= 3600.0
        return now[0]

    monkeypatch.setattr(time, "time", back)


def test_a_clock_that_goes_back(folder, maxmargin, request):
    maxmargin(*COMMANDS["fit"])
    first = mm.load("out.maxmargin").model
    request.getfixturevalue("clock_going_back")
    maxmargin(*COMMANDS["fit"], "--max-seconds", 60)
    maxmargin(*COMMANDS["fit in pieces"], "--max-seconds", 60)
    again = mm.load("out.maxmargin").model
    assert np.allclose(first.coef_, again.coef_, atol=1e-3)


@pytest.mark.parametrize("command", [name for name in COMMANDS if "fit" not in name])
def test_a_clock_that_goes_back_costs_no_command_its_output(command, folder, maxmargin, request):
    request.getfixturevalue("clock_going_back")
    before = contents(folder)
    maxmargin(*COMMANDS[command])
    check_kept(folder, before)
    assert (folder / COMMANDS[command][-1]).read_bytes() != b"from before"
