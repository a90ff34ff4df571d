"""Every tab of the studio and its report at four widths, light and dark:  make screenshots

They go to build/screenshots, with a contact sheet of all, of which docs/studio_tabs.png is a copy.
``tests/app/studio/test_screenshots.py`` goes the same way and checks by bounding boxes that nothing
is cut and nothing overlaps.  Needs the extra ``test`` and a chromium.
"""

import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

WIDTHS = {390: 844, 768: 1024, 1280: 800, 1920: 1080}  # and the heights that go with them
SCHEMES = ("light", "dark")
FOLDER = Path(__file__).parent.parent / "build" / "screenshots"
# The first fit of a method may have to be compiled.
PATIENCE_MS = 180_000
COMMAND = [sys.executable, "-u", "-m", "maxmargin", "studio", "--port", "0", "--no-browser"]
BROWSER = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
SHEET_WIDTH, SHEET_COLUMNS, SHEET_COLOURS = 1600, 8, 64


def table() -> bytes:
    """A small file of flowers that are not quite separable."""
    import numpy as np

    rng = np.random.default_rng(0)
    lines = ["length,width,colour,kind"]
    for i in range(60):
        length, width = i % 3 + 0.7 * rng.standard_normal(), 2.0 * (i % 3 == 1)
        width += 0.8 * rng.standard_normal()
        colour = ("red", "blue")[rng.integers(2)]
        lines.append(f"{length:.3f},{width:.3f},{colour},{('rose', 'lily', 'iris')[i % 3]}")
    return "\n".join(lines).encode()


def prepare(page, url: str) -> str:
    """A page on which everything has been done once; the address of its report."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_selector("#plane[aria-busy=false]")
    page.click("#tab-your-data")
    file = {"name": "flowers.csv", "mimeType": "", "buffer": table()}
    page.set_input_files("#data-file", file)
    page.wait_for_selector("#data-run:not([disabled])")
    page.click("#data-command button[value=compare]")
    page.select_option("#data-methods", label="four linear ones")
    page.click("#data-run")
    page.wait_for_selector("#data-views button[value=table]")
    page.click("#data-fit-best")
    page.wait_for_selector("#data-views button[value=report]")
    return url.rstrip("/") + page.get_attribute("iframe[title=Report]", "src")


def states(page):
    """Name after name of what there is to see, the page being there."""
    page.click("#tab-playground")
    for picture in ("overlap", "five", "line"):
        page.click(f"#pictures button[value='{picture}']")
        page.wait_for_selector(f"#pictures button[value='{picture}'][aria-pressed=true]")
        settle(page, "#plane")
        yield f"playground-{picture}"
    page.click("#pictures button[value='85-points']")
    settle(page, "#plane")
    page.click("#tab-stepper")
    settle(page, "#run")
    page.click("#last")
    yield "stepper"
    page.click("#tab-your-data")
    for view in ("data", "report", "rows", "weights", "comparison", "table"):
        page.click(f"#data-views button[value={view}]")
        page.wait_for_timeout(100)
        yield f"your-data-{view}"


def settle(page, picture: str) -> None:
    """Until nothing is being asked, nor about to be."""
    page.wait_for_timeout(150)
    page.wait_for_selector(f"{picture}[aria-busy=false]")


def look(page, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    page.emulate_media(color_scheme=scheme)


@contextmanager
def studio():
    """The address of a studio of our own."""
    process = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://[\d.:]+/", process.stdout.readline()).group()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def contact_sheet(files: list[Path], there: Path) -> None:
    """All pictures small on one, in few enough colours to be small."""
    from PIL import Image

    side = SHEET_WIDTH // SHEET_COLUMNS
    rows = -(-len(files) // SHEET_COLUMNS)
    sheet = Image.new("RGB", (SHEET_WIDTH, side * rows), "#8491a5")
    for place, file in enumerate(files):
        with Image.open(file) as image:
            image = image.convert("RGB")
            image.thumbnail((side - 8, side - 8))
            row, column = divmod(place, SHEET_COLUMNS)
            sheet.paste(image, (column * side + 4, row * side + 4))
    sheet.quantize(SHEET_COLOURS).save(there, optimize=True)


def main() -> None:
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    files = []
    with studio() as url, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER)
        page, paper = browser.new_page(), browser.new_page()
        paper.goto(prepare(page, url))
        for scheme in SCHEMES:
            for width in WIDTHS:
                for shown in (page, paper):
                    look(shown, width, scheme)
                for name in states(page):
                    files.append(FOLDER / f"{name}-{width}-{scheme}.png")
                    page.screenshot(path=files[-1])
                files.append(FOLDER / f"report-{width}-{scheme}.png")
                paper.screenshot(path=files[-1])
        browser.close()
    contact_sheet(files, FOLDER / "contact.png")
    print(f"{len(files)} pictures in {FOLDER}")


if __name__ == "__main__":
    main()
