"""One BLAS thread: several, when other processes want the cores, were 20 times slower."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

from ..team import team


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread(fits: int = 1) -> Iterator[None]:
    """BLAS uses one thread; our passes as many as it had, or one where several fits share them."""
    known = 1 if fits > 1 else team.get()
    allowed = known or min((each["num_threads"] for each in _controller().info()), default=1)
    token = team.set(allowed)
    try:
        with _controller().limit(limits=1):
            yield
    finally:
        team.reset(token)
