import pytest

from .helpers import ARGUMENTS, Studio, browser_path
from .pages import opened


@pytest.fixture(scope="session")
def studio():
    """A studio at some free port, for all tests of a worker: pages share nothing."""
    running = Studio("--port", "0")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser():
    """Debian's chromium, or whatever the machine has of it.

    Not for longer than a module: while it is open, Playwright keeps an event loop running in
    this thread, and whoever starts another one fails.
    """
    path = browser_path()
    if path is None:
        pytest.skip("no browser is installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def page(browser, studio):
    with opened(browser, studio) as found:
        yield found
