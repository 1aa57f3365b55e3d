"""Answers that come late: the page drops those to questions of a state that it has left."""

import contextlib
import re
import time

import pytest
from playwright.sync_api import Error, expect

from ..conftest import PATIENCE_S
from .visitor import DRAWN

pytestmark = pytest.mark.slow


class Held:
    """Requests that are held back until they are let go.

    Args:
        page: The page that asks.
        method: As it asks.
        path: The end of the address.
    """

    def __init__(self, page, method, path):
        self._page, self._pattern = page, re.compile(rf"{path}(\?.*)?$")
        self._method, self._routes, self._open = method, [], False
        page.route(self._pattern, self._take)

    def _take(self, route):
        if self._open or route.request.method != self._method:
            route.continue_()
        else:
            self._routes.append(route)

    def wait(self):
        """Wait until one is held."""
        until = time.monotonic() + PATIENCE_S
        while not self._routes:
            assert time.monotonic() < until
            self._page.wait_for_timeout(50)

    def let_go(self):
        """Answer those that are held, hold no more, and wait until the page has taken in the answers."""
        self._open = True
        for route in self._routes:
            with contextlib.suppress(Error):  # the page does not want it any more
                route.continue_()
                answer = route.request.response()
                if answer is not None:
                    answer.finished()
        self._page.evaluate(DRAWN)


def test_the_answer_about_a_level_that_was_left_is_not_shown(visit, city):
    visitor = visit(workspace=city, view="choose")
    visitor.read("From here, reports are about")
    visitor.slider.press("Home")
    held = Held(visitor.page, "GET", "/preview")
    visitor.slider.press("ArrowRight")
    held.wait()
    visitor.slider.press("End")
    headline = visitor.studio.ask("GET", f"/workspaces/{city}/preview?level=11")["shown"]["headline"]
    expect(visitor.page.locator(".panel h2")).to_have_text(headline)
    with visitor.expect_answer("GET", "/preview"):
        held.let_go()
    visitor.wait_until_drawn()
    expect(visitor.page.locator(".panel h2")).to_have_text(headline)


def test_a_slow_look_at_jobs_does_not_bring_back_a_workspace_that_was_left(visit, city):
    visitor = visit(workspace=city, view="data")
    visitor.read("The map has")
    held = Held(visitor.page, "GET", f"/api/workspaces/{city}/map")
    visitor.page.reload()
    held.wait()
    visitor.press("Data")
    held.let_go()
    visitor.read("The map has")
    visitor.press("Other data")
    visitor.read("Or try an example")
    assert visitor.page.locator("header .title").count() == 0
    assert visitor.page.url.endswith("#")


def test_the_workspace_that_was_opened_last_is_the_one_that_is_shown(visit, city, ages):
    visitor = visit()
    held = Held(visitor.page, "GET", f"/api/workspaces/{city}/map")
    earlier = visitor.page.locator(".earlier")
    earlier.get_by_role("button").first.wait_for()
    visitor.page.evaluate("name => { location.hash = `workspace=${name}&view=choose`; location.reload(); }", city)
    held.wait()
    visitor.page.locator(".earlier").get_by_role(
        "button", name="Ages of invented people", exact=True
    ).first.click()
    visitor.read("Proved")
    held.let_go()
    expect(visitor.page.locator("header .title")).to_have_text("Ages of invented people")
    visitor.turn("Data")
    assert "1,222 invented people" in visitor.page.locator("main").inner_text()
    assert ages


@pytest.mark.parametrize("late", ["/example", "/site", "/map"])
def test_an_example_that_is_replaced_while_it_is_made_stays_away(visit, late):
    visitor = visit()
    held = Held(visitor.page, "GET" if late == "/map" else "POST" if late == "/example" else "PUT", late)
    visitor.page.locator("button.card").first.click()
    held.wait()
    if visitor.page.locator(".panel").get_by_role("button", name="Other data").count():
        visitor.press("Other data")
    else:
        visitor.page.reload()
    held.let_go()
    visitor.read("Or try an example")
    assert visitor.page.locator("header .title").count() == 0
