"""What is told while a streamed fit runs."""

from __future__ import annotations

import io

from maxmargin import LinearSVM, fit_stream
from maxmargin.core.solve.contract import Monitor
from maxmargin.parts.files.source import find_source
from maxmargin.parts.stream.progress import StreamProgress, in_words

from .helpers import cut, noisy


def test_pass_gap_and_time_left():
    out = io.StringIO()
    progress = StreamProgress(verbose=1, out=out)
    progress.monitor = monitor = Monitor(tol=1e-6)
    monitor.record(100.0, 90.0)
    monitor.record(100.0, 99.0)
    progress(1, 5000, 0)
    assert out.getvalue() == "[maxmargin] reading: 5000 rows\n"
    line = progress.line(3, 250, 1000, progress.began + 1.0)
    assert "pass 3:  25% of 1000 rows, relative gap 1.0e-02 (asked 1e-06)" in line
    # Three quarters of this pass, four more at a digit each, and one for the proof.
    assert line.endswith("about 23 s left")


def test_how_far_the_files_are_read(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x" * 300)
    (tmp_path / "b.csv").write_bytes(b"x" * 700)
    progress = StreamProgress(out=io.StringIO())
    first, second = progress.following([find_source(tmp_path / f"{n}.csv") for n in "ab"])
    with first.open() as file:
        file.read()
    line = progress.line(0, 120, 0, progress.began + 3.0)
    assert line.startswith("[maxmargin] looking at the columns: 120 rows, 30% of 0 MB, about 7 s")
    with second.open() as file:
        file.read()
    assert "100%" in progress.line(0, 400, 0, progress.began + 3.0)
    line = progress.line(1, 100, 400, progress.began + 100.0)  # now the rows are counted
    assert line.startswith("[maxmargin] reading: 100 rows, 25% of 400, about 5 min left")
    assert in_words(20_000) == "5.6 h"


def test_a_caller_is_told_every_block():
    X, y = noisy()
    heard = []
    fit_stream(LinearSVM(), cut(X, y), memory="16MB", told=lambda *what: heard.append(what))
    assert heard[0] == (1, 700, 0)  # while reading, how many rows there are is not known
    passes = [number for number, _, _ in heard]
    assert passes == sorted(passes)
    assert {done for number, done, n in heard if number == max(passes)} >= {len(y)}
