"""Everything is within reach: of thumbs on a phone, of eyes at 200 %, of ears by axe."""

import pytest

from .axe import violations
from .data_helpers import as_csv, flowers
from .pages import DESKTOP, PHONE, choose, opened, points, rest

TABS = ("playground", "stepper", "your-data")
THUMB = 44
ZOOMED = {"width": DESKTOP["width"] // 2, "height": DESKTOP["height"] // 2}

# Controls that can be seen: [what, left, right, width, height].
CONTROLS = """() => [...document.querySelectorAll('button, select, input, a.button, label.button')]
    .filter((e) => e.checkVisibility() && !e.closest('.spoken') && !e.matches('.spoken'))
    .map((e) => {
        const box = e.getBoundingClientRect();
        const across = e.type === 'checkbox' ? e.parentElement.getBoundingClientRect() : box;
        return [e.id || e.value || e.textContent, box.left, box.right, across.width, across.height];
    })"""

MIDDLES = """() => [...document.querySelectorAll('#plane .point .dot')].map((e) => {
    const box = e.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
})"""

# Entries of the legend: [words, right, bottom].
LEGEND = """() => [...document.querySelectorAll('#legend li')].map((e) => {
    const box = e.getBoundingClientRect();
    return [e.textContent, box.right, box.bottom];
})"""


def enter(page, tab):
    page.click(f"#tab-{tab}")
    page.wait_for_selector(f"#{tab}:not([hidden])")
    if tab == "stepper":
        page.wait_for_selector("#run[aria-busy=false]")


def fitted(page):
    """Flowers, fitted with a C that need not be sought."""
    enter(page, "your-data")
    file = {"name": "flowers.csv", "mimeType": "", "buffer": as_csv(flowers())}
    page.set_input_files("#data-file", file)
    page.wait_for_selector("#data-run:not([disabled])")
    page.select_option("#data-price", "given")
    page.click("#data-run")
    page.wait_for_selector("#data-views button[value=report]")


@pytest.fixture(scope="module")
def shared(browser, studio):
    """One page with one fit, for all sizes and colours."""
    with opened(browser, studio, size=PHONE, has_touch=True) as page:
        fitted(page)
        yield page


@pytest.fixture
def phone(shared):
    shared.set_viewport_size(PHONE)
    shared.emulate_media(color_scheme="light")
    return shared


@pytest.fixture
def desk(shared):
    shared.set_viewport_size(DESKTOP)
    shared.emulate_media(color_scheme="dark")
    return shared


@pytest.mark.parametrize("tab", TABS)
def test_every_control_on_a_phone_is_as_wide_as_a_thumb(phone, tab):
    enter(phone, tab)
    found = phone.evaluate(CONTROLS)
    assert len(found) > 10
    for what, left, right, width, height in found:
        assert min(width, height) >= THUMB, what
        if not phone.locator(f"#pictures button[value='{what}']").count():  # these are scrolled
            assert left >= 0, what
            assert right <= PHONE["width"], what


def test_the_whole_legend_is_seen_on_a_phone(phone):
    enter(phone, "playground")
    below = phone.locator("#method").bounding_box()["y"]
    entries = phone.evaluate(LEGEND)  # at once: an answer that comes in draws them anew
    assert "misclassified" in entries[-1][0]
    for _, right, bottom in entries:
        assert right <= PHONE["width"]
        assert bottom <= below


def test_a_finger_takes_the_point_that_is_nearest(phone):
    enter(phone, "playground")
    choose(phone, "85-points")
    phone.click("#tools button[value=erase]")
    (x, y), *others = phone.evaluate(MIDDLES)
    offset = next(
        (x + dx, y + dy)
        for dx, dy in ((0, 15), (15, 0), (0, -15), (-15, 0), (9, 9), (5, 5), (3, 3))
        if all((x + dx - u) ** 2 + (y + dy - v) ** 2 > dx**2 + dy**2 for u, v in others)
    )
    first, *rest_of_them = points(phone)
    phone.touchscreen.tap(*offset)
    rest(phone)
    assert points(phone) == rest_of_them != [first]
    phone.click("#tools button[value=draw]")


def test_nothing_beside_the_data_is_cut(phone):
    enter(phone, "your-data")
    cut = phone.evaluate("""() => [...document.querySelectorAll(
        '#your-data aside :is(dt, dd, small, p, h2, .proof)')].filter(
        (e) => e.checkVisibility() && (e.scrollWidth > e.clientWidth + 1
            || e.scrollHeight > e.clientHeight + 1) && e.clientWidth > 1)
        .map((e) => e.textContent)""")
    assert cut == []


def test_at_two_hundred_per_cent_nothing_sticks_out(desk):
    desk.set_viewport_size(ZOOMED)
    for tab in TABS:
        enter(desk, tab)
        assert desk.evaluate("document.documentElement.scrollWidth") <= ZOOMED["width"], tab


def test_axe_has_no_complaint_on_a_phone(phone):
    for tab in TABS:
        enter(phone, tab)
        assert violations(phone) == [], tab


def test_axe_has_no_complaint_in_the_dark(desk):
    for tab in TABS:
        enter(desk, tab)
        assert violations(desk) == [], tab
    for view in ("data", "rows", "weights"):
        desk.click(f"#data-views button[value={view}]")
        assert violations(desk) == [], view
    desk.click("#data-views button[value=report]")
