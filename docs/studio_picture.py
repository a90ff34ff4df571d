"""Take the README's picture of the studio:  python docs/studio_picture.py

Needs the extra ``test`` and a chromium.
"""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
COMMAND = [sys.executable, "-u", "-m", "maxmargin", "studio", "--port", "0", "--no-browser"]


def main() -> None:
    studio = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True)
    url = re.search(r"http://[\d.:]+/", studio.stdout.readline()).group()
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        page.wait_for_selector("#plane[aria-busy=false]", timeout=120_000)
        page.click("button[value=iris-three]")
        page.wait_for_selector("button[value=iris-three][aria-pressed=true]")
        page.wait_for_selector("#plane[aria-busy=false]")
        page.screenshot(path=HERE / "studio.png")
        browser.close()
    studio.send_signal(signal.SIGINT)
    studio.wait()


if __name__ == "__main__":
    main()
