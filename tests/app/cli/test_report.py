"""The pages that `fit`, `compare` and `path` write."""

import errno
import re
import shutil

import numpy as np
import pyarrow as pa
import pytest

from maxmargin.app.report import fit as fit_page
from maxmargin.app.report.fit import fit_report
from maxmargin.app.workflow.fit import fit_table
from maxmargin.app.workflow.plan import Plan
from maxmargin.parts.files import atomic
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import label_table

from ..report.reading import fitted, read, rows
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


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A report with wide tables."""
    folder = tmp_path_factory.mktemp("page")
    data = people(120)
    more = {f"a column with a long name, number {j}": data.column("age") for j in range(5)}
    table = pa.table({name: data.column(name) for name in data.schema.names[:-1]} | more)
    labelled = label_table(
        table.append_column("answer", data.column("answer")), "answer", None, "p"
    )
    page = folder / "report.html"
    page.write_text(fit_report(fit_table(labelled, Plan(C=1.0), Choices())), encoding="utf-8")
    return page


# What is neither inside the page's width nor inside something that scrolls by itself, and words of
# pictures that leave them.
STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth, out = [];
  for (const element of document.querySelectorAll('main *')) {
    const box = element.getBoundingClientRect();
    if (!box.width || element.closest('details:not([open]) > :not(summary)')) continue;
    const frame = element.closest('.wide, pre')?.getBoundingClientRect();
    const seen = frame ?? box;
    if (seen.right > width + 1 || seen.left < -1) out.push(element.outerHTML.slice(0, 90));
    const picture = element.closest('figure > svg')?.getBoundingClientRect();
    if (element.tagName === 'text' && picture && !element.closest('svg svg') &&
        (box.right > picture.right + 2 || box.left < picture.left - 2))
      out.push(element.textContent);
  }
  for (const frame of document.querySelectorAll('.wide'))
    if (frame.scrollWidth > frame.clientWidth + 1 &&
        getComputedStyle(frame).overflowX !== 'auto') out.push('cut');
  return out;
}"""


def test_in_a_browser(written, browser):
    """Nothing is asked for, nothing complains, nothing sticks out, and it prints on one page."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    asked, said = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(written.as_uri())
    root = "document.documentElement"
    for width in (1280, 390):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
        assert tab.evaluate(STICKING_OUT) == []
        drawn = "[...document.querySelectorAll('figure > svg')].map(s => s.clientWidth > 200)"
        assert all(tab.evaluate(drawn))
    assert tab.locator("figure svg[role=img]").count() >= 4
    tab.get_by_role("link", name="How sure").click()
    assert tab.evaluate("window.scrollY > 0")
    paper = tab.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    tab.close()
    assert said == []
    assert asked == [written.as_uri()]


def test_a_ranking_has_a_page(maxmargin, tmp_path):
    told = maxmargin.json("rank", "--report", "ranking.html")
    text = page(tmp_path / "ranking.html")
    assert told["verdict"] in text
    assert told["items"][0]["item"] in text
    assert "moves an item" in text
    assert "Proved" in text


def test_many_columns_and_classes_print_on_one_page_too(tmp_path, browser):
    """Of four classes and twelve features the strongest are on paper, and nothing sticks out."""
    noise = np.random.default_rng(0).standard_normal((60, 8))
    more = {f"a_long_name_mm_{j}": column for j, column in enumerate(noise.T)}
    made = fit_report(fitted(rows(60, 4, **more), Plan("fisher")))
    (tmp_path / "report.html").write_text(made, encoding="utf-8")
    tab = browser.new_page(viewport={"width": 700, "height": 800})
    tab.goto((tmp_path / "report.html").as_uri())
    for paper in ("A4", "Letter"):
        assert len(re.findall(rb"/Type\s*/Page\b", tab.pdf(format=paper))) == 1
    tab.emulate_media(media="print")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 700
    tab.close()
