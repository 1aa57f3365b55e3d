"""Long work: cancelled, resumed, and taken up again after the studio was stopped."""

from contextlib import ExitStack

import pytest
from playwright.sync_api import expect

from ..conftest import soon

pytestmark = pytest.mark.slow


def test_a_design_is_cancelled_and_taken_up_again(visit, city):
    visitor = visit(workspace=city, view="design")
    designs = visitor.page.locator("ul.own > li")
    visitor.read("Certified designs")
    job = visitor.page.locator("section.job").first
    with visitor.studio.gate.closed("progress", 1):
        visitor.press("Design it")
        with visitor.expect_answer("POST", "/cancel"):
            job.get_by_role("button", name="Cancel").click()
    visitor.read(": cancelled")
    visitor.meets_no_barrier()
    stopped = asked_for(visitor, city)
    job.get_by_role("button", name="Go on with it").click()
    expect(visitor.page.locator("section.job")).to_have_count(0)
    done = asked_for(visitor, city)
    assert done["id"] == stopped["id"]
    kept = {each["id"]: each for each in visitor.studio.ask("GET", f"/workspaces/{city}")["designs"]}
    assert kept[done["result"]["design"]]["finished"]
    earlier = (stopped["result"] or {}).get("design")
    assert earlier not in kept.keys() - {done["result"]["design"]}
    expect(designs).to_have_count(sum(not each["frontier"] for each in kept.values()))
    assert "stopped early" not in designs.first.inner_text()


def asked_for(visitor, workspace):
    """Return the last thorough design that was asked for, as a job."""
    jobs = visitor.studio.ask("GET", f"/workspaces/{workspace}")["jobs"]
    return [job for job in jobs if job["request"].get("thorough")][-1]


def test_jobs_survive_a_restart_of_the_studio(visit, start):
    with ExitStack() as held, start() as first:
        workspace = first.ask("POST", "/workspaces")["id"]
        here = f"/workspaces/{workspace}"
        first.ask("POST", f"{here}/example", {"example": "ages"})
        first.ask("PUT", f"{here}/site", {"kind": "values", "first": 18, "last": 29})
        held.enter_context(first.gate.closed("design", 2))  # until the studio has stopped
        first.ask("POST", f"{here}/frontier", {})
        soon(lambda: first.ask("GET", here)["frontier"]["ready"] == 2)
    with start() as second:
        visitor = visit(workspace=workspace, view="private", at=second)
        visitor.read("On average")
        visitor.read("This was interrupted before it was done.")
        visitor.meets_no_barrier()
        visitor.press("Go on")
        expect(visitor.page.locator("progress")).to_have_count(0)
        assert second.ask("GET", here)["frontier"]["ready"] == 12
        visitor.page.goto("about:blank")


def test_one_design_goes_on_after_a_cancel_and_after_a_restart(visit, start):
    def lines(studio):
        return studio.ask("GET", f"{here}/jobs/{job}")["progress"]

    with ExitStack() as held, start() as first:
        workspace = first.ask("POST", "/workspaces")["id"]
        here = f"/workspaces/{workspace}"
        first.ask("POST", f"{here}/example", {"example": "city"})
        first.ask("PUT", f"{here}/site", {"kind": "places", "detail": 60})
        with first.gate.closed("design", 2):
            frontier = first.ask("POST", f"{here}/frontier", {})["id"]
            soon(lambda: first.ask("GET", here)["frontier"]["ready"] == 2)
            first.ask("POST", f"{here}/jobs/{frontier}/cancel")
        with first.gate.closed("progress", 2):
            job = first.ask("POST", f"{here}/designs", {"epsilon": 1.5, "thorough": True})["id"]
            visitor = visit(workspace=workspace, view="design", at=first)
            shown = visitor.page.get_by_role("region", name="Design for epsilon 1.5")
            expect(shown).to_contain_text("% from the best possible")
            with visitor.expect_answer("POST", "/cancel"):
                shown.get_by_role("button", name="Cancel").click()
        expect(shown).to_contain_text(": cancelled")
        cancelled = lines(first)
        held.enter_context(first.gate.closed("progress", 3))  # until the studio has stopped
        shown.get_by_role("button", name="Go on with it").click()
        expect(shown).to_contain_text(": running")
        soon(lambda: len(lines(first)) > len(cancelled) + 1)
        assert lines(first)[: len(cancelled)] == cancelled
        visitor.page.goto("about:blank")
    with start() as second:
        visitor = visit(workspace=workspace, view="design", at=second)
        shown = visitor.page.get_by_role("region", name="Design for epsilon 1.5")
        expect(shown).to_contain_text(": interrupted when the studio stopped")
        visitor.meets_no_barrier()
        stopped = lines(second)
        assert len(stopped) > len(cancelled)
        shown.get_by_role("button", name="Go on with it").click()
        expect(shown).to_have_count(0)
        done = second.ask("GET", f"{here}/jobs/{job}")
        assert done["status"] == "done"
        assert done["progress"][: len(stopped)] == stopped
        assert [line["step"] for line in done["progress"]] == list(range(len(done["progress"])))
        kept = {each["id"]: each for each in second.ask("GET", here)["designs"]}
        assert kept[done["result"]["design"]]["finished"]
        visitor.page.goto("about:blank")
