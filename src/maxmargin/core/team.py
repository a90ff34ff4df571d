"""The threads of one fit: passes over rows in stretches, one a thread, each with places of its own.

A fit may use as many threads as BLAS may (``OMP_NUM_THREADS``, ``OPENBLAS_NUM_THREADS``,
``threadpoolctl``); inside solvers BLAS itself has one, and the passes share the others.  Where
fits run side by side each has one.  BLAS's own threads spin while they wait, which made them twenty
times slower beside other processes; these sleep.  What is shared out are places, or terms of a sum
in shares that are the same for any number of threads and are added up in order: the bits do not
depend on how many threads there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from functools import cache, partial
from itertools import pairwise
from typing import Any

# Threads of one fit: none before ``solve.threads.one_blas_thread`` says how many.
team: ContextVar[int | None] = ContextVar("team", default=None)
# The most of them: between two calls of a compiled loop Python runs, in one thread at a time.
MAX_TEAM = 8
# Shares of a sum: so many copies of what it adds up to; two and four threads get as many each.
SHARES = (8, 4, 2)


def in_stretches(work: Callable[[int, int], None], count: int, unit: int, least: int) -> None:
    """work(start, stop) for stretches of 0 … count, which begin at multiples of ``unit`` and are of
    at least ``least``: one a thread, the first of them in this one."""
    threads = min(team.get() or 1, MAX_TEAM, count // max(1, least))
    if threads < 2:
        work(0, count)
        return
    units = -(-count // unit)
    ends = [min(count, unit * (units * t // threads)) for t in range(threads + 1)]
    pool = _pool(MAX_TEAM - 1)
    others = [
        pool.submit(partial(copy_context().run, _alone, work, *stretch))
        for stretch in pairwise(ends[1:])
    ]
    try:
        work(ends[0], ends[1])
    finally:  # whatever happens here: they write to what is ours
        wait(others)
    for other in others:
        other.result()


def in_shares(work: Callable[[int, int], Any], count: int, least: int) -> list:
    """[work(start, stop), …] for shares of 0 … count of at least ``least``, by as many threads as
    there are; which shares, ``count`` and ``least`` alone tell."""
    most = count // max(1, least)
    if most < min(SHARES):
        return [work(0, count)]
    shares = next(shares for shares in SHARES if shares <= most)
    ends = [count * share // shares for share in range(shares + 1)]
    found: list = [None] * shares

    def some(first: int, end: int) -> None:
        for share in range(first, end):
            found[share] = work(ends[share], ends[share + 1])

    in_stretches(some, shares, 1, 1)
    return found


def _alone(work: Callable[[int, int], None], start: int, stop: int) -> None:
    team.set(1)
    work(start, stop)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="maxmargin-team")


if hasattr(os, "register_at_fork"):  # a child has no threads but one
    os.register_at_fork(after_in_child=_pool.cache_clear)
