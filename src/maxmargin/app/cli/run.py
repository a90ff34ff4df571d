"""What all commands share: threads, Ctrl-C, results as JSON."""

from __future__ import annotations

import functools
import json
import math
import os
import shlex
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

import typer

from .interrupt import INTERRUPTED_EXIT_CODE, ignore, leave, message
from .postpone import import_sklearn

if TYPE_CHECKING:
    from ...parts.files.form import FileForm

BYTES_PER_MEGABYTE = 1e6
# The arguments of the command that is running; ``main`` sets them.
typed: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())


def command(body: Callable) -> Callable:
    """A command that ends with code 130 on Ctrl-C, having written nothing half."""

    @functools.wraps(body)
    def run(*args, **kwargs):
        try:
            use_threads(kwargs.get("threads"))
            import_sklearn()
            return body(*args, **kwargs)
        except KeyboardInterrupt:
            ignore()  # once is enough from here on
            typer.echo(message(), err=True)
            leave(INTERRUPTED_EXIT_CODE)  # threads may be at work, which would be waited for
            raise typer.Exit(INTERRUPTED_EXIT_CODE) from None

    return run


def command_line() -> str:
    """What was typed, ready to be typed again."""
    return shlex.join(["maxmargin", *typed.get()])


def check_named(labelled, names: list[str]) -> None:
    """Columns that options name are there."""
    from ...parts.files.tables import check_columns

    if names and not labelled.is_table:
        raise ValueError("--drop, --category, --text and --number name columns of a table.")
    if names:
        check_columns(names, labelled.rows.schema.names, labelled.name)


def said_of(format: str | None, na: list[str] | None, header: bool | None) -> FileForm:
    """What the user says of a file."""
    from ...parts.files.form import MISSING_WORDS, FileForm

    missing = MISSING_WORDS if na is None else ("", *(word for word in na if word))
    return FileForm(format, missing, header)


def use_threads(count: int | None) -> None:
    """Limit reading, BLAS and our kernels to this many threads; before they are loaded."""
    if count is None:
        return
    if count < 1:
        raise ValueError(f"--threads must be at least 1, got {count}.")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(count)
    import pyarrow

    pyarrow.set_cpu_count(count)


class ReadingProgress:
    """A line at a terminal, rewritten twice a second, once something has taken two seconds."""

    def __init__(self, what: str):
        self.what, self.next, self.shown = what, time.perf_counter() + 2.0, False

    def __call__(self, done: str) -> None:
        now = time.perf_counter()
        if now >= self.next and sys.stderr.isatty():
            self.next, self.shown = now + 0.5, True
            print(f"\r[maxmargin] {self.what}: {done}   ", end="", file=sys.stderr, flush=True)

    def done(self) -> None:
        if self.shown:
            self.shown = False
            print(file=sys.stderr)


def reading(quiet: bool) -> Callable[[int, int | None], None] | None:
    """What to tell of a file that is read; nothing where JSON is asked for."""
    if quiet:
        return None
    show, before = ReadingProgress("reading"), -1

    def on_read(done: int, size: int | None) -> None:
        nonlocal before
        if done == before:  # nothing more came: the end
            return show.done()
        before = done
        of = "" if size is None else f" of {size / BYTES_PER_MEGABYTE:.0f}"
        show(f"{done / BYTES_PER_MEGABYTE:.0f}{of} MB")

    return on_read


def print_json(result: dict) -> None:
    """Nothing but the result; what JSON has no number for is null."""
    print(json.dumps(_plain(result), indent=2, ensure_ascii=False))


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(inside) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inside) for inside in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
