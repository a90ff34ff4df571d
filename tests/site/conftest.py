"""The site that `make docs` has built, and a browser that reads it."""

from pathlib import Path

import pytest

from ..browser import browser  # noqa: F401

SITE = Path(__file__).parents[2] / "build" / "site"


@pytest.fixture(scope="session")
def site():
    if not (SITE / "index.html").exists():
        pytest.fail("there is no site in build/site: run `make docs`")
    return SITE
