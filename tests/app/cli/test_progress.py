"""Progress at a terminal, and nowhere else; threads as many as asked for."""

import os
import pty
import select
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

from maxmargin.models.tune import folds

from .helpers import write

# Importing and three seconds of reading, on a very busy machine.
PATIENCE = 100.0


def begin(folder, *options) -> tuple[subprocess.Popen, int]:
    """``fit -`` before a terminal."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "maxmargin", "fit", "-", "-t", "y", "--C", "1", *options],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end,
    )  # fmt: skip
    os.close(end)
    process.stdin.write(b"x,y\n")
    return process, terminal


@pytest.fixture(scope="module")
def slowly(tmp_path_factory):
    """A table fed to two programs until one has told of it twice, and then their end: stdout, and
    what a terminal shows, of both."""
    begun = [begin(tmp_path_factory.mktemp(name), *options)
             for name, options in {"plain": [], "json": ["--json"]}.items()]  # fmt: skip
    rng = np.random.default_rng(0)
    shown, until = b"", time.perf_counter() + PATIENCE
    while shown.count(b"\r[maxmargin] reading") < 3 and time.perf_counter() < until:
        x = rng.standard_normal(100)
        lines = [
            f"{v:.12f},{'yes' if v + e > 0 else 'no'}\n" for v, e in zip(x, x[::-1], strict=True)
        ]
        for process, _ in begun:
            process.stdin.write("".join(lines).encode())
            process.stdin.flush()
        if select.select([begun[0][1]], [], [], 0.1)[0]:
            shown += os.read(begun[0][1], 1 << 16)
    (out, rest), json = (_ended(*each) for each in begun)
    return (out, shown.decode() + rest), json


def _ended(process: subprocess.Popen, terminal: int) -> tuple[str, str]:
    out, _ = process.communicate(timeout=120)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 1 << 16)
        except OSError:  # nobody is left at the other end
            break
    os.close(terminal)
    assert process.returncode == 0
    return out.decode(), shown.decode()


def test_a_slow_file(slowly):
    out, shown = slowly[0]
    assert "[maxmargin] reading: " in shown
    assert " MB" in shown
    first, _, rest = shown.partition("\n")
    assert first.count("\r[maxmargin] reading") > 1  # one line, rewritten
    assert "reading" not in rest
    assert "reading" not in out


def test_nothing_with_json(slowly):
    out, shown = slowly[1]
    assert "reading" not in shown  # a fit that takes long may still tell how far it is
    assert out.startswith("{")


@pytest.mark.parametrize("most", [1, 3, None])
def test_threads_over_folds(maxmargin, tmp_path, monkeypatch, most):
    X = np.random.default_rng(0).standard_normal((20_000, 11))
    columns = {f"x{j}": X[:, j] for j in range(11)} | {"y": X[:, 0] + X[:, 1] > 0}
    data = write(pa.table(columns), tmp_path / "t.parquet")
    used = []

    class Pool(folds.ThreadPoolExecutor):
        def __init__(self, threads, **given):
            used.append(threads)
            super().__init__(threads, **given)

    monkeypatch.setattr(folds, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr("maxmargin.app.workflow.tuning.TUNING_CS", np.array([0.1, 1.0]))
    before = pa.cpu_count()
    options = [] if most is None else ["--threads", most]
    maxmargin("fit", data, "-t", "y", *options, "--json")
    pa.set_cpu_count(before)
    expected = min(5, most or os.cpu_count())
    assert used == ([] if expected == 1 else [expected])


def test_small_tables_need_no_threads(maxmargin, monkeypatch):
    monkeypatch.setattr(folds, "ThreadPoolExecutor", lambda *_, **__: pytest.fail("threads"))
    maxmargin("fit", "--threads", 2)
    pa.set_cpu_count(os.cpu_count())
