"""Grids: every visit in one cell, and the cells where they say they are."""

import ast
import json
import pickle
import re

import numpy as np
import pyproj
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import Prior
from sfumato.errors import DataError, InputError, UnitError
from sfumato.geo import Grid, Projection, Region, Visits, places_from
from sfumato_papers.invented_city import invented_city

REGION = "8 km x 6 km around 48.85,2.35"


@st.composite
def some_visits(draw):
    lat, lon = draw(st.floats(-70, 70)), draw(st.floats(-170, 170))
    reach = draw(st.floats(0.001, 0.5))
    seed, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, 60))
    at = np.random.default_rng(seed).random((n, 2))
    return Visits(lat + reach * at[:, 0], lon + reach * at[:, 1], polar=True)


def test_by_size_and_by_number():
    by_size = Grid.covering(REGION, cell="500 m")
    assert (by_size.columns, by_size.rows, by_size.cell_m) == (16, 12, (500.0, 500.0))
    assert repr(by_size) == "Grid of 16 x 12 cells of 500 m x 500 m"
    assert (by_size.unit, len(by_size)) == ("m", 192)
    by_number = Grid.covering(Region.parse(REGION), shape=(20, 15))
    np.testing.assert_allclose(by_number.cell_m, (400, 400), atol=1e-3)
    oblong = Grid.covering("15 km x 7.995 km around 40.7,-74", cell=("750 m", "533 m"))
    assert (oblong.columns, oblong.rows) == (20, 15)
    assert Grid.covering(REGION, cell=500) == by_size


def test_labels_run_row_by_row_from_the_south_west():
    grid = Grid.covering(REGION, shape=(3, 2))
    assert grid.labels == ("c00r00", "c01r00", "c02r00", "c00r01", "c01r01", "c02r01")
    lat, lon = grid.latlon.T
    assert lat[0] < lat[3]
    assert lon[0] < lon[1] < lon[2]
    assert Grid.covering(REGION, shape=(101, 2)).labels[-1] == "c100r001"


def test_the_metric_is_that_on_the_ground():
    grid = Grid.covering(REGION, cell="1 km")
    d = grid.metric("euclidean", "km").array
    geod = pyproj.Geod(ellps="WGS84")
    lat, lon = grid.latlon.T
    i, j = np.triu_indices(len(grid), 1)
    ground = geod.inv(lon[i], lat[i], lon[j], lat[j])[2] / 1000
    np.testing.assert_allclose(d[i, j], ground, rtol=1e-6)


@given(st.integers(1, 30), st.integers(2, 30), st.floats(-80, 80), st.floats(-179, 179), st.floats(10, 5000))
def test_each_centre_lies_in_its_own_cell(columns, rows, lat, lon, side):
    grid = Grid(columns, rows, (side, 1.3 * side), (-0.4 * side, -side), Projection(lat, lon).crs)
    np.testing.assert_array_equal(grid.locate(*grid.latlon.T), np.arange(len(grid)))


@given(some_visits(), st.integers(2, 20), st.integers(1, 20))
def test_every_visit_is_counted_once_by_number(visits, columns, rows):
    grid = Grid.covering(visits, shape=(columns, rows))
    assert grid.counts(visits).sum() == len(visits)


@given(some_visits(), st.floats(0.05, 0.9))
@settings(max_examples=15)
def test_every_visit_is_counted_once_by_size(visits, part):
    grid = Grid.covering(visits, cell=part * max(visits.region().size_m))
    counts = grid.counts(visits)
    assert counts.sum() == len(visits)
    # Another route: which centre's rectangle holds the point.
    xy = grid.projection.forward(visits.lat, visits.lon)
    reach = np.array(grid.cell_m) * (0.5 + 1e-8) + 1e-6  # a hundred-millionth of a cell is rounded away
    near = np.all(np.abs(xy[:, None] - np.array(grid.coordinates)[None]) <= reach, axis=2)
    assert near[np.arange(len(visits)), grid.locate(visits.lat, visits.lon)].all()


def test_outside_is_minus_one_even_on_the_other_side_of_the_globe():
    grid = Grid.covering(REGION, cell="1 km")
    found = grid.locate([48.85, 48.85, 48.7, -48.85, 90.0], [2.35, 2.45, 2.35, -177.65, 0.0])
    assert found[0] >= 0
    np.testing.assert_array_equal(found[1:], -1)


def test_outlines_surround_the_centres():
    grid = Grid.covering(REGION, shape=(4, 3))
    corners = grid.outlines_latlon()
    assert corners.shape == (12, 4, 2)
    np.testing.assert_allclose(corners.mean(axis=1), grid.latlon, atol=1e-5)
    np.testing.assert_array_equal(corners[0, 1], corners[1, 0])
    np.testing.assert_array_equal(corners[0, 2], corners[5, 0])
    (north1, east1), (north2, east2) = (np.diff(corners, axis=1)[:, k].T for k in (0, 1))
    assert (east1 * north2 - north1 * east2 > 0).all()  # counter-clockwise


def test_counts_of_one_user_and_of_labels():
    visits = Visits([48.85, 48.85, 48.87], [2.35, 2.35, 2.33], user=[1, 2, 2])
    grid = Grid.covering(REGION, shape=(8, 6))
    assert grid.counts(visits, "2").sum() == 2
    assert Prior.from_visits(grid, visits, user=1).probabilities.max() == 1.0
    assert grid.counts(["c00r00", "c00r00"])[0] == 2
    with pytest.raises(InputError, match="has no users"):
        grid.counts(["c00r00"], user=1)


def test_a_grid_survives_json_and_pickle():
    grid = Grid.covering(Visits([48.85, 48.9], [2.35, 2.31]), cell=("700 m", "1 mi"))
    again = places_from(json.loads(json.dumps(grid.describe())))
    assert isinstance(again, Grid)
    assert again == grid
    np.testing.assert_array_equal(again.coordinates, grid.coordinates)
    assert pickle.loads(pickle.dumps(grid)) == grid
    with pytest.raises(InputError, match=r"incomplete or damaged \(KeyError\('origin_m'\)\)"):
        Grid.from_description({"kind": "grid", "columns": 2, "rows": 2, "cell_m": [1, 1]})
    with pytest.raises(InputError, match="kind 'circle' does not describe places"):
        places_from({"kind": "circle"})
    with pytest.raises(InputError, match="is not a local projection"):
        places_from({**grid.describe(), "crs": "EPSG:4326"})


def test_one_cell_has_nothing_to_hide():
    at_one_place = Visits([48.85] * 3, [2.35] * 3)
    for choice in ({"cell": "500 m"}, {"shape": (8, 6)}):
        with pytest.raises(InputError, match=r"one cell.* nothing to hide"):
            Grid.covering(at_one_place, **choice)
    with pytest.raises(InputError, match="nothing to hide"):
        Grid.covering(REGION, cell="10 km")
    with pytest.raises(InputError, match="nothing to hide"):
        Grid.covering(REGION, shape=(1, 1))


def test_too_many_cells_say_what_to_do_instead():
    with pytest.raises(
        InputError, match=r"region of 8 km x 6 km gives 480,000 cells, but at most 10,000"
    ) as caught:
        Grid.covering(REGION, cell="10 m")
    assert "cell='300 m'" in caught.value.render(values=True)
    outlier = Visits([*np.linspace(48.85, 48.86, 99), 50.0], [*np.linspace(2.35, 2.36, 99), 4.0])
    with pytest.raises(InputError) as caught:
        Grid.covering(outlier, cell="100 m")
    region = caught.value.hint.split("'")[3]
    assert len(Grid.covering(outlier, cell="100 m", region=region)) < 200


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({}, "either the size of its cells or their number"),
        ({"cell": "1 km", "shape": (2, 2)}, "either the size of its cells or their number"),
        ({"cell": "-1 km"}, "a cell of -1 km has no extent"),
        ({"cell": 0}, "a cell of 0 has no extent"),
        ({"cell": ("1 km", "1 km", "1 km")}, "cell= has 3 items, but 2 are needed"),
        ({"shape": (0, 3)}, "not a number of columns and of rows"),
        ({"shape": (2.5, 3)}, "an item of shape= is of type float, but an integer is needed"),
    ],
)
def test_refused_cells(choice, message):
    with pytest.raises(InputError, match=message):
        Grid.covering(REGION, **choice)


def test_cells_need_units_of_length():
    with pytest.raises(UnitError, match="the cell"):
        Grid.covering(REGION, cell="5 kg")


def test_refused_fields():
    crs = Projection(48, 2).crs
    with pytest.raises(InputError, match="a grid of 0 x 5 cells"):
        Grid(0, 5, (1, 1), (0, 0), crs)
    with pytest.raises(InputError, match="has no extent"):
        Grid(2, 5, (1, 0), (0, 0), crs)


def test_no_visit_inside_says_where_they_are():
    visits = Visits([40.7, 40.8], [-74.0, -73.9], user=["a", "b"])
    with pytest.raises(DataError, match=r"of 2 visits none falls into the 192 cells") as caught:
        Grid.covering(visits, cell="500 m", region=REGION).counts(visits)
    assert "40.70000 to 40.80000 N, -74.00000 to -73.90000 E" in caught.value.render(values=True)
    with pytest.raises(DataError, match="of 1 visit of user 'a' none"):
        Grid.covering(REGION, cell="500 m").counts(visits, "a")


@pytest.mark.parametrize("origin", [(0.0, 1_500_001.0), (-1.6e6, 0.0), (2e7, 0.0), (1e308, 1e308)])
def test_a_plane_far_from_the_cells_is_refused(origin):
    with pytest.raises(InputError, match="more than 1 % off"):
        Grid(2, 2, (500.0, 500.0), origin, Projection(48.85, 2.35).crs)
    with pytest.raises(InputError, match="more than 1 % off"):
        Grid(2, 2, (2e6, 500.0), (0.0, 0.0), Projection(48.85, 2.35).crs)


@given(st.floats(-89, 89), st.floats(-179, 179), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_no_grid_has_distances_that_are_more_than_one_percent_off(lat, lon, seed):
    rng = np.random.default_rng(seed)
    sides, origin = rng.uniform(1e3, 4e5, 2), rng.uniform(-1.5e6, 1.5e6, 2)
    try:
        grid = Grid(4, 4, tuple(sides), tuple(origin), Projection(lat, lon).crs)
    except InputError:
        return
    i, j = np.triu_indices(len(grid), 1)
    at = grid.latlon
    ground = pyproj.Geod(ellps="WGS84").inv(at[i, 1], at[i, 0], at[j, 1], at[j, 0])[2]
    np.testing.assert_allclose(grid.metric("euclidean").array[i, j], ground, rtol=0.01)


@given(st.floats(-89, 89), st.floats(-179, 179), st.floats(0, 40), st.floats(0, 90))
@settings(deadline=None)
def test_no_region_has_distances_that_are_more_than_one_percent_off(south, west, height, width):
    try:
        region = Region(south, west, min(south + height, 90.0), min(west + width, 180.0))
    except InputError:
        return
    rng = np.random.default_rng(0)
    lat, lon = rng.uniform(region.south, region.north, 40), rng.uniform(region.west, region.east, 40)
    xy = Projection(*region.centre).forward(lat, lon)
    i, j = np.triu_indices(40, 1)
    ground = pyproj.Geod(ellps="WGS84").inv(lon[i], lat[i], lon[j], lat[j])[2]
    # PROJ takes points within 1e-10 radians of the centre, .6 mm on the ground, for the centre.
    np.testing.assert_allclose(np.hypot(*(xy[i] - xy[j]).T), ground, rtol=0.01, atol=2e-3)


def test_a_description_that_contradicts_itself_is_refused():
    described = Grid.covering(REGION, shape=(3, 2)).describe()
    for change in ({"columns": "3"}, {"rows": 2.5}, {"labels": ["a"]}, {"crs": described["crs"] + " "}):
        with pytest.raises(InputError):
            places_from({**described, **change})


def test_a_centre_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="not centred"):
        Projection.from_crs(Projection(48.85, 2.35).crs.replace("48.85", "48..85"))


@pytest.mark.parametrize("ask", [{"cell": "1 m"}, {"shape": (500, 500)}])
def test_what_is_suggested_against_too_many_cells_fits(ask):
    visits = invented_city(users=50, days=7)
    with pytest.raises(InputError, match="at most") as caught:
        Grid.covering(visits, **ask)
    suggested = dict(re.findall(r"(\w+)=('[^']*'|\([^)]*\))", caught.value.hint))
    assert set(suggested) <= {"cell", "shape", "region"}
    for name, value in suggested.items():
        other = {name: ast.literal_eval(value)}
        assert 4 < len(Grid.covering(visits, **(other if name != "region" else {**ask, **other}))) < 5000


def test_a_middle_is_suggested_where_it_fits():
    rng = np.random.default_rng(1)
    near = rng.normal(size=(500, 2)) * 0.002
    visits = Visits(np.append(48.85 + near[:, 0], 49.9), np.append(2.35 + near[:, 1], 3.3))
    with pytest.raises(InputError, match="keep to the middle") as caught:
        Grid.covering(visits, cell="50 m")
    (middle,) = re.findall(r"region='([^']*)'", caught.value.hint)
    assert 4 < len(Grid.covering(visits, cell="50 m", region=middle)) < 10_000


def test_visits_on_both_sides_of_the_date_line_are_named_so():
    with pytest.raises(InputError, match="180th meridian"):
        Grid.covering(Visits([-17, -17.1], [179.9, -179.9]), cell="1 km")


def test_the_loss_of_cells_counts_from_the_true_point():
    """By brute force: the mean distance from true point to report; centres alone would say less."""
    visits = invented_city()
    grid = Grid.covering(visits, cell="2 km", region=visits.region(trim=0.05))
    prior, loss = Prior.from_visits(grid, visits), grid.loss(visits)
    rows = np.random.default_rng(0).dirichlet(np.ones(len(grid)), len(grid))
    cells = grid.locate(visits.lat, visits.lon)
    inside = cells >= 0
    xy = grid.projection.forward(visits.lat[inside], visits.lon[inside])
    distances = np.hypot(*(xy[:, None] - np.array(grid.coordinates)[None]).transpose(2, 0, 1)) / 1000
    mean = (rows[cells[inside]] * distances).sum(axis=1).mean()
    assert prior.probabilities @ (rows * loss.array).sum(axis=1) == pytest.approx(mean, rel=1e-12)
    centres = grid.metric("euclidean", "km").array
    kept = np.eye(len(grid))  # the cell itself: no loss from centre to centre, but from the true point
    assert prior.probabilities @ (kept * centres).sum(axis=1) == 0
    assert prior.probabilities @ (kept * loss.array).sum(axis=1) > 0.5
    assert grid.loss(visits, "manhattan", "m").array.min() >= 0


@pytest.mark.parametrize("side", [5e-324, 1e-310, 1e-300])
def test_cells_too_small_to_be_counted(side):
    grid = Grid(2, 2, (side, side), (0.0, 0.0), Projection(48.85, 2.35).crs)
    assert grid.locate([48.9, 48.7, 48.85], [2.4, 2.3, 2.35]).tolist() == [-1, -1, 0]


@pytest.mark.parametrize("origin", [(1.7e308, 1.7e308), (-1.7e308, 0.0)])
def test_places_beyond_all_floats_are_refused(origin):
    with pytest.raises(InputError, match="km from the centre of their plane") as caught:
        Grid(2, 2, (1.7e308, 1.0), origin, Projection(48.85, 2.35).crs)
    assert len(caught.value.problem) < 250
