"""No link of the site is broken, and none but the studio's leaves it."""

from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

import pytest

pytestmark = pytest.mark.site


class Links(HTMLParser):
    """Where a page points to, and what can be pointed at."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        for key in ("href", "src"):
            if key in given and tag != "base":
                self.targets.append(given[key])


@pytest.fixture(scope="module")
def pages(site):
    written = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    found = {path.resolve(): Links(path.read_text("utf-8")) for path in written}
    assert len(found) > 40
    return found


def test_every_link_within_the_site_leads_somewhere(pages):
    broken = []
    for path, page in pages.items():
        for target in page.targets:
            file, fragment = urldefrag(target)
            if ":" in file:
                continue
            there = (path.parent / unquote(file).split("?")[0]).resolve() if file else path
            known = pages[there].ids if there in pages else {unquote(fragment)}
            if not there.exists() or (fragment and unquote(fragment) not in known):
                broken.append((path.name, target))
    assert broken == []


def test_links_that_leave_open_the_studio_of_this_machine(pages):
    """And the one at the foot of the search page, to Sphinx; nothing is fetched from either."""
    hosts = {
        target.split("/")[2]
        for page in pages.values()
        for target in page.targets
        if target.startswith("http")
    }
    assert hosts <= {"127.0.0.1:8642"}
