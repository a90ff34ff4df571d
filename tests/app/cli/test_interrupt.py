"""Ctrl-C at any moment: code 130, one sentence, no traceback, no half file."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

import maxmargin as mm
from maxmargin.app.cli import interrupt

from .helpers import write

# The program itself, which says when it has begun: before, Ctrl-C meets Python, not us.
PROGRAM = "import maxmargin.__main__ as m; m.take_over(); print('begun', flush=True); m.main()"


def begin(folder, *arguments) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], cwd=folder, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.readline() == "begun\n"
    return process


def press(process: subprocess.Popen) -> tuple[int, str]:
    """Ctrl-C once; the exit code and what was said on stderr."""
    process.send_signal(signal.SIGINT)
    process.wait(60)  # its input stays open: it must not need the end of it
    err = process.stderr.read()
    assert "Traceback" not in err
    return process.returncode, err


@pytest.fixture(scope="module")
def seconds(tmp_path_factory) -> float:
    """How long a fit takes here and now, once kernels are compiled."""
    for _ in range(2):
        began = time.perf_counter()
        process = begin(tmp_path_factory.mktemp("whole"), "fit")
        process.communicate()
        assert process.returncode == 0
    return time.perf_counter() - began


# Seconds in which tables are printed on a busy machine, once the work has ended.
STARTING = 2.0
# The moments of a fit; `make soak` tries those between as well.
BETWEEN = [pytest.param(share, marks=pytest.mark.slow) for share in (0.03, 0.1, 0.5, 0.95)]
SHARES = [0.0, 0.25, 0.75, *BETWEEN]


@pytest.mark.parametrize("share", SHARES)
def test_at_any_moment_of_fit(tmp_path, seconds, share):
    process = begin(tmp_path, "fit")
    time.sleep(share * seconds)
    code, err = press(process)
    assert code in (0, 130), err
    left = sorted(file.name for file in tmp_path.iterdir())
    both = ["model.maxmargin", "report.html"]
    assert left in ([], both[:1], both)
    if code == 130:
        assert err.startswith("maxmargin: interrupted")
        assert err.count("\n") == 1
        assert ("nothing was written" in err) == (left == [])
    if left:  # it is whole
        assert mm.load(tmp_path / "model.maxmargin").model.certificate_.holds(1e-6)


def test_during_a_long_fit(tmp_path):
    """Even where compiled code and estimators would like to keep what they have."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(4000) for j in range(300)}
    columns["y"] = [f"class {c}" for c in rng.integers(0, 5, 4000)]
    write(pa.table(columns), tmp_path / "hard.parquet")
    process = begin(tmp_path, "fit", "hard.parquet", "-t", "y", "-m", "svm", "--tol", "1e-12")
    time.sleep(4.0)
    assert process.poll() is None
    assert press(process) == (130, "maxmargin: interrupted; nothing was written.\n")
    assert [file.name for file in tmp_path.iterdir()] == ["hard.parquet"]


@pytest.fixture(scope="module")
def fifty_classes(tmp_path_factory):
    """A table that would be compared for many minutes."""
    folder = tmp_path_factory.mktemp("fifty")
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 50
    X = rng.standard_normal((50, 20))[y] + rng.standard_normal((2000, 20))
    columns = {f"x{j}": X[:, j] for j in range(20)} | {"y": [f"class {c}" for c in y]}
    write(pa.table(columns), folder / "fifty.parquet")
    return folder


def test_compare_ends_within_a_second_and_keeps_what_is_done(fifty_classes):
    process = begin(fifty_classes, "compare", "fifty.parquet", "-t", "y", "--methods",
                    "least-squares,svm,kernel-svm")  # fmt: skip
    assert "least-squares" in process.stderr.readline()  # and the others have begun
    time.sleep(1.0)
    began = time.perf_counter()
    code, err = press(process)
    assert time.perf_counter() - began < 1.0 + STARTING
    assert code == 0
    assert "ended early, at svm, fold" in err
    out = process.stdout.read()
    assert "least-squares" in out
    assert "comparison was interrupted" in " ".join(out.split())


def test_compare_with_nothing_done_ends_within_a_second(fifty_classes):
    process = begin(fifty_classes, "compare", "fifty.parquet", "-t", "y", "--methods", "kernel-svm")
    time.sleep(4.0)
    began = time.perf_counter()
    assert press(process) == (130, "maxmargin: interrupted; nothing was written.\n")
    assert time.perf_counter() - began < 1.0


def test_a_budget_ends_it_too(fifty_classes):
    process = begin(fifty_classes, "compare", "fifty.parquet", "-t", "y", "--budget", "6s",
                    "--methods", "kernel-svm,least-squares", "--json")  # fmt: skip
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    told = json.loads(out)
    assert [row["method"] for row in told["rows"]] == ["least-squares"]
    assert any("kernel-svm" in note for note in told["notes"])


def test_while_predictions_are_written(tmp_path):
    """The old file stays, and no part of the new one."""
    X = np.random.default_rng(0).standard_normal((200, 2))
    write(pa.table({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0] > 0}), tmp_path / "small.csv")
    assert begin(tmp_path, "fit", "small.csv", "-t", "y", "--C", 1).wait() == 0
    (tmp_path / "out.csv").write_text("old")
    process = begin(tmp_path, "predict", "model.maxmargin", "-", "-o", "out.csv")
    process.stdin.write("a,b\n" + "1,2\n" * 10)
    process.stdin.flush()  # and then nothing more comes
    until = time.perf_counter() + 60
    while not list(tmp_path.glob(".out.csv.*.part")):
        assert time.perf_counter() < until
        time.sleep(0.05)
    code, err = press(process)
    assert (code, err) == (130, "maxmargin: interrupted; nothing was written.\n")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert not list(tmp_path.glob(".*.part"))


def test_who_ignores_it_goes_on_ignoring_it(monkeypatch):
    monkeypatch.setattr(interrupt.signal, "getsignal", lambda number: signal.SIG_IGN)
    monkeypatch.setattr(interrupt.signal, "signal", lambda *_: pytest.fail("taken over"))
    monkeypatch.setattr(interrupt, "_program", False)  # as it is again afterwards
    interrupt.take_over()


def test_results_that_are_kept(monkeypatch):
    """In a block with something to keep, Ctrl-C is an exception."""
    monkeypatch.setattr(interrupt, "_written", [])
    with pytest.raises(KeyboardInterrupt), interrupt.cautiously("a.csv"):
        interrupt._pressed(signal.SIGINT, None)
    assert "nothing was written" in interrupt.message()
    with interrupt.cautiously("a.csv"):
        pass
    assert interrupt.message() == "maxmargin: interrupted; a.csv had been written."


def test_a_program_that_calls_a_command_keeps_its_own_ctrl_c():
    before = signal.getsignal(signal.SIGINT)
    interrupt.ignore()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_program_in_the_background_that_calls_a_command_goes_on(monkeypatch):
    """Shells start such programs with Ctrl-C ignored: that does not make them ours to end."""
    monkeypatch.setattr(interrupt.os, "_exit", lambda code: pytest.fail("ended"))
    monkeypatch.setattr(interrupt.signal, "getsignal", lambda number: signal.SIG_IGN)
    interrupt.leave(0)
    monkeypatch.setattr(interrupt.os, "_exit", gone := [].append)
    monkeypatch.setattr(interrupt, "_program", True)
    interrupt.leave(3)
    assert gone.__self__ == [3]
