"""What is told while a streamed fit runs."""

from __future__ import annotations

import io

from maxmargin import LinearSVM, fit_stream
from maxmargin.solve.contract import Watch
from maxmargin.stream.progress import Progress

from .helpers import cut, noisy


def test_pass_gap_and_time_left():
    out = io.StringIO()
    progress = Progress(verbose=1, out=out)
    progress.watch = watch = Watch(tol=1e-6)
    watch.record(100.0, 90.0)
    watch.record(100.0, 99.0)
    progress(1, 5000, 0)
    assert out.getvalue() == "[maxmargin] pass 1: 5000 rows read\n"
    line = progress.line(3, 250, 1000, progress.began + 1.0)
    assert "pass 3:  25% of 1000 rows, relative gap 1.0e-02 (asked 1e-06)" in line
    # Three quarters of this pass, four more at a digit each, and one for the proof.
    assert line.endswith("about 23 s left")


def test_a_caller_is_told_every_block():
    X, y = noisy()
    heard = []
    fit_stream(LinearSVM(), cut(X, y), memory="16MB", told=lambda *what: heard.append(what))
    assert heard[0] == (1, 700, 0)  # while reading, how many rows there are is not known
    passes = [number for number, _, _ in heard]
    assert passes == sorted(passes)
    assert {done for number, done, n in heard if number == max(passes)} >= {len(y)}
