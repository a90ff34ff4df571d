"""What the report says of fits, in words, as a page and as JSON."""

import json

from maxmargin.accelerate import reports
from maxmargin.accelerate.record import Fit

SHORT = Fit(
    "LogisticRegression", "train.py:8", 1797, 64, classes=10, solver="maxmargin", why="<dense>",
    seconds=0.4, gap=7e-10, our_seconds=0.4, their_seconds=0.2, their_excess=0.32, changed=3,
)  # fmt: skip
LEFT = Fit("SVC", "train.py:9", 150, 4, why="LIBSVM is quicker", seconds=0.001)


def test_silent_shortfalls_are_counted():
    told = reports.summary([SHORT, LEFT])
    assert "2 fits, 1 solved by maxmargin" in told
    assert "1 ended more than 0.001 above the optimum, 1 of them without a warning" in told


def test_text_groups_the_fits_of_one_place():
    text = reports.as_text([SHORT, SHORT, LEFT])
    assert "train.py:8  LogisticRegression  1797 × 64, 10 classes × 2" in text
    assert "scikit-learn ends 32 % above the optimum (median, at most 32 %)" in text
    assert "6 training rows are predicted differently" in text
    assert "scikit-learn: LIBSVM is quicker" in text


def test_page_escapes_and_marks():
    page = reports.as_html([SHORT, LEFT])
    assert "&lt;dense&gt;" in page
    assert page.count("class='short'") == 1


def test_json_has_every_fit():
    told = json.loads(reports.as_json([SHORT, LEFT]))
    assert [fit["solver"] for fit in told["fits"]] == ["maxmargin", "scikit-learn"]
    assert told["fits"][0]["their_excess"] == 0.32


def test_page_has_places_first_and_every_fit_below():
    page = reports.as_html([SHORT, SHORT, LEFT])
    places, every = page.split("<details>")
    assert places.count("<tr") == 3  # the head, and two places
    assert "LogisticRegression × 2" in places
    assert "6 training rows predicted differently" in places
    assert "0.8 s" in places
    assert every.count("<tr") == 4
    assert "<details>" not in reports.as_html([SHORT, LEFT])


def test_page_is_as_wide_as_a_phone(tmp_path, browser):
    """Wide tables scroll within the page; nothing is fetched."""
    file, asked = tmp_path / "report.html", []
    file.write_text(reports.as_html([SHORT, SHORT, LEFT]), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert asked == [file.as_uri()]
    page.close()
