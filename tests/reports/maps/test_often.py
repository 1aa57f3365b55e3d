"""Smallest sets of cells and contours that hold a share of the reports: brute force and shapely."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import Point, Polygon

import sfumato as sf
from sfumato.reports.maps import draw_contours, often_cells
from sfumato.reports.theme import blank

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


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_contours_hold_the_shares_that_they_say(data):
    weights = np.array(data.draw(st.lists(st.integers(0, 5), min_size=30, max_size=30)), float)
    weights[data.draw(st.integers(0, 29))] += 1
    points = np.asarray(GRID.coordinates) / 1000
    ax = blank(4, 4).subplots()
    low, high = points.min(axis=0) - 1, points.max(axis=0) + 1
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    draw_contours(ax, points, weights, 0.6, "inside (%)")
    filled, *lines = ax.collections
    held = []
    for line, share in zip(lines, (0.5, 0.9), strict=True):
        (path,) = line.get_paths()
        rings = [Polygon(ring).buffer(0.05) for ring in map(np.asarray, path.to_polygons()) if len(ring) > 3]
        inside = np.array([sum(ring.contains(Point(point)) for ring in rings) % 2 == 1 for point in points])
        held.append(weights[inside].sum() / weights.sum())
        assert held[-1] >= share - 1e-9
    assert held[0] <= held[1]
    assert len(filled.get_paths()) == 4
