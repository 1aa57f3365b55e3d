"""The first step: examples, files, the region, an outline, and numbers on a circle."""

import gzip
import json
import re
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Response, Route, expect

from ..conftest import PATIENCE_S, soon
from .visitor import LONGEST

pytestmark = pytest.mark.slow
CANVAS = ".maplibregl-canvas"


def test_the_first_load_is_under_a_megabyte_compressed(visit, studio):
    """Everything that the start page loads, as the server sends it to a browser."""
    visitor = visit()
    sizes: dict[str, Response] = {}
    visitor.page.on("response", lambda answer: sizes.setdefault(answer.url, answer))
    visitor.page.reload()
    visitor.page.get_by_role("heading", level=2).first.wait_for()
    visitor.meets_no_barrier()
    assets = [url for url in sizes if "/assets/" in url]
    assert assets
    total = 0
    for url in assets:
        request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip", "X-Sfumato-Token": studio.token})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            body = answer.read()
            assert answer.headers["Content-Encoding"] == "gzip" or len(body) < 2000, url
            assert gzip.decompress(body) if answer.headers["Content-Encoding"] else body
            total += len(body)
    assert 10_000 < total < 1_000_000


def test_columns_with_unknown_names_are_chosen(visit):
    visitor = visit()
    rows = "".join(f"p{i % 5},{48.8 + 0.01 * (i % 7)},{2.3 + 0.013 * (i % 11)}\n" for i in range(300))
    file = {"name": "trip.csv", "mimeType": "text/csv", "buffer": f"who,vertical,horizontal\n{rows}".encode()}
    visitor.page.get_by_label("It holds").select_option("places")
    visitor.page.set_input_files("#file", file)
    visitor.read("Which columns of trip.csv are the places?")
    assert "422" in visitor.problems.pop()  # the browser notes every refusal
    visitor.meets_no_barrier()
    for role, column in (("Latitude", "vertical"), ("Longitude", "horizontal"), ("Person", "who")):
        visitor.page.get_by_label(re.compile(f"^{role}")).select_option(column)
    visitor.press("Use these columns")
    visitor.read("The map has", timeout=LONGEST)
    visitor.meets_no_barrier()


def test_a_file_that_cannot_be_read_is_refused(visit, studio):
    visitor = visit()
    before = len(studio.ask("GET", "/workspaces")["workspaces"])
    visitor.page.set_input_files("#file", {"name": "no.csv", "mimeType": "text/csv", "buffer": b"\x00\x01"})
    visitor.page.get_by_role("alert").wait_for()
    assert "422" in visitor.problems.pop()
    assert len(soon(lambda: studio.ask("GET", "/workspaces"))["workspaces"]) == before


def test_a_mechanism_file_is_opened_and_proved_again(visit, studio, ages, tmp_path):
    request = urllib.request.Request(
        f"{studio.origin}/api/workspaces/{ages}/mechanism.sfm?level=4", headers={"X-Sfumato-Token": studio.token}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        (tmp_path / "mine.sfm").write_bytes(answer.read())
    expected = next(
        each for each in studio.ask("GET", f"/workspaces/{ages}/levels")["levels"] if each["level"] == 4
    )
    visitor = visit()
    visitor.page.set_input_files("#file", tmp_path / "mine.sfm")
    visitor.read("Proved", timeout=LONGEST)
    workspace = re.search(r"workspace=(\w+)", visitor.page.url)
    assert workspace is not None
    (opened,) = studio.ask("GET", f"/workspaces/{workspace[1]}/levels")["levels"]
    assert opened["epsilon"] == pytest.approx(expected["epsilon"], rel=1e-6)
    assert visitor.headline() == opened["headline"]
    visitor.meets_no_barrier()


@pytest.fixture
def laid(studio):
    workspace = studio.ask("POST", "/workspaces")["id"]
    studio.ask("POST", f"/workspaces/{workspace}/example", {"example": "city"})
    studio.ask("PUT", f"/workspaces/{workspace}/site", {"kind": "places", "detail": 120, "radius_m": 564.0})
    return workspace


def open_region(visit, workspace):
    visitor = visit(workspace=workspace, view="data")
    visitor.page.get_by_text("Region and number of places").click()
    return visitor


def places_of(studio, workspace):
    features = studio.ask("GET", f"/workspaces/{workspace}/map")["cells"]["features"]
    return [(each["properties"]["lat"], each["properties"]["lon"]) for each in features]


def lay_again(visitor):
    """Use the region, and wait until the server has what the page remembers of it."""
    with visitor.expect_answer("PATCH", r"/api/workspaces/\w+"):
        visitor.press("Use this region")


def metres(one, other):
    """Return about how far apart two points near 40 degrees north are."""
    north, east = (one[0] - other[0]) * 111_195, (one[1] - other[1]) * 111_195 * 0.766
    return (north**2 + east**2) ** 0.5


def test_a_selection_stays_where_it_was_or_goes(visit, studio, laid):
    visitor = open_region(visit, laid)
    lay_again(visitor)
    before = places_of(studio, laid)
    selection: dict[str, Any] = {"at": 40, "path": list(range(0, 90, 6)), "suspected": [{"at": 17, "weight": 0.5}]}
    view = studio.ask("GET", f"/workspaces/{laid}")["view"]
    studio.ask("PATCH", f"/workspaces/{laid}", {"view": {**view, **selection}})
    visitor.page.reload()
    visitor.page.get_by_text("Region and number of places").click()
    visitor.page.get_by_label(re.compile("About how many")).fill("60")
    lay_again(visitor)
    after, found = places_of(studio, laid), studio.ask("GET", f"/workspaces/{laid}")
    half = found["site"]["spacing_m"] / 2
    assert len(after) < len(before)
    nearest = {
        at: min(range(len(after)), key=lambda new: metres(before[at], after[new])) for at in range(len(before))
    }
    kept = {at: new for at, new in nearest.items() if metres(before[at], after[new]) <= half}
    view = found["view"]
    assert view["path"] == [kept[at] for at in selection["path"] if at in kept]
    assert 0 < len(view["path"]) < len(selection["path"])
    assert view["suspected"] == ([{"at": kept[17], "weight": 0.5}] if 17 in kept else [])
    assert view["at"] == kept.get(40, view["at"])
    assert found["site"]["radius_m"] == 564.0


def test_places_that_a_script_laid_do_not_inherit_indices(visit, studio, laid):
    visitor = open_region(visit, laid)
    lay_again(visitor)
    view = studio.ask("GET", f"/workspaces/{laid}")["view"]
    assert view["laid"]
    studio.ask("PATCH", f"/workspaces/{laid}", {"view": {**view, "path": [3, 17]}})
    studio.ask("PUT", f"/workspaces/{laid}/site", {"kind": "places", "detail": 30})
    visitor.page.reload()
    visitor.read("The map has")
    visitor.press("Next: choose how private")
    visitor.act("Walk")
    visitor.read("There is no stop yet")
    assert visitor.page.get_by_role("button", name=re.compile("^Remove stop")).count() == 0


def test_the_distance_of_a_law_is_given_in_feet(visit, studio, laid):
    visitor = open_region(visit, laid)
    near = visitor.page.get_by_label("A guess counts as found within")
    expect(near).to_have_value("564")
    near.fill("0")
    visitor.read("Give a distance above 0")
    assert visitor.page.get_by_role("button", name="Use this region").is_disabled()
    near.fill("1850")
    visitor.page.get_by_label("Unit").select_option(label="feet")
    visitor.meets_no_barrier()
    visitor.page.get_by_label(re.compile("About how many")).fill("30")
    lay_again(visitor)
    assert studio.ask("GET", f"/workspaces/{laid}")["site"]["radius_m"] == pytest.approx(563.88)
    visitor.page.reload()
    visitor.page.get_by_text("Region and number of places").click()
    expect(near).to_have_value("1850")
    expect(visitor.page.get_by_label("Unit")).to_have_value("ft")


def test_the_number_of_places_does_not_shrink_by_itself(visit, studio, laid):
    visitor = open_region(visit, laid)
    lay_again(visitor)
    first = len(places_of(studio, laid))
    for _ in range(2):
        lay_again(visitor)
    assert len(places_of(studio, laid)) == first


def test_a_region_is_drawn(visit, city):
    visitor = open_region(visit, city)
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
    visitor = open_region(visit, workspace)
    canvas, corners = visitor.page.locator(CANVAS), visitor.page.locator("#corners")
    visitor.page.get_by_label("A polygon").check()
    visitor.press("Draw on the map")
    expect(canvas).to_be_focused()
    typed = visitor.page.get_by_label("Corners, one on each line")
    for arrow in ("ArrowLeft", "ArrowUp", "ArrowRight"):
        lines = typed.input_value()
        visitor.page.keyboard.press("Enter")
        expect(typed).not_to_have_value(lines)
        visitor.page.keyboard.press(arrow)
        visitor.page.wait_for_timeout(400)  # the map moves
    expect(corners).to_have_text("3 corners.")
    visitor.page.keyboard.press("Backspace")
    expect(corners).to_contain_text("2 corners; a polygon needs")
    box = canvas.bounding_box()
    for x, y in ((0.15, 0.2), (0.8, 0.15)):
        visitor.page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y)
    expect(corners).to_have_text("4 corners.")
    visitor.page.keyboard.press("Escape")
    typed.fill("37.74, -122.47\n37.74, -122.39\nnorth")
    expect(corners).to_contain_text("Line 3 must be a latitude and a longitude")
    typed.fill("37.735, -122.475\n37.735, -122.395\n37.8, -122.43")
    visitor.meets_no_barrier()
    with visitor.page.expect_response(lambda answer: answer.url.endswith("/site")) as answer:
        visitor.press("Use this region")
    assert answer.value.ok, answer.value.text()
    visitor.page.reload()
    visitor.page.get_by_text("Region and number of places").click()
    expect(visitor.page.get_by_label("A polygon")).to_be_checked()
    expect(typed).to_have_value("37.73500, -122.47500\n37.73500, -122.39500\n37.80000, -122.43000\n")


def test_the_map_is_drawn_on_an_own_outline(visit, city, tmp_path):
    visitor = visit(workspace=city, view="data")
    visitor.page.get_by_text("Outline below the map").click()
    ring = [[-122.45, 37.75], [-122.41, 37.75], [-122.41, 37.78], [-122.45, 37.75]]
    feature = {
        "type": "Feature",
        "properties": {"name": "<b>Our quarter</b>"},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }
    (tmp_path / "ours.geojson").write_text(json.dumps(feature), encoding="utf-8")
    visitor.page.set_input_files("#outline", tmp_path / "ours.geojson")
    visitor.page.locator(".name", has_text="<b>Our quarter</b>").wait_for()
    visitor.meets_no_barrier()
    visitor.press("Remove the outline")
    visitor.page.locator(".name", has_text="<b>Our quarter</b>").wait_for(state="detached")
    visitor.page.set_input_files("#outline", {"name": "no.geojson", "mimeType": "text/plain", "buffer": b"{"})
    visitor.read("is not GeoJSON")
    assert "422" in visitor.problems.pop()


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
    visitor.page.get_by_text("The numbers are on a circle of 12").wait_for(state="detached")
    assert studio.ask("GET", f"/workspaces/{name}")["site"]["circular"] is None


def test_a_question_about_former_values_is_taken_back(visit, studio):
    """Else the server could answer that what it is about is gone, and the next question would wait for it."""
    name = studio.ask("POST", "/workspaces")["id"]
    studio.ask("POST", f"/workspaces/{name}/example", {"example": "ages"})
    studio.ask("PUT", f"/workspaces/{name}/site", {"kind": "values", "first": 18, "last": 29})
    visitor = visit()
    waiting: list[Route] = []
    visitor.page.route("**/preview?*", lambda route: waiting.append(route), times=1)
    visitor.enter(name, "data")
    visitor.page.reload()  # only now the page reads its address
    visitor.page.get_by_label("Circular, with period").fill("12")
    soon(lambda: visitor.page.evaluate("1") and waiting)
    with visitor.page.expect_event("requestfailed", lambda request: "/preview?" in request.url):
        visitor.press("Use these numbers")
    visitor.read("The numbers are on a circle of 12")
