"""How long kernels were compiled: what a first fit takes is not what a fit takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event


class CompileTime(event.Listener):
    """Seconds within ``numba:compile``; kernels that compile others are counted once."""

    def __init__(self) -> None:
        self.seconds, self._depth, self._began = 0.0, 0, 0.0

    def on_start(self, event) -> None:
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def on_end(self, event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


@contextmanager
def compile_time() -> Iterator[CompileTime]:
    """What is compiled inside this block, in any thread."""
    told = CompileTime()
    event.register("numba:compile", told)
    try:
        yield told
    finally:
        event.unregister("numba:compile", told)
