"""The ways of docs/screenshots.py, with bounding boxes: nothing is cut, nothing overlaps."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FILE = Path(__file__).parents[3] / "docs" / "screenshots.py"
SPEC = importlib.util.spec_from_file_location("screenshots", FILE)
screenshots = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(screenshots)

# What sticks out of the screen, of its box or into another: words and controls, as they are seen.
FAULTS = """() => {
    const faults = [];
    const words = (e) => (e.textContent || e.id).trim().slice(0, 40);
    const wide = document.documentElement.scrollWidth;
    if (wide > innerWidth) faults.push(['wider than the screen', '']);
    const overlay = '.message, .pointed, .spoken, .skip, .framed';
    const kinds = 'button, select, input, label, h1, h2, h3, p, dt, dd, li, td, th, meter, text';
    const seen = [...document.querySelectorAll(kinds)].filter((e) => e.checkVisibility()
        && !e.closest(overlay) && (e.textContent.trim() || e.matches('select, input, meter')));
    const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
    for (const e of seen) {
        if (e.matches('text, select, input') || e.closest('select')) continue;
        const style = getComputedStyle(e);
        if (style.overflowX !== 'visible' && !scrolls(e) && e.scrollWidth > e.clientWidth + 1
            && !e.title) faults.push(['cut', words(e)]);
    }
    for (const e of document.querySelectorAll('.wide caption')) {  // a table scrolls, not its name
        const across = e.getBoundingClientRect().width;
        if (across > e.closest('.wide').clientWidth + 1) faults.push(['cut', words(e)]);
    }
    if (innerWidth >= 1280) for (const e of document.querySelectorAll('.tables .wide')) {
        if (e.scrollWidth > e.clientWidth + 1) faults.push(['scrolls on a desk', words(e)]);
    }
    for (const e of document.querySelectorAll('#plane, .bars svg')) {  // one number is no scale
        const across = [...e.querySelectorAll('text[text-anchor=middle]:not(.axis-label)')];
        if (e.checkVisibility() && across.length < 2) faults.push(['no scale', words(e)]);
    }
    const box = (e) => {                        // what of it can be seen
        let { left, top, right, bottom, height } = e.getBoundingClientRect();
        if (e.matches('text')) {                // a line of letters is higher than they are
            top += 0.2 * height;
            bottom -= 0.2 * height;
        }
        for (let p = e.parentElement; p; p = p.parentElement) {
            if (getComputedStyle(p).overflowX === 'visible') continue;
            const b = p.getBoundingClientRect();
            left = Math.max(left, b.left); right = Math.min(right, b.right);
            top = Math.max(top, b.top); bottom = Math.min(bottom, b.bottom);
        }
        return { e, left, top, right, bottom };
    };
    const boxes = seen.map(box).filter((b) => b.right - b.left > 2 && b.bottom - b.top > 2);
    for (const [i, a] of boxes.entries()) {
        for (const b of boxes.slice(i + 1)) {
            if (a.e.contains(b.e) || b.e.contains(a.e)) continue;
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (across > 2 && down > 2) faults.push(['overlap', words(a.e), words(b.e)]);
        }
    }
    return faults;
}"""


@pytest.fixture(scope="module")
def pages(browser, studio):
    """The studio with everything done, and its report by itself."""
    context = browser.new_context()
    page, paper = context.new_page(), context.new_page()
    paper.goto(screenshots.prepare(page, studio.url))
    yield page, paper
    context.close()


@pytest.mark.parametrize("width", screenshots.WIDTHS)
@pytest.mark.parametrize("scheme", screenshots.SCHEMES)
def test_nothing_is_cut_and_nothing_overlaps(pages, width, scheme):
    page, paper = pages
    found = {}
    for shown in pages:
        screenshots.look(shown, width, scheme)
    for name in screenshots.states(page):
        found[name] = page.evaluate(FAULTS)
    found["report"] = paper.evaluate(FAULTS)
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_the_boxes_would_tell(pages):
    page, _ = pages
    screenshots.look(page, 1280, "light")
    page.click("#tab-playground")
    style = "document.getElementById('share').style"
    page.evaluate(f"{style}.marginRight = '-40px'")
    assert ["overlap", "Copy link", "Python code"] in page.evaluate(FAULTS)
    page.evaluate(f"{style}.marginRight = ''; document.body.style.width = '3000px'")
    assert ["wider than the screen", ""] in page.evaluate(FAULTS)
    page.evaluate("document.body.style.width = ''")
