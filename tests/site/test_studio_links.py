"""Every button of the lectures opens the studio in the state it names."""

import re
import sys
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from ..app.studio.helpers import Studio
from ..app.studio.pages import PATIENCE, address

pytest.importorskip("docutils", reason="the site's extensions need Sphinx: make docs")
DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "extensions"))
from studio_links import ADDRESS, studio_address  # noqa: E402

pytestmark = pytest.mark.site

LINKS = sorted({
    words
    for page in (DOCS / "lectures").glob("*.md")
    for words in re.findall(r"\{studio\}`([^`]+)`", page.read_text(encoding="utf-8"))
})  # fmt: skip


@pytest.fixture(scope="module")
def studio():
    running = Studio("--port", "0")
    yield running
    running.stop()


def test_the_studio_listens_where_the_links_lead():
    from maxmargin.app.cli.studio import DEFAULT_PORT

    assert f"http://127.0.0.1:{DEFAULT_PORT}/#" == ADDRESS
    assert len(LINKS) > 15


@pytest.fixture(scope="module")
def page(browser, studio):
    """One page for all links: following one leaves nothing of the last."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("words", LINKS)
def test_a_link_is_what_the_page_would_write_itself(page, studio, words):
    fragment = studio_address(words).removeprefix(ADDRESS)
    page.goto("about:blank")
    page.goto(f"{studio.url}#{fragment}")
    page.wait_for_selector("html[data-ready=yes]")
    asked = parse_qs(fragment)
    tab = asked.get("tab", ["playground"])[0]
    assert page.locator(f"#tab-{tab}").get_attribute("aria-selected") == "true"
    if tab == "playground":
        page.wait_for_selector("#plane[aria-busy=false]")
        written = parse_qs(address(page).partition("#")[2])
        assert {key: value for key, value in written.items() if key in asked} == asked
        assert set(written) - set(asked) <= {"w", "step", "with"}


def test_unknown_pictures_and_knobs_are_errors_of_the_page():
    with pytest.raises(KeyError):
        studio_address("no-such-picture")
    with pytest.raises(ValueError, match="no method"):
        studio_address("wine m=magic")
    with pytest.raises(ValueError, match="C, the price"):
        studio_address("wine C=-3")
