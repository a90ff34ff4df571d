"""Worker processes: a task that scikit-learn hands to joblib brings the acceleration with it.

joblib sends ``_FuncWrapper`` objects to processes that know nothing of ``install``.  While it is
installed they are pickled as a call of ``unpack`` below, whose task is accelerated where it runs;
the process, which may outlive this installation, is not.
"""

from __future__ import annotations

from typing import Any

from .settings import SETTINGS


def wrap(original: type) -> type:
    """Give ``_FuncWrapper`` a way of being pickled; the class itself stays."""
    from .hook import replace
    from .record import spool

    def reduce(self):
        return unpack, (dict(vars(self)), spool(), dict(vars(SETTINGS)))

    replace(original, "__reduce__", reduce)
    return original


def unpack(state: dict[str, Any], folder: str, asked: dict[str, bool]) -> Task:
    """In the worker: the wrapper that was sent, as a task."""
    from sklearn.utils.parallel import _FuncWrapper

    wrapper = _FuncWrapper.__new__(_FuncWrapper)
    vars(wrapper).update(state)
    return Task(wrapper, folder, asked)


class Task:
    """A function of a worker's, accelerated while it runs."""

    def __init__(self, function: Any, folder: str, asked: dict[str, bool]):
        self.function, self.folder, self.asked = function, folder, asked

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from .hook import install, installed, uninstall
        from .record import become_worker

        before = installed()
        if not before:
            become_worker(self.folder)
            install()
        vars(SETTINGS).update(self.asked)
        try:
            return self.function(*args, **kwargs)
        finally:
            if not before:
                uninstall()
