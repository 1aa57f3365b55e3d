"""Hexagons: the same promises as grids."""

import copy
import json
import pickle
import sys

import numpy as np
import pytest

from sfumato.errors import DataError, InputError, MissingExtraError
from sfumato.geo import Hexagons, Projection, Region, Visits, places_from
from sfumato_papers.invented_city import invented_city

REGION = "8 km x 6 km around 48.85,2.35"


@pytest.fixture(scope="module")
def hexagons():
    return Hexagons.covering(REGION, resolution=8)


def test_each_centre_lies_in_its_own_cell(hexagons):
    np.testing.assert_array_equal(hexagons.locate(*hexagons.latlon.T), np.arange(len(hexagons)))
    np.testing.assert_array_equal(hexagons.locate([-48.85], [2.35]), [-1])


def test_every_point_of_the_region_is_covered(hexagons):
    region = Region.parse(REGION)
    random = np.random.default_rng(3).random((2000, 2))
    lat = region.south + (region.north - region.south) * random[:, 0]
    lon = region.west + (region.east - region.west) * random[:, 1]
    assert (hexagons.locate(lat, lon) >= 0).all()


def test_neighbours_are_one_width_apart(hexagons):
    import h3

    d = hexagons.metric("euclidean").array
    middle = hexagons.locate([48.85], [2.35])[0]
    width = np.sort(d[middle])[1:7].mean()
    assert width == pytest.approx(np.sqrt(2 * h3.average_hexagon_area(8, unit="m^2") / np.sqrt(3)), rel=0.2)


def test_the_nearest_resolution_is_chosen():
    assert Hexagons.covering(REGION, cell="500 m").resolution == 9
    assert Hexagons.covering(REGION, cell="1 km").resolution == 8
    assert "about 349 m wide" in repr(Hexagons.covering(REGION, cell="400 m"))


def test_every_visit_is_counted_once():
    city = invented_city(users=20)
    assert Hexagons.covering(city, cell="500 m").counts(city).sum() == len(city)
    line = Visits(np.linspace(48.80, 48.90, 50), np.full(50, 2.35))
    assert Hexagons.covering(line, cell="500 m").counts(line).sum() == 50


def test_outlines_surround_the_centres(hexagons):
    corners = hexagons.outlines_latlon()
    assert corners.shape == (len(hexagons), 6, 2)
    np.testing.assert_allclose(corners.mean(axis=1), hexagons.latlon, atol=1e-4)


def test_hexagons_survive_json(hexagons):
    again = places_from(json.loads(json.dumps(hexagons.describe())))
    assert isinstance(again, Hexagons)
    assert again == hexagons
    assert again.resolution == 8
    with pytest.raises(InputError, match="incomplete or damaged"):
        Hexagons.from_description({"kind": "hexagons"})


def test_refusals(hexagons):
    with pytest.raises(InputError, match="either their width or their resolution"):
        Hexagons.covering(REGION)
    with pytest.raises(InputError, match="resolution 16 does not exist"):
        Hexagons.covering(REGION, resolution=16)
    with pytest.raises(InputError, match="no extent"):
        Hexagons.covering(REGION, cell="0 m")
    with pytest.raises(InputError, match="at most 10,000"):
        Hexagons.covering(REGION, resolution=14)
    with pytest.raises(InputError, match="nothing to hide"):
        Hexagons.covering(Visits([48.85], [2.35]), resolution=5)
    with pytest.raises(InputError, match="'paris' is not an H3 cell"):
        Hexagons(["paris"], hexagons.crs)
    with pytest.raises(InputError, match="1 cells of 1 resolutions"):
        Hexagons(hexagons.labels[:1], hexagons.crs)
    with pytest.raises(DataError, match="of 1 visit none"):
        hexagons.counts(Visits([40.0], [2.0]))


def test_a_plane_far_from_the_cells_is_refused(hexagons):
    """On a plane centred at their antipode the cells of one town are 40,000 km apart."""
    for lat, lon in ((-48.85, -177.65), (20.0, 2.35), (48.85, 40.0)):
        with pytest.raises(InputError, match="more than 1 % off"):
            Hexagons(hexagons.labels, Projection(lat, lon).crs)
    with pytest.raises(InputError, match="20,000 hexagons cannot be used"):
        Hexagons(["881fb46625fffff"] * 20_000, hexagons.crs)


def test_copies_and_pickles_are_frozen(hexagons):
    for again in (copy.deepcopy(hexagons), pickle.loads(pickle.dumps(hexagons))):
        assert again == hexagons
        assert again.resolution == hexagons.resolution
        assert not again.coordinates.flags.writeable


def test_a_description_that_contradicts_itself_is_refused(hexagons):
    with pytest.raises(InputError, match="its resolution is 7, but its cells have 8"):
        places_from({**hexagons.describe(), "resolution": 7})


def test_without_h3_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "h3", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[hex\]'"):
        Hexagons.covering(REGION, resolution=8)
