"""The site that `make docs` has built, and a browser that reads it."""

from pathlib import Path

import pytest

from ..app.studio.helpers import ARGUMENTS, browser_path

SITE = Path(__file__).parents[2] / "build" / "site"


@pytest.fixture(scope="session")
def site():
    if not (SITE / "index.html").exists():
        pytest.fail("there is no site in build/site: run `make docs`")
    return SITE


@pytest.fixture(scope="module")
def browser():
    path = browser_path()
    if path is None:
        pytest.skip("no browser is installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield found
        found.close()
