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
