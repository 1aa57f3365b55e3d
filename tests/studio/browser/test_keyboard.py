"""The whole tour without a mouse: every stop is reached and tried with the keyboard alone."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def test_the_whole_tour_by_keyboard(visit, city):
    visitor = visit(workspace=city, view="data")
    keys = visitor.page.keyboard
    visitor.strike("Tour")
    visitor.read("Five minutes, eight stops")

    def on(heading: str) -> None:
        visitor.strike("Next")
        expect(visitor.page.get_by_role("dialog").get_by_role("heading")).to_have_text(heading)

    on("Places")
    visitor.reach("About how many places.*")
    on("How private")
    visitor.reach("How private")
    before = visitor.page.locator("ul.facts").inner_text()
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")
    expect(visitor.page.locator("ul.facts")).not_to_have_text(before)
    on("Be there")
    visitor.reach("You are at.*")
    keys.press("ArrowDown")
    visitor.strike("Share it a hundred times")
    visitor.read("100 reports")
    visitor.reach("The picture as a table")
    on("Walk")
    for _ in range(2):
        visitor.reach("Next stop.*")
        keys.press("ArrowDown")
        visitor.strike("Add this stop")
    visitor.strike("Walk")
    visitor.read("After report")
    on("Compare")
    visitor.reach("Compare at this loss")
    on("Attack")
    visitor.strike("Add")
    visitor.strike("Attack")
    visitor.read("Three attackers")
    on("Promises")
    visitor.reach("How private")
    keys.press("ArrowRight")
    visitor.read("What does not follow from the promise here")
    on("Design")
    visitor.reach("Design it")
    visitor.strike("Done")
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
