"""A page of the studio in a session of its own, and what can be read off it."""

import re
from contextlib import contextmanager

# The first fit of a method may have to be compiled.
PATIENCE = 120_000
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@contextmanager
def opened(browser, studio, fragment="", size=DESKTOP, **options):
    """A page in a session of its own; anything it complains about in its console fails the test."""
    context = browser.new_context(viewport=size, accept_downloads=True, **options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.goto(studio.url + fragment)
    page.wait_for_selector("html[data-ready=yes]")
    rest(page)
    page.complaints = complaints
    yield page
    unforeseen = [c for c in complaints if "422" not in c]  # refused questions are said in words
    assert not unforeseen, unforeseen
    context.close()


def rest(page):
    """Until nothing is being asked."""
    page.wait_for_selector("#plane[aria-busy=false]")


def path(page, label="decision boundary"):
    return page.locator(f"#plane [data-label='{label}']").first.get_attribute("d")


def address(page):
    """The address, once it has followed: it does when the hand rests."""
    page.wait_for_selector("html[data-address=written]")
    return page.evaluate("location.href")


def points(page):
    """The points as they are in the address."""
    text = re.search(r"[#&]p=([^&]*)", address(page)).group(1)
    found = re.findall(r"([A-E])(-?[\d.e+-]+?),(-?[\d.e+-]+?)(?=[A-E]|$)", text)
    return [(float(x), float(y), "ABCDE".index(c)) for c, x, y in found]


def middle(page, place):
    box = page.locator(f"#plane .point[data-place='{place}'] .dot").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def choose(page, picture):
    page.click(f"#pictures button[value='{picture}']")
    page.wait_for_selector(f"#pictures button[value='{picture}'][aria-pressed=true]")
    rest(page)


def readout(page, name):
    return page.locator("#readouts div", has_text=name).locator("dd").inner_text()
