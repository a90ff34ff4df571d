"""The report of a fit: well-formed, true to the numbers, safe, and there for every model."""

import re
import time

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from maxmargin import influence
from maxmargin.app.report.fit import fit_report
from maxmargin.app.report.page import paragraph, tag
from maxmargin.app.workflow.fit import fit_table
from maxmargin.app.workflow.plan import Plan
from maxmargin.models.registry import METHODS
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import Labelled
from maxmargin.show.views import boundary

from .reading import fitted, read, rows

PLANS = {name: Plan(name, C=1.0 if method.C else None) for name, method in METHODS.items()}
PLANS |= {
    "hard margin": Plan(C=np.inf),
    "chosen": Plan(folds=3),
    "polar": Plan(C=1.0, basis="quadratic"),
    "linear kernel": Plan(C=1.0, kernel="linear"),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_every_method_has_a_report(plan, classes):
    table = rows(60, classes)
    if plan.C is not None and np.isinf(plan.C):  # apart enough for a margin
        table = table.set_column(0, "east", pa.array(10.0 * (np.arange(60) % classes)))
    if plan.method == "quadratic":  # indicators add up to one: their covariance has no inverse
        table = table.drop_columns(["town"])
    found = fitted(table, plan)
    page = read(fit_report(found, "maxmargin fit rows.csv"))
    assert "could not be drawn" not in page.text
    assert type(found.model.model).__name__ in page.text
    assert page.tags.count("svg") >= 4  # at least two pictures, each with a clipped inside
    wrong = f"{found.training.wrong:,} of {found.training.rows:,}"
    assert wrong in page.text
    assert ("What counts" in page.text) == hasattr(found.model.model, "coef_")


def test_numbers_are_those_of_the_fit():
    found = fitted(rows(150), Plan(folds=3), holdout=0.2)
    text = read(fit_report(found, "the command <typed>", "my model")).text
    model = found.model.model
    low, high = found.test.interval
    assert f"{low:.2%} to {high:.2%}".replace("%", " %") in text
    assert f"C = {found.tuning.C:.4g} has the fewest errors" in text
    assert f"{found.tuning.mean.min():.2%}".replace("%", " %") in text
    assert f"{model.certificate_.primal:.10g}" in text
    assert f"{model.certificate_.relative_gap:.2e}" in text
    assert f"{model.margin_:.4g}" in text
    assert f"{len(model.support_)} support vectors" in text
    assert "the command <typed>" in text
    assert "maxmargin verify my model DATA" in text
    for title, coefficients in found.model.coefficients():
        assert f"For {title}" in text
        for row in coefficients:
            per_unit = f"{row['per_unit']:+.4g}".replace("-", "−")
            assert per_unit in text


def test_a_number_and_its_percent_sign_stay_on_one_line():
    assert paragraph("4.66 % to ", tag("b", "20.15 %"), " of 5") == (
        "<p>4.66\u00a0% to <b>20.15\u00a0%</b> of 5</p>"
    )


def test_rows_worth_a_look_are_the_worst_of_the_file():
    """Row numbers count rows of the file, whatever was held out or had no label."""
    table = rows(200)
    labels = table.column("label").to_pylist()
    labels[0] = None
    labels[101] = "class 0"  # was class 2: surely wrong
    table = table.set_column(4, "label", pa.array(labels))
    found = fitted(table, holdout=0.2)
    page = fit_report(found)
    told = re.findall(r"<tr><td>([\d,]+)</td><td><bdi>(.*?)</bdi></td><td>(.*?)</td>", page)
    assert len(told) > 15  # and those that are folded
    told = told[:15]
    numbers = [int(number.replace(",", "")) - 1 for number, _, _ in told]
    assert all(labels[i] == label for i, (_, label, _) in zip(numbers, told, strict=True))
    model = found.model.model
    f = model.decision_function(found.X)
    code = np.searchsorted(model.classes_, found.data.y)
    wrong = found.data.numbers[f.argmax(axis=1) != code]
    count = min(len(wrong), 15)
    assert set(numbers[:count]) <= set(wrong.tolist())
    assert all("bad" in said for _, _, said in told[:count])
    assert not any("bad" in said for _, _, said in told[count:])


def test_distances_are_those_to_the_boundary():
    found = fitted(rows(60, 2))
    page = fit_report(found)
    w, b = found.model.model.coef_[0], found.model.model.intercept_[0]
    side = np.where(found.data.y == "class 1", 1, -1)
    least = np.sort(side * (found.X @ w + b) / np.linalg.norm(w))[:5]
    for value in least:
        assert f"{value:+.3g}".replace("-", "−") in page


HOSTILE = [
    "</title></style><script>alert(1)</script>",
    "\"><img src=x onerror=alert('1')>",
    "javascript:alert(1)&lt;b&gt;",
    "\u202eright to left\u202c \u2066",
    "עברית",
    "x" * 5000,
    "\x00\x1b[31m\ud83d\n<b>",
]


def test_hostile_names_stay_words():
    n, rng = 120, np.random.default_rng(0)
    names = [*HOSTILE[:3], HOSTILE[3] + HOSTILE[5]]
    columns = {name: rng.standard_normal(n) for name in names}
    columns[HOSTILE[4] + "<i>"] = [HOSTILE[i % 6] for i in range(n)]
    columns["<u>text"] = [" ".join(HOSTILE[:6])] * n
    columns["<b>label"] = [HOSTILE[i % 4] for i in range(n)]
    found = fitted(
        pa.table(columns), target="<b>label", text=("<u>text",), name="<script>rows</script>.csv"
    )
    found.notes.append("<script>a note</script>" * 100)
    page = fit_report(found, "maxmargin fit '<script>alert(1)</script>'", "<b>model")
    read(page)
    assert "<script" not in page
    assert "\u202e" not in page
    assert "x" * 1000 not in page
    assert "&lt;script&gt;alert(1)" in page
    assert len(page) < 1_000_000


def test_sparse_rows_and_weights_and_many_classes():
    rng = np.random.default_rng(0)
    X = sparse.random(400, 3000, density=0.01, random_state=0, format="csr")
    y = rng.integers(0, 50, 400)
    y[:50] = np.arange(50)
    data = Labelled("many.svm", X, y, "y", rng.random(400) + 0.5, base=1)
    found = fit_table(data, Plan("least-squares", C=1.0), Choices())
    text = read(fit_report(found)).text
    assert "Rows are weighted" in text
    assert "A sparse matrix" in text
    assert "… 20 more" in text
    assert "20 of 50 rows of weights are shown" in text
    assert re.search(r"x\d+=0\.\d+", text)


def test_text_columns():
    words = [("good film", "a dull film", "fine and good", "so dull")[i % 4] for i in range(12)]
    labels = ["up" if "good" in text else "down" for text in words]
    table = pa.table({"said": words, "label": labels})
    page = read(fit_report(fitted(table, text=("said",))))
    assert "said:good" in page.text
    assert "tf-idf" in page.text
    assert "a dull film" in page.text


def test_one_feature_is_drawn_in_lanes():
    table = rows(60, 2).select(["east", "label"])
    text = read(fit_report(fitted(table))).text
    assert "could not be drawn" not in text
    assert "the only feature; upwards, a lane for every class" in text


def test_a_picture_that_fails_costs_nothing_else(monkeypatch):
    """A reader has no use for what a library says."""

    def fails(*_, **__):
        raise ZeroDivisionError("Too many bins for data range")

    found = fitted(rows())
    monkeypatch.setattr(boundary, "boundary_view", fails)
    text = read(fit_report(found)).text
    assert "“regions and boundary” could not be drawn of these rows" in text
    assert "Too many bins" not in text
    assert "How to reproduce" in text
    monkeypatch.setenv("MAXMARGIN_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        fit_report(found)


def test_missing_values_and_left_out_columns_are_told():
    n = 90
    holes = pa.array([None if i % 9 == 0 else float(i) for i in range(n)])
    table = rows(n, age=holes, same=[1.0] * n)
    text = read(fit_report(fitted(table))).text
    assert "age: 10 missing values, filled with the mean" in text
    assert "same was left out" in text
    assert re.search(r"age number \(x − [\d.]+\) / [\d.]+ 10", text)


def test_an_unproved_fit_says_so():
    found = fitted(rows(300), Plan(C=1.0, tol=1e-30))
    assert not found.proved
    text = read(fit_report(found)).text
    assert "Not proved" in text
    assert "wider gap than was asked for" in text


def test_a_constant_is_called_one_where_the_badge_was():
    """Few of one class and nothing that tells it apart: the proof is true, and is not the news."""
    rng = np.random.default_rng(0)
    labels = ["rare" if i % 30 == 0 else "common" for i in range(120)]
    table = pa.table({"noise": rng.standard_normal(120), "label": labels})
    found = fitted(table, Plan(C=1e-3))
    page = fit_report(found)
    text = read(page).text
    badges = re.findall(r'class="badge ?(\w*)">(?:<bdi>)?([^<]*)', page)
    assert [tone for tone, _ in badges] == ["bad", "quiet"]
    assert badges[0][1].startswith("No better than always “common”: 3.33\u00a0% of new rows wrong")
    assert badges[1][1].startswith("Proved")
    assert "never predicted: rare" in text
    assert "--weights balanced" in text
    assert "more rows of “rare” (4 now)" in text
    assert "all weights are zero" in text
    assert "could not be drawn" not in text
    assert text.index("No better") < text.index("Proved") < text.index("training error")


def test_coefficients_in_words_and_columns_alone():
    found = fitted(rows(120, 2))
    page = read(fit_report(found))
    model = found.model.model
    j = int(np.abs(model.coef_[0] * found.model.preparation.units()[1]).argmax())
    column = found.model.preparation.columns[j]
    step = 10.0 ** np.floor(np.log10(column.deviation))
    moved = abs(model.coef_[0, j]) / column.scale * step
    towards = found.model.model.classes_[int(model.coef_[0, j] > 0)]
    assert f"of {column.name} moves the score towards {towards} by {moved:.3g}" in page.text
    points = 100 / (1 + np.exp(-model.calibration_.slope * moved)) - 50
    assert f"+{points:.1f} percentage points" in page.text
    assert f"With {column.name} alone changed, the mean probability of class 1" in page.text


def test_rows_that_are_folded():
    """The least sure, the most typical and the most influential, each as the model has them."""
    found = fitted(rows(120, 2))
    page = fit_report(found)
    lead = np.abs(found.model.model.decision_function(found.X))
    pull = influence(found.model.model, found.X, found.data.y).most(5)
    for title, wanted in (
        ("The least sure rows", np.argsort(lead, kind="stable")[:5]),
        ("The most influential rows", pull),
    ):
        part = page[page.index(title) :]
        told = re.findall(r"<tr><td>(\d+)</td>", part)[:5]
        assert [int(number) - 1 for number in told] == wanted.tolist()
    part = page[page.index("The most typical row") :]
    for label, number in zip(
        ("class 0", "class 1"), re.findall(r"<tr><td>(\d+)</td>", part), strict=False
    ):
        own = found.data.y == label
        far = np.linalg.norm(found.X - found.X[own].mean(axis=0), axis=1)
        far[~own] = np.inf
        assert far.argmin() == int(number) - 1


def test_large_data_make_small_pages_soon():
    rng = np.random.default_rng(0)
    n, d = 30_000, 200
    X = rng.standard_normal((n, d))
    y = (X[:, :10] + 0.5 * rng.standard_normal((n, 10))).argmax(axis=1)
    table = pa.table({f"column {j}": X[:, j] for j in range(d)} | {"label": y})
    found = fitted(table, Plan("least-squares", C=1.0))
    began = time.process_time()
    page = fit_report(found)
    assert time.process_time() - began < 3.0
    text = read(page).text
    assert "Drawn from 20,000 of 30,000 rows, by lot" in text
    assert "2000 points" in text
    assert "40 of 200 are shown" in text
    assert len(page) < 1_000_000
