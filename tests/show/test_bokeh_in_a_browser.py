"""In a real browser: a point pointed at tells its name; a click on the legend hides its marks."""

import shutil

import numpy as np
import pytest
from bokeh.embed import file_html
from bokeh.resources import INLINE

from maxmargin.show.drawers.draw_bokeh import draw
from maxmargin.show.scene import Axis, Line, Points, Scene

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")

NAME = "<b>wine</b> & water"
READY = "window.Bokeh && Bokeh.documents.length && Bokeh.documents[0].is_idle"
MIDDLE = """() => {
    const view = Bokeh.index.roots[0], frame = view.frame.bbox, at = view.el.getBoundingClientRect()
    return [at.x + frame.left + frame.width / 2, at.y + frame.top + frame.height / 2]
}"""
VISIBLE = "() => Bokeh.documents[0].roots()[0].renderers.map(r => r.visible)"


@pytest.fixture
def page(tmp_path):
    middle = np.array([5.0])
    marks = (
        Points(middle, middle, "class 0", "points", size=20, names=(NAME,)),
        Line(np.array([0.0, 10.0]), np.array([0.0, 1.0]), "class 1", "line"),
    )
    scene = Scene("title", Axis("x", (0.0, 10.0)), Axis("y", (0.0, 10.0)), marks, "the words")
    file = tmp_path / "picture.html"
    file.write_text(file_html(draw(scene), INLINE, "picture"), encoding="utf-8")
    with sync_api.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function(READY)
        yield page
        assert problems == []
        browser.close()


def test_a_point_tells_its_name(page):
    figure = page.locator(".bk-Figure").first
    assert figure.get_attribute("aria-label") == "the words"
    x, y = page.evaluate(MIDDLE)
    page.mouse.move(x - 40, y)
    page.mouse.move(x, y, steps=4)
    page.locator(".bk-Tooltip").get_by_text(NAME).wait_for(timeout=60_000)  # as text, not as HTML


def test_a_click_on_the_legend_hides_what_it_names(page):
    assert page.evaluate(VISIBLE) == [True, True]
    page.get_by_text("line", exact=True).click(timeout=60_000)
    page.wait_for_function(f"({VISIBLE})()[1] === false")
    assert page.evaluate(VISIBLE) == [True, False]
