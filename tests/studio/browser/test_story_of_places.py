"""The story on the map, from a file of check-ins to a mechanism to take along."""

import json
import re

import pytest
from playwright.sync_api import expect

import sfumato as sf

from ..conftest import soon
from .visitor import LONGEST

pytestmark = pytest.mark.slow
CANVAS = ".maplibregl-canvas"


def test_a_region_can_be_drawn(visit, city):
    visitor = visit(workspace=city, view="data")
    before = visitor.page.get_by_label("South").input_value()
    visitor.press("Draw on the map")
    expect(visitor.page.locator(CANVAS)).to_have_css("cursor", "crosshair")
    box = visitor.page.locator(CANVAS).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visitor.page.mouse.move(x - 80, y - 60)
    visitor.page.mouse.down()
    visitor.page.mouse.move(x, y, steps=4)
    visitor.page.mouse.move(x + 80, y + 60, steps=4)
    visitor.page.mouse.up()
    expect(visitor.page.get_by_label("South")).not_to_have_value(before)


def test_a_polygon_is_drawn_by_keyboard_and_by_mouse(visit, studio):
    workspace = studio.ask("POST", "/workspaces")["id"]
    studio.ask("POST", f"/workspaces/{workspace}/example", {"example": "city"})
    studio.ask("PUT", f"/workspaces/{workspace}/site", {"kind": "places", "detail": 30})
    visitor = visit(workspace=workspace, view="data")
    canvas, name = visitor.page.locator(CANVAS), visitor.page.locator(".map .name").first
    visitor.page.get_by_label("A polygon").check()
    visitor.press("Draw on the map")
    expect(canvas).to_be_focused()
    typed = visitor.page.get_by_label("Corners, one on each line")
    for arrow in ("ArrowLeft", "ArrowUp"):
        visitor.page.keyboard.press("Enter")
        before = name.get_attribute("style")
        visitor.page.keyboard.press(arrow)
        expect(name).not_to_have_attribute("style", before)  # it moves with the map
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.locator("#corners")).to_have_text("3 corners.")
    visitor.page.keyboard.press("Backspace")
    expect(visitor.page.locator("#corners")).to_contain_text("2 corners; a polygon needs")
    box = canvas.bounding_box()
    for x, y in ((0.15, 0.2), (0.8, 0.15)):
        visitor.page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y)
    expect(visitor.page.locator("#corners")).to_have_text("4 corners.")
    visitor.page.keyboard.press("Escape")
    typed.fill("39.99, -30.03\n39.99, -29.97\nnorth")
    expect(visitor.page.locator("#corners")).to_contain_text("Line 3 is no latitude and longitude")
    typed.fill("39.985, -30.035\n39.985, -29.965\n40.02, -30.0")
    visitor.meets_no_barrier()
    with visitor.page.expect_response(lambda answer: answer.url.endswith("/site")) as laid:
        visitor.press("Use this region")
    assert laid.value.ok, laid.value.text()
    visitor.page.reload()
    expect(visitor.page.get_by_label("A polygon")).to_be_checked()
    expect(typed).to_have_value("39.98500, -30.03500\n39.98500, -29.96500\n40.02000, -30.00000\n")


def test_the_slider_answers_at_once_and_its_level_is_certified(visit, city):
    visitor = visit(workspace=city, view="private")
    visitor.read("On average you appear")
    slider = visitor.page.get_by_role("slider", name=re.compile("How private"))
    tiles = visitor.page.locator("ul.facts")
    before = tiles.inner_text()
    slider.focus()
    with visitor.studio.gate.closed():
        for _ in range(9):
            visitor.page.keyboard.press("ArrowLeft")
        expect(tiles).not_to_have_text(before)
        assert "Interpolated" in visitor.page.locator(".note").first.inner_text()
        visitor.meets_no_barrier()
    visitor.read("Proved, on the integers", timeout=LONGEST)
    soon(lambda: visitor.studio.ask("GET", f"/workspaces/{city}")["view"].get("design"))
    visitor.page.reload()
    visitor.read("Proved, on the integers")
    assert visitor.page.locator(".note").first.inner_text().startswith("Certified")


def test_the_map_is_drawn_on_an_outline_of_ones_own(visit, city, tmp_path):
    visitor = visit(workspace=city, view="data")
    visitor.page.locator(".name", has_text="Old Town").wait_for()
    ring = [[-30.01, 39.99], [-29.99, 39.99], [-29.99, 40.01], [-30.01, 39.99]]
    shape = {"type": "Polygon", "coordinates": [ring]}
    file = tmp_path / "ours.geojson"
    feature = {"type": "Feature", "properties": {"name": "<b>Our quarter</b>"}, "geometry": shape}
    file.write_text(json.dumps(feature), encoding="utf-8")
    visitor.page.set_input_files("#outline", file)
    visitor.page.locator(".name", has_text="<b>Our quarter</b>").wait_for()
    assert visitor.page.locator(".name").count() == 1
    visitor.meets_no_barrier()
    visitor.press("Remove the outline")
    visitor.page.locator(".name", has_text="Old Town").wait_for()
    visitor.page.set_input_files("#outline", {"name": "no.geojson", "mimeType": "text/plain", "buffer": b"{"})
    visitor.read("is not GeoJSON")
    assert "422" in visitor.problems.pop()  # the browser notes every refusal


def test_a_level_is_chosen_by_what_comes_of_it(visit, city):
    visitor = visit(workspace=city, view="private")
    visitor.page.get_by_label(re.compile("^Found at most")).fill("30")
    visitor.press("Find the most useful")
    visitor.read("30 % found")
    visitor.page.get_by_label(re.compile("^Off by at most")).fill("1500")
    visitor.press("Find the most private")
    visitor.read("a loss of at most")
    visitor.meets_no_barrier()


def test_the_frontier_is_jumped_on_by_a_click_and_by_the_keyboard(visit, city):
    visitor = visit(workspace=city, view="private")
    dots = visitor.page.locator(".jump circle")
    dots.first.wait_for()
    dots.nth(3).click()
    visitor.read("Proved, on the integers")
    chosen = visitor.page.get_by_label("Jump to a certified level")
    chosen.select_option(index=6)
    visitor.read("Proved, on the integers")


def test_a_place_is_shared_a_hundred_times(visit, city):
    visitor = visit(workspace=city, view="share")
    visitor.read("Be there, and share it")
    visitor.page.get_by_label(re.compile("^You are at")).select_option(index=11)
    visitor.press("Share it a hundred times")
    visitor.read("100 reports")
    visitor.read("What the first report tells an attacker")
    visitor.page.get_by_text("The picture as a table").click()
    visitor.read("Share of these reports")
    visitor.meets_no_barrier()


def test_a_click_on_the_map_is_to_be_there(visit, city):
    visitor = visit(workspace=city, view="share")
    visitor.read("Be there, and share it")
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


def test_a_walk_sharpens_the_attackers_belief(visit, city):
    visitor = visit(workspace=city, view="walk")
    visitor.read("Walk, and be watched")
    for place in (3, 9, 15):
        visitor.page.get_by_label("Next stop").select_option(index=place)
        visitor.press("Add this stop")
    visitor.page.get_by_role("button", name="Walk", exact=True).click()
    visitor.read("After report 3 of 3")
    visitor.page.get_by_role("slider").focus()
    visitor.page.keyboard.press("Home")
    visitor.read("After report 1 of 3")
    visitor.meets_no_barrier()


def test_mechanisms_are_compared_at_equal_loss(visit, city):
    visitor = visit(workspace=city, view="compare")
    visitor.press("Compare at this loss")
    visitor.page.locator(".panel table").wait_for(timeout=LONGEST)
    expect(visitor.page.locator(".panel tbody tr")).to_have_count(6)
    visitor.read("All mechanisms are compared at a loss of about")
    visitor.meets_no_barrier()


def test_an_attacker_knows_more(visit, city):
    visitor = visit(workspace=city, view="attack")
    visitor.read("Attack with what you know")
    visitor.page.get_by_label(re.compile("^They suspect")).select_option(index=8)
    visitor.suspect()
    visitor.press("Attack")
    visitor.read("Three attackers")
    visitor.meets_no_barrier()


def test_the_atlas_lights_up(visit, city):
    visitor = visit(workspace=city, view="atlas")
    visitor.page.locator(".notions li.lit").first.wait_for()
    visitor.meets_no_barrier()


def test_a_design_runs_beside_the_page_and_is_taken_along(visit, city, tmp_path):
    visitor = visit(workspace=city, view="design")
    visitor.page.get_by_label("thorough").uncheck()
    visitor.press("Design it")
    own = visitor.page.locator("ul.designs.own")  # those of the slider are below, and close then
    link = own.get_by_role("link", name="Mechanism").first
    link.wait_for(timeout=LONGEST)
    visitor.meets_no_barrier()
    with visitor.page.expect_download() as download:
        link.click()
    download.value.save_as(tmp_path / "mechanism.sfm")
    assert isinstance(mechanism := sf.load(tmp_path / "mechanism.sfm"), sf.Mechanism)
    assert mechanism.matrix.shape[0] >= 20
    with visitor.page.expect_download() as download:
        own.get_by_role("link", name="Script").first.click()
    download.value.save_as(tmp_path / "script.py")
    compile((tmp_path / "script.py").read_text(encoding="utf-8"), "script.py", "exec")
    with visitor.page.expect_download(timeout=LONGEST) as download:
        own.get_by_role("button", name="Report", exact=True).first.click()
    download.value.save_as(tmp_path / "report.html")
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with visitor.page.expect_download(timeout=LONGEST) as download:
        own.get_by_role("button", name="Report as data").first.click()
    download.value.save_as(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))


def test_a_refresh_keeps_where_one_was(visit, city):
    visitor = visit(workspace=city, view="share")
    with visitor.expect_answer("PATCH", r"/api/workspaces/\w+"):
        visitor.page.get_by_label(re.compile("^You are at")).select_option(index=14)
    visitor.page.reload()
    visitor.read("Be there, and share it")
    expect(visitor.page.get_by_label(re.compile("^You are at"))).to_have_value("14")
