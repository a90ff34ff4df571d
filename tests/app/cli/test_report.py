"""The pages that `fit`, `compare` and `path` write."""

import errno
import shutil

import pytest

from maxmargin.app.report import fit as fit_page
from maxmargin.parts.files import atomic

from ..report.reading import read
from .helpers import people, write


def page(path) -> str:
    return read(path.read_text(encoding="utf-8")).text


def test_fit_writes_a_page_beside_the_model(maxmargin, table, tmp_path):
    (tmp_path / "out").mkdir()
    out = maxmargin("fit", table, "-t", "answer", "--C", 1, "-o", "out/model.maxmargin")
    assert "wrote out/report.html" in out
    assert "open out/report.html in a browser" in out
    text = page(tmp_path / "out" / "report.html")
    assert f"maxmargin fit {table} -t answer --C 1 -o out/model.maxmargin" in text
    assert "maxmargin verify out/model.maxmargin DATA" in text
    assert "likes it a lot rather than does not, sorry" in text
    assert "town=Köln, am Rhein" in text
    assert {file.name for file in tmp_path.iterdir()} == {"people.csv", "out"}


def test_the_page_by_another_name_or_not_at_all(maxmargin, table, tmp_path):
    told = maxmargin.json("fit", table, "-t", "answer", "--C", 1, "--report", "page.html")
    assert told["files"] == ["model.maxmargin", "page.html"]
    assert "32.426" in page(tmp_path / "page.html")
    (tmp_path / "page.html").unlink()
    told = maxmargin.json("fit", table, "-t", "answer", "--C", 1, "--no-report")
    assert told["files"] == ["model.maxmargin"]
    assert {file.name for file in tmp_path.iterdir()} == {"people.csv", "model.maxmargin"}


def test_the_page_tells_what_was_told(maxmargin, table, tmp_path):
    told = maxmargin.json("fit", table, "-t", "answer", "--holdout", 0.25)
    text = page(tmp_path / "report.html")
    for name in ("training", "test"):
        assert f"{told[name]['error']:.2%}".replace("%", " %") in text
        assert f"{told[name]['wrong']:,} of {told[name]['rows']:,}" in text
    assert f"C = {told['C']:.4g} has the fewest errors" in text
    for note in told["notes"]:
        assert note in text


def test_hostile_files(maxmargin, tmp_path):
    name = "<script>alert(1)</script>".replace("/", "_")
    table = people().rename_columns({"age": "<script>", "town": "\"'><b>\u202e"})
    data = write(table, tmp_path / f"{name}.csv")
    maxmargin("fit", data, "-t", "answer", "--C", 1)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script>" in page(tmp_path / "report.html")
    assert "<script" not in text
    assert "\u202e" not in text


def test_what_cannot_be_written_is_said_before_the_fit(maxmargin, table, tmp_path):
    for command in (["fit", "--C", 1], ["path"], ["compare"]):
        name, *rest = command
        said = maxmargin.complaint(name, table, "-t", "answer", *rest, "--report", "no/page.html")
        assert "--report no/page.html cannot be written" in said
    said = maxmargin.complaint(
        "fit", table, "-t", "answer", "--C", 1, "--report", "model.maxmargin"
    )
    assert "--out and --report both name" in said
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]


def test_both_files_or_none(maxmargin, table, tmp_path, monkeypatch):
    """A disk that is full once the page is there, and Ctrl-C while it is made."""
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    assert "No space left" in maxmargin.complaint("fit", table, "-t", "answer", "--C", 1)
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_page, "worth_a_look", pressed)
    maxmargin("fit", table, "-t", "answer", "--C", 1, code=130)
    assert "maxmargin: interrupted; " in maxmargin.err
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]


def test_compare_and_path(maxmargin, table, tmp_path):
    asked = ["compare", table, "-t", "answer", "--methods", "fisher,least-squares", "--folds", 3]
    told = maxmargin.json(*asked, "--report", "compared.html")
    assert told["files"] == ["compared.html"]
    text = page(tmp_path / "compared.html")
    assert told["recommendation"] in text
    assert "--methods fisher,least-squares" in text
    assert "income €: 5 missing" in text or "income €: " in text
    assert "wrote path.html" in maxmargin("path", table, "-t", "answer", "--report", "path.html")
    assert "people.csv" in page(tmp_path / "path.html")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium is installed")
    with playwright.sync_playwright() as p:
        shown = p.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield shown
        shown.close()


@pytest.mark.parametrize("width", [390, 1100])
def test_in_a_browser(maxmargin, table, tmp_path, browser, width):
    """Nothing is asked for, nothing complains, nothing sticks out of the page."""
    maxmargin("fit", table, "-t", "answer", "--C", 1)
    tab = browser.new_page(viewport={"width": width, "height": 800})
    asked, said = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto((tmp_path / "report.html").as_uri())
    root = "document.documentElement"
    assert tab.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
    assert tab.locator("figure svg[role=img]").count() >= 4
    assert all(
        tab.evaluate("[...document.querySelectorAll('figure > svg')].map(s => s.clientWidth > 200)")
    )
    tab.get_by_role("link", name="How sure").click()
    assert tab.evaluate("window.scrollY > 0")
    tab.close()
    assert said == []
    assert asked == [(tmp_path / "report.html").as_uri()]
