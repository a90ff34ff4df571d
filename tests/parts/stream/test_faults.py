"""What goes wrong: bad rows, files that change, Ctrl-C, processes that are killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import LinearSVM, LogisticRegression, Perceptron, fit_stream, open_source
from maxmargin.parts.files.fingerprints import ChangedError
from maxmargin.parts.stream.folder import FOLDER_PREFIX, BusyError

from .helpers import agree, cut, noisy

SMALL = "16MB"


def write_csv(path: Path, X, y):
    names = ",".join(f"x{j}" for j in range(X.shape[1]))
    lines = [
        ",".join([*(repr(float(v)) for v in x), str(label)]) for x, label in zip(X, y, strict=True)
    ]
    path.write_text(f"{names},label\n" + "\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path):
    """Twenty CSV files of 100 rows."""
    X, y = noisy(n=2000, d=4)
    data = tmp_path / "data"
    data.mkdir()
    for i in range(20):
        part = slice(100 * i, 100 * i + 100)
        write_csv(data / f"part-{i + 1:02}.csv", X[part], y[part])
    return data, X, y


@pytest.mark.parametrize("bad", ["oops", "nan", ""])
def test_a_bad_row_in_the_17th_file(folder, tmp_path, bad):
    data, X, y = folder
    path = data / "part-17.csv"
    good = path.read_text()
    lines = good.splitlines()
    values = lines[43].split(",")
    lines[43] = ",".join([values[0], values[1], bad, *values[3:]])
    path.write_text("\n".join(lines) + "\n")
    kept = tmp_path / "kept"
    with pytest.raises(ValueError, match=r"part-17\.csv, row 43: .*'x2'"):
        fit_stream(LinearSVM(), open_source(data), memory=SMALL, checkpoint=kept)
    index = json.loads((kept / "cache" / "index.json").read_text())
    assert (index["files"], index["rows"]) == (16, 1600)  # sixteen files are not read again
    path.write_text(good)
    os.utime(data / "part-01.csv")  # a new time, the same content
    source = open_source(data)
    read = []
    chunks = source.chunks
    source.chunks = lambda size, skip=0: (read.append(skip), chunks(size, skip))[1]
    model = fit_stream(LinearSVM(), source, memory=SMALL, checkpoint=kept, resume=True)
    assert read == [0]  # a file was touched: everything is read again
    agree(model, LinearSVM().fit(X, y), 1e-6)
    assert not kept.exists()


def test_files_that_were_read_are_not_read_again(folder, tmp_path):
    data, X, y = folder
    path = data / "part-17.csv"
    good = path.read_text()
    path.write_text(good + "1,2,3,4,5,6\n")
    kept = tmp_path / "kept"
    with pytest.raises(ValueError, match=r"part-17\.csv, row 101: .*6"):
        fit_stream(LinearSVM(), data, memory=SMALL, checkpoint=kept)
    path.write_text(good)
    source = open_source(data)
    skipped = []
    chunks = source.chunks
    source.chunks = lambda size, skip=0: (skipped.append(skip), chunks(size, skip))[1]
    model = fit_stream(LinearSVM(), source, memory=SMALL, checkpoint=kept, resume=True)
    assert skipped == [16]
    agree(model, LinearSVM().fit(X, y), 1e-6)


def test_a_bad_line_of_svmlight(tmp_path):
    lines = [f"{i % 2} 1:{i} 3:1" for i in range(500)]
    lines[321] = "1 1:2 3:abc"
    (tmp_path / "x.svm").write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"x\.svm, row 322: .*'1 1:2 3:abc'"):
        fit_stream(LinearSVM(), tmp_path / "x.svm")


def test_a_file_that_changes_between_passes(folder):
    data, _, _ = folder
    changed = []

    def told(number, done, n):
        if number == 2 and not changed:
            changed.append(1)
            with open(data / "part-03.csv", "a") as file:
                file.write("1,2,3,4,1\n")

    with pytest.raises(ChangedError, match=r"part-03\.csv was changed"):
        fit_stream(LogisticRegression(), data, memory=SMALL, told=told)


def test_a_file_of_the_same_size_that_changes(folder):
    data, _, _ = folder
    path = data / "part-05.csv"
    text = path.read_text()

    def told(number, done, n):
        if number == 2 and path.read_text() == text:
            path.write_text(text.replace("1", "2", 1))
            os.utime(path, ns=(1, 1))

    with pytest.raises(ChangedError, match="its content differs"):
        fit_stream(LogisticRegression(), data, memory=SMALL, told=told)


def test_chunks_that_are_fewer_the_second_time(monkeypatch):
    from maxmargin.parts.stream import cache

    monkeypatch.setattr(cache, "DISK_RESERVE_BYTES", 1 << 60)
    X, y = noisy()
    times = []

    def chunks():
        times.append(1)
        return cut(X, y) if len(times) < 3 else cut(X[:3500], y[:3500])

    with pytest.raises(ChangedError, match="4000 rows and now has 3500"):
        fit_stream(LogisticRegression(), chunks, memory=SMALL)


# --- processes that end -------------------------------------------------------------------

MODELS = {
    "svm": (LinearSVM(C=0.1, tol=1e-7), 3),
    "logistic": (LogisticRegression(tol=1e-8), 2),
    "perceptron": (Perceptron("cycle", max_passes=6, average=True), 4),
    "parts": (LinearSVM(tol=1e-7, loss="squared_hinge"), 8),
}
KILLED = textwrap.dedent("""
    import os, signal, sys
    from maxmargin import fit_stream
    from tests.parts.stream.test_faults import MODELS, SMALL
    name, data, kept = sys.argv[1:]
    model, last = MODELS[name]
    def told(number, done, n):
        if number == last:
            os.kill(os.getpid(), signal.SIGKILL)
    fit_stream(model, data, memory=SMALL, told=told, checkpoint=kept)
""")


class Stopped(Exception):
    """What a test throws into a fit."""


def leave(name, data, kept):
    """What a process that is killed in some pass leaves: a copy of its folder at that moment."""
    model, last = MODELS[name]

    def told(number, done, n):
        if number == last:
            shutil.copytree(kept, kept.with_name("left"))
            raise Stopped

    with pytest.raises(Stopped):
        fit_stream(clone(model), data, memory=SMALL, told=told, checkpoint=kept)
    return kept.with_name("left")


def kill(name, data, kept):
    """The same by a process that is killed."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", KILLED, name, str(data), str(kept)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return kept


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("end", "name"),
    [(leave, "svm"), (leave, "logistic"), (leave, "perceptron"), (kill, "parts")],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_killed_and_resumed(folder, tmp_path, end, name):
    data, X, y = folder
    kept = end(name, data, tmp_path / "kept")
    assert (kept / "cache" / "index.json").exists()
    assert name != "parts" or (kept / "standing-1-None.npz").exists()
    (kept / "owner").write_text(str(ended_process()))
    source = open_source(data)
    source.chunks = None  # everything is in the cache
    again = fit_stream(
        clone(MODELS[name][0]), source, memory=SMALL, checkpoint=kept, resume=True
    )  # fmt: skip
    whole = clone(MODELS[name][0]).fit(X, y)
    if name == "perceptron":
        np.testing.assert_allclose(again.coef_, whole.coef_, rtol=1e-9)
    else:
        agree(again, whole, 1e-7)
    assert not kept.exists()


def ended_process() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


def interrupt(last):
    """Ctrl-C in some pass."""

    def told(number, done, n):
        if number == last:
            signal.raise_signal(signal.SIGINT)

    return told


def test_ctrl_c_leaves_nothing_behind(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    seen = []

    def told(number, done, n):
        seen.extend((tmp_path / "scratch").glob(FOLDER_PREFIX + "*/cache/X.bin"))
        interrupt(2)(number, done, n)

    with pytest.raises(KeyboardInterrupt):
        fit_stream(LogisticRegression(), folder[0], memory=SMALL, told=told)
    assert seen
    assert not list((tmp_path / "scratch").iterdir())


def test_ctrl_c_keeps_the_checkpoint_without_its_cache(folder, tmp_path):
    model, kept = Perceptron("cycle", max_passes=100), tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        fit_stream(model, folder[0], memory=SMALL, told=interrupt(4), checkpoint=kept)
    assert sorted(path.name for path in kept.iterdir()) == ["state.npz"]


def test_what_a_killed_process_left_is_removed_by_the_next(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    for name, owner in {"left": ended_process(), "used": os.getpid()}.items():
        cache = tmp_path / "scratch" / f"{FOLDER_PREFIX}{name}" / "cache"
        cache.mkdir(parents=True)
        (cache / "X.bin").write_bytes(b"rows")
        (cache.parent / "owner").write_text(str(owner))
    fit_stream(LinearSVM(), folder[0], memory=SMALL)
    assert [path.name for path in (tmp_path / "scratch").iterdir()] == [f"{FOLDER_PREFIX}used"]


def test_a_folder_in_use_is_refused(folder, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    process = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    (kept / "owner").write_text(str(process.pid))
    with pytest.raises(BusyError, match=f"process {process.pid}"):
        fit_stream(LinearSVM(), folder[0], checkpoint=kept)
    process.kill()
    process.wait()
    process.stdin.close()


def test_a_folder_of_other_things_is_refused(folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="holds other things"):
        fit_stream(LinearSVM(), folder[0], checkpoint=tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()
