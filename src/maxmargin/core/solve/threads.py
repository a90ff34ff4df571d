"""One BLAS thread: several, when other processes want the cores, were 20 times slower."""

from __future__ import annotations

from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread():
    """A context in which BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")
