"""Answers that come late: the page drops those to questions that nobody asks any more."""

import contextlib
import re
import time

import pytest
from playwright.sync_api import Error, expect

from ..conftest import PATIENCE_S
from .visitor import DRAWN

pytestmark = pytest.mark.slow
RECORD = """slider => {
    const now = () => slider.getAttribute("aria-valuetext") + document.querySelector("p.note").innerText;
    window.recorded = new Set([now()]);
    new MutationObserver(() => window.recorded.add(now())).observe(
        document.body, { subtree: true, childList: true, characterData: true, attributes: true },
    );
}"""
"""From now on, note what the slider and the note below it say, whenever anything on the page changes."""


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


def test_a_jump_is_not_undone_by_the_design_of_the_level_before(visit, ages):
    visitor = visit(workspace=ages, view="private")
    visitor.read("On average")
    held = Held(visitor.page, "POST", "/designs")
    slider = slider_of(visitor)
    with visitor.studio.gate.closed():
        slider.press("ArrowRight")
        held.wait()
        jump = visitor.page.get_by_label("Jump to a certified level")
        jump.select_option(index=8)
        visitor.read("Proved, on the integers")
        visitor.page.evaluate(RECORD, slider.element_handle())
        with visitor.expect_answer("DELETE", r"/jobs/\w+"):
            held.let_go()
    visitor.wait_until_drawn()
    assert visitor.page.evaluate("window.recorded.size") == 1
    expect(jump).to_have_value("7")
    assert drafts(visitor, ages) == []
    assert own_designs(visitor, ages) == []


def test_a_slow_look_at_jobs_does_not_bring_back_a_workspace_that_was_left(visit, city):
    visitor = visit(workspace=city, view="private")
    slider = slider_of(visitor)
    held = Held(visitor.page, "GET", f"/api/workspaces/{city}")
    slider.press("ArrowLeft")
    held.wait()
    visitor.press("All workspaces")
    visitor.read("Share less than the exact truth")
    held.let_go()
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
    visitor.read("Try an example")
    assert visitor.page.locator("header .title").count() == 0


def test_rests_that_follow_each_other_end_in_one_certified_design(visit, studio, ages):
    """Even while all places for jobs are taken."""
    busy = studio.ask("POST", "/workspaces")["id"]
    studio.ask("POST", f"/workspaces/{busy}/example", {"example": "ages"})
    studio.ask("PUT", f"/workspaces/{busy}/site", {"kind": "values"})
    with studio.gate.closed(workspace=busy):
        for _ in range(3):
            studio.ask("POST", f"/workspaces/{busy}/designs", {"epsilon": 3.0, "thorough": True})
        ahead = studio.ask("POST", f"/workspaces/{busy}/designs", {"epsilon": 3.0, "draft": True})
        visitor = visit(workspace=ages, view="private")
        slider = slider_of(visitor)
        visitor.read("On average")
        for _ in range(3):
            with visitor.expect_answer("POST", "/designs"):
                slider.press("ArrowRight")
        visitor.read("Its own design waits until that of another workspace is made.")
        visitor.meets_no_barrier()
        studio.ask("DELETE", f"/workspaces/{busy}/jobs/{ahead['id']}")
        visitor.read("Proved, on the integers")
        expect(note_of(visitor)).to_have_text(re.compile("^Certified"))
        move_and_rest(visitor, slider, ages)
        studio.ask("DELETE", f"/workspaces/{busy}")
    visitor.turn("Design")
    expect(visitor.page.locator("ul.own > li")).to_have_count(1)
    assert visitor.page.locator("section.job").count() == 0
    assert "stopped early" not in visitor.page.locator("ul.own").inner_text()
    assert len(own_designs(visitor, ages)) == len(drafts(visitor, ages)) == 1


def move_and_rest(visitor, slider, workspace):
    """Move the slider by a step, and wait until the design of its level is there."""
    with visitor.studio.gate.closed(workspace=workspace):
        slider.press("ArrowRight")
        expect(note_of(visitor)).to_have_text(re.compile("Interpolated"))
    expect(note_of(visitor)).to_have_text(re.compile("^Certified"))


def test_a_design_of_the_slider_that_is_shown_on_purpose_is_kept(visit, ages):
    visitor = visit(workspace=ages, view="private")
    slider = slider_of(visitor)
    for kept in (1, 2):
        move_and_rest(visitor, slider, ages)
        visitor.turn("Design")
        expect(visitor.page.locator("ul.own > li")).to_have_count(kept)
        with visitor.expect_answer("DELETE", r"/jobs/\w+"):
            visitor.page.locator("ul.own > li").first.get_by_role("button", name="Show it").click()
        assert drafts(visitor, ages) == []
        visitor.turn("How private")
    assert len(own_designs(visitor, ages)) == 2


def test_a_job_that_ended_is_removed(visit, studio, ages):
    with studio.gate.closed():
        busy = studio.ask("POST", f"/workspaces/{ages}/designs", {"epsilon": 0.5, "thorough": True})
        studio.ask("POST", f"/workspaces/{ages}/jobs/{busy['id']}/cancel")
    visitor = visit(workspace=ages, view="design")
    visitor.read("Certified designs")
    card = visitor.page.locator("section.job")
    expect(card.get_by_role("heading")).to_have_text(re.compile("cancelled"))
    visitor.meets_no_barrier()
    card.get_by_role("button", name=re.compile("^Remove .*cancelled")).click()
    expect(card).to_have_count(0)
