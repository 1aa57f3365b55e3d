"""The story without an order: the quarters in which people live."""

import re

import pytest
from playwright.sync_api import expect

from .visitor import LONGEST

pytestmark = pytest.mark.slow


def test_categories_through_every_step(visit):
    visitor = visit()
    visitor.press("Use quarters of an invented city")
    visitor.read("Your values")
    visitor.page.locator(".bars svg").wait_for()
    visitor.meets_no_barrier()
    visitor.press("Next: how private?")
    visitor.read("What each level gives", timeout=LONGEST)
    visitor.page.get_by_role("slider", name="How private").press("ArrowRight")
    visitor.read("Interpolated")
    visitor.page.get_by_label(re.compile("^Found at most")).fill("60")
    visitor.press("Find the most useful")
    visitor.read("60 % found")
    visitor.turn("Answer")
    visitor.page.get_by_label("Your true value").select_option(index=2)
    visitor.press("Share it a hundred times")
    visitor.read("100 reports")
    visitor.turn("Answer again")
    visitor.press("Answer")
    visitor.read("After report 20 of 20")
    visitor.turn("Attack")
    visitor.press("Add")
    visitor.press("Attack")
    visitor.read("Three attackers")
    visitor.turn("Promises")
    visitor.page.locator(".notions li.lit").first.wait_for()
    visitor.turn("Compare")
    visitor.press("Compare at this loss")
    visitor.page.locator(".panel table").wait_for(timeout=LONGEST)
    visitor.turn("Design")
    visitor.press("Design it")
    expect(visitor.page.locator("section.job")).to_have_count(0, timeout=LONGEST)
    visitor.page.get_by_role("link", name="Mechanism").first.wait_for()
    visitor.meets_no_barrier()
