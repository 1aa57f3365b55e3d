"""Long work: stopped, resumed, and taken up again after the studio was stopped."""

from contextlib import ExitStack

import pytest
from playwright.sync_api import expect

from ..conftest import soon

pytestmark = pytest.mark.slow


def optimized(studio, here):
    """Return how many levels are optimized."""
    levels = studio.ask("GET", f"{here}/levels")["levels"]
    return sum(each["status"] == "optimized" for each in levels)


def test_a_run_is_stopped_and_resumed(visit, studio):
    workspace = studio.ask("POST", "/workspaces")["id"]
    here = f"/workspaces/{workspace}"
    studio.ask("POST", f"{here}/example", {"example": "ages"})
    studio.ask("PUT", f"{here}/site", {"kind": "values", "first": 18, "last": 29})
    with studio.gate.closed("design", 2, workspace=workspace):
        visitor = visit(workspace=workspace, view="choose")
        visitor.read("Proved")
        run = visitor.page.locator("section.job")
        run.get_by_role("progressbar").wait_for()
        soon(lambda: studio.ask("GET", here)["jobs"][0]["done"] >= 2)
        visitor.meets_no_barrier()
        with visitor.expect_answer("POST", "/cancel"):
            run.get_by_role("button", name="Stop").click()
    expect(run).to_contain_text("stopped")
    visitor.meets_no_barrier()
    run.get_by_role("button", name="Resume").click()
    expect(run).to_have_count(0)
    (job,) = studio.ask("GET", here)["jobs"]
    assert job["status"] == "done"


def test_a_run_survives_a_restart_of_the_studio(visit, start):
    with ExitStack() as held, start() as first:
        workspace = first.ask("POST", "/workspaces")["id"]
        here = f"/workspaces/{workspace}"
        first.ask("POST", f"{here}/example", {"example": "ages"})
        first.ask("PUT", f"{here}/site", {"kind": "values", "first": 18, "last": 29})
        held.enter_context(first.gate.closed("design", 2))  # until the studio has stopped
        first.ask("POST", f"{here}/optimize", {})
        soon(lambda: first.ask("GET", here)["jobs"][0]["done"] >= 2)
    with start() as second:
        visitor = visit(workspace=workspace, view="choose", at=second)
        visitor.read("Proved")
        run = visitor.page.locator("section.job")
        expect(run).to_contain_text("interrupted when the studio stopped")
        visitor.meets_no_barrier()
        run.get_by_role("button", name="Resume").click()
        expect(run).to_have_count(0)
        visitor.page.goto("about:blank")
