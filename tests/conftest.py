"""Where compiled kernels are cached, and which; the examples of hypothesis; Ctrl-C."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from .kernel_cache import use_kernel_cache

use_kernel_cache()

from numba.core.caching import Cache  # noqa: E402

_save = Cache.save_overload


def _save_what_all_can_read(cache, sig, kernel) -> None:
    """Kernels of nouns that tests define stay in memory: an index that names them on disk could not
    be read by a process without these tests."""
    nouns = [getattr(kind, "instance_class", None) for kind in kernel.signature.args]
    if not any(noun is not None and noun.__module__.startswith("tests") for noun in nouns):
        _save(cache, sig, kernel)


Cache.save_overload = _save_what_all_can_read

# Every run tries the same examples, or one run in many would fail for what is not its own fault;
# `make soak` draws new ones.
_patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **_patient)
settings.register_profile("new", derandomize=False, **_patient)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# A shell without a terminal starts background jobs with Ctrl-C ignored; the tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    """What looks at a page in a real browser is a step of its own: half its time is waiting."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
