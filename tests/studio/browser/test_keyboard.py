"""All three steps without a mouse."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow
STOPS = 5
"""The most presses of Tab from the top of the page to the slider."""


@pytest.mark.parametrize("phone", [False, True])
def test_the_slider_is_within_five_tab_stops(visit, city, phone):
    visitor = visit(workspace=city, view="choose", phone=phone)
    visitor.read("Proved")
    visitor.page.evaluate("document.body.focus()")
    for _ in range(STOPS):
        visitor.page.keyboard.press("Tab")
        if visitor.page.evaluate("document.activeElement.type") == "range":
            break
    expect(visitor.slider).to_be_focused()
    before = visitor.headline()
    visitor.page.keyboard.press("Home")
    visitor.page.keyboard.press("ArrowRight")
    expect(visitor.page.locator(".panel h2")).not_to_have_text(before)


def test_all_steps_by_keyboard(visit, city):
    visitor = visit(workspace=city, view="data")
    keys = visitor.page.keyboard
    visitor.strike("Next: choose how private")
    visitor.read("Proved")
    visitor.reach("How private")
    keys.press("ArrowLeft")
    visitor.reach("You are at.*")
    keys.press("ArrowDown")
    visitor.strike("Report 100 times")
    visitor.read("100 reports")
    visitor.reach("The picture as a table")
    visitor.reach("Walk")
    keys.press("Enter")
    for _ in range(2):
        visitor.reach("Next stop.*")
        keys.press("ArrowDown")
        visitor.strike("Add this stop")
    visitor.strike("Start the walk")
    visitor.read("After report 2 of 2")
    visitor.strike("Attack")
    visitor.strike("Add")
    visitor.strike("Attack with this")
    visitor.read("Three attackers")
    visitor.strike("Compare")
    visitor.reach("Compare|Compare again")
    visitor.reach("What this level promises.*")
    keys.press("Enter")
    visitor.page.locator(".fold li").first.wait_for()
    visitor.reach(r"3?\s*Take away")
    keys.press("Enter")
    visitor.reach("Mechanism file")
    visitor.reach("Report")
    visitor.reach("Script")
    visitor.reach(r"Picture \(SVG\)")
