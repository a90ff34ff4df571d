"""The playground in a real browser, as a hand and a keyboard use it."""

import pytest

from maxmargin.app.studio.methods import STUDIO_METHODS
from maxmargin.app.studio.parameters import BASIS_CHOICES, KERNEL_CHOICES
from maxmargin.app.studio.pictures import PICTURES

from .pages import address, choose, middle, path, points, readout, rest


def test_the_page_opens_with_a_proved_fit(page):
    assert page.locator("#plane .point").count() == 90
    assert "Proved · relative gap" in page.inner_text("#verdict")
    assert path(page)
    assert int(readout(page, "support vectors").split()[0]) > 0


def test_dragging_a_point_moves_boundary_and_certificate_before_it_is_let_go(page):
    choose(page, "iris-pair")
    before, proof = path(page), page.inner_text("#certificate")
    # A support vector: moving it must move the boundary.
    place = page.locator("#plane .point[aria-label*='on the margin']").first.get_attribute(
        "data-place"
    )
    x, y = middle(page, place)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y + 10)
    page.mouse.move(x + 60, y + 25, steps=4)
    rest(page)
    during = path(page)
    assert during != before
    assert page.inner_text("#certificate") != proof
    page.mouse.up()
    rest(page)
    assert middle(page, place) == pytest.approx((x + 60, y + 25), abs=1.5)
    assert path(page) == during  # a line is as exact while dragging as after
    assert "Proved" in page.inner_text("#verdict")


def test_clicks_add_erase_and_relabel(page):
    n = len(points(page))
    box = page.locator("#plane").bounding_box()
    page.click("#classes button:nth-child(2)")
    page.mouse.click(box["x"] + 120, box["y"] + 40)
    rest(page)
    assert len(points(page)) == n + 1
    assert points(page)[-1][2] == 1
    page.click("#tools button[value=relabel]")
    page.click("#classes button:nth-child(1)")
    page.mouse.click(*middle(page, n))
    assert points(page)[-1][2] == 0
    page.click("#tools button[value=erase]")
    page.mouse.click(*middle(page, n))
    rest(page)
    assert len(points(page)) == n


def test_classes_can_be_added_and_taken_away(page):
    page.click("#more")
    box = page.locator("#plane").bounding_box()
    for dx in (0, 25, 50):
        page.mouse.click(box["x"] + 100 + dx, box["y"] + 60)
    rest(page)
    assert page.locator("#plane [data-label='decision boundary']").count() == 1
    assert {c for _, _, c in points(page)} == {0, 1, 2}
    assert page.locator("#knob-rule").is_visible()
    for _ in range(2):
        page.click("#more")
    assert page.get_attribute("#more", "aria-disabled") == "true"
    page.locator("#more").click(force=True)
    assert "5 classes at most" in page.inner_text("#trouble")
    for _ in range(3):
        page.click("#fewer")
    rest(page)
    assert {c for _, _, c in points(page)} == {0, 1}
    assert page.locator("#fewer").is_disabled()


def test_the_slider_of_C_widens_the_margin(page):
    page.locator("#knob-C").focus()
    narrow = float(readout(page, "margin γ").split()[0])
    for _ in range(25):
        page.keyboard.press("ArrowLeft")
    rest(page)
    assert float(readout(page, "margin γ").split()[0]) > narrow
    assert page.locator("#knob-C").get_attribute("aria-valuetext") == "0.0562"
    assert "C=0.0562" in address(page)


def test_every_method_basis_and_kernel_runs(page):
    for name, method in STUDIO_METHODS.items():
        page.select_option("#method", name)
        for choice in BASIS_CHOICES if method.bases else KERNEL_CHOICES:
            page.select_option("#knob-basis" if method.bases else "#knob-kernel", choice)
            rest(page)
            assert page.inner_text("#certificate"), (name, choice)
            assert page.inner_text("#message") == "", (name, choice)
            assert page.locator("#plane g path").count() > 0
        if method.bases:
            page.select_option("#knob-basis", "none")


def test_every_picture_is_one_click_away(page):
    for name in PICTURES:
        choose(page, name)
        assert "roved" in page.inner_text("#verdict"), name
        assert page.locator("#trouble").is_hidden()


def test_a_hard_margin_that_does_not_exist_shows_its_proof(page):
    page.select_option("#method", "hard")
    rest(page)
    assert "no separator" in page.inner_text("#verdict")
    assert "same mean in both classes" in page.inner_text("#certificate")
    assert path(page, "the common point")


def test_what_is_pointed_at_is_told_in_numbers(page):
    page.mouse.move(*middle(page, 0))
    page.wait_for_selector("#pointed:has-text('slack ξ')")
    assert page.inner_text("#equation").startswith("f = ")
    page.focus("#clear")
    page.keyboard.press("Tab")
    page.select_option("#method", "logistic")
    rest(page)
    page.focus("#plane .point[tabindex='0']")
    assert "P(left)" in page.inner_text("#pointed")
    assert "log-loss" in page.inner_text("#readouts")
    assert "–" not in page.inner_text("#readouts")


def test_a_point_that_no_answer_knows_yet_is_silent(page):
    """Its probabilities would be those of a row that the last answer does not have."""
    page.select_option("#method", "logistic")
    rest(page)
    held = []
    page.route("**/solve", lambda route: held.append(route))
    page.focus("#plane .point[tabindex='0']")
    page.keyboard.press("a")  # adds a point, and goes there
    while not held:
        page.wait_for_timeout(20)
    assert not page.complaints
    assert page.inner_text("#pointed") == ""
    held[0].continue_()
    page.wait_for_selector("#pointed:has-text('P(left)')", timeout=10_000)
    page.unroute("**/solve")


def test_points_are_as_large_as_their_multipliers(page):
    page.click("#knob-sizes")
    rest(page)
    sizes = page.evaluate("""() => [...document.querySelectorAll('#plane .dot')]
        .map((e) => Number(/[0-9.]+/.exec(e.getAttribute('transform'))[0]))""")
    assert min(sizes) == 0.5
    assert max(sizes) == 1.6
    page.click("#knob-sizes")
    rest(page)
    assert page.locator("#plane .dot[transform='scale(1.00)']").count() == 90


def test_a_plane_becomes_a_line_and_a_plane_again(page):
    before = points(page)
    page.click("#line")
    rest(page)
    assert path(page, "score f(x)")
    first = min(range(90), key=lambda place: before[place][0])  # nothing lies on top of it
    x, y = middle(page, first)
    assert middle(page, 1)[1] == pytest.approx(y, abs=0.1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(500, y - 90, steps=3)
    page.mouse.up()
    rest(page)
    assert middle(page, first) == pytest.approx((500, y), abs=1.5)
    assert "line=1" in address(page)
    page.click("#undo")
    page.click("#line")
    rest(page)
    assert points(page) == before


def test_too_few_points_are_said_in_words(page):
    page.click("#clear")
    rest(page)
    assert "at least two classes" in page.inner_text("#message")
    page.click("#undo")
    rest(page)
    assert page.inner_text("#message") == ""
    assert page.locator("#plane .point").count() == 90


def test_undo_and_redo_go_by_gestures(page):
    start = points(page)
    x, y = middle(page, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y, steps=6)
    page.mouse.up()
    moved = points(page)
    assert moved != start
    page.keyboard.press("Control+z")
    assert points(page) == start
    page.keyboard.press("Control+y")
    assert points(page) == moved
    page.keyboard.press("Control+z")
    page.select_option("#method", "logistic")
    assert page.locator("#redo").is_disabled()
    page.keyboard.press("Control+z")
    assert page.input_value("#method") == "svm"


def test_points_obey_the_keyboard(page):
    page.focus("#clear")
    page.keyboard.press("Tab")  # by Tab and not by focus(): no group stands before the points
    assert page.evaluate("document.activeElement.dataset.place") == "0"
    before = points(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    moved = points(page)
    assert moved[0][0] > before[0][0]
    assert moved[0][1] > before[0][1]
    assert moved[1:] == before[1:]
    page.keyboard.press("2")
    assert points(page)[0][2] == 1
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.dataset.place") == "1"
    page.keyboard.press("p")
    page.keyboard.press("Delete")
    assert points(page) == before[1:]
    page.keyboard.press("a")
    assert len(points(page)) == len(before)
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith(f"Point {len(before) - 1}, class left, at ")


def test_an_empty_picture_is_drawn_on_by_keys(page):
    page.click("#clear")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "plane"
    page.keyboard.press("a")
    page.keyboard.press("Shift+ArrowRight")
    assert len(points(page)) == 1
    assert page.evaluate("document.activeElement.dataset.place") == "0"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "method"


def test_nothing_jumps_while_dragging(page):
    boxes = """() => ['readouts', 'proof', 'knobs', 'plane', 'legend'].map((name) => {
        const box = document.getElementById(name).getBoundingClientRect();
        return [box.x, box.y, box.width];
    })"""
    before = page.evaluate(boxes)
    x, y = middle(page, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(6):
        page.mouse.move(x + 40 * step, y - 20 * step)
        rest(page)
        assert page.evaluate(boxes) == before
    page.mouse.up()


def test_an_answer_to_what_is_no_longer_asked_is_dropped(page):
    seen, held = page.inner_text("#certificate"), []
    page.route("**/solve", lambda route: held.append(route))
    page.select_option("#method", "logistic")
    while not held:
        page.wait_for_timeout(20)
    page.click("#pictures button[value=five]")
    page.wait_for_selector("#pictures button[value=five][aria-pressed=true]")
    held[0].continue_()
    while len(held) < 2:  # the next is asked when the first is answered
        page.wait_for_timeout(50)
    assert page.inner_text("#certificate") == seen
    held[1].continue_()
    rest(page)
    assert "of 100" in readout(page, "training errors")
    page.unroute("**/solve")


def test_a_drag_asks_one_question_at_a_time(page):
    asked = []
    page.on("request", lambda request: asked.append(request) if "/solve" in request.url else None)
    x, y = middle(page, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(x + step, y)
    rest(page)
    during = len(asked)
    page.mouse.up()
    rest(page)
    assert during < 60  # what was overtaken was never asked
    last = asked[-1].post_data_json
    assert last["hurry"] is False
    assert last["points"][0][:2] == list(points(page)[0][:2])
