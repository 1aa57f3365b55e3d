"""The story without a map: ages."""

import pytest

from .visitor import LONGEST

pytestmark = pytest.mark.slow


def test_ages_have_a_picture_of_their_own(visit, ages):
    visitor = visit(workspace=ages, view="private")
    visitor.read("On average")
    visitor.page.locator(".bars svg").wait_for()
    assert visitor.page.locator(".maplibregl-canvas").count() == 0
    visitor.meets_no_barrier()


def test_an_age_is_shared_and_shared_again(visit, ages):
    visitor = visit(workspace=ages, view="share")
    visitor.press("Share it a hundred times")
    visitor.read("100 reports")
    visitor.meets_no_barrier()
    visitor.turn("Answer again")
    visitor.press("Answer")
    visitor.read("After report 20 of 20")
    visitor.meets_no_barrier()


def test_an_age_is_suspected(visit, ages):
    visitor = visit(workspace=ages, view="attack")
    visitor.read("Attack with what you know")
    visitor.suspect()
    visitor.press("Attack")
    visitor.read("Three attackers")
    visitor.meets_no_barrier()


def test_designs_for_ages_are_compared(visit, ages):
    visitor = visit(workspace=ages, view="compare")
    visitor.press("Compare at this loss")
    visitor.page.locator(".panel table").wait_for(timeout=LONGEST)
    visitor.meets_no_barrier()


def test_ages_are_laid_around_a_circle(visit, studio):
    name = studio.ask("POST", "/workspaces")["id"]
    studio.ask("POST", f"/workspaces/{name}/example", {"example": "ages"})
    studio.ask("PUT", f"/workspaces/{name}/site", {"kind": "values", "first": 18, "last": 29})
    visitor = visit(workspace=name, view="data")
    period = visitor.page.get_by_label("Circular, with period")
    period.fill("12")
    visitor.press("Use these numbers")
    visitor.read("The numbers are on a circle of 12: 29 and 18 are 1 apart")
    assert visitor.page.get_by_label("From").input_value() == "18"
    assert period.input_value() == "12"
    visitor.meets_no_barrier()
    period.fill("")
    visitor.press("Use these numbers")
    visitor.page.get_by_text("on a circle of 12").wait_for(state="detached")
    assert studio.ask("GET", f"/workspaces/{name}")["site"]["circular"] is None
