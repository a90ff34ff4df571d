"""What goes wrong: bad rows, files that change, Ctrl-C, processes that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from maxmargin import LinearSVM, LogisticRegression, Perceptron, fit_stream, open_source
from maxmargin.stream.folder import PREFIX, BusyError
from maxmargin.stream.watchful import ChangedError

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
    with pytest.raises(ValueError, match=r"x\.svm, row 322: '1 1:2 3:abc'"):
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
    from maxmargin.stream import cache

    monkeypatch.setattr(cache, "RESERVE", 1 << 60)
    X, y = noisy()
    times = []

    def chunks():
        times.append(1)
        return cut(X, y) if len(times) < 3 else cut(X[:3500], y[:3500])

    with pytest.raises(ChangedError, match="4000 rows and now has 3500"):
        fit_stream(LogisticRegression(), chunks, memory=SMALL)


# --- processes ----------------------------------------------------------------------------

PROGRAM = textwrap.dedent("""
    import sys, time, warnings
    from maxmargin import LinearSVM, LogisticRegression, Perceptron, fit_stream
    model, data, kept, resume, slow = sys.argv[1:]
    def told(number, done, n):
        print(number, flush=True)
        time.sleep(float(slow))
    fitted = fit_stream(eval(model), data, memory="16MB", told=told, resume=resume == "yes",
                        checkpoint=None if kept == "-" else kept)
    print("done", fitted.coef_.ravel().tolist(), flush=True)
""")


def start(model, data, kept="-", resume="no", slow="0.05", **environment):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, model, str(data), str(kept), resume, slow],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | environment,
    )  # fmt: skip


def until(process, number):
    """Wait for a pass."""
    for line in process.stdout:
        if line.split()[0] == str(number):
            return
    raise AssertionError(process.stderr.read())


@pytest.mark.parametrize(
    ("model", "number"),
    [("LinearSVM(C=0.1, tol=1e-7)", 3), ("LogisticRegression(tol=1e-8)", 2),
     ("Perceptron('cycle', max_passes=6, average=True)", 4)],
    ids=["svm", "logistic", "perceptron"],
)  # fmt: skip
def test_killed_and_resumed(folder, tmp_path, model, number):
    data, X, y = folder
    kept = tmp_path / "kept"
    process = start(model, data, kept)
    until(process, number)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (kept / "cache" / "index.json").exists()
    again = start(model, data, kept, "yes", "0")
    said, wrong = again.communicate(timeout=120)
    assert again.returncode == 0, wrong
    coef = np.array(json.loads(said.splitlines()[-1].removeprefix("done ")))
    if "Perceptron" in model:
        with pytest.warns():
            whole = Perceptron("cycle", max_passes=6, average=True).fit(X, y)
        np.testing.assert_allclose(coef, whole.coef_.ravel(), rtol=1e-9)
    else:
        whole = eval(model).fit(X, y)
        # ½‖w − w*‖² is at most the gap: the objective is strongly convex.
        gap = 2e-7 * whole.certificate_.primal
        assert 0.5 * np.sum((coef - whole.coef_.ravel()) ** 2) <= 2 * gap
    assert not kept.exists()


def test_ctrl_c_leaves_nothing_behind(folder, tmp_path):
    data, _, _ = folder
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = start("LogisticRegression()", data, slow="0.2", TMPDIR=str(scratch))
    until(process, 2)
    assert list(scratch.glob(PREFIX + "*/cache/X.bin"))
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    assert "KeyboardInterrupt" in process.stderr.read()
    assert not list(scratch.iterdir())


def test_ctrl_c_keeps_the_checkpoint_without_its_cache(folder, tmp_path):
    data, _, _ = folder
    kept = tmp_path / "kept"
    process = start("Perceptron('cycle', max_passes=100)", data, kept, slow="0.1")
    until(process, 4)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    assert sorted(path.name for path in kept.iterdir()) == ["state.npz"]


def test_what_a_killed_process_left_is_removed_by_the_next(folder, tmp_path):
    data, _, _ = folder
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = start("LinearSVM()", data, slow="0.2", TMPDIR=str(scratch))
    until(process, 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert list(scratch.iterdir())
    again = start("LinearSVM()", data, slow="0", TMPDIR=str(scratch))
    again.communicate(timeout=120)
    assert again.returncode == 0
    assert not list(scratch.iterdir())


def test_a_folder_in_use_is_refused(folder, tmp_path):
    data, _, _ = folder
    kept = tmp_path / "kept"
    process = start("LinearSVM()", data, kept, slow="0.3")
    until(process, 1)
    with pytest.raises(BusyError, match=f"process {process.pid}"):
        fit_stream(LinearSVM(), data, checkpoint=kept)
    process.kill()
    process.wait()


def test_a_folder_of_other_things_is_refused(folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="holds other things"):
        fit_stream(LinearSVM(), folder[0], checkpoint=tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()
