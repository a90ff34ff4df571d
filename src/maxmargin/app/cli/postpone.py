"""scikit-learn without what it imports at its start and commands do not use.

Of the time that ``import sklearn.base`` takes, scipy.stats (which it needs for functions we never
call) and pandas (where it is installed) are more than half, and a command that ends after two
seconds feels that.  While scikit-learn is imported, scipy.stats is replaced by a promise that
imports it when it is first asked for something; afterwards everybody imports it as usual.  No
command uses pandas: scikit-learn and Arrow are told that there is none, and numba that there is no
cffi, which no kernel calls and whose parser of C takes 50 ms.  And nothing that is
imported is garbage: Python is kept from looking through it while it grows, later, and at the end,
which was a fifth of a small fit.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from types import ModuleType

# New objects after which Python looks for garbage.  Compiling makes them by the hundred thousand,
# keeps most, and took a tenth longer with the usual 700.
OBJECTS_PER_SEARCH = 50_000


def import_sklearn() -> None:
    """Import scikit-learn's foundations, quickly; nothing where somebody has done it before."""
    if "sklearn" in sys.modules:
        return
    sys.meta_path[:0] = Without("pandas"), Without("cffi")
    with promised("scipy.stats"), all_kept():
        import_module("sklearn.base")


@contextmanager
def all_kept() -> Iterator[None]:
    """What there is at the end of the block is never looked through for garbage, and what comes
    later is not as often."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(OBJECTS_PER_SEARCH)
        gc.enable()


class Without(MetaPathFinder):
    """Says that a package is not installed."""

    def __init__(self, name: str):
        self.name = name

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            raise ModuleNotFoundError(f"No command of maxmargin uses {name}.", name=name)


@contextmanager
def promised(name: str) -> Iterator[None]:
    """Until the end of the block, the module of this name is promised rather than imported."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = promise = Promise(name)
    try:
        yield
    finally:
        promise.withdraw()


class Promise(ModuleType):
    """A module that is imported when it is first asked for something, and answers for it."""

    def withdraw(self) -> None:
        """Let the next import find the real module."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def __getattr__(self, name: str):
        self.withdraw()
        return getattr(import_module(self.__name__), name)
