"""The page as a whole: addresses, downloads, the stepper, sessions, ears and phones."""

import csv
import subprocess
import sys

import numpy as np
import pytest

from maxmargin.app.studio.methods import STUDIO_METHODS
from maxmargin.app.studio.pictures import PICTURES

from .helpers import Studio
from .pages import PHONE, address, choose, middle, opened, points, rest


def test_the_page_is_named_for_ears(page):
    unnamed = page.evaluate("""() => {
        const named = (e) => e.labels?.length || e.ariaLabel || e.textContent.trim();
        return [...document.querySelectorAll('button, input, select')]
            .filter((e) => e.checkVisibility() && !named(e)).map((e) => e.id);
    }""")
    assert unnamed == []
    page.locator("#plane .point").nth(3).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#spoken:has-text('Margin')", state="attached")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "method"  # one stop for all points


def test_the_address_holds_the_whole_state(browser, studio, page):
    choose(page, "five")
    page.select_option("#method", "one-vs-one")
    page.select_option("#knob-loss", "squared_hinge")
    page.select_option("#knob-beside", "fisher")
    rest(page)
    kept = points(page)
    seen = {name: page.inner_text(f"#{name}") for name in ("certificate", "verdict", "readouts")}
    drawn = page.locator("#plane").inner_html()
    with opened(browser, studio, address(page).partition("/#")[2].join(["#", ""])) as other:
        assert points(other) == kept
        assert {name: other.inner_text(f"#{name}") for name in seen} == seen
        assert other.input_value("#knob-loss") == "squared_hinge"
        assert other.locator("#plane").inner_html() == drawn


def test_two_hundred_points_fit_into_a_link(browser, studio):
    drawn = [
        (round(float(x), 3), round(float(y), 3), int(c))
        for x, y, c in np.random.default_rng(0).uniform([-9, -9, 0], [9, 9, 4.99], (200, 3))
    ]
    text = "".join(f"{'ABCDE'[c]}{x},{y}" for x, y, c in drawn)
    fragment = f"#m=logistic&n=x&n=y&l=a&l=b&l=c&l=d&l=e&p={text}"
    with opened(browser, studio, fragment) as page:
        assert points(page) == drawn
        page.click("#share")
        assert page.locator("#plane .point").count() == 200
        link = page.evaluate("location.href")
        assert len(link) < 8000  # which every browser and most messengers take
        page.goto("about:blank")
        page.goto(link)
        page.wait_for_selector("html[data-ready=yes]")
        assert points(page) == drawn


def test_the_link_is_copied(browser, studio):
    with opened(browser, studio, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.click("#share")
        page.wait_for_selector("#share:has-text('Copied')")
        assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        ("#m=magic&n=x&n=y&l=a&l=b&p=A1,1", "no method"),
        ("#m=svm&n=x&n=y&l=a&l=b&p=A1,1B2", "point 1 is damaged"),
        ("#m=svm&n=x&n=y&l=a&l=b&p=E1,1", "class without a name"),
        ("#m=svm&n=x&n=y&l=a&p=A1,1", "2 to 5 classes"),
        ("#m=svm&n=x&n=y&l=a&l=b&l=c&l=d&l=e&l=f&p=A1,1", "6 classes"),
        ("#m=svm&C=-1&n=x&n=y&l=a&l=b&p=A1,1", "C cannot be"),
        ("#m=svm&n=x&n=y&l=a&l=b&w=1,2&p=A1,1", "window is damaged"),
        ("#%%%", "no method"),
    ],
)
def test_a_damaged_address_is_said_and_the_first_picture_shown(browser, studio, fragment, words):
    with opened(browser, studio, fragment) as page:
        assert words in page.inner_text("#trouble")
        assert page.locator("#plane .point").count() == 90


def test_hostile_labels_stay_words(browser, studio):
    label = "<img src=x onerror=alert(1)>"
    fragment = f"#m=svm&n={label}&n=y&l={label}&l=b&p=A1,1B3,3A0,1B3,4"
    with opened(browser, studio, fragment) as page:
        assert page.locator("main img").count() == 0
        assert label in page.inner_text("#classes")


def test_the_program_and_the_table_make_the_same_fit(page, tmp_path):
    choose(page, "wine")
    with page.expect_response("**/solve") as answer:
        page.select_option("#knob-loss", "squared_hinge")
    equation = answer.value.json()["equation"]
    with page.expect_download() as program:
        page.click("#python")
    program.value.save_as(tmp_path / "fit.py")
    source = (tmp_path / "fit.py").read_text() + "\nprint(*model.coef_[0], *model.intercept_)\n"
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=120, check=True
    )
    assert "proved within" in done.stdout
    assert [float(v) for v in done.stdout.split("\n")[-2].split()] == [
        *equation["w"],
        equation["b"],
    ]

    with page.expect_download() as table:
        page.click("#csv")
    table.value.save_as(tmp_path / "points.csv")
    with open(tmp_path / "points.csv", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["alcohol (%)", "flavanoids", "class"]
    drawn = points(page)
    assert np.allclose([[float(x), float(y)] for x, y, _ in rows], [p[:2] for p in drawn])
    assert [row[2] for row in rows] == [("Barolo", "Grignolino")[c] for _, _, c in drawn]


def test_the_perceptron_is_stepped_to_and_fro(page):
    choose(page, "85-points")
    page.click("#tab-stepper")
    page.wait_for_selector("#run[aria-busy=false]")
    assert page.inner_text("#count") == "0 / 84"
    page.click("#forward")
    assert "score w·x + b = 0" in page.inner_text("#why")
    first = page.locator("#run [data-label=ink]").first.get_attribute("d")
    page.click("#forward")
    assert page.inner_text("#count") == "2 / 84"
    assert page.locator("#run [data-label=muted]").first.get_attribute("d") == first
    page.click("#back")
    assert page.locator("#run [data-label=ink]").first.get_attribute("d") == first
    page.locator("#why").click()
    page.keyboard.press("End")
    assert "0 of 85 points are misclassified" in page.inner_text("#why")
    assert "84 of at most 7009" in page.inner_text("#against-words")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#count") == "83 / 84"
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.wait_for_selector("#count:has-text('2 / 84')")
    page.keyboard.press(" ")
    assert page.inner_text("#play") == "Play"
    page.select_option("#run-order", "shuffle")
    page.wait_for_selector("#run[aria-busy=false]")
    assert page.inner_text("#count").startswith("0 / ")
    page.select_option("#run-unit", "linear")
    page.wait_for_selector("#run[aria-busy=false]")
    page.wait_for_selector("#why:has-text('every output')")
    page.locator("#why").click()
    page.keyboard.press("End")
    assert "E = ½ Σ (t − o)² falls" in page.inner_text("#why")
    assert "the least error is" in page.inner_text("#against-words")
    assert page.locator("#run-order").is_hidden()


def test_two_sessions_do_not_disturb_each_other(browser, studio):
    with opened(browser, studio) as one, opened(browser, studio) as other:
        choose(one, "five")
        choose(other, "iris-pair")
        kept, seen = points(other), other.inner_text("#certificate")
        for page in (one, other):
            x, y = middle(page, 0)
            page.mouse.move(x, y)
            page.mouse.down()
        for step in range(5):
            one.mouse.move(300 + 20 * step, 300)
        one.mouse.up()
        other.mouse.up()
        rest(one)
        rest(other)
        assert points(other) == kept
        assert other.inner_text("#certificate") == seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_light_and_dark(browser, studio, scheme):
    """WCAG's contrast of at least 4.5 for small words and 3 for marks."""
    with opened(browser, studio, color_scheme=scheme) as page:
        colour = page.evaluate("""() => {
            const style = getComputedStyle(document.documentElement);
            const names = ['ink', 'soft', 'accent', 'accent-ink', 'paper', 'ground', 'bad',
                'class-0', 'class-1', 'class-2', 'class-3', 'class-4'];
            return Object.fromEntries(
                names.map((name) => [name, style.getPropertyValue('--' + name).trim()]));
        }""")

    def light(name):
        parts = np.array([int(colour[name][i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    def contrast(one, other):
        low, high = sorted([light(one), light(other)])
        return (high + 0.05) / (low + 0.05)

    pairs = ("ink", "paper"), ("soft", "ground"), ("soft", "paper"), ("paper", "bad")
    for ink, ground in (*pairs, ("accent-ink", "accent")):
        assert contrast(ink, ground) >= 4.5, (ink, ground)
    for c in range(5):
        assert contrast(f"class-{c}", "paper") >= 3, c


def test_a_phone_shows_everything_in_one_column(browser, studio):
    with opened(browser, studio, size=PHONE, has_touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        n = len(points(page))
        box = page.locator("#plane").bounding_box()
        page.touchscreen.tap(box["x"] + 90, box["y"] + 60)
        rest(page)
        assert len(points(page)) == n + 1
        page.click("#tab-stepper")
        page.wait_for_selector("#run[aria-busy=false]")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.locator("#csv").count() == 1


def test_a_studio_that_was_stopped_is_said(browser):
    own = Studio("--port", "0")
    with opened(browser, own) as page:
        assert own.stop() == 0
        page.select_option("#method", "logistic")
        page.wait_for_selector("#message:has-text('does not answer')")
        page.complaints.clear()


def test_a_link_pasted_into_the_page_is_shown_and_can_be_undone(page):
    kept = points(page)
    page.evaluate("location.hash = '#m=hard&n=u&n=v&l=a&l=b&p=A1,1B3,3A0,1B3,4'")
    page.wait_for_selector("#plane text:has-text('u')", state="attached")
    rest(page)
    assert points(page) == [(1, 1, 0), (3, 3, 1), (0, 1, 0), (3, 4, 1)]
    assert "Proved" in page.inner_text("#verdict")
    page.click("#undo")
    rest(page)
    assert points(page) == kept


def test_a_restless_hand_finds_nothing_broken(browser, studio):
    """Random gestures: nothing is complained of, and the address always makes the page again."""
    rng = np.random.default_rng(9)
    with opened(browser, studio) as page:
        box = page.locator("#plane").bounding_box()

        def place():
            return box["x"] + rng.uniform(0, box["width"]), box["y"] + rng.uniform(0, box["height"])

        def drag():
            page.mouse.move(*place())
            page.mouse.down()
            page.mouse.move(*place(), steps=3)
            page.mouse.up()

        gestures = [
            drag,
            lambda: page.mouse.click(*place()),
            lambda: page.click(f"#tools button:nth-child({rng.integers(1, 4)})"),
            lambda: page.click("#more") if page.locator("#more").is_enabled() else None,
            lambda: page.click("#fewer") if page.locator("#fewer").is_enabled() else None,
            lambda: page.keyboard.press("Control+z"),
            lambda: page.keyboard.press("Control+y"),
            lambda: page.keyboard.press("Delete"),
            lambda: page.keyboard.press("ArrowUp"),
            lambda: page.select_option("#method", str(rng.choice([*STUDIO_METHODS]))),
            lambda: choose(page, str(rng.choice([*PICTURES]))),
            lambda: page.click(str(rng.choice(["#tab-stepper", "#tab-playground"]))),
        ]
        for turn in range(48):
            if page.locator("#playground").is_visible():
                gestures[rng.integers(len(gestures))]()
            else:
                page.keyboard.press(str(rng.choice(["ArrowRight", "End", "Home", " "])))
                page.click("#tab-playground")
            if turn % 16 == 15:
                page.click("#tab-playground")
                rest(page)
                kept, said = points(page), page.inner_text("#verdict")
                with opened(browser, studio, "#" + address(page).partition("#")[2]) as other:
                    assert points(other) == kept
                    assert other.inner_text("#verdict") == said
