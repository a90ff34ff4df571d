"""Ctrl-C ends a command at once, at any moment, with code 130.

A ``KeyboardInterrupt`` is not enough: it may fall into an import, where it leaves a traceback, or
where some library's ``except:`` forgets it and the command goes on.  So the process ends on the
spot, as long as there is nothing to clean up; it leaves nothing behind but memory.  Where there
is, while a file is written or finished results are kept, Ctrl-C raises ``KeyboardInterrupt``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED_EXIT_CODE = 130
# The name of a thread that does a command's work.
WORK_THREAD = "maxmargin-work"
_cautious = 0
# Whether this process is the program, and not another one that calls its commands.
_program = False
_written: list[str] = []


def take_over() -> None:
    """To be called by the program itself; whoever ignores Ctrl-C (nohup) goes on doing so."""
    global _program
    _program = True
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _pressed)


def ignore() -> None:
    """From here on the end is near, and decided; other programs that call commands go on."""
    if signal.getsignal(signal.SIGINT) is _pressed:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def cautiously(*files) -> Iterator[None]:
    """A block that Ctrl-C interrupts by ``KeyboardInterrupt``.  ``files`` are those it writes."""
    global _cautious
    _cautious += 1
    try:
        yield
        _written.extend(map(str, files))
    finally:
        _cautious -= 1


def leave(code: int) -> None:
    """End the program here and now, though a thread of it still works; other programs that call
    commands go on."""
    if _program:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def message() -> str:
    what = f"{', '.join(_written)} had been written" if _written else "nothing was written"
    return f"maxmargin: interrupted; {what}."


def _pressed(number, frame) -> None:
    if _cautious:
        raise KeyboardInterrupt
    os.write(2, f"{message()}\n".encode())
    os._exit(INTERRUPTED_EXIT_CODE)
