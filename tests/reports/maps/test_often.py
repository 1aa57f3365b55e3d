"""The smallest set of cells that holds a share of the reports: brute force, shapely, and free points."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import Polygon, shape
from shapely.ops import unary_union

import sfumato as sf
from sfumato.reports.maps import often, often_cells

GRID = sf.Grid.covering("6 km x 5 km around 48.85,2.35", cell="1 km")


@given(st.lists(st.integers(0, 30), min_size=1, max_size=9).filter(any), st.integers(1, 100))
def test_no_smaller_set_holds_as_much(weights, percent):
    row = np.array(weights) / sum(weights)
    chosen = often_cells(row, percent / 100)
    # Whole numbers decide what holds enough: 100 times the weight against percent times the sum.
    held = 100 * np.array(weights)[chosen].sum()
    assert held >= percent * sum(weights)
    smaller = max((sum(some) for some in combinations(weights, int(chosen.sum()) - 1)), default=0)
    assert 100 * smaller < percent * sum(weights)
    assert held == 100 * max(sum(some) for some in combinations(weights, int(chosen.sum())))


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01, float("nan")])
def test_other_shares_are_refused(share):
    with pytest.raises(sf.errors.InputError, match="not above 0 and at most 1"):
        often_cells([0.5, 0.5], share)


@pytest.mark.parametrize("row", [[0.0, 0.0], [-0.5, 1.5], []])
def test_what_is_no_probability_is_refused(row):
    with pytest.raises(sf.errors.InputError):
        often_cells(row, 0.5)


@pytest.mark.parametrize(
    "places",
    [
        GRID,
        sf.Lattice.covering("6 km x 5 km around 48.85,2.35", "1 km"),
        sf.Lattice.covering("6 km x 5 km around 48.85,2.35", "1 km", kind="triangular"),
        sf.Hexagons.covering("6 km x 5 km around 48.85,2.35", cell="1.2 km"),
    ],
    ids=["grid", "square", "triangular", "hexagons"],
)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_the_outline_is_the_union_of_the_cells(places, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(places), max_size=len(places))), float)
    weights[data.draw(st.integers(0, len(places) - 1))] += 1
    row, share = weights / weights.sum(), data.draw(st.sampled_from([0.5, 0.9, 1.0]))
    found = shape(often(row, places, share))
    corners = places.outlines_latlon()[often_cells(row, share)][..., ::-1]
    union = unary_union([Polygon(cell).buffer(1e-9) for cell in corners])
    cell = Polygon(corners[0]).area
    assert found.buffer(0).symmetric_difference(union).area < 1e-3 * cell
    assert sum(part.area for part in found.geoms) == pytest.approx(sum(Polygon(c).area for c in corners), rel=1e-4)
    for part in found.geoms:
        assert part.exterior.is_ccw
        assert not any(hole.is_ccw for hole in part.interiors)
        assert part.exterior.is_simple


def test_a_hole_is_a_hole():
    row = np.ones(len(GRID))
    places = np.asarray(GRID.coordinates)
    x, y = np.round((places - places[0]) / 1000).T
    row[(x == 2) & (y == 2)] = 0
    found = often(row / row.sum(), GRID, 1.0)["coordinates"]
    assert len(found) == 1
    assert [len(ring) for ring in found[0]][1:] == [5]
    assert found[0][0][0] == found[0][0][-1]


def test_free_points_count_for_the_nearest_cell():
    lat, lon = GRID.latlon[[3, 3, 11]].T + np.array([[1e-3, -1e-3, 0], [0, 0, 1e-3]])
    points = sf.Space(["a", "b", "c"], coordinates=np.column_stack([lat, lon]), unit="degree", crs="EPSG:4326")
    row = [0.3, 0.3, 0.4]
    alone = np.zeros(len(GRID))
    alone[3] = 1
    assert often(row, points, 0.5, GRID) == often(alone, GRID, 0.5)
    with pytest.raises(sf.errors.InputError, match="no cells to draw"):
        often(row, points, 0.5)


def test_a_row_of_another_size_is_refused():
    with pytest.raises(sf.errors.InputError):
        often([0.5, 0.5], GRID, 0.5)
