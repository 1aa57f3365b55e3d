"""Workspaces: visitors do not mix, a refresh keeps the state, and a restart does, too."""

import contextlib
import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import great_circle_m
from sfumato.errors import FileError
from sfumato.geo import world
from sfumato_studio.routes.maps import names_of
from sfumato_studio.store import Store

from .conftest import Running, Visitor, soon


def test_two_visitors_do_not_mix(studio, gate):
    one, other = Visitor(studio), Visitor(studio)
    one.post("/example", {"example": "city"})
    other.post("/example", {"example": "ages"})
    one.put("/site", {"kind": "places", "detail": 30})
    found = other.put("/site", {"kind": "values"})
    assert found["site"]["n"] == 76
    assert one.get()["site"]["kind"] == "places"
    assert one.get()["data"]["rows"] == 4989
    assert one.get("/map")["outline"] is None
    assert other.get("/values")["values"][0]["label"] == "18"
    assert other.get("/map", status=409)["message"]
    with gate.closed():
        job = one.post("/optimize", {}, 202)
        other.get(f"/jobs/{job['id']}", status=404)
        other.post(f"/jobs/{job['id']}/cancel", status=404)
        one.post(f"/jobs/{job['id']}/cancel")
    assert one.ended(job)["status"] == "cancelled"


def test_a_workspace_keeps_its_state_and_can_be_deleted(studio):
    one = Visitor(studio)
    view = {"slider": 0.5, "tour": True, "text": "<b>=1+1</b>"}
    studio.client.patch(one.base, json={"title": "Mine", "view": view}).raise_for_status()
    assert one.get()["view"] == view
    listed = studio.client.get("/api/workspaces").json()["workspaces"]
    assert [each["title"] for each in listed] == ["Mine"]
    assert studio.client.patch(one.base, json={"view": {"a": "x" * 70_000}}).status_code == 413
    assert studio.client.delete(one.base).status_code == 204
    one.get(status=404)
    assert not (studio.folder / "workspaces" / one.id).exists()


def test_two_studios_do_not_share_a_folder(tmp_path):
    with (
        contextlib.closing(Store(tmp_path)),
        pytest.raises(FileError, match=re.escape(f"another studio is running on the folder {str(tmp_path)!r}")),
    ):
        Store(tmp_path)
    Store(tmp_path).close()


def test_a_damaged_memory_is_explained_and_the_folder_let_go(tmp_path):
    Store(tmp_path).close()
    good = (tmp_path / "studio.db").read_bytes()
    (tmp_path / "studio.db").write_bytes(b"no database" * 100)
    with pytest.raises(FileError, match=r"the studio's memory .* cannot be used"):
        Store(tmp_path)
    (tmp_path / "studio.db").write_bytes(good)
    Store(tmp_path).close()


def test_what_a_killed_studio_was_reading_is_deleted(tmp_path):
    with contextlib.closing(Store(tmp_path)) as store:
        one, other = store.make_workspace()["id"], store.make_workspace()["id"]
        store.change_workspace(one, data={"file": "visits-a.parquet"})
        (store.files(one) / "visits-folder.parquet").mkdir()
        for name in ("visits-a.parquet", "visits-b.parquet", "upload/c/file/patients.csv"):
            for identity in (one, other):
                (store.files(identity) / name).parent.mkdir(parents=True, exist_ok=True)
                (store.files(identity) / name).write_text("lat,lon,diagnosis\n")
        others = tmp_path / "workspaces" / "notes" / "upload"
        others.mkdir(parents=True)
    with contextlib.closing(Store(tmp_path)) as store:
        assert [path.name for path in store.files(one).iterdir() if path.is_file()] == ["visits-a.parquet"]
        assert not [path for path in store.files(other).iterdir() if path.is_file()]
        assert not (store.files(one) / "upload").exists()
        assert others.exists()


@pytest.mark.slow
def test_a_restart_keeps_everything_and_a_job_that_ran_can_be_resumed(tmp_path, gate):
    first = Running(tmp_path)
    one = Visitor(first)
    one.post("/example", {"example": "ages"})
    one.put("/site", {"kind": "values", "first": 18, "last": 67})
    with gate.closed("design", 2):
        job = one.post("/optimize", {}, 202)
        soon(lambda: one.get(f"/jobs/{job['id']}")["done"] == 2)
        one.levels()
        first.close()

    again = Running(tmp_path)
    try:
        one.studio = again
        before = one.levels()["levels"]
        assert 0 < [each["status"] for each in before].count("optimized") <= 2
        assert one.get(f"/jobs/{job['id']}")["status"] == "interrupted"
        assert one.get("/preview", design=before[0]["design"])["shown"]["epsilon"] == before[0]["epsilon"]
        resumed = one.post(f"/jobs/{job['id']}/resume")
        assert resumed["status"] == "running"
        assert one.ended(resumed)["status"] == "done"
        after = one.levels()["levels"]
        assert len(after) == 12
        assert {each["status"] for each in after} >= {"optimized"}
        for old, new in zip(before, after, strict=True):
            assert new["loss"]["upper"] <= old["loss"]["upper"]
        one.post(f"/jobs/{job['id']}/resume", status=409)
    finally:
        again.close()


def test_steps_out_of_order_say_what_comes_first(visitor):
    assert "data" in visitor.put("/site", {"kind": "places"}, 409)["message"]
    assert "data" in visitor.get("/levels", status=409)["message"]
    visitor.post("/example", {"example": "city"})
    assert "chosen" in visitor.get("/map", status=409)["message"]
    assert visitor.put("/site", {"kind": "values"}, 422)["field"] == "kind"
    visitor.put("/site", {"kind": "places", "detail": 30})
    assert visitor.get("/preview", status=422)["field"] == "level"


@pytest.mark.slow
def test_a_region_without_visits_is_refused_and_nothing_is_lost(visitor):
    visitor.post("/example", {"example": "city"})
    visitor.put("/site", {"kind": "places", "detail": 30})
    far = {"south": 10.0, "west": 10.0, "north": 10.1, "east": 10.1}
    assert "inside" in visitor.put("/site", {"kind": "places", "region": far}, 422)["message"]
    thin = {"south": 37.78, "west": -122.44, "north": 37.78, "east": -122.4}
    visitor.put("/site", {"kind": "places", "region": thin}, 422)
    assert visitor.get()["site"]["n"] <= 30


@pytest.mark.slow
def test_a_polygon_chooses_the_visits_and_its_rectangle_is_served(visitor):
    visitor.post("/example", {"example": "city"})
    corners = [[-122.44, 37.76], [-122.4, 37.76], [-122.4, 37.8]]
    found = visitor.put("/site", {"kind": "places", "detail": 30, "polygon": [*corners, corners[0]]})
    assert found["site"]["polygon"] == corners
    assert found["site"]["region"] == {"south": 37.76, "west": -122.44, "north": 37.8, "east": -122.4}
    city = sf.synthetic_city()
    right = (city.lat >= 37.76) & (city.lon <= -122.4) & (city.lat - 37.76 <= city.lon + 122.44)
    shown = visitor.get("/map")
    assert sum(cell["properties"]["visits"] for cell in shown["cells"]["features"]) == pytest.approx(
        right.sum(), rel=1e-5
    )
    assert any("rectangle" in sentence for sentence in found["site"]["sentences"])
    for polygon in (
        [[-122.5, 37.7], [-122.4, 37.8], [-122.5, 37.8], [-122.4, 37.7]],
        [[-122.5, 37.7], [-122.4, 37.7], [-122.3, 37.7]],
        [[-122.5, 37.7]] * 3,
        [[-122.5, 37.7], [-122.4, 91], [-122.3, 37.7]],
        [[10, 10], [10.1, 10], [10.1, 10.1]],
        [[-179, -80], [179, -80], [0, 80]],
    ):
        visitor.put("/site", {"kind": "places", "detail": 30, "polygon": polygon}, 422)
    both = {"kind": "places", "polygon": corners, "region": found["site"]["region"]}
    assert visitor.put("/site", both, 422)["field"] == "polygon"
    assert visitor.get()["site"]["polygon"] == corners


def test_an_outline_is_drawn_and_hostile_ones_are_refused(visitor):
    client = visitor.studio.client
    visitor.post("/example", {"example": "city"})
    visitor.put("/site", {"kind": "places", "detail": 30})
    ring = [[-122.5, 37.7], [-122.4, 37.7], [-122.4, 37.8], [-122.5, 37.7]]
    shape = {"type": "Polygon", "coordinates": [ring]}
    own = {"type": "Feature", "geometry": shape, "properties": {"name": "<b>Isle</b>"}}
    invented = visitor.get("/map")["outline"]
    visitor.put("/outline", own)
    found = visitor.get("/map")["outline"]
    assert ring in [each["geometry"]["coordinates"][0] for each in found["features"]]
    for content in (b"", b"{", b"[" * 100_000, b"PK\x03\x04", b'{"type": "Point", "coordinates": [1e9, 2]}'):
        answer = client.put(f"{visitor.base}/outline", content=content)
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]["message"]
    assert visitor.get("/map")["outline"] == found
    assert client.delete(f"{visitor.base}/outline").status_code == 200
    assert visitor.get("/map")["outline"] == invented


@pytest.mark.slow
def test_places_are_named_by_the_nearest_town(visitor):
    visitor.post("/example", {"example": "city"})
    visitor.put("/site", {"kind": "places", "detail": 60})
    cells = [each["properties"] for each in visitor.get("/map")["cells"]["features"]]
    names = [each["name"] for each in cells]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 50
    towns = {town.name: town for town in world(37.5, -122.7, 38, -122.2).towns}
    assert towns.keys() & set(names)
    for each in cells:
        if found := re.fullmatch(r"(.+), (\S+) km (north|south)?-?(east|west)?", each["name"]):
            town = towns[found[1]]
            away = great_circle_m(np.array([[each["lat"], each["lon"]]]), np.array([[town.lat, town.lon]]))
            assert float(found[2]) == pytest.approx(away[0, 0] / 1000, abs=0.051)
            assert found[3] != ("south" if each["lat"] > town.lat else "north")
            assert found[4] != ("west" if each["lon"] > town.lon else "east")


@pytest.mark.parametrize(
    ("region", "spacing", "name"),
    [
        ("8 km x 6 km around 0,-30", "1 km", "column 2, row 1"),  # in the Atlantic
        ("3 km x 3 km around 48.85,2.35", "100 m", "near Paris (column 17, row 17)"),  # many places near a town
    ],
)
def test_places_without_a_name_of_their_own_have_column_and_row(region, spacing, name):
    names = names_of(sf.Lattice.covering(region, spacing))
    assert len(set(names)) == len(names)
    assert name in names


def test_the_world_is_served_within_a_box(studio):
    box = {"west": -122.55, "south": 37.7, "east": -122.35, "north": 37.85}
    answer = studio.client.get("/api/world", params=box)
    features = answer.json()["features"]
    assert {each["properties"]["kind"] for each in features} >= {"land", "water", "shores", "rivers", "town"}
    (land,) = (each for each in features if each["properties"]["kind"] == "land")
    assert all(polygon[0][0] == polygon[0][-1] for polygon in land["geometry"]["coordinates"])
    assert "San Francisco" in {each["properties"].get("name") for each in features}
    for wrong in ({"east": -123}, {"east": -92}, {"north": 91}, {"west": "x"}):
        assert studio.client.get("/api/world", params=box | wrong).status_code == 422


def test_a_wide_part_of_the_world_is_thinned_to_what_a_picture_shows(studio):
    box = {"west": 5.0, "south": 50.0, "east": 25.0, "north": 60.0}
    answer = studio.client.get("/api/world", params=box)
    features = answer.json()["features"]
    part, step = world(50.0, 5.0, 60.0, 25.0), 20 / 2500
    (shores,) = (each["geometry"]["coordinates"] for each in features if each["properties"]["kind"] == "shores")
    assert 0 < sum(map(len, shores)) < 0.7 * sum(map(len, part.shores))
    served = np.concatenate(shores)[:, ::-1]
    longest = max(part.shores, key=len)
    for point in longest[:: max(1, len(longest) // 50)]:
        assert np.abs(served - point).max(axis=1).min() <= step + 1e-5
    (land,) = (each["geometry"]["coordinates"] for each in features if each["properties"]["kind"] == "land")
    assert all(len(ring) >= 4 and ring[0] == ring[-1] for polygon in land for ring in polygon)
    towns = [each["properties"]["name"] for each in features if each["properties"]["kind"] == "town"]
    assert towns == [town.name for town in part.towns[:500]]
