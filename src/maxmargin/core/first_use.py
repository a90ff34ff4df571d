"""The first calls on little data run a kernel as the plain Python that it is.

Compiling a kernel takes 0.1 to 4 s, and a first fit needs nine to sixteen of them; plain Python
solves iris in 0.2 s.  So a marked kernel is compiled when it is given more than a little, or has
run plainly for a share of what compiling costs; one that is on disk already is taken at once.

Both ways give the same bits, or a model would depend on what was fitted before it.  So a kernel may
be marked only if it leaves nothing open: no sums that the compiler may reorder, no sums of NumPy's,
no ``exp`` or power, whose last digit depends on who computes it, no integers beyond 64 bits; and
what it calls is marked as well.  ``tests/core/test_first_use.py`` compares whole models.

A loop over some thousand rows is too long for that, but what is asked once a fit NumPy does in a
tenth of a millisecond: a kernel may name what does the same, bit by bit, to whole ``arrays``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

# A kernel runs plainly for so long in all; it compiles in 0.1 to 4 s.  A command that ends before
# pays for plain loops again the next time, and with 0.4 s two kernels took that of every fit of a
# table of 250 kB.
MAX_PLAIN_SECONDS = 0.15
# Numbers in the arguments up to which a call is short: a plain loop takes a microsecond for each.
MAX_PLAIN_VALUES = 4_000
# The same for one that works on whole arrays: a command's worth of fits of 200 kB stays below it.
# With more a compiled loop saves milliseconds of every fit; larger fits compile for smaller ones.
MAX_ARRAY_VALUES = 40_000
# Kinds of numbers that plain Python computes with as numba does; float32 is not one of them.
PLAIN_KINDS = frozenset(map(np.dtype, ("float64", "int64", "bool")))


class _Nesting(threading.local):
    """Whether this thread runs a kernel plainly: then those that it calls do so too; and whether
    it is there to compile."""

    plain = False
    at_once = False


_nesting = _Nesting()


@contextmanager
def compiled_at_once() -> Iterator[None]:
    """In this thread, kernels are compiled however little they are given: somebody will ask for
    more of them, and in a hurry."""
    before, _nesting.at_once = _nesting.at_once, True
    try:
        yield
    finally:
        _nesting.at_once = before


def plain_at_first(
    kernel: Any = None,
    *,
    when: Callable[..., bool] | None = None,
    arrays: Callable[..., Any] | None = None,
) -> Any:
    """Mark a kernel; ``when`` tells of its arguments whether both ways give the same bits.

    ``arrays`` does the same without loops, or answers ``NotImplemented``.
    """
    if kernel is None:
        return partial(plain_at_first, when=when, arrays=arrays)
    if not hasattr(kernel, "_compile_for_args"):  # numba is told to compile nothing
        return kernel
    compiled, spent, missing = kernel._compile_for_args, 0.0, set()
    most = MAX_ARRAY_VALUES if arrays else MAX_PLAIN_VALUES

    def plainly(*args):
        nonlocal spent
        began, _nesting.plain = time.thread_time(), True
        try:
            with np.errstate(all="ignore"):
                told = arrays(*args) if arrays else NotImplemented
                if told is NotImplemented and _few(args, MAX_PLAIN_VALUES):
                    told = kernel.py_func(*args)
                return _boxed(told)
        finally:
            _nesting.plain = False
            spent += time.thread_time() - began

    def choose(*args, **keywords):
        """What numba calls where no compiled version fits: it returns what is to be run."""
        if _nesting.plain:
            return kernel.py_func
        enough = spent >= MAX_PLAIN_SECONDS or _nesting.at_once
        if not enough and _few(args, most) and (when is None or when(*args)):
            kinds = tuple(map(_kind, args))
            if kinds in missing or not _on_disk(kernel, tuple(map(kernel.typeof_pyval, args))):
                missing.add(kinds)
                return plainly if arrays is None else either
        return compiled(*args, **keywords)

    def either(*args):
        told = plainly(*args)
        return compiled(*args)(*args) if told is NotImplemented else told

    kernel._compile_for_args = choose
    return kernel


def _few(args: tuple, most: int) -> bool:
    """Whether all arguments together are few numbers, of kinds that compute alike."""
    values, todo = 0, list(args)
    while todo:
        value = todo.pop()
        if isinstance(value, tuple):
            todo.extend(value)
        elif isinstance(value, np.ndarray):
            values += value.size
            if value.dtype not in PLAIN_KINDS or values > most:
                return False
        elif not isinstance(value, (bool, int, float, np.float64, np.int64, np.bool_)):
            return False
    return True


def _kind(value: Any) -> tuple:
    """What tells numba's types apart, in a tenth of the time it takes to make them."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable
    if isinstance(value, tuple):
        return type(value), *map(_kind, value)
    return (type(value),)


def _on_disk(kernel: Any, types: tuple) -> bool:
    """Whether some process has left this kernel compiled for these types."""
    cache, context = kernel._cache, kernel.targetctx
    if not hasattr(cache, "_cache_file"):  # it is not kept at all
        return False
    return cache._index_key(types, context.codegen()) in cache._cache_file._load_index()


def _boxed(value: Any) -> Any:
    """Python's numbers for NumPy's, as numba returns them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        parts = map(_boxed, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
