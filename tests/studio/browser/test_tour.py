"""The tour leaves the data of a visitor alone: it walks through a city of its own, and comes back."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

POINTS = "".join(f"{48.8 + 0.01 * (i % 7)},{2.3 + 0.013 * (i % 11)}\n" for i in range(300))


def test_the_tour_comes_back_to_a_file_of_ones_own(visit, start):
    with start() as own:
        own.ask("POST", "/workspaces")
        visitor = visit(at=own)
        file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": f"lat,lon\n{POINTS}".encode()}
        visitor.page.set_input_files("#file", file)
        title = visitor.page.locator("header .title")
        visitor.read("The map has")
        mine = title.inner_text()
        address = visitor.page.url
        for time in (1, 2):
            visitor.press("Tour")
            visitor.read("Your own data stay as they are")
            visitor.press("Next")
            visitor.read("The map shows where people of the city were")
            expect(title).to_have_text("An invented city")
            visitor.meets_no_barrier()
            if time == 1:
                visitor.press("Next")
                visitor.read("Move the slider")
            visitor.press("Leave the tour")
            expect(title).to_have_text(mine)
            assert visitor.page.url == address
        titles = [each["title"] for each in own.ask("GET", "/workspaces")["workspaces"]]
        assert titles.count("An invented city") == 1


def test_the_tour_stays_in_the_city_where_it_is_open(visit, city):
    visitor = visit(workspace=city, view="share")
    visitor.press("Tour")
    visitor.read("This tour uses the built-in city")
    assert "Your own data" not in visitor.page.locator(".tour").inner_text()
    visitor.press("Next")
    visitor.read("The map shows where people of the city were")
    assert f"w={city}" in visitor.page.url
    visitor.page.keyboard.press("Escape")
    assert f"w={city}" in visitor.page.url
