"""Grids and hexagons in mechanism files."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files import MechanismFile, read_mechanism_file, save
from sfumato.geo import Cells, Grid, Hexagons

from .contents import assert_same

GRID = Grid.covering("3 km x 2 km around 48.85,2.35", cell="700 m")


def hexagons() -> Hexagons:
    return Hexagons.covering("3 km x 2 km around 48.85,2.35", resolution=8)


@pytest.fixture(params=["grid", "hexagons"])
def places(request: pytest.FixtureRequest) -> Cells:
    return GRID if request.param == "grid" else hexagons()


def test_places_come_back(tmp_path: Path, places: Cells) -> None:
    d = places.metric("euclidean", unit="km")
    file = MechanismFile(
        sf.Mechanism(np.full((len(places), len(places)), 1 / len(places)), places),
        sf.Prior.uniform(places),
        d,
        [sf.MetricPrivacy("0.6/km", d), sf.ThresholdPrivacy(1.0, d, "1 km")],
    )
    save(file, tmp_path / "city.sfm")
    again = read_mechanism_file(tmp_path / "city.sfm")
    assert_same(file, again)
    found = again.mechanism.secrets
    assert type(found) is type(places)
    assert isinstance(found, Cells)
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(48.83, 48.87, 500), rng.uniform(2.32, 2.38, 500)
    assert np.array_equal(found.locate(lat, lon), places.locate(lat, lon))
    assert np.array_equal(found.latlon, places.latlon)


def test_groups_of_cells_come_back(tmp_path: Path) -> None:
    halves = GRID.group_labels([GRID.labels[:7], GRID.labels[7:]])
    mechanism = sf.Mechanism(np.full((len(GRID), 2), 0.5), GRID, halves)
    save(mechanism, tmp_path / "groups.sfm")
    assert read_mechanism_file(tmp_path / "groups.sfm").mechanism == mechanism


@pytest.mark.parametrize(
    "change",
    [
        {"columns": 10**9},
        {"columns": "many"},
        {"columns": 1e999},
        {"rows": -1},
        {"rows": 4},
        {"cell_m": [1.0]},
        {"cell_m": [0.0, 1.0]},
        {"cell_m": "ab"},
        {"cell_m": [[], {}]},
        {"origin_m": [1e999, 0.0]},
        {"origin_m": None},
        {"crs": "+proj=aeqd +lat_0=e +lon_0=- +datum=WGS84 +units=m +no_defs"},
        {"crs": "EPSG:4326"},
        {"crs": None},
        {"kind": "globe"},
        {"kind": 3},
    ],
)
def test_descriptions_that_make_no_sense(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "grid.sfm"
    save(sf.Mechanism(np.eye(len(GRID)), GRID), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    manifest["spaces"][0].update(change)
    manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest).replace("Infinity", "1e999"))
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(FileError):
        read_mechanism_file(path)


def test_a_grid_of_the_users_own_type_is_refused(tmp_path: Path) -> None:
    class Tilted(Grid):
        def describe(self) -> dict[str, Any]:
            return {**Grid.describe(self), "origin_m": [1.0, 2.0]}

    tilted = Tilted(2, 2, (1.0, 1.0), (0.0, 0.0), GRID.crs or "")
    with pytest.raises(InputError, match="type Tilted"):
        save(sf.Mechanism(np.eye(4), tilted), tmp_path / "a.sfm")
