"""Two browsers in one studio at once: neither sees what the other does."""

import re

import pytest
from playwright.sync_api import expect

from .visitor import LONGEST

pytestmark = pytest.mark.slow


def test_two_visitors_do_not_mix(visit):
    one, other = visit(), visit()
    one.page.locator(".cards").get_by_role("button", name=re.compile("^Ages")).click()
    other.page.locator(".cards").get_by_role("button", name=re.compile("^Neighbourhoods")).click()
    both = ((one, "Ages", "Neighbourhoods"), (other, "Neighbourhoods", "Ages"))
    for visitor, mine, _ in both:  # until it is there: what describes an example is on the first page already
        expect(visitor.page.locator("header .title")).to_contain_text(mine, timeout=LONGEST)
    for visitor, mine, theirs in both:
        visitor.page.reload()
        expect(visitor.page.locator("header .title")).to_contain_text(mine, timeout=LONGEST)
        assert theirs not in visitor.page.locator("main").inner_text()
    assert one.page.url != other.page.url


def test_one_workspace_in_two_browsers_keeps_what_each_shows(visit, city):
    one, other = visit(workspace=city, view="choose"), visit(workspace=city, view="choose")
    places = [visitor.page.get_by_label(re.compile("^You are at")) for visitor in (one, other)]
    places[0].select_option(index=3)
    places[1].select_option(index=17)
    for visitor, place, index in ((one, places[0], "3"), (other, places[1], "17")):
        visitor.act("Report 100 times")
        visitor.read("100 reports")
        expect(place).to_have_value(index, timeout=LONGEST)
