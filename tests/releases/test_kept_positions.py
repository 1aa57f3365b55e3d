"""Columns that tell the position are not kept, whatever they are called; all others are."""

import numpy as np
import pyarrow as pa
import pyproj
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise

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


def table(**columns):
    return pa.table({"lat": LAT, "lon": LON, **columns})


@pytest.mark.parametrize("name", TOLD)
def test_positions_in_another_form_are_not_kept(name):
    with pytest.raises(InputError, match=f"the column {name!r} holds positions in another form") as refused:
        sf.release(NOISE, table(**{name: TOLD[name]}), keep=[name])
    assert "keep=" in refused.value.hint
    sf.release(NOISE, table(**{name: TOLD[name]}), keep=[])


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
