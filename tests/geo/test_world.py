"""Map of the world: small, fast, and right about land and water."""

import time

import numpy as np
import pytest
from release.world import pack_ints

from sfumato.errors import InputError
from sfumato.geo import world
from sfumato.geo.world import PATH, unpack_ints

# Latitude, longitude, and whether it is land.
POINTS = {
    "Manhattan": (40.7812, -73.9665, True),
    "Hudson": (40.8300, -73.9620, False),
    "Golden Gate": (37.8120, -122.4790, False),
    "Twin Peaks": (37.7520, -122.4470, True),
    "San Francisco Bay": (37.7500, -122.3000, False),
    "Pacific": (37.7500, -122.5500, False),
    "Paris": (48.8566, 2.3522, True),
    "Lake Geneva": (46.4500, 6.5500, False),
    "Bosphorus": (41.0850, 29.0600, False),
    "Istanbul": (41.0150, 28.9500, True),
    "Tokyo Bay": (35.5500, 139.8800, False),
    "Shinjuku": (35.6900, 139.7000, True),
    "Sydney Harbour": (-33.8530, 151.2400, False),
    "Lagos Lagoon": (6.5200, 3.4700, False),
    "Guanabara": (-22.8500, -43.1500, False),
    "Corcovado": (-22.9520, -43.2110, True),
    "Cairo": (30.0600, 31.2400, True),
    "Moscow": (55.7558, 37.6173, True),
    "Lake Victoria": (-1.0000, 33.0000, False),
    "Atlantic": (40.0000, -30.0000, False),
}


def test_the_file_is_small():
    assert PATH.stat().st_size < 5_000_000


@pytest.mark.parametrize(("lat", "lon", "land"), POINTS.values(), ids=POINTS)
def test_known_points_are_land_or_water(lat, lon, land):
    assert world(lat - 0.1, lon - 0.1, lat + 0.1, lon + 0.1).on_land(lat, lon) == land


@pytest.mark.slow
def test_large_towns_are_on_land_and_many():
    held = world(35, -10, 60, 20)
    towns = [town for town in held.towns if town.population > 200_000]
    assert {"Paris", "Madrid", "Berlin", "Rome"} <= {town.name for town in towns}
    dry = held.on_land([town.lat for town in towns], [town.lon for town in towns])
    assert dry.mean() > 0.95  # centres are rounded, and some lie at a quay
    assert [town.population for town in held.towns] == sorted((t.population for t in held.towns), reverse=True)


def test_a_city_across_tiles_is_whole_and_fast():
    world(51.3, -0.4, 51.7, 0.4)
    begun = time.perf_counter()
    held = world(51.3, -0.4, 51.7, 0.4)
    assert time.perf_counter() - begun < 0.5  # 5 ms on a free machine
    assert held.on_land(51.5, np.linspace(-0.39, 0.39, 9)).sum() >= 8
    for line in (*held.shores, *held.rivers):
        assert (line >= (51.3 - 1e-9, -0.4 - 1e-9)).all()
        assert (line <= (51.7 + 1e-9, 0.4 + 1e-9)).all()
    # No shore runs along the side of a tile.
    assert not any((np.abs(line[:, 1]) < 1e-9).sum() > 2 for line in held.shores)


@pytest.mark.parametrize("bounds", [(1, 0, 0, 1), (0, 0, 91, 1), (0, 0, 1, float("nan")), (0, 0, 31, 1)])
def test_other_bounds_are_refused(bounds):
    with pytest.raises(InputError):
        world(*bounds)


def test_integers_survive_packing():
    numbers = np.array([0, 1, 127, 128, 16383, 16384, 2**34, 2**35 - 1])
    np.testing.assert_array_equal(unpack_ints(pack_ints(numbers)), numbers)
