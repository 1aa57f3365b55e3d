"""Answers that come late: the page drops those to questions that nobody asks any more."""

import contextlib
import re
import time

import pytest
from playwright.sync_api import expect

from .visitor import LONGEST

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
        until = time.monotonic() + 20
        while not self._routes:
            assert time.monotonic() < until
            self._page.wait_for_timeout(50)

    def let_go(self):
        """Answer those that are held, and hold no more."""
        self._open = True
        for route in self._routes:
            with contextlib.suppress(Exception):  # the page does not want it any more
                route.continue_()


def slider_of(visitor):
    found = visitor.page.get_by_role("slider", name=re.compile("How private"))
    found.wait_for()
    return found


def note_of(visitor):
    return visitor.page.locator("p.note").first


def own_designs(visitor, workspace):
    designs = visitor.studio.ask("GET", f"/workspaces/{workspace}")["designs"]
    return [design for design in designs if not design["frontier"]]


def drafts(visitor, workspace):
    jobs = visitor.studio.ask("GET", f"/workspaces/{workspace}")["jobs"]
    return [job for job in jobs if job["request"].get("draft")]


def test_a_jump_is_not_undone_by_the_design_of_the_level_before(visit, city):
    visitor = visit(workspace=city, view="private")
    visitor.read("On average you appear")
    before = own_designs(visitor, city)
    held = Held(visitor.page, "POST", "/designs")
    slider = slider_of(visitor)
    slider.press("ArrowRight")
    held.wait()
    jump = visitor.page.get_by_label("Jump to a certified level")
    jump.select_option(index=8)
    visitor.read("Proved, on the integers")
    shown = slider.get_attribute("aria-valuetext"), note_of(visitor).inner_text()
    held.let_go()
    until = time.monotonic() + 3
    while time.monotonic() < until:
        assert (slider.get_attribute("aria-valuetext"), note_of(visitor).inner_text()) == shown
        visitor.page.wait_for_timeout(200)
        jobs = visitor.studio.ask("GET", f"/workspaces/{city}")["jobs"]
        if any(job["status"] in ("queued", "running") for job in jobs):
            until = time.monotonic() + 3  # the page looks at jobs every second
    expect(jump).to_have_value("7")
    assert drafts(visitor, city) == []
    assert {each["id"] for each in own_designs(visitor, city)} <= {each["id"] for each in before}


def test_a_slow_look_at_jobs_does_not_bring_back_a_workspace_that_was_left(visit, city):
    visitor = visit(workspace=city, view="private")
    slider = slider_of(visitor)
    held = Held(visitor.page, "GET", f"/api/workspaces/{city}")
    slider.press("ArrowLeft")
    held.wait()
    visitor.press("All workspaces")
    visitor.read("Share less than the exact truth")
    held.let_go()
    visitor.page.wait_for_timeout(2500)
    assert visitor.page.locator("header .title").count() == 0
    assert visitor.page.url.endswith("#")
    visitor.read("Try an example")


def test_the_workspace_that_was_opened_last_is_the_one_that_is_shown(visit, city, ages):
    visitor = visit()
    held = Held(visitor.page, "GET", f"/api/workspaces/{city}/map")
    earlier = visitor.page.locator(".earlier")
    earlier.get_by_role("button", name="An invented city", exact=True).first.wait_for()
    visitor.page.evaluate("name => { location.hash = `w=${name}&v=share`; location.reload(); }", city)
    held.wait()
    visitor.page.locator(".earlier").get_by_role(
        "button", name="Ages of invented people", exact=True
    ).first.click()
    visitor.read("1,222 invented people")
    held.let_go()
    visitor.page.wait_for_timeout(1000)
    expect(visitor.page.locator("header .title")).to_have_text("Ages of invented people")
    assert "1,222 invented people" in visitor.page.locator("main").inner_text()
    assert ages


@pytest.mark.parametrize("late", ["/example", "/site", "/map"])
def test_an_example_that_is_left_while_it_is_made_stays_left(visit, late):
    visitor = visit()
    held = Held(visitor.page, "GET" if late == "/map" else "POST" if late == "/example" else "PUT", late)
    visitor.press("Use the built-in city")
    held.wait()
    visitor.page.get_by_role("link", name="sfumato studio").click()
    held.let_go()
    visitor.page.wait_for_timeout(1500)
    visitor.read("Try an example")
    assert visitor.page.locator("header .title").count() == 0


def test_rests_that_follow_each_other_end_in_one_certified_design(visit, studio):
    """Even while all places for jobs are taken."""
    busy = studio.ask("POST", "/workspaces")["id"]
    studio.ask("POST", f"/workspaces/{busy}/example", {"example": "city"})
    studio.ask("PUT", f"/workspaces/{busy}/site", {"kind": "places", "detail": 300})
    workspace = studio.prepared("city", {"kind": "places", "detail": 40})
    for _ in range(3):
        studio.ask("POST", f"/workspaces/{busy}/designs", {"epsilon": 3.0, "thorough": True})
    ahead = studio.ask("POST", f"/workspaces/{busy}/designs", {"epsilon": 3.0, "draft": True})
    visitor = visit(workspace=workspace, view="private")
    slider = slider_of(visitor)
    visitor.read("On average you appear")
    for _ in range(3):
        slider.press("ArrowRight")
        visitor.page.wait_for_timeout(1300)
    visitor.read("Its own design waits until that of another workspace is made.")
    visitor.meets_no_barrier()
    studio.ask("DELETE", f"/workspaces/{busy}/jobs/{ahead['id']}")
    visitor.read("Proved, on the integers", timeout=LONGEST)
    expect(note_of(visitor)).to_have_text(re.compile("^Certified"))
    slider.press("ArrowRight")
    expect(note_of(visitor)).to_have_text(re.compile("Interpolated"))
    expect(note_of(visitor)).to_have_text(re.compile("^Certified"), timeout=LONGEST)
    studio.ask("DELETE", f"/workspaces/{busy}")
    visitor.turn("Design")
    expect(visitor.page.locator("ul.own > li")).to_have_count(1)
    assert visitor.page.locator("section.job").count() == 0
    assert "stopped early" not in visitor.page.locator("ul.own").inner_text()
    assert len(own_designs(visitor, workspace)) == len(drafts(visitor, workspace)) == 1


def test_a_design_of_the_slider_that_is_shown_on_purpose_is_kept(visit, studio):
    workspace = studio.prepared("ages", {"kind": "values", "first": 18, "last": 29})
    visitor = visit(workspace=workspace, view="private")
    slider = slider_of(visitor)
    for kept in (1, 2):
        slider.press("ArrowRight")
        expect(note_of(visitor)).to_have_text(re.compile("Interpolated"))
        expect(note_of(visitor)).to_have_text(re.compile("^Certified"), timeout=LONGEST)
        visitor.turn("Design")
        expect(visitor.page.locator("ul.own > li")).to_have_count(kept)
        visitor.page.locator("ul.own > li").first.get_by_role("button", name="Show it").click()
        visitor.page.wait_for_timeout(500)
        assert drafts(visitor, workspace) == []
        visitor.turn("How private")
    assert len(own_designs(visitor, workspace)) == 2


def test_a_job_that_ended_is_removed(visit, studio):
    workspace = studio.prepared("ages", {"kind": "values", "first": 18, "last": 29})
    busy = studio.ask("POST", f"/workspaces/{workspace}/designs", {"epsilon": 0.5, "thorough": True})
    with contextlib.suppress(OSError):  # it may be done by then
        studio.ask("POST", f"/workspaces/{workspace}/jobs/{busy['id']}/cancel")
    visitor = visit(workspace=workspace, view="design")
    visitor.read("Certified designs")
    card = visitor.page.locator("section.job")
    if card.count():
        expect(card.get_by_role("heading")).to_have_text(re.compile("cancelled"))
        visitor.meets_no_barrier()
        card.get_by_role("button", name=re.compile("^Remove .*cancelled")).click()
    expect(card).to_have_count(0)
