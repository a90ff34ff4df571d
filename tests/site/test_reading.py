"""Read in a browser: nothing is fetched from elsewhere, nothing is cut, axe has no complaint."""

import pytest

from ..app.studio.axe import violations

pytestmark = pytest.mark.site

# One page of each kind, and the first.
KINDS = [
    "index",
    "lectures/perceptrons_and_svms",
    "howto/tour",
    "reference/api/estimators",
    "measured/index",
    "examples/index",
    "examples/plot_what_a_certificate_says",
]
PHONE, DESK = 390, 1280


@pytest.fixture(scope="module", params=KINDS)
def page(request, site, browser):
    """A page as it was opened, with what it asked for."""
    context = browser.new_context(viewport={"width": DESK, "height": 900})
    found = context.new_page()
    found.asked = []
    found.on("request", lambda asked: found.asked.append(asked.url))
    found.goto((site / f"{request.param}.html").as_uri())
    found.wait_for_load_state("networkidle")
    yield found
    context.close()


def test_nothing_is_asked_of_other_hosts(page):
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []
    assert len(page.asked) > 3


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_sticks_out_of_the_screen(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_formulas_and_pictures_are_drawn(page):
    for box in [one.bounding_box() for one in page.locator("div.formula math").all()]:
        assert box["width"] > 20
        assert box["height"] > 10
    for picture in page.locator("figure.picture img").all():
        picture.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete", arg=picture.element_handle())
        assert picture.evaluate("image => image.naturalWidth") > 100
        assert len(picture.get_attribute("alt")) > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(page, scheme):
    page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
    page.wait_for_timeout(300)  # colours fade
    assert violations(page) == []
