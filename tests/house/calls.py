"""Seven calls, followed from the door to the result and back: through how many files and rooms.

A *room* is a folder at the top of the package. A *crossing* is a pair of rooms of which one calls a
function of the other, in that direction; that it is called a thousand times counts once, that the
other calls back counts again. Calls are those that the interpreter reports, of threads too;
compiled kernels count where they are entered, the mark ``plain_at_first`` on them does not. The
door itself (``__main__``) is no room.

    python -m tests.house.calls
"""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

import maxmargin

# What is told of compiling; and calls after which it must have ended.
COMPILING, MOST_COMPILING_CALLS = "models/compiling.py", 30
HOME = str(Path(maxmargin.__file__).parent) + "/"
# A mark on kernels that stands between them and who calls them, as numba's own does.
MARK = HOME + "core/first_use.py"


class Followed:
    """What was called: files, and pairs (room, room called)."""

    def __init__(self):
        self.files: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()

    def __enter__(self):
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)
        threading.setprofile(None)

    def crossings(self, place: Callable[[str], str]) -> set[tuple[str, str]]:
        """Pairs of different places: of rooms, or of folders."""
        places = {(place(caller), place(called)) for caller, called in self.pairs}
        return {(one, other) for one, other in places if one and other and one != other}

    def _look(self, frame, event, _):
        if event != "call" or not _is_ours(frame):
            return
        caller = frame.f_back
        while caller is not None and not _is_ours(caller):
            caller = caller.f_back
        file = frame.f_code.co_filename.removeprefix(HOME)
        self.files.add(file)
        if caller is not None:
            self.pairs.add((caller.f_code.co_filename.removeprefix(HOME), file))


def _is_ours(frame) -> bool:
    """Whether it runs a function of the package; modules run when they are imported."""
    code = frame.f_code
    called = code.co_name != "<module>" and code.co_filename != MARK
    return called and code.co_filename.startswith(HOME)


def room(file: str) -> str:
    return file.partition("/")[0] if "/" in file else ""


def folder(file: str) -> str:
    return file.rpartition("/")[0]


def follow(call: Callable[[], object]) -> Followed:
    """``call`` once for imports, and again until nothing is compiled while it is followed: kernels
    are when they are worth it, which is told to whoever waits."""
    call()
    for _ in range(MOST_COMPILING_CALLS):
        with Followed() as found:
            call()
        if COMPILING not in found.files:
            break
    return found


def calls(work: Path) -> dict[str, Callable[[], object]]:
    """The seven calls, on 300 rows; files are written into ``work``."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(300) > 0, 1, -1)
    data = work / "files"
    data.mkdir()
    words = np.where(y > 0, "yes", "no")
    lines = [",".join([*map(str, row), word]) for row, word in zip(X, words, strict=True)]
    (data / "data.csv").write_text("\n".join(["a,b,c,d,label", *lines]))
    out = ["-t", "label", "--no-report", "--out", str(work / "model.maxmargin")]
    return {
        "LinearSVM.fit, two classes": lambda: maxmargin.LinearSVM().fit(X, y),
        "LinearSVM.fit, three classes, sparse": lambda: maxmargin.LinearSVM().fit(
            sparse.csr_matrix(X), np.digitize(X[:, 0], [-0.5, 0.5])
        ),
        "maxmargin fit data.csv": lambda: _command("fit", str(data / "data.csv"), *out),
        "maxmargin fit … --memory": lambda: _command(
            "fit", str(data), "--memory", "100MB", "--C", "1", *out
        ),
        "spread.LinearSVM.fit": lambda: _spread(X, y),
        "a drag in the studio": _drag,
        "KernelSVM.fit": lambda: maxmargin.KernelSVM().fit(X, y),
    }


def _command(*words: str) -> None:
    from maxmargin.__main__ import main
    from maxmargin.app.cli import interrupt

    before, sys.argv = sys.argv, ["maxmargin", *words]
    pressed = signal.getsignal(signal.SIGINT)  # the command ends with Ctrl-C ignored
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"maxmargin {' '.join(words)} ended with {end.code}") from None
    finally:
        sys.argv = before
        signal.signal(signal.SIGINT, pressed)
        interrupt._program = False  # else a later command may end this process, not itself


def _spread(X, y) -> None:
    import dask
    import dask.array as da

    from maxmargin import spread

    with dask.config.set(scheduler="synchronous"):
        spread.LinearSVM().fit(da.from_array(X, (100, 4)), da.from_array(y, 100))


def _drag() -> None:
    from tests.app.studio.helpers import asked, clouds

    try:
        from maxmargin.app.studio.playground import solve
    except ImportError:
        from maxmargin.studio.playground import solve
    solve(asked(clouds()))


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        for name, call in calls(Path(work)).items():
            found = follow(call)
            rooms = found.crossings(room)
            counted = f"{len(found.files):4} files {len(rooms):3} crossings of rooms"
            print(f"{name:38}{counted}, {len(found.crossings(folder))} of folders")
            print("   ", ", ".join(sorted(f"{one} → {other}" for one, other in rooms)))


if __name__ == "__main__":
    main()
