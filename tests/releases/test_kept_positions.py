"""Columns that tell the position are not kept, whatever they are called; all others are."""

import hashlib
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyproj
import pytest

import sfumato as sf
from sfumato.errors import InputError, MissingExtraError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases import prepare, prepare_frame
from sfumato.releases.kept_columns import other_places as maps

NOISE = CoordinateNoise("1/km", "2 m", Projection(53.8, -1.5), "30 km")
RNG = np.random.default_rng(3)
LAT, LON = 53.8 + RNG.normal(size=60) / 20, -1.5 + RNG.normal(size=60) / 15


def grid(epsg):
    return pyproj.Transformer.from_crs("EPSG:4326", f"EPSG:{epsg}", always_xy=True).transform(LON, LAT)


TOLD = {
    "gps": LAT,
    "gps2": [f"{value:.6f}" for value in LON],
    "E": grid(27700)[0],
    "POINT_Y": [int(value) for value in grid(27700)[1]],
    "web_x": grid(3857)[0],
    "wkt": [f"POINT ({x:.1f} {y:.1f})" for x, y in zip(*grid(27700), strict=True)],
    "pair": [f"{y:.5f}, {x:.5f}" for x, y in zip(LON, LAT, strict=True)],
    "reversed": [f"({x:.5f};{y:.5f})" for x, y in zip(LON, LAT, strict=True)],
    "comma": [f"{value:.6f}".replace(".", ",") for value in LAT],
    "wkt with gaps": [
        None if k == 3 else "" if k == 4 else f"POINT ({x:.5f} {y:.5f})"
        for k, (x, y) in enumerate(zip(LON, LAT, strict=True))
    ],
    "pair with gaps": [
        "" if k == 7 else f"{y:.4f} | {x:.4f}" for k, (x, y) in enumerate(zip(LON, LAT, strict=True))
    ],
    "grid pair": [f"[{e:.0f}, {n:.0f}]" for e, n in zip(*grid(27700), strict=True)],
    "zeros": [0.0 if k == 5 else value for k, value in enumerate(LAT)],
    "degrees": [f"{value:.5f}°" for value in LAT],
    "list": [[x, y] for x, y in zip(LON, LAT, strict=True)],
    "struct": [{"x": x, "y": y} for x, y in zip(LON, LAT, strict=True)],
    "geojson": [f'{{"type": "Point", "coordinates": [{x}, {y}]}}' for x, y in zip(LON, LAT, strict=True)],
    "wkb": [b"\x01\x01\x00\x00\x00" + np.array([x, y]).tobytes() for x, y in zip(LON, LAT, strict=True)],
    "hex": [(b"\x01\x01\x00\x00\x00" + np.array([x, y]).tobytes()).hex() for x, y in zip(LON, LAT, strict=True)],
    "gaps": [None if k % 5 == 0 else value for k, value in enumerate(grid(32630)[0].tolist())],
}
TELLS_NOTHING = {
    "id": list(range(60)),
    "name": [f"house {k}" for k in range(60)],
    "income": RNG.normal(30_000, 5_000, 60),
    "well": [True, False] * 30,
    "constant": [7] * 60,
    "few": [None] * 55 + [1, 2, 3, 4, 5],
    "roughly": LAT + RNG.normal(size=60) / 20,
    "numbers with a gap": [k + (k > 20) for k in range(60)],
    "huge": [10.0**300 * k for k in range(60)],
    "like numbers": [f"{k}e300" for k in range(60)],
    "site": pa.array([(8, 9, 7)[k % 3] for k in range(60)]),
    "far dates": pa.array([10**8] * 60, pa.int32()).cast(pa.date32()),
    "far times": pa.array([10**18] * 60, pa.int64()).cast(pa.timestamp("us")),
    "fine times": pa.array([10**18 + 1] * 60, pa.int64()).cast(pa.timestamp("ns")),
    "on Mars": pa.array([0] * 60, pa.int64()).cast(pa.timestamp("s", tz="Mars/Base")),
    "codes": pa.array(["a", "b"] * 30).dictionary_encode(),
    "tags": [["x"], []] * 30,
}


EAST, NORTH = (LON + 1.5) * 111_200 * np.cos(np.radians(53.8)), (LAT - 53.8) * 111_200
GEOHASH, PLUS = "0123456789bcdefghjkmnpqrstuvwxyz", "23456789CFGHJMPQRVWX"


def geohash(lat, lon, size=9):
    """Return a geohash by halving the globe, longitude first."""
    code, ends = 0, [[-180.0, 180.0], [-90.0, 90.0]]
    for bit in range(5 * size):
        low, high = ends[bit % 2]
        middle = (low + high) / 2
        upper = (lon, lat)[bit % 2] >= middle
        ends[bit % 2] = [middle, high] if upper else [low, middle]
        code = 2 * code + upper
    return "".join(GEOHASH[code >> 5 * k & 31] for k in reversed(range(size)))


def plus_code(lat, lon):
    """Return a plus code of ten digits, of 1/8000 of a degree."""
    north, east = int((lat + 90) * 8000), int((lon + 180) * 8000)
    digits = "".join(PLUS[north // 20**k % 20] + PLUS[east // 20**k % 20] for k in reversed(range(5)))
    return f"{digits[:8]}+{digits[8:]}"


def angle(value):
    return f"{int(value)}°{int(value % 1 * 60)}'{value * 3600 % 60:.1f}\""


TOLD |= {
    "three decimals": np.round(LAT, 3),
    "three decimals as text": [f"{value:.3f}" for value in LON],
    "second fix": LAT + RNG.normal(size=60) * 20 / 111_200,
    "rows of cells": np.floor(NORTH / 100),
    "cells": [f"r{int(y // 100)}c{int(x // 100)}" for x, y in zip(EAST, NORTH, strict=True)],
    "from the centre": np.hypot(EAST, NORTH),
    "from the centre in words": [f"{d / 1000:.2f} km away" for d in np.hypot(EAST, NORTH)],
    "from elsewhere": np.hypot(EAST - 9_000, NORTH + 2_000),
    "JSON": [
        f'{{"id": {k}, "lat": {y:.5f}, "lng": {x:.5f}}}' for k, (y, x) in enumerate(zip(LAT, LON, strict=True))
    ],
    "map": [f"https://maps.example.com/?q={y:.5f},{x:.5f}&z=15" for y, x in zip(LAT, LON, strict=True)],
    "escaped": [f"https://maps.example.com/{y:.5f}%2C{x:.5f}" for y, x in zip(LAT, LON, strict=True)],
    "bytes of JSON": [f'{{"lat": {y:.5f}, "lng": {x:.5f}}}'.encode() for y, x in zip(LAT, LON, strict=True)],
    "line": [f"LINESTRING ({x:.5f} {y:.5f}, {x + 0.1:.5f} {y:.5f})" for x, y in zip(LON, LAT, strict=True)],
    "wkb line": [
        b"\x01\x02\x00\x00\x00\x02\x00\x00\x00" + np.array([x, y, 0, 0]).tobytes()
        for x, y in zip(LON, LAT, strict=True)
    ],
    "geohash": [geohash(y, x) for y, x in zip(LAT, LON, strict=True)],
    "plus code": [plus_code(y, x) for y, x in zip(LAT, LON, strict=True)],
    "angles": [f"{angle(y)}N {angle(-x)}W" for y, x in zip(LAT, LON, strict=True)],
    "list of lists": [[[x, y], [x + 0.1, y]] for x, y in zip(LON, LAT, strict=True)],
    "structure in a structure": [{"p": {"x": x, "y": y}} for x, y in zip(LON, LAT, strict=True)],
}
TELLS_NOTHING |= {
    "uuid": [RNG.bytes(16).hex() for _ in range(60)],
    "age": RNG.integers(18, 90, 60),
    "category": RNG.choice(list("abcdef"), 60),
    "score": RNG.random(60),
    "phone": [f"06 {RNG.integers(10**7, 10**8)}" for _ in range(60)],
    "JSON of a person": [f'{{"age": {RNG.integers(20, 80)}, "rank": {RNG.integers(9)}}}' for _ in range(60)],
    "address of a machine": [".".join(map(str, RNG.integers(0, 256, 4))) for _ in range(60)],
    "how_long": RNG.exponential(600, 60),
}


HEX = [RNG.bytes(2).hex() for _ in range(60)]
TOLD |= {
    "code behind a sign": [f"{other}-{code}" for other, code in zip(HEX, TOLD["geohash"], strict=True)],
    "code behind numbers": [f"id{RNG.integers(10**6)}|{code[:7]}" for code in TOLD["geohash"]],
    "code between others": [
        f"{other}_{code}_{other[::-1]}" for other, code in zip(HEX, TOLD["geohash"], strict=True)
    ],
    "code at the end": [f"x{RNG.integers(10, 10**5)}{code[:8]}" for code in TOLD["geohash"]],
    "plus code behind a sign": [f"{other}:{code}" for other, code in zip(HEX, TOLD["plus code"], strict=True)],
    "code in a path": [f"/v1/{other}/t/{other}/{code}" for other, code in zip(HEX, TOLD["geohash"], strict=True)],
}
TELLS_NOTHING |= {
    "order": [f"{other}-{RNG.bytes(4).hex()}" for other in HEX],
    "order of a day": [f"2024-05-{1 + k // 2:02d}/{other}" for k, other in enumerate(HEX)],
    "numbers of visits": [f"visit-{k:05d}" for k in range(60)],
    "numbers at the end": [f"user{k:06d}" for k in range(60)],
    "mail": [f"{other}@{('example', 'test')[k % 2]}.org" for k, other in enumerate(HEX)],
    "address of a net": [":".join(f"{b:02x}" for b in RNG.bytes(6)) for _ in range(60)],
    "licence": [f"{RNG.choice(list('BCDF'))}{RNG.integers(100, 999)} {other}" for other in HEX],
    "price": RNG.normal(250_000, 5_000, 60),
}


def table(**columns):
    return pa.table({"lat": LAT, "lon": LON, **columns})


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", TOLD)
def test_positions_in_another_form_are_not_kept(name):
    with pytest.raises(InputError, match=f"the column {name!r} holds positions in another form") as refused:
        sf.release(NOISE, table(**{name: TOLD[name]}), keep=[name])
    assert "keep=" in refused.value.hint
    sf.release(NOISE, table(**{name: TOLD[name]}), keep=[])


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", TELLS_NOTHING)
def test_other_columns_are(name):
    private = sf.release(NOISE, table(**{name: TELLS_NOTHING[name]}), keep=[name])
    assert (
        pa.table(private)
        .column(name)
        .equals(table(**{name: TELLS_NOTHING[name]}).column(name).cast(pa.table(private).column(name).type))
    )


def test_the_numbers_of_rows_are_kept_also_of_a_straight_walk():
    walk = pa.table({"lat": 53.8 + np.arange(30) / 1e4, "lon": np.full(30, -1.5), "row": np.arange(30)})
    assert pa.table(sf.release(NOISE, walk, keep=["row"])).column("row").to_pylist() == list(range(30))


def test_times_and_users_are_kept_by_their_roles():
    steps = np.arange(30)
    walk = pa.table(
        {
            "lat": 53.8 + steps / 1e5,
            "lon": np.full(30, -1.5),
            "time": 1.7e9 + 10 * steps + steps % 2,
            "user": steps // 2,
        }
    )
    assert pa.table(sf.release(NOISE, walk, keep=["time", "user"])).num_rows == 30


def test_rows_that_are_left_out_do_not_hide_a_column():
    lat, lon, east = LAT.copy(), LON.copy(), np.array(grid(27700)[0])
    lat[:2], lon[:2], east[:2] = 10.0, 10.0, 0.0
    table = pa.table({"lat": lat, "lon": lon, "east": east})
    with pytest.raises(InputError, match="'east' holds positions"):
        sf.release(NOISE, table, keep=["east"], outside="drop", allow=0.1)


@pytest.mark.parametrize("epsg", [27700, 32630, 3857, 3035])
def test_grids_of_a_whole_country_are_known(epsg):
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(50, 58, 500), rng.uniform(-5, 1, 500)
    wide = CoordinateNoise("1/km", "2 m", Projection(54.0, -2.0), "700 km")
    both = pyproj.Transformer.from_crs("EPSG:4326", f"EPSG:{epsg}", always_xy=True).transform(lon, lat)
    for values in both:
        with pytest.raises(InputError, match="'c' holds positions"):
            sf.release(wide, pa.table({"lat": lat, "lon": lon, "c": values}), keep=["c"])


def test_one_row_is_compared_too():
    one = pa.table({"lat": [53.8], "lon": [-1.5], "copy": [53.8], "room": [12]})
    with pytest.raises(InputError, match="'copy' holds positions"):
        sf.release(NOISE, one, keep=["copy", "room"])
    sf.release(NOISE, one, keep=["room"])


def test_files_are_looked_at_too(tmp_path):
    lines = ["lat,lon,east", *(f"{y},{x},{e:.0f}" for y, x, e in zip(LAT, LON, grid(27700)[0], strict=True))]
    (tmp_path / "homes.csv").write_text("\n".join(lines))
    with pytest.raises(InputError, match="'east' holds positions"):
        sf.release(NOISE, tmp_path / "homes.csv", tmp_path / "private.csv", keep=["east"])
    assert not (tmp_path / "private.csv").exists()


RATED = CoordinateNoise("20/km", "2 m", Projection(53.8, -1.5), "30 km")  # loses 100 m


def crowd(rows=4_000):
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, rows)) * 4_000
    columns = {"lat": 53.8 + y / 111_200, "lon": -1.5 + x / 111_200 / np.cos(np.radians(53.8))}
    return rng, x, y, columns


def sparse(values, rng, share=0.6, instead=None):
    """Return values of which a share is something else."""
    return [
        instead if gone else value for value, gone in zip(values, rng.random(len(values)) < share, strict=True)
    ]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("form", ["number", "text", "pair", "zeros", "other numbers", "said", "coarse", "E7"])
def test_positions_in_some_rows_are_not_kept(form):
    rng, _, _, columns = crowd(1_000)
    lat, lon = columns["lat"], columns["lon"]
    near = [f"{a:.6f},{b:.6f}" for a, b in zip(lat, lon, strict=True)]
    kept = {
        "number": {"fix": sparse(lat, rng)},
        "text": {"fix": sparse(near, rng)},
        "pair": {"fix": sparse(lat + 0.01, rng), "of": sparse(lon + 0.01, rng)},
        "zeros": {"fix": sparse(lat, rng, 0.2, 0.0)},
        "other numbers": {"fix": np.where(rng.random(1_000) < 0.2, rng.normal(size=1_000), lat)},
        "said": {"fix": sparse([f"seen at {each}" for each in near], rng, 0.7, "nothing")},
        "coarse": {"fix": sparse(np.round(lat, 3), rng)},
        "E7": {
            "end_latE7": np.round((lat + rng.normal(size=1_000) * 0.02) * 1e7).astype(int),
            "end_lngE7": np.round((lon + rng.normal(size=1_000) * 0.02) * 1e7).astype(int),
        },
    }[form]
    with pytest.raises(InputError, match="never kept"):
        sf.release(NOISE, pa.table({**columns, **kept}), keep=list(kept))


def test_positions_in_later_batches_are_not_kept(tmp_path):
    _, _, _, columns = crowd(3_000)
    late = np.where(np.arange(3_000) < 2_000, np.nan, columns["lat"])
    table = pa.table({**columns, "fix": pa.array(late, from_pandas=True)})
    with pytest.raises(InputError, match="'fix' holds positions"):
        prepare(NOISE, table, tmp_path / "out.parquet", keep=["fix"], batch_rows=1_000).run()
    assert not (tmp_path / "out.parquet").exists()


def test_users_whose_names_are_positions_are_not_kept():
    rng, _, _, columns = crowd(500)
    near = [f"{a:.6f},{b:.6f}" for a, b in zip(columns["lat"], columns["lon"], strict=True)]
    with pytest.raises(InputError, match="never kept"):
        sf.release(NOISE, pa.table({**columns, "who": near}), user="who", keep=["who"])
    names = rng.integers(0, 50, 500)
    sf.release(NOISE, pa.table({**columns, "who": names}), user="who", keep=["who"])


def district(x, y, size_m):
    """Return names of squares that say nothing by themselves."""
    return [hash_of(f"{int(a // size_m)} {int(b // size_m)}") for a, b in zip(x, y, strict=True)]


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.slow
def test_names_of_districts_are_measured_in_metres_against_what_reports_lose():
    _, x, y, columns = crowd()
    named = pa.table({**columns, "district": district(x, y, 1_000)})
    inside = np.hypot(*(np.mod(each, 1_000) - 500 for each in (x, y)))  # of an even square: 383 m on average
    with pytest.raises(
        InputError, match=r"'district' reveals positions: it locates rows to (\d+) m, .* 2 km"
    ) as no:
        sf.release(NOISE, named, keep=["district"])
    said_m = int(re.findall(r"(\d+) m,", no.value.problem)[0])
    assert 0.8 * np.median(inside) < said_m < 1.3 * np.median(inside)
    assert "user='district'" in no.value.hint
    outcome = prepare_frame(RATED, named, keep=["district"]).run().outcome
    assert re.search(
        rf"the column 'district' locates rows to {said_m} m, (the reports to|the limit is) 100 m; ", str(outcome)
    )
    wide = pa.table({**columns, "district": district(x, y, 10_000)})
    assert not prepare_frame(NOISE, wide, keep=["district"]).run().outcome.notes


@pytest.mark.parametrize("form", ["three decimals", "second fix", "cells", "distance"])
def test_the_limit_is_in_metres_also_where_rows_are_near_each_other(form):
    rng, x, y, _ = crowd(500)
    x, y = x / 8, y / 8  # half a kilometre around the middle
    lat, lon = 53.8 + y / 111_200, -1.5 + x / 111_200 / np.cos(np.radians(53.8))
    column = {
        "three decimals": np.round(lat, 3),
        "second fix": lon + rng.normal(size=500) * 20 / 65_700,
        "cells": np.floor(x / 100),
        "distance": np.round(np.hypot(x, y), -1),
    }[form]
    with pytest.raises(InputError, match=r"holds positions in another form \(to about \d+\.?\d* m\)"):
        sf.release(RATED, pa.table({"lat": lat, "lon": lon, "kept": column}), keep=["kept"])


@pytest.mark.slow
def test_streets_locate_in_one_direction():
    _, _, y, columns = crowd()
    streets = pa.table({**columns, "street": [hash_of(str(int(each // 150))) for each in y]})
    with pytest.raises(InputError, match=r"'street' reveals positions: .* in one direction"):
        sf.release(NOISE, streets, keep=["street"])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("base", [4, 16])
def test_codes_that_begin_alike_where_places_are_near(base):
    _, x, y, columns = crowd()
    east, north = ((each + 20_000) / 40_000 for each in (x, y))
    codes = []
    for a, b in zip(east, north, strict=True):
        digits = [2 * (int(a * 2**k) & 1) + (int(b * 2**k) & 1) for k in range(1, 17)]
        code = "".join(map(str, digits))
        codes.append(f"#{code}" if base == 4 else f"h{int(code, 4):08x}")
    with pytest.raises(InputError, match=r"reveals positions|holds positions in another form"):
        sf.release(NOISE, pa.table({**columns, "code": codes}), keep=["code"])


def test_unique_columns_are_named_and_kept():
    rng, _, _, columns = crowd(500)
    ids = {**columns, "key": [rng.bytes(8).hex() for _ in range(500)], "age": rng.integers(18, 90, 500)}
    outcome = prepare_frame(NOISE, pa.table(ids), keep=["key", "age"]).run().outcome
    assert outcome.notes == ("the column 'key' is nearly unique: its values identify single rows",)


@pytest.mark.parametrize(
    "names",
    [
        ("end_lat", "end_lng"),
        ("endLat", "endLon"),
        ("dropoff_latitude", "dropoff_longitude"),
        ("p", "q"),
        ("text",),
    ],
)
def test_the_other_ends_of_trips_are_not_kept(names):
    rng, _, _, columns = crowd(200)
    end = [columns[name] + rng.normal(size=200) / 10 for name in ("lat", "lon")]
    ends = [[f"{y:.5f} {x:.5f}" for y, x in zip(*end, strict=True)]] if len(names) == 1 else end
    trips = pa.table({**columns, **dict(zip(names, ends, strict=True))})
    with pytest.raises(InputError, match="holds positions of other places") as refused:
        sf.release(NOISE, trips, keep=names)
    lat, lon = names if len(names) == 2 else ("end_lat", "end_lng")
    assert f"also=[({lat!r}, {lon!r})]" in refused.value.hint
    assert f"--also {lat},{lon}" in refused.value.render(lambda name, value: f"--{name} {value}")
    if len(names) == 2 and names[0] != "p":
        for name in names:
            with pytest.raises(InputError, match="holds positions of other places"):
                sf.release(NOISE, trips, keep=[name])


def on_a_map(epsg, lat, lon):
    return pyproj.Transformer.from_crs("EPSG:4326", f"EPSG:{epsg}", always_xy=True).transform(lon, lat)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("epsg", "form"),
    [(3857, "numbers"), (32630, "numbers"), (32631, "whole"), (27700, "text"), (3857, "one column")],
)
def test_other_ends_in_metres_of_a_map_are_not_kept(epsg, form):
    rng, _, _, columns = crowd(200)
    end = [columns[name] + rng.normal(size=200) / 20 for name in ("lat", "lon")]
    east, north = (np.round(each, 1) for each in on_a_map(epsg, *end))
    kept = {
        "numbers": {"p": east, "q": north},
        "whole": {"q": north.astype(int), "p": east.astype(int)},
        "text": {"p": [f"{each} m" for each in east], "q": [str(each) for each in north]},
        "one column": {"p": [f"{a:.0f} {b:.0f}" for a, b in zip(east, north, strict=True)]},
    }[form]
    with pytest.raises(InputError, match="holds positions of other places"):
        sf.release(NOISE, pa.table({**columns, **kept}), keep=list(kept))
    for called, values in (("end_easting", east), ("endNorthing", north), ("x", east)):
        with pytest.raises(InputError, match="holds positions of other places"):
            sf.release(NOISE, pa.table({**columns, called: values}), keep=[called])


def test_pairs_of_large_numbers_are_kept_where_they_are_on_no_map():
    rng, _, _, columns = crowd(200)
    kept = {
        "income": rng.normal(30_000, 5_000, 200),
        "price": rng.normal(250_000, 6_000, 200),
        "steps": rng.poisson(9_000, 200),
        "x": rng.normal(1_000, 10, 200),
    }
    private = sf.release(NOISE, pa.table({**columns, **kept}), keep=list(kept))
    assert pa.table(private).num_rows == 200


def test_without_maps_numbers_that_may_be_positions_are_not_kept(monkeypatch):
    """The extra is named where maps decide; other columns are kept, and pairs of degrees are refused, as ever."""
    monkeypatch.setitem(sys.modules, "pyproj", None)
    maps._maps.cache_clear()
    rng, _, _, columns = crowd(200)
    wide_m = 111_200 * float(np.std(columns["lat"]))
    for name, values in (("income", rng.normal(30_000, wide_m, 200)), ("x", rng.normal(3_000, 10, 200))):
        pair = {name: values, "paid": rng.normal(90_000, wide_m, 200)}
        with pytest.raises(MissingExtraError, match=r"may be eastings and northings .*\n.*--extra geo;"):
            sf.release(NOISE, pa.table({**columns, **pair}), keep=list(pair))
    others = {"age": rng.integers(18, 90, 200), "kind": ["bus", "walk"] * 100, "share": rng.random(200)}
    assert pa.table(sf.release(NOISE, pa.table({**columns, **others}), keep=list(others))).num_rows == 200
    end = {"p": columns["lat"] + 0.001, "q": columns["lon"] + 0.001}
    with pytest.raises(InputError, match="holds positions"):
        sf.release(NOISE, pa.table({**columns, **end}), keep=list(end))


FEW_FORMS = {
    "three decimals": lambda lat, lon: [round(each, 3) for each in lat],
    "two decimals": lambda lat, lon: [round(each, 2) + 0.001 for each in lon],
    "second fix": lambda lat, lon: [each + (-1) ** k * 2e-4 for k, each in enumerate(lat)],
    "pair": lambda lat, lon: [f"{a:.3f},{b:.3f}" for a, b in zip(lat, lon, strict=True)],
    "geohash": lambda lat, lon: [geohash(a, b, 7) for a, b in zip(lat, lon, strict=True)],
    "geohash behind a sign": lambda lat, lon: [
        f"a{k * k}-{geohash(a, b, 7)}" for k, (a, b) in enumerate(zip(lat, lon, strict=True))
    ],
    "plus code": lambda lat, lon: [plus_code(a, b) for a, b in zip(lat, lon, strict=True)],
    "web map": lambda lat, lon: [round(each, -2) for each in on_a_map(3857, np.array(lat), np.array(lon))[0]],
    "UTM": lambda lat, lon: [round(each) for each in on_a_map(32630, np.array(lat), np.array(lon))[1]],
    "E7": lambda lat, lon: [round(each * 1e7) for each in lat],
    "gap": lambda lat, lon: [None, *(round(each, 3) for each in lat[1:])],
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("form", FEW_FORMS)
@pytest.mark.parametrize("rows", [2, 3, 5, 9])
def test_inexact_forms_are_known_in_few_rows(form, rows):
    lat, lon = LAT[:rows].tolist(), LON[:rows].tolist()
    columns = pa.table({"lat": lat, "lon": lon, "kept": FEW_FORMS[form](lat, lon)})
    if rows < 3 and form in ("web map", "UTM"):  # any two large numbers are near each other by chance
        return
    with pytest.raises(InputError, match="'kept' holds positions in another form"):
        sf.release(NOISE, columns, keep=["kept"])


@pytest.mark.slow
def test_few_rows_of_other_columns_are_kept():
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = 2 + seed % 8
        lat, lon = 53.8 + rng.normal(size=rows) / 20, -1.5 + rng.normal(size=rows) / 15
        kept = {
            "age": rng.integers(18, 90, rows),
            "key": [rng.bytes(6).hex() for _ in range(rows)],
            "order": [f"{rng.bytes(2).hex()}-{rng.integers(10**6)}" for _ in range(rows)],
            "income": rng.lognormal(10, 0.5, rows),
            "share": 100 * rng.random(rows),
            "price": rng.integers(100_000, 900_000, rows),
        }
        for name, values in kept.items():
            try:
                sf.release(NOISE, pa.table({"lat": lat, "lon": lon, name: values}), keep=[name])
            except InputError:
                alarms += 1
    assert alarms <= 1  # of 360, all seeded


@pytest.mark.slow
def test_few_false_alarms_over_many_columns():
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = (60, 300)[seed % 2]
        lat, lon = 53.8 + rng.normal(size=rows) / 20, -1.5 + rng.normal(size=rows) / 15
        kept = {
            "age": rng.integers(18, 90, rows),
            "key": [rng.bytes(6).hex() for _ in range(rows)],
            "income": rng.lognormal(10, 0.5, rows),
            "day": [f"2024-05-{day:02d}" for day in rng.integers(1, 31, rows)],
        }
        for name, values in kept.items():
            try:
                sf.release(NOISE, pa.table({"lat": lat, "lon": lon, name: values}), keep=[name])
            except InputError:
                alarms += 1
    assert alarms <= 1  # of 240, all seeded


def device(value):
    """Return a coordinate as GPS devices write it: 5348.6252 is 53 degrees and 48.6252 minutes."""
    return np.sign(value) * (np.trunc(np.abs(value)) * 100 + np.mod(np.abs(value), 1) * 60)


UNITS: dict[str, Callable[[Any], Any]] = {
    "degrees": lambda value: value,
    "semicircles": lambda value: np.round(value * 2**31 / 180),
    "degrees and minutes": device,
    "radians": np.radians,
    "kilometres": lambda value: np.round(value * 111.2, 1),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("names", [("dest_lat", "dest_lon"), ("endPositionLat", "endPositionLong"), ("p", "q")])
@pytest.mark.parametrize("far", [False, True])
def test_other_ends_are_known_in_any_unit_by_their_names_or_near_the_rows(unit, names, far):
    rng, _, _, columns = crowd(200)
    if names[0] == "p" and (far or unit == "kilometres"):
        return
    end = [columns[name] + (30 if far else 0.1) * rng.normal(size=200) for name in ("lat", "lon")]
    kept = {name: UNITS[unit](values) for name, values in zip(names, end, strict=True)}
    with pytest.raises(InputError, match="holds positions of other places") as refused:
        sf.release(NOISE, pa.table({**columns, **kept}), keep=list(kept))
    assert f"--also {names[0]},{names[1]}" in refused.value.render(lambda name, value: f"--{name} {value}")


@pytest.mark.parametrize(("rows", "ends"), [(20_000, 110), (300, 9), (300, 1)])
def test_other_ends_in_few_rows_are_not_kept(rows, ends):
    rng, _, _, columns = crowd(rows)
    some = rng.choice(rows, ends, replace=False)
    for names in [("end_lat", "end_lng"), *([("p", "q")] if ends >= 100 else [])]:
        kept = {name: np.full(rows, np.nan) for name in names}
        for name, position in zip(names, ("lat", "lon"), strict=True):
            kept[name][some] = columns[position][some] + rng.normal(size=ends) / 10
        for as_text in (False, True):
            arrays = {
                name: [f"{each:.5f}" if each == each else "" for each in values]
                if as_text
                else pa.array(values, from_pandas=True)
                for name, values in kept.items()
            }
            with pytest.raises(InputError, match="holds positions of other places"):
                sf.release(NOISE, pa.table({**columns, **arrays}), keep=list(kept))


@pytest.mark.parametrize("form", ["letters", "angles", "unsigned", "three decimals", "y and x"])
def test_other_ends_without_a_sign_or_in_few_decimals_are_not_kept(form):
    rng = np.random.default_rng(5)
    lat, lon = 37.78 + rng.normal(size=(2, 200)) / 40 + np.array([[0], [-160.2]])
    y, x = (each + rng.normal(size=200) / 40 for each in (lat, lon))
    kept = {
        "letters": {"to": [f"{a:.5f} N {-b:.5f} W" for a, b in zip(y, x, strict=True)]},
        "angles": {"to": [f"{angle(a)}N {angle(-b)}W" for a, b in zip(y, x, strict=True)]},
        "unsigned": {"end_long": -x},
        "three decimals": {"to": [f"{a:.3f}, {b:.3f}" for a, b in zip(y, x, strict=True)]},
        "y and x": {"end_x": x},
    }[form]
    noise = CoordinateNoise("1/km", "2 m", Projection(37.78, -122.42), "30 km")
    with pytest.raises(InputError, match="holds positions of other places"):
        sf.release(noise, pa.table({"lat": lat, "lon": lon, **kept}), keep=list(kept))


@pytest.mark.parametrize(
    ("lat", "lon"),
    [
        ("latitud_fin", "longitud_fin"),
        ("Breitengrad", "Längengrad"),
        ("breitengrad", "laengengrad"),
        ("latitudine", "longitudine"),
        ("Breite", "Laenge"),
    ],
)
def test_coordinates_are_called_so_in_other_languages(lat, lon):
    rng, _, _, columns = crowd(200)
    ends = {name: columns[of] + rng.normal(size=200) / 10 for name, of in ((lat, "lat"), (lon, "lon"))}
    for name, values in ends.items():
        with pytest.raises(InputError, match="holds positions of other places"):
            sf.release(NOISE, pa.table({**columns, name: np.round(values, 2)}), keep=[name])


def test_names_that_only_resemble_coordinates_are_kept():
    rng, _, _, columns = crowd(200)
    kept = {
        "flat": rng.integers(1, 90, 200),
        "salon": rng.integers(1, 90, 200),
        "lat_error": np.round(rng.exponential(5, 200), 1),
        "lon_error": np.round(rng.exponential(5, 200), 1),
        "has_lat": rng.integers(0, 2, 200),
        "how_long": rng.exponential(60, 200),
        "Breite": rng.normal(120, 30, 200),
        "Länge": rng.normal(400, 30, 200),
        "end_x": rng.normal(960, 300, 200),
    }
    assert pa.table(sf.release(NOISE, pa.table({**columns, **kept}), keep=list(kept))).num_rows == 200


@pytest.mark.slow
def test_few_false_alarms_over_amounts_in_many_cities():
    alarms = []
    cities = {"San Francisco": (37.77, -122.43), "Vienna": (48.2, 16.37), "Paris": (48.86, 2.35)}
    for seed, (lat, lon) in enumerate(3 * list(cities.values())):
        rng = np.random.default_rng(seed)
        for rows in (6, 60):
            spread = (0.02, 0.05, 0.1)[seed // 3]
            columns = {"lat": lat + spread * rng.normal(size=rows), "lon": lon + spread * rng.normal(size=rows)}
            noise = CoordinateNoise("1/km", "2 m", Projection(lat, lon), "100 km")
            for kept in (
                {"salary": rng.normal(45_000, 9_000, rows), "bonus": rng.normal(5_000, 3_000, rows)},
                {"metres": 500 + rng.exponential(4_000, rows), "steps": rng.normal(9_000, 2_500, rows).round()},
                {"a": rng.integers(10_000, 99_999, rows), "b": rng.integers(100_000, 999_999, rows)},
                {"pop": rng.normal(450_000, 6_000, rows), "gdp": rng.normal(5_400_000, 6_000, rows)},
                {"x": rng.integers(0, 4_000, rows), "y": rng.integers(0, 3_000, rows)},
                {"year": 2020 + 4 * rng.random(rows)},
                {"price": np.round(rng.normal(1_500, 400, rows), 2)},
            ):
                try:
                    sf.release(noise, pa.table({**columns, **kept}), keep=list(kept))
                except InputError as error:
                    alarms.append((seed, rows, error.problem))
    assert not alarms


@pytest.mark.parametrize("rows", [4, 6, 9])
def test_few_numbers_near_a_map_are_kept_unless_they_spread_as_the_rows_do(rows):
    rng = np.random.default_rng(rows)
    lat, lon = 53.8 + rng.normal(size=rows) / 400, -1.5 + rng.normal(size=rows) / 400
    east = np.array(on_a_map(32630, lat, lon)[0])
    columns = {"lat": lat, "lon": lon}
    with pytest.raises(InputError, match="'kept' holds positions in another form"):
        sf.release(NOISE, pa.table({**columns, "kept": east.round()}), keep=["kept"])
    other = np.median(east) + rng.random(rows) * 4  # as years are near the origin of a map
    sf.release(NOISE, pa.table({**columns, "kept": other}), keep=["kept"])
