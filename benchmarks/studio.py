"""The studio in a real browser: from drag to boundary, first paint, twenty sessions at once.

    python -m benchmarks.studio [--moves 40] [--json FILE]

Needs the extra ``test`` and a chromium.  Times are taken in the page: from the pointer's event
until the new boundary is in the document and a frame has been painted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

POINTS = 200
MOST_DRAG, MOST_PAINT = 100.0, 3000.0  # milliseconds: the bars
SESSIONS, ROUNDS = 20, 10
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
# Every kind of picture: lines, exact regions, unknown regions, contours.
WAYS: list[tuple[str, dict[str, str]]] = [
    *((m, {}) for m in ("perceptron", "averaged", "margin", "hard", "svm", "one-vs-rest",
                        "one-vs-one", "logistic", "least-squares", "fisher", "kernel-svm",
                        "kernel-perceptron")),
    *(("svm", {"basis": b}) for b in ("quadratic", "polynomial", "polar", "radial")),
]  # fmt: skip

# Notes when the pointer moved, and when what came of it was on the screen.
WATCH = """() => {
  const plane = document.getElementById("plane");
  window.times = []; let moved = null;
  plane.addEventListener("pointermove", () => { moved = performance.now(); }, true);
  new MutationObserver(() => {
    if (moved === null || plane.getAttribute("aria-busy") !== "false") return;
    const began = moved; moved = null;
    requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - began)));
  }).observe(plane, { attributes: true, attributeFilter: ["aria-busy"] });
}"""


def start() -> tuple[subprocess.Popen, str, float]:
    """The command, its address, and the seconds until it said it."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "maxmargin", "studio", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    found = re.search(r"http://[\d.:]+/", process.stdout.readline())
    assert found is not None
    return process, found.group(), time.perf_counter() - began


def points(k: int) -> list[list[float]]:
    rng = np.random.default_rng(k)
    codes = np.arange(POINTS) % k
    angle = 2 * np.pi * codes / k
    X = 2 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.7 * rng.standard_normal((POINTS, 2))
    return [
        [round(x, 3), round(y, 3), c] for (x, y), c in zip(X.tolist(), codes.tolist(), strict=True)
    ]


def address(method: str, values: dict[str, str], k: int) -> str:
    drawn = "".join(f"{'ABCDE'[int(c)]}{x},{y}" for x, y, c in points(k))
    words = "".join(f"&l={letter}" for letter in "abcde"[:k])
    knobs = "".join(f"&{name}={value}" for name, value in values.items())
    return f"#m={method}{knobs}&n=x&n=y{words}&p={drawn}"


def cpu_ms(pid: int) -> float:
    """Processor time of the server so far: unlike the clock it does not mind other programs."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drags(page: Any, url: str, method: str, values: dict, k: int, moves: int) -> np.ndarray:
    """Milliseconds of every move of one point."""
    page.goto("about:blank")
    page.goto(url + address(method, values, k))
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_selector("#plane[aria-busy=false]", timeout=120_000)
    page.evaluate(WATCH)
    box = page.locator("#plane .point").nth(k).locator(".dot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(moves):
        page.mouse.move(x + 60 * np.cos(step / 5), y + 60 * np.sin(step / 5))
        page.wait_for_selector("#plane[aria-busy=false]")
        page.wait_for_timeout(30)
    page.mouse.up()
    return np.array(page.evaluate("window.times"))


def paint(context: Any, url: str) -> tuple[float, float]:
    """Milliseconds from the request to the first paint, and to the first boundary."""
    page = context.new_page()
    began = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("#plane[aria-busy=false]", timeout=120_000)
    boundary = 1e3 * (time.perf_counter() - began)
    first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.close()
    return first, boundary


def sessions(url: str) -> dict:
    """Twenty at once, each asking as fast as it is answered."""
    import httpx

    def session(number: int) -> list[float]:
        times = []
        drawn = points(2 + number % 2)
        method = ("svm", "logistic", "one-vs-one", "kernel-svm")[number % 4]
        with httpx.Client(base_url=url, timeout=120) as client:
            for turn in range(ROUNDS):
                drawn[0][0] = turn / 10
                body = {"points": drawn, "labels": ["a", "b", "c"], "method": method, "hurry": True,
                        "window": [-5, 5, -4, 4], "names": ["x", "y"]}  # fmt: skip
                began = time.perf_counter()
                answer = client.post("/solve", json=body)
                times.append(1e3 * (time.perf_counter() - began))
                answer.raise_for_status()
        return times

    began = time.perf_counter()
    with ThreadPoolExecutor(SESSIONS) as pool:
        times = np.concatenate(list(pool.map(session, range(SESSIONS))))
    return {
        "sessions": SESSIONS, "answers": len(times), "errors": 0,
        "seconds": round(time.perf_counter() - began, 2),
        "median_ms": round(float(np.median(times)), 1), "p95_ms": round(_p95(times), 1),
    }  # fmt: skip


def _p95(times: np.ndarray) -> float:
    return float(np.percentile(times, 95))


def measure(moves: int) -> dict:
    from playwright.sync_api import sync_playwright

    process, url, seconds = start()
    result: dict[str, Any] = {"command_to_address_s": round(seconds, 2), "points": POINTS,
                              "load_before": round(os.getloadavg()[0], 1)}  # fmt: skip
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
                args=ARGUMENTS,
            )
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            first, boundary = paint(context, url)
            result["cold"] = {"first_paint_ms": round(first), "first_boundary_ms": round(boundary)}
            print("just started:", result["cold"], f"after {seconds:.2f} s", flush=True)
            page = context.new_page()
            result["drag"] = list(_drag_table(page, url, process.pid, moves))
            warm = np.array([paint(context, url) for _ in range(5)])
            first, boundary = np.median(warm, axis=0)
            result["warm"] = {"first_paint_ms": round(first), "first_boundary_ms": round(boundary)}
            print(f"warm: {result['warm']} (bar {MOST_PAINT:g} ms)")
            browser.close()
        result["at_once"] = sessions(url)
        print("at once:", result["at_once"])
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    return result


def _drag_table(page: Any, url: str, pid: int, moves: int):
    heads = f"{'method':<34} {'classes':>7} {'median':>8} {'p95':>8} {'cpu':>8}"
    print(f"{heads}  (ms; bar {MOST_DRAG:g})")
    for k in (2, 3, 5):
        for method, values in WAYS:
            drags(page, url, method, values, k, 3)  # kernels are loaded
            before = cpu_ms(pid)
            times = drags(page, url, method, values, k, moves)
            cpu = round((cpu_ms(pid) - before) / moves, 1)  # of the page's loading, too
            name = " ".join([method, *values.values()])
            middle, p95 = round(float(np.median(times)), 1), round(_p95(times), 1)
            miss = "" if p95 <= MOST_DRAG else "  over the bar"
            print(f"{name:<34} {k:>7} {middle:>8} {p95:>8} {cpu:>8}{miss}", flush=True)
            yield {"method": name, "classes": k, "moves": len(times), "median_ms": middle,
                   "p95_ms": p95, "server_cpu_ms": cpu}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=40)
    parser.add_argument("--json", type=Path, default=None)
    chosen = parser.parse_args()
    result = measure(chosen.moves)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
