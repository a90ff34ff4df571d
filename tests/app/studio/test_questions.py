"""What the studio answers: the same as the estimators, for every method, basis and kernel."""

import json
import re

import numpy as np
import pytest

from maxmargin import LeastSquaresClassifier, LinearSVM, Perceptron
from maxmargin.app.studio.code import program
from maxmargin.app.studio.methods import STUDIO_METHODS, UNKNOWN_LABEL
from maxmargin.app.studio.parameters import BASIS_CHOICES, KERNEL_CHOICES, PARAMETERS
from maxmargin.app.studio.pictures import PICTURES, picture
from maxmargin.app.studio.playground import code, solve
from maxmargin.app.studio.server import STATIC_FOLDER
from maxmargin.app.studio.stepper import steps
from maxmargin.app.studio.task import StudioTask
from maxmargin.show.palette import CLASS_COLOURS, INK_COLOURS

from .helpers import asked, clouds

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WAYS = [
    (name, {"basis": basis}) if method.bases else (name, {"kernel": kernel})
    for name, method in STUDIO_METHODS.items()
    for basis, kernel in zip(BASIS_CHOICES, [*KERNEL_CHOICES, None, None], strict=True)
    if method.bases or kernel
]


@pytest.mark.parametrize(("method", "values"), WAYS, ids=str)
@pytest.mark.parametrize("k", [2, 3])
def test_every_method_answers_what_its_estimator_says(method, values, k):
    question = asked(clouds(k), method, values=values)
    answer = solve(question)
    json.dumps(answer, allow_nan=False)
    assert answer["certificate"]["words"]
    assert answer["scene"]["marks"]
    task = StudioTask.of(question)
    if answer["errors"] is not None:
        said = task.estimator().fit(task.X, task.codes).predict(task.X)
        wrong = (said != task.codes) & (said != UNKNOWN_LABEL)
        assert answer["errors"] == wrong.sum()


@pytest.mark.parametrize(("method", "values"), WAYS, ids=str)
def test_the_program_makes_the_same_fit(method, values, capsys):
    question = asked(clouds(3), method, values=values)
    names = {}
    source = code(question)["program"]
    if solve(question)["errors"] is None:
        with pytest.raises(ValueError, match="not separable"):
            exec(source, names)
        return
    exec(source, names)
    task = StudioTask.of(question)
    expected = task.estimator().fit(task.X, task.codes)
    assert np.array_equal(names["X"], task.X)
    assert np.array_equal(names["y"], task.codes)
    assert np.array_equal(
        names["model"].decision_function(task.X), expected.decision_function(task.X)
    )
    assert capsys.readouterr().out.strip()


def test_hostile_words_are_data_in_the_program():
    words = ['"""\nimport os', "]; raise SystemExit #", "\\"]
    question = asked(clouds(3), labels=words, names=["'x'\n", "{y}"])
    names = {}
    exec(program(StudioTask.of(question)), names)
    assert names["classes"] == words
    assert names["features"] == ["'x'\n", "{y}"]


def test_numbers_beside_the_picture_are_the_models():
    question = asked(clouds(spread=1.2), values={"C": 0.5})
    answer = solve(question)
    X, y = np.array(question["points"])[:, :2], np.array(question["points"])[:, 2].astype(int)
    svm = LinearSVM(C=0.5).fit(X, y)
    assert answer["margin"] == svm.margin_
    assert answer["violations"] == (svm.slack_ > 1e-6).sum()
    assert sum(answer["support"].values()) == len(svm.support_)
    assert [i for i, kind in enumerate(answer["kinds"]) if kind] == svm.support_.tolist()
    assert answer["equation"] == {"w": svm.coef_[0].tolist(), "b": float(svm.intercept_[0])}
    assert answer["certificate"]["gap"] == svm.certificate_.relative_gap


@pytest.mark.parametrize("k", [2, 3])
def test_every_point_is_told_its_margin_slack_and_multiplier(k):
    question = asked(clouds(k, spread=1.2), values={"C": 0.5})
    each = solve(question)["each"]
    task = StudioTask.of(question)
    svm = task.estimator().fit(task.X, task.codes)
    assert np.allclose(each["slack"], svm.slack_, atol=1e-3)
    assert np.allclose(np.maximum(0, 1 - np.array(each["margin"])), svm.slack_, atol=1e-3)
    assert sum(each["alpha"]) == pytest.approx(svm.alpha_.sum(), rel=1e-2)


@pytest.mark.parametrize("k", [2, 3])
def test_methods_without_a_margin_say_how_well_they_fit(k):
    question = asked(clouds(k, spread=1.2), "logistic")
    answer = solve(question)
    task = StudioTask.of(question)
    model = task.estimator().fit(task.X, task.codes)
    found = {name: value for name, value, _ in answer["measures"]}
    P = model.predict_proba(task.X)
    assert np.allclose(answer["each"]["probability"], P, atol=1e-3)
    assert found["log-loss"] == pytest.approx(-np.log(P[np.arange(40), task.codes]).mean())
    # At the temperature's distance from a border between two, scores differ by one.
    steep = np.linalg.norm(model.coef_) * (1 if k == 2 else np.sqrt(2))
    assert found["temperature T"] == pytest.approx(1 / steep)
    squares = {name: v for name, v, _ in solve(question | {"method": "least-squares"})["measures"]}
    fitted = StudioTask.of(question | {"method": "least-squares"}).estimator()
    f = fitted.fit(task.X, task.codes).decision_function(task.X)
    targets = 2 * task.codes - 1 if k == 2 else np.eye(3)[task.codes]
    assert squares["mean squared error"] == pytest.approx(np.mean((f - targets) ** 2))


def test_without_a_bias_three_classes_meet_in_the_origin():
    answer = solve(asked(clouds(3), values={"bias": False, "arrow": True}))
    assert answer["weights"]["b"] == [0, 0, 0]
    marks = answer["scene"]["marks"]
    border = next(m for m in marks if m.get("label") == "decision boundary")
    ends = np.array([border["x"], border["y"]], dtype=float).T
    rays = ends[~np.isnan(ends[:, 0])].reshape(3, 2, 2)
    assert np.allclose(np.hypot(*rays.transpose(2, 0, 1)).min(axis=1), 0, atol=1e-4)
    arrows = [m for m in marks if str(m.get("label")).startswith("w of")]
    for arrow, w in zip(arrows, answer["weights"]["W"], strict=True):
        tip = np.array([arrow["x"][1], arrow["y"][1]])
        assert tip @ w == pytest.approx(np.hypot(*tip) * np.hypot(*w), rel=1e-3)


@pytest.mark.parametrize("method", STUDIO_METHODS)
def test_on_a_line_every_method_draws_its_score(method):
    answer = solve(asked(clouds(2), method, line=True, values={}))
    score = next(m for m in answer["scene"]["marks"] if m.get("label") == "score f(x)")
    assert np.ptp(score["x"]) == pytest.approx(10)
    if answer["weights"] is not None:
        (w,), (b,) = answer["weights"]["W"], answer["weights"]["b"]
        assert w[1] == 0
        assert np.allclose(score["y"], w[0] * np.array(score["x"]) + b, atol=1e-3 * abs(w[0]))


def test_the_boundary_drawn_is_the_models_and_ends_at_the_window():
    answer = solve(asked(clouds()))
    line = next(m for m in answer["scene"]["marks"] if m.get("label") == "decision boundary")
    w, b = answer["equation"]["w"], answer["equation"]["b"]
    x, y = np.array(line["x"]), np.array(line["y"])
    assert np.allclose(w[0] * x + w[1] * y + b, 0, atol=1e-3)
    assert np.allclose(np.maximum(np.abs(x) / 5, np.abs(y) / 4), 1, atol=1e-3)


def test_the_page_draws_the_points_itself():
    marks = solve(asked(clouds(3)))["scene"]["marks"]
    assert all(m["hollow"] for m in marks if m["kind"] == "Points")


def test_a_class_without_points_keeps_the_others_colours():
    points = [p for p in clouds(3) if p[2] != 1]
    marks = solve(asked(points, labels=["a", "b", "c"]))["scene"]["marks"]
    assert {m["paint"] for m in marks if m["kind"] == "Area"} == {"class 0", "class 2"}


def test_a_hard_margin_that_does_not_exist_is_answered_with_its_proof():
    points = clouds(spread=1.5)
    answer = solve(asked(points, "hard"))
    assert answer["certificate"]["proved"]
    assert "no separator" in answer["certificate"]["verdict"]
    rings = [m for m in answer["scene"]["marks"] if m["kind"] == "Points" and m["hollow"]]
    at = {(m["x"][0], m["y"][0]) for m in rings}
    assert at <= {(x, y) for x, y, _ in points}
    common = next(m for m in answer["scene"]["marks"] if m.get("label") == "the common point")
    hulls = [m["rings"][0] for m in answer["scene"]["marks"] if m["kind"] == "Area"]
    for hull in hulls:  # the common point is a mean of the points of each class
        x, y = np.array(hull).T
        assert x.min() - 1e-3 <= common["x"][0] <= x.max() + 1e-3
        assert y.min() - 1e-3 <= common["y"][0] <= y.max() + 1e-3


def test_a_rival_is_drawn_beside():
    answer = solve(asked(clouds(), beside="least-squares"))
    assert any(m.get("label") == "Least squares" for m in answer["scene"]["marks"])


def test_a_hurried_answer_is_the_same_fit_on_a_coarser_grid():
    question = asked(clouds(), "kernel-svm")
    full, hurried = solve(question), solve(question | {"hurry": True})
    assert hurried["certificate"] == full["certificate"]
    assert len(json.dumps(hurried)) < len(json.dumps(full))


def test_the_stepper_replays_the_perceptron():
    question = asked(clouds(3, spread=0.4), values={"order": "shuffle", "seed": 3})
    run = steps(question)
    table = np.array(question["points"])
    X, y = table[:, :2], table[:, 2].astype(int)
    model = Perceptron("shuffle", random_state=3).fit(X, y)
    assert len(run["frames"]) == model.updates_ + 1
    assert np.allclose(run["frames"][-1]["W"], model.coef_)
    assert run["frames"][-1]["wrong"] == 0
    assert len(run["frames"]) - 1 <= run["bound"]
    assert all(str(f["cause"][0]) in f["why"] for f in run["frames"][1:])


@pytest.mark.parametrize("k", [2, 3])
def test_the_stepper_walks_a_linear_unit_down_its_error(k):
    question = asked(clouds(k), values={"unit": "linear", "rate": 1.0})
    run = steps(question)
    json.dumps(run, allow_nan=False)
    task = StudioTask.of(question)
    least = LeastSquaresClassifier().fit(task.X, task.codes)
    E = np.array(run["norms"]["marks"][0]["y"])
    assert (np.diff(E) <= 0).all()
    assert least.certificate_.objective <= E[-1] < 1.01 * least.certificate_.objective
    last = run["frames"][-1]
    assert last["wrong"] == (least.predict(task.X) != task.codes).sum()
    assert np.allclose(last["W"], least.coef_, atol=0.02)
    assert run["bound"] is None
    wild = steps(asked(clouds(k), values={"unit": "linear", "rate": 2.5}))
    assert "grows" in wild["frames"][-1]["why"]


def test_the_stepper_says_why_there_is_no_bound():
    run = steps(asked(clouds(spread=2.0)))
    assert run["bound"] is None
    assert "not separable" in run["words"]


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_solved_as_it_comes(name):
    shown = picture(name)
    answer = solve(shown | {"window": None})
    assert answer["certificate"]["proved"]
    assert len(shown["points"]) <= 200
    assert steps(shown)["frames"]


def test_the_lectures_iris_has_its_three_support_vectors():
    answer = solve(picture("iris-pair") | {"window": None})
    assert sum(answer["support"].values()) == 3
    assert round(answer["margin"], 3) == 0.291


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": [[0, 0, 0]]}, "two classes"),
        ({"points": [[0, 0, 7], [1, 1, 1]]}, "class of point 1"),
        ({"points": [[0, "1", 0]]}, "finite numbers"),
        ({"points": [[0, 1e300, 0]]}, "finite numbers"),
        ({"points": [[True, 0, 0]]}, "finite numbers"),
        ({"points": [[0, 0]]}, "must be"),
        ({"points": [[0.0, 0.0, 0]] * 2001}, "at most 2000"),
        ({"points": "all"}, "list"),
        ({"labels": []}, "1 to 5"),
        ({"labels": ["a"] * 6}, "draws 5 classes at most and got 6"),
        ({"labels": ["a", "b" * 61]}, "60 letters"),
        ({"names": ["x"]}, "2 to 2"),
        ({"method": "magic"}, "no method 'magic'"),
        ({"method": ["svm"]}, "no method"),
        ({"values": {"C": 0}}, "from 0.001"),
        ({"values": {"C": "1"}}, "number"),
        ({"values": {"C": True}}, "number"),
        ({"values": {"loss": "none"}}, "one of"),
        ({"values": []}, "object"),
        ({"window": [1, 0, 0, 1]}, "left to right"),
        ({"window": [0, 1]}, "four"),
        ({"beside": "nobody"}, "no method"),
    ],
)
def test_what_is_wrong_is_said(change, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        solve(asked(clouds()) | change)


@pytest.mark.parametrize("point", [[3.0, 3.0, 0], [0.0, 0.0, 1]])
def test_points_on_top_of_one_another_are_answered(point):
    points = [[0.0, 0.0, 0]] * 3 + [point, [1.0, 1.0, 1]]
    for method in sorted({*STUDIO_METHODS} - {"quadratic"}):
        assert solve(asked(points, method))["certificate"]["words"], method
    with pytest.raises(ValueError, match=r"rows of class [01] do not vary in all 2 features"):
        solve(asked(points, "quadratic"))  # no Gaussian has such a covariance: said in the page


def test_the_pages_colours_are_the_palettes():
    css = (STATIC_FOLDER / "style.css").read_text()
    light = css[: css.index('data-theme="dark"')]
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light))
    for number, colour in enumerate(CLASS_COLOURS[:5]):
        assert found[f"class-{number}"] == colour
    for name, colour in INK_COLOURS.items():
        assert found[name.replace(" ", "-")] == colour


def test_knobs_have_defaults_they_accept():
    for knob in PARAMETERS.values():
        assert knob.check(knob.default) == knob.default
