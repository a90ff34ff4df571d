"""What a fit warns of, kept with the fit's name even where several run in threads.

``warnings.catch_warnings`` swaps settings of the whole process, so threads that use it
undo each other.  Here the first listener puts up one hook and the last takes it down; the
hook sorts warnings by the thread that speaks.  "ignore" and "error" filters keep their
meaning; all others let every warning through, so that no fit's remark is taken for
another's repetition.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple


class CapturedWarning(NamedTuple):
    """One warning, and the name of the fit that gave it."""

    name: str
    category: type[Warning]
    text: str


class _Hook:
    """``warnings.showwarning`` while somebody listens."""

    def __init__(self):
        self.lock = threading.Lock()
        self.listeners = 0
        self.scope = ExitStack()
        self.here = threading.local()

    def __enter__(self):
        with self.lock:
            self.listeners += 1
            if self.listeners == 1:
                self._put_up()

    def __exit__(self, *_):
        with self.lock:
            self.listeners -= 1
            if self.listeners == 0:
                self.scope.close()

    def _put_up(self) -> None:
        self.scope.enter_context(warnings.catch_warnings())
        warnings.filters[:] = [  # type: ignore[index]
            (action if action in ("ignore", "error") else "always", *which)
            for action, *which in warnings.filters
        ]
        warnings.simplefilter("always", append=True)
        self.usual = warnings.showwarning
        warnings.showwarning = self._show

    def _show(self, message, category, filename, lineno, file=None, line=None):
        hear = getattr(self.here, "hear", None)
        if hear is None:
            self.usual(message, category, filename, lineno, file, line)
        else:
            hear(category, str(message))


# To be entered by the thread that starts the fits, before they begin.
listening = _Hook()


@contextmanager
def overhear(name: str, remarks: list[CapturedWarning]) -> Iterator[None]:
    """While ``listening``, add what this thread warns of to ``remarks``."""
    outer = getattr(listening.here, "hear", None)
    listening.here.hear = lambda category, text: remarks.append(
        CapturedWarning(name, category, text)
    )
    try:
        yield
    finally:
        listening.here.hear = outer
