"""*Your data* in a real browser: drop, choose, fit, look, take away."""

import httpx
import numpy as np
import pytest

import maxmargin

from .data_helpers import as_csv, as_parquet, begin, flowers, noise, until
from .pages import PHONE, opened

HOSTILE = "<img src=x onerror=document.title='hacked'>"


@pytest.fixture
def page(browser, studio):
    with opened(browser, studio) as found:
        found.click("#tab-your-data")
        yield found


def choose(page, content, name="flowers.csv", control="#data-file"):
    page.set_input_files(control, {"name": name, "mimeType": "", "buffer": content})


def drop(page, content, name="flowers.csv"):
    """As a file manager drops it: bytes in a DataTransfer."""
    page.evaluate(
        """([name, bytes]) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], name));
            const sheet = document.getElementById("data-sheet");
            const event = (kind) => new DragEvent(kind, { dataTransfer: data, bubbles: true,
            cancelable: true }); sheet.dispatchEvent(event("dragover")); if
            (!sheet.classList.contains("over")) throw new Error("the zone does not show itself");
            sheet.dispatchEvent(event("drop"));
        }""",
        [name, list(content)],
    )


def ready(page):
    page.wait_for_selector("#data-run:not([disabled])")


def fit(page):
    page.click("#data-run")
    page.wait_for_selector("#data-views button[value=report]")


def bars(page):
    drawn = page.locator(".bars svg path[data-label]").all()
    return sum(path.get_attribute("d").count("Z") for path in drawn)


def views(page):
    return [button.get_attribute("value") for button in page.locator("#data-views button").all()]


def complaint(page):
    page.wait_for_selector("#data-message.bad:not(:empty)")
    return page.inner_text("#data-message")


def downloaded(page, button, path):
    with page.expect_download() as download:
        page.click(button)
    download.value.save_as(path)
    return download.value.suggested_filename


def test_from_a_csv_file_to_a_model_in_the_hand(page, tmp_path):
    table = flowers()
    drop(page, as_csv(table))
    ready(page)
    assert page.evaluate("document.activeElement.id") == "data-target"
    assert page.locator("#data-target option:checked").inner_text() == "kind"
    assert page.locator("#data-view caption").all_inner_texts() == [
        "Columns and their use",
        "First 20 rows",
    ]
    page.select_option("select[aria-label='Use of colour']", "drop")
    page.select_option("#data-holdout", "0.2")
    page.select_option("#data-price", "given")
    page.fill("#data-C", "3")
    fit(page)
    assert page.evaluate("document.activeElement.id") == "data-verdict"
    assert page.inner_text("#data-verdict").startswith("Better than always")
    assert "Proved: objective" in page.inner_text("#data-certificate")
    tiles = page.inner_text("#data-readouts")
    assert "test error" in tiles
    assert "C 3" in tiles
    frame = page.frame_locator("iframe[title=Report]")
    assert frame.locator("h1").inner_text() == "flowers.csv"
    assert frame.locator("svg").count() >= 3

    assert downloaded(page, "#data-save-model", tmp_path / "m") == "model.maxmargin"
    model = maxmargin.load(tmp_path / "m")
    page.click("#data-views button[value=rows]")
    said = {}
    for _ in range(2):
        for row in page.locator("#data-view tbody:visible tr").all():
            cells = row.locator("td").all_inner_texts()
            said[int(cells[0])] = cells[2].removesuffix(" ✗")
        if page.locator("text=Next ›").is_enabled():
            page.click("text=Next ›")
    assert said == dict(enumerate(model.predict(table).tolist(), start=1))
    wrong = int((model.predict(table) != np.array(table["kind"].to_pylist())).sum())
    page.select_option("#data-which", "wrong")
    assert page.locator("#data-view tbody:visible tr.wrong").count() == wrong > 0
    assert f"{wrong} of 60 rows" in page.inner_text("#data-view")

    page.click("#data-views button[value=weights]")
    assert bars(page) == 6
    assert "colour" not in page.inner_text("#data-view")
    assert downloaded(page, "#data-save-report", tmp_path / "r.html") == "report.html"
    assert "flowers.csv" in (tmp_path / "r.html").read_text()

    # The same file again, opened as a saved model.
    page.click("#data-close")
    choose(page, (tmp_path / "m").read_bytes(), "mine.maxmargin", "#data-model")
    page.wait_for_selector("#data-views button[value=weights]")
    inside = page.inner_text("#data-view")
    for words in ("LinearSVM", "iris, lily, rose", "length", "number, mean"):
        assert words in inside
    assert page.inner_text("#data-verdict") == "Proved"
    page.click("#data-views button[value=weights]")
    assert bars(page) == 6
    drop(page, (tmp_path / "m").read_bytes()[:-99], "cut.maxmargin")
    assert "cut.maxmargin" in complaint(page)


@pytest.mark.slow  # four jobs; what the server keeps is tested without a browser, too
def test_fits_comparisons_and_predictions_keep_one_another(page, tmp_path):
    drop(page, as_parquet(flowers()), "flowers.parquet")
    ready(page)
    page.click("#data-command button[value=compare]")
    page.select_option("#data-methods", label="four linear ones")
    page.click("#data-run")
    page.wait_for_selector("#data-views button[value=table]")
    assert page.inner_text("#data-verdict") == "Recommendation"
    page.click("#data-views button[value=table]")
    methods = page.locator("#data-view tbody:visible tr td:first-child").all_inner_texts()
    assert sorted(methods) == ["fisher", "least-squares", "logistic", "svm"]
    assert page.get_attribute("#data-save-model", "aria-disabled") == "true"
    assert page.frame_locator("iframe[title=Comparison]").locator("h1").inner_text() == (
        "flowers.parquet"
    )

    recommended = page.inner_text("#data-fit-best").removeprefix("Fit ")
    assert recommended in methods
    page.click("#data-fit-best")
    page.wait_for_selector("#data-views button[value=report][aria-checked=true]")
    assert page.input_value("#data-method") == recommended
    kept = ["data", "report", "rows", "weights", "comparison", "table"]
    assert views(page) == kept
    assert page.inner_text("#data-verdict").startswith("Better than")
    page.click("#data-views button[value=comparison]")
    assert page.inner_text("#data-verdict") == "Recommendation"
    page.click("#data-command button[value=compare]")
    page.click("#data-run")
    page.click("#data-cancel")
    assert "What was found before is kept" in page.inner_text("#data-words")
    assert views(page) == kept

    other = flowers(25, seed=5).drop(["kind"])
    choose(page, as_csv(other), "new.csv", "#data-new")
    page.wait_for_selector("#data-views button[value=predictions]")
    assert "25" in page.inner_text("#data-readouts")
    assert downloaded(page, "text=Save predictions.csv", tmp_path / "p") == "predictions.csv"
    assert downloaded(page, "#data-save-model", tmp_path / "m") == "model.maxmargin"
    expected = maxmargin.load(tmp_path / "m").predict(other).tolist()
    seen = page.locator("#data-view tbody:visible tr td:nth-child(2)").all_inner_texts()
    assert seen == expected
    written = (tmp_path / "p").read_text().splitlines()[1:]
    assert [line.split(",")[0].strip('"') for line in written] == expected


def test_a_job_is_cancelled_and_another_can_begin(page, studio):
    choose(page, as_csv(noise(3000, 12)), "noise.csv")
    ready(page)
    assert page.locator("#data-target option:checked").inner_text() == "y"
    page.click("#data-command button[value=compare]")
    with page.expect_response("**/data/jobs") as answer:
        page.click("#data-run")
    token = answer.value.json()["token"]
    page.wait_for_selector("#data-words:has-text('Comparing methods')")
    assert page.is_disabled("#data-target")
    assert page.evaluate("document.activeElement.id") == "data-cancel"
    page.click("#data-cancel")
    assert "Cancelled" in page.inner_text("#data-words")
    assert page.evaluate("document.activeElement.id") == "data-run"
    assert page.is_enabled("#data-target")
    assert until(lambda: httpx.get(f"{studio.url}data/jobs/{token}").status_code == 404)
    assert views(page) == ["data"]


def test_what_cannot_be_read_is_said_and_the_page_goes_on(page):
    choose(page, b"", "empty.csv")
    assert complaint(page) == "The file is empty."
    choose(page, b"\x89PNG\r\n" + bytes(range(256)), "cat.png")
    assert "cat.png is not UTF-8" in complaint(page)
    assert page.is_visible("#data-start")
    page.route("**/data/limits", lambda route: route.fulfill(json={"bytes": 1000}))
    choose(page, as_csv(flowers()), "large.csv")
    assert "--max-upload" in complaint(page)
    page.unroute("**/data/limits")
    # A target that is no label: the command says so, and it can be put right.
    choose(page, as_csv(noise(100, 2)), "noise.csv")
    ready(page)
    page.select_option("#data-target", label="x0")
    page.click("#data-run")
    assert "looks like a measurement" in complaint(page)
    assert page.is_enabled("#data-run")


def test_hostile_names_and_labels_stay_words(page):
    table = flowers(30).rename_columns([HOSTILE, "b", "c", "kind"])
    labels = [f"{label}{HOSTILE}" for label in table["kind"].to_pylist()]
    table = table.set_column(3, "kind", [labels])
    choose(page, as_csv(table), f"{HOSTILE}.csv")
    ready(page)
    page.select_option("#data-price", "given")
    fit(page)
    for view in ("data", "rows", "weights", "report"):
        page.click(f"#data-views button[value={view}]")
    assert page.locator("#your-data img").count() == 0
    assert page.frame_locator("iframe[title=Report]").locator("img[src=x]").count() == 0
    assert page.title() == "maxmargin studio"
    assert HOSTILE in page.locator("#data-view bdi").first.text_content()


def test_leaving_the_page_forgets_its_file(page, studio):
    with page.expect_response("**/data/files*") as answer:
        choose(page, as_csv(flowers()))
    ready(page)
    token = answer.value.json()["token"]
    with httpx.Client(base_url=studio.url) as client:
        assert begin(client, token, target="nobody").status_code == 422  # it is there
        page.goto("about:blank")
        assert until(lambda: begin(client, token, target="nobody").status_code == 404)


def test_a_phone_and_a_keyboard_are_enough(browser, studio):
    with opened(browser, studio, size=PHONE) as page:
        page.click("#tab-your-data")
        page.focus("#tab-your-data")
        page.keyboard.press("Tab")  # light and dark
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "data-file"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "data-model"
        before = page.locator("#data-readouts").bounding_box()
        choose(page, as_csv(flowers()))
        ready(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        unnamed = page.evaluate("""() => [...document.querySelectorAll(
            '#your-data :is(select, input, button, a, iframe)')].filter((e) => !(e.labels?.length
            || e.ariaLabel || e.title || e.textContent.trim())).map((e) => e.id)""")
        assert unnamed == []
        page.select_option("#data-price", "given")
        for method in (*page.locator("#data-method option").all(), None):
            if method is None:
                page.click("#data-command button[value=compare]")
            else:
                page.select_option("#data-method", method.get_attribute("value"))
            after = page.locator("#data-readouts").bounding_box()
            assert after["y"] + page.evaluate("scrollY") == before["y"]  # nothing jumps
