"""Progress at a terminal, and nowhere else; threads as many as asked for."""

import json
import os
import pty
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest

from maxmargin.select import folds

from .helpers import write

# At most so long is a file fed; importing takes a while on a busy machine.
PATIENCE = 60.0


def slowly(folder, *options, enough) -> tuple[str, str]:
    """Feed a table slowly to ``fit -`` until the terminal has shown enough, or for some seconds;
    stdout, and all that the terminal showed."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "maxmargin", "fit", "-", "-t", "y", "--C", "1", *options],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end,
    )  # fmt: skip
    os.close(end)
    os.set_blocking(terminal, False)
    process.stdin.write(b"x,y\n")
    rng, shown = np.random.default_rng(0), b""
    began = time.perf_counter()
    while not enough(shown, time.perf_counter() - began) and time.perf_counter() < began + PATIENCE:
        x = rng.standard_normal(100)
        lines = (
            f"{v:.12f},{'yes' if v + e > 0 else 'no'}\n" for v, e in zip(x, x[::-1], strict=True)
        )
        process.stdin.write("".join(lines).encode())
        process.stdin.flush()
        time.sleep(0.1)
        with suppress(BlockingIOError):
            shown += os.read(terminal, 1 << 16)
    out, _ = process.communicate(timeout=120)
    with suppress(OSError):  # nobody is left at the other end
        while more := os.read(terminal, 1 << 16):
            shown += more
    os.close(terminal)
    assert process.returncode == 0
    return out.decode(), shown.decode()


def test_a_slow_file(tmp_path):
    out, shown = slowly(tmp_path, enough=lambda shown, _: shown.count(b"reading") > 2)
    assert "[maxmargin] reading: " in shown
    assert " MB" in shown
    first, _, rest = shown.partition("\n")
    assert first.count("\r[maxmargin] reading") > 1  # one line, rewritten
    assert "reading" not in rest
    assert "reading" not in out


def test_the_result_and_nothing_else_with_json(tmp_path):
    out, shown = slowly(tmp_path, "--json", enough=lambda _, seconds: seconds > 5.0)
    assert "reading" not in shown  # a fit that takes long may still tell how far it is
    assert json.loads(out)["classes"]


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
    monkeypatch.setattr("maxmargin.train.tuning.CS", np.array([0.1, 1.0]))
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
