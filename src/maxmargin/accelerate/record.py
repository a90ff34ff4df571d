"""What is recorded of every fit, and where in the program it was asked for."""

from __future__ import annotations

import os
import sys
import threading
from types import SimpleNamespace

# Fits kept one by one; of more only the number is known.
MAX_FITS = 10_000
# Names of packages whose frames are not "the program".
_INSIDE = ("sklearn.", "joblib.", "maxmargin.", "threading", "concurrent.")


class Fit(SimpleNamespace):
    """One call of a solver inside scikit-learn.

    ``solver`` is "maxmargin" or "scikit-learn", who gave the answer, and ``gap`` the certified
    relative duality gap of an answer of maxmargin's.  Where both have solved, for ``compare`` or
    because a proof fell short: ``our_seconds``, ``their_seconds``, how far scikit-learn's objective
    is from the lower bound that ours proves (``their_excess``, relative), how many training rows
    the two answers predict differently, and what scikit-learn warned of.
    """

    def __init__(self, kind: str, place: str, rows: int, columns: int, **more):
        known = {"kind": kind, "place": place, "rows": rows, "columns": columns}
        super().__init__(**known | _UNKNOWN | more)


_UNKNOWN = {
    "classes": 0,
    "solver": "scikit-learn",
    "why": "",
    "seconds": 0.0,
    "gap": None,
    "our_seconds": None,
    "their_seconds": None,
    "their_excess": None,
    "changed": None,
    "their_warning": "",
}
_lock = threading.Lock()
_fits: list[Fit] = []
_beyond = 0
# The folder where worker processes leave what they recorded, and whether this is one of them.
_spool = ""
_worker = False


def add(fit: Fit) -> None:
    """Keep a record; in a worker process, where its parent will find it."""
    global _beyond
    with _lock:
        if len(_fits) < MAX_FITS:
            _fits.append(fit)
        else:
            _beyond += 1
        if _worker:
            _leave(fit)


def fits() -> list[Fit]:
    """Every fit recorded so far, those of worker processes last."""
    with _lock:
        mine = list(_fits)
    return mine if _worker else mine + _of_workers()


def beyond() -> int:
    """Fits that were not kept one by one."""
    return _beyond


def clear() -> None:
    """Forget what was recorded."""
    global _beyond
    with _lock:
        _fits.clear()
        _beyond = 0
        if _spool and not _worker:
            for name in os.listdir(_spool):
                os.unlink(os.path.join(_spool, name))


def spool() -> str:
    """The folder for what worker processes record; it goes with this process."""
    global _spool
    import atexit
    import shutil
    import tempfile

    if not _spool:
        _spool = tempfile.mkdtemp(prefix="maxmargin-accelerate-")
        atexit.register(shutil.rmtree, _spool, ignore_errors=True)
    return _spool


def become_worker(folder: str) -> None:
    """From now on records are left in the folder of the parent process."""
    global _spool, _worker
    _spool, _worker = folder, True


def _leave(fit: Fit) -> None:
    """In a worker: one line more in a file of this process's own."""
    import json

    with open(os.path.join(_spool, f"{os.getpid()}.jsonl"), "a") as file:
        file.write(json.dumps(vars(fit)) + "\n")


def _of_workers() -> list[Fit]:
    import json

    found = []
    for name in sorted(os.listdir(_spool)) if _spool else ():
        with open(os.path.join(_spool, name)) as file:
            found += [Fit(**json.loads(line)) for line in file]
    return found


def place() -> str:
    """``file.py:12`` of the nearest caller outside the libraries; in a worker, its task."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(_INSIDE) and name not in ("sklearn", "joblib", "maxmargin"):
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "?"
