"""The second step: the slider with its levels, and what is tried on the map or the bars."""

import re

import pytest
from playwright.sync_api import expect

from ..conftest import soon
from .visitor import LONGEST

pytestmark = pytest.mark.slow
CANVAS = ".maplibregl-canvas"


def levels_of(studio, workspace):
    return {each["level"]: each for each in studio.ask("GET", f"/workspaces/{workspace}/levels")["levels"]}


def test_the_headline_is_the_proved_guarantee_before_and_after_levels_are_optimized(visit, studio):
    workspace = studio.ask("POST", "/workspaces")["id"]
    studio.ask("POST", f"/workspaces/{workspace}/example", {"example": "city"})
    studio.ask("PUT", f"/workspaces/{workspace}/site", {"kind": "places", "detail": 30})
    with studio.gate.closed("design", 1, workspace=workspace):
        visitor = visit(workspace=workspace, view="choose")
        visitor.read("Proved")
        soon(lambda: len(levels_of(studio, workspace)) == 12)
        closed = levels_of(studio, workspace)
        start = int(visitor.slider.input_value())
        for step in range(3):
            expect(visitor.page.locator(".panel h2")).to_have_text(closed[start + step]["headline"])
            visitor.slider.press("ArrowRight")
        visitor.read(re.compile("Optimizing|optimized", re.IGNORECASE))
        visitor.meets_no_barrier()
    visitor.page.locator("progress").wait_for(state="detached", timeout=LONGEST)
    done = levels_of(studio, workspace)
    assert "optimized" in {each["status"] for each in done.values()}
    expect(visitor.page.locator(".panel h2")).to_have_text(done[start + 3]["headline"])
    visitor.slider.press("Home")
    expect(visitor.page.locator(".panel h2")).to_have_text(done[0]["headline"])
    expect(visitor.page.locator(".measures")).to_contain_text(done[0]["loss"]["baseline_sentence"])
    expect(visitor.page.locator(".measures")).to_contain_text(done[0]["found"]["baseline_sentence"])


def test_a_level_is_chosen_by_an_outcome(visit, city):
    visitor = visit(workspace=city, view="choose")
    visitor.read("Proved")
    goal = visitor.page.get_by_label("Or choose by outcome")
    goal.select_option("found_at_most")
    visitor.page.get_by_label("Limit").fill("30")
    with visitor.expect_answer("POST", "/choose") as answer:
        visitor.press("Find the level")
    chosen = answer.value.json()
    expect(visitor.slider).to_have_value(str(chosen["level"]))
    visitor.read(chosen["sentence"])
    goal.select_option("loss_at_most")
    visitor.page.get_by_label("Limit").fill("1")
    visitor.press("Find the level")
    visitor.page.locator(".panel .problem").wait_for()
    visitor.meets_no_barrier()


def test_a_click_on_the_map_is_to_be_there(visit, city):
    visitor = visit(workspace=city, view="choose")
    chosen = visitor.page.get_by_label(re.compile("^You are at"))
    before = chosen.input_value()
    canvas = visitor.page.locator(CANVAS)
    canvas.wait_for()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.35

    def over_a_cell():
        for further in (0, 1):
            visitor.page.mouse.move(x + further, y)
        return canvas.evaluate("it => it.style.cursor") == "pointer"

    soon(over_a_cell)
    visitor.page.mouse.click(x, y)
    expect(chosen).not_to_have_value(before)
    visitor.read("From here, reports are about")


def test_a_place_is_reported_a_hundred_times(visit, city):
    visitor = visit(workspace=city, view="choose")
    visitor.page.get_by_label(re.compile("^You are at")).select_option(index=11)
    visitor.act("Report 100 times")
    visitor.read("100 reports")
    visitor.read("What the first report reveals")
    visitor.page.get_by_text("The picture as a table").click()
    visitor.read("Share of these reports")
    visitor.meets_no_barrier()
    visitor.slider.press("ArrowLeft")  # these reports were of another level
    expect(visitor.page.get_by_text("What the first report reveals")).to_have_count(0)


def test_a_walk_sharpens_the_attackers_belief(visit, city):
    visitor = visit(workspace=city, view="choose")
    visitor.act("Walk")
    for place in (3, 9, 15):
        visitor.page.get_by_label("Next stop").select_option(index=place)
        visitor.press("Add this stop")
    visitor.press("Start the walk")
    visitor.read("After report 3 of 3")
    visitor.page.get_by_label(re.compile("^After report")).press("Home")
    visitor.read("After report 1 of 3")
    visitor.meets_no_barrier()


def test_an_attacker_knows_more(visit, city):
    visitor = visit(workspace=city, view="choose")
    visitor.act("Attack")
    visitor.page.get_by_label(re.compile("^Suspected place")).select_option(index=8)
    visitor.suspect()
    visitor.press("Attack with this")
    visitor.read("Three attackers")
    expect(visitor.page.locator(".action tbody tr")).to_have_count(3)
    visitor.meets_no_barrier()


def test_a_comparison_has_the_level_shown_and_says_when_it_is_stale(visit, ages):
    visitor = visit(workspace=ages, view="choose")
    visitor.read("Proved")
    visitor.act("Compare")
    table = visitor.page.locator(".action table")
    for name in ("Compare", "Compare again"):
        visitor.page.locator(".action").get_by_role("button", name=name, exact=True).click()
        table.wait_for(timeout=LONGEST)
        expect(table.locator("tr.yours")).to_have_count(1)
        for row in table.locator("tbody th small").all_inner_texts():
            assert row.strip()
        visitor.meets_no_barrier()
        visitor.slider.press("ArrowRight")
        visitor.read("This comparison is of another mechanism")
        visitor.meets_no_barrier()


def test_definitions_with_a_meaningful_limit_are_shown_and_others_folded(visit, city):
    visitor = visit(workspace=city, view="choose")
    visitor.page.get_by_text("What this level promises").click()
    visitor.slider.press("Home")
    visitor.page.locator(".fold li").first.wait_for()
    notions = visitor.studio.ask("GET", f"/workspaces/{city}/notions?level=0")["notions"]
    meaningful = sum(each["meaningful"] for each in notions)
    expect(visitor.page.locator(".fold > ul > li")).to_have_count(meaningful)
    visitor.read(f"{len(notions) - meaningful} others")
    visitor.meets_no_barrier()


def test_a_refresh_keeps_the_level_and_the_place(visit, city):
    visitor = visit(workspace=city, view="choose")
    visitor.read("Proved")
    with visitor.expect_answer("PATCH", r"/api/workspaces/\w+"):
        visitor.slider.press("End")
        visitor.page.get_by_label(re.compile("^You are at")).select_option(index=14)
    visitor.page.reload()
    visitor.read("Proved")
    expect(visitor.slider).to_have_value("11")
    expect(visitor.page.get_by_label(re.compile("^You are at"))).to_have_value("14")


@pytest.mark.parametrize("dark", [False, True])
def test_ages_have_bars_and_the_same_actions(visit, ages, dark):
    visitor = visit(workspace=ages, view="choose", dark=dark)
    visitor.read("Proved")
    visitor.page.locator(".bars svg").wait_for()
    assert visitor.page.locator(CANVAS).count() == 0
    visitor.act("Report 100 times")
    visitor.read("100 reports")
    visitor.meets_no_barrier()
    visitor.act("Answer again")
    visitor.press("Answer")
    visitor.read("After report 20 of 20")
    visitor.meets_no_barrier()
    visitor.act("Attack")
    visitor.suspect()
    visitor.press("Attack with this")
    visitor.read("Three attackers")
    visitor.meets_no_barrier()


def test_categories_are_judged_by_the_accuracy_of_their_shares(visit):
    visitor = visit()
    visitor.page.locator(".cards").get_by_role("button", name=re.compile("^Neighbourhoods")).click()
    visitor.read("Proved")
    visitor.page.locator(".bars svg").wait_for()
    expect(visitor.page.get_by_label("Or choose by outcome")).to_have_value("half_width_at_most")
    visitor.meets_no_barrier()
    visitor.turn("Take away")
    visitor.page.get_by_label("People who answer").fill("10000")
    visitor.read(re.compile(r"10,?000"))
    visitor.meets_no_barrier()
