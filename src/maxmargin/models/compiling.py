"""How long kernels were compiled: what a first fit takes is not what a fit takes."""

from __future__ import annotations

import time

from numba.core import event


class CompileClock(event.Listener):
    """Seconds within ``numba:compile``, of all threads; kernels that compile others count once."""

    def __init__(self) -> None:
        self._seconds, self._depth, self._began = 0.0, 0, 0.0

    def on_start(self, event) -> None:
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def on_end(self, event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._seconds += time.perf_counter() - self._began

    @property
    def seconds(self) -> float:
        """Until now, with what is being compiled."""
        running = time.perf_counter() - self._began if self._depth > 0 else 0.0
        return self._seconds + running


_clock = CompileClock()
event.register("numba:compile", _clock)


def compile_seconds() -> float:
    """Seconds of compiling in this process so far."""
    return _clock.seconds
