"""The region laid anew: what was chosen among its places, and how near a guess counts as found."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


@pytest.fixture
def laid(studio):
    workspace = studio.ask("POST", "/workspaces")["id"]
    studio.ask("POST", f"/workspaces/{workspace}/example", {"example": "city"})
    studio.ask("PUT", f"/workspaces/{workspace}/site", {"kind": "places", "detail": 120, "radius_m": 564.0})
    return workspace


def places_of(studio, workspace):
    features = studio.ask("GET", f"/workspaces/{workspace}/map")["cells"]["features"]
    return [(each["properties"]["lat"], each["properties"]["lon"]) for each in features]


def laid_again(visitor):
    """Use the region, and wait until the page has told the server what it remembers of it."""
    with visitor.expect_answer("PATCH", r"/api/workspaces/\w+"):
        visitor.press("Use this region")


def away(one, other):
    """Return about how far apart two points near 40 degrees north are, metres."""
    north, east = (one[0] - other[0]) * 111_195, (one[1] - other[1]) * 111_195 * 0.766
    return (north**2 + east**2) ** 0.5


def test_what_was_chosen_stays_where_it_was_or_goes(visit, studio, laid):
    before = places_of(studio, laid)
    chosen: dict[str, Any] = {"at": 40, "path": list(range(0, 90, 6)), "suspected": [{"at": 17, "weight": 0.5}]}
    studio.ask("PATCH", f"/workspaces/{laid}", {"view": chosen})
    visitor = visit(workspace=laid, view="data")
    visitor.page.get_by_label(re.compile("About how many")).fill("60")
    laid_again(visitor)
    found = studio.ask("GET", f"/workspaces/{laid}")
    after, half = places_of(studio, laid), found["site"]["spacing_m"] / 2
    assert len(after) < len(before)
    nearest = {
        at: min(range(len(after)), key=lambda new: away(before[at], after[new])) for at in range(len(before))
    }
    kept = {at: new for at, new in nearest.items() if away(before[at], after[new]) <= half}
    view = found["view"]
    assert view["path"] == [kept[at] for at in chosen["path"] if at in kept]
    assert 0 < len(view["path"]) < len(chosen["path"])
    assert view["suspected"] == [{"at": kept[17], "weight": 0.5}] if 17 in kept else view["suspected"] == []
    assert view["at"] == kept.get(40, view["at"])
    assert found["site"]["radius_m"] == 564.0


def test_places_that_a_script_laid_do_not_inherit_indices(visit, studio, laid):
    visitor = visit(workspace=laid, view="data")
    laid_again(visitor)
    assert studio.ask("GET", f"/workspaces/{laid}")["view"]["laid"]
    view = studio.ask("GET", f"/workspaces/{laid}")["view"]
    studio.ask("PATCH", f"/workspaces/{laid}", {"view": {**view, "path": [3, 17]}})
    studio.ask("PUT", f"/workspaces/{laid}/site", {"kind": "places", "detail": 30})
    visitor.page.reload()
    visitor.read("The map has")
    visitor.press("Next: how private?")
    visitor.read("On average you appear")
    visitor.turn("Walk")
    visitor.read("Walk, and be watched")
    visitor.wait_until_drawn()
    assert visitor.page.get_by_role("button", name=re.compile("^Remove")).count() == 0


def test_the_distance_of_a_law_is_given_in_feet(visit, studio, laid):
    visitor = visit(workspace=laid, view="data")
    near = visitor.page.get_by_label("A guess counts as found within")
    expect(near).to_have_value("564")
    near.fill("0")
    visitor.read("Give a distance above 0")
    assert visitor.page.get_by_role("button", name="Use this region").is_disabled()
    near.fill("1850")
    visitor.page.get_by_label("Unit").select_option(label="feet")
    visitor.meets_no_barrier()
    visitor.page.get_by_label(re.compile("About how many")).fill("30")
    laid_again(visitor)
    assert studio.ask("GET", f"/workspaces/{laid}")["site"]["radius_m"] == pytest.approx(563.88)
    visitor.page.reload()
    expect(near).to_have_value("1850")
    expect(visitor.page.get_by_label("Unit")).to_have_value("ft")
    visitor.press("Next: how private?")
    visitor.read(re.compile("within 56[34]"))


def test_the_number_of_places_does_not_shrink_by_itself(visit, studio, laid):
    visitor = visit(workspace=laid, view="data")
    laid_again(visitor)
    first = len(places_of(studio, laid))
    for _ in range(2):
        laid_again(visitor)
    assert len(places_of(studio, laid)) == first
