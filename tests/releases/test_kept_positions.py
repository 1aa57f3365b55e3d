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
    assert pa.table(private).column(name).to_pylist() == pa.array(TELLS_NOTHING[name]).to_pylist()


def test_the_numbers_of_rows_are_kept_also_of_a_straight_walk():
    walk = pa.table({"lat": 53.8 + np.arange(30) / 1e4, "lon": np.full(30, -1.5), "row": np.arange(30)})
    assert pa.table(sf.release(NOISE, walk, keep=["row"])).column("row").to_pylist() == list(range(30))


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
