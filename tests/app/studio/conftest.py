import pytest

from ...browser import browser  # noqa: F401
from .helpers import Studio
from .pages import opened


@pytest.fixture(scope="session")
def studio():
    """A studio at some free port, for all tests of a worker: pages share nothing."""
    running = Studio("--port", "0")
    yield running
    running.stop()


@pytest.fixture
def page(browser, studio):  # noqa: F811
    with opened(browser, studio) as found:
        yield found
