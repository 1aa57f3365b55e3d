"""Cells partition the line and the plane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.statistics import FineBits, Halvings, IntervalBins, RectangleBins, quantile_bins

numbers = st.lists(st.floats(-10, 10), min_size=1, max_size=30)


@given(numbers)
def test_intervals_hold_their_left_edge(values):
    edges = [-3.0, 0.0, 4.5]
    cells = IntervalBins(edges)
    found = cells.place_any(values)
    for value, cell in zip(values, found, strict=True):
        assert cell == sum(value >= edge for edge in edges)
    assert cells.labels == ("below -3.0", "[-3.0, 0.0)", "[0.0, 4.5)", "from 4.5")


@given(st.lists(st.tuples(st.floats(-10, 10), st.floats(-10, 10)), min_size=1, max_size=30))
def test_rectangles_are_intervals_in_both_directions(points):
    cells = RectangleBins([-1.0, 1.0], [0.0])
    for (x, y), cell in zip(points, cells.place_any(points), strict=True):
        column, row = (x >= -1) + (x >= 1), int(y >= 0)
        expected = cells.labels[cell].split(" x ")
        assert expected[0] == IntervalBins([-1.0, 1.0]).labels[column]
        assert expected[1] == IntervalBins([0.0]).labels[row]


@pytest.mark.parametrize(("dimensions", "depth"), [(1, 3), (2, 4), (3, 5)])
def test_halvings_hold_equally_many_of_the_points_they_were_made_of(dimensions, depth):
    points = np.random.default_rng(2).normal(size=(640, dimensions))
    cells = Halvings(points, depth)
    counts = np.bincount(cells.place_any(points), minlength=2**depth)
    assert set(counts) == {640 // 2**depth}
    assert len(set(cells.labels)) == 2**depth
    assert cells.dimensions == dimensions


def test_quantile_bins_of_numbers_are_even_and_merge_where_values_repeat():
    values = np.arange(100.0)
    assert np.bincount(quantile_bins(values, 5).place_any(values)).tolist() == [20] * 5
    assert isinstance(quantile_bins([1.0, 1.0, 1.0], 4), IntervalBins)


def test_fine_bits_tell_coarse_from_fine_and_leave_out_what_is_far():
    cells = FineBits(2.0**-45, 128.0)
    values = [2.0**-45, 3 * 2.0**-45, -(2.0**-46), 1 / 3, 127.5, 128.0, -500.0]
    kinds = [cells.labels[cell] for cell in cells.place_any(values)]
    assert kinds == ["coarse", "coarse", "fine", "fine", "coarse", "far", "far"]
    pair = FineBits(2.0**-45, 128.0, dimensions=2)
    assert pair.labels[pair.place_any([(1 / 3, 200.0)])[0]] == "fine far"
    assert len(set(pair.labels)) == 9


@pytest.mark.parametrize(
    "make",
    [
        lambda: IntervalBins([]),
        lambda: IntervalBins([1.0, 1.0]),
        lambda: RectangleBins([0.0], [2.0, 1.0]),
        lambda: Halvings([1.0, 2.0], 3),
        lambda: Halvings([1.0] * 20, 2),
        lambda: quantile_bins([1.0, 2.0], 1),
        lambda: FineBits(0.3, 1.0),
        lambda: FineBits(0.5, 0.0),
        lambda: IntervalBins([0.0]).place_any([(1.0, 2.0)]),
    ],
)
def test_what_are_no_cells_is_refused(make):
    with pytest.raises(InputError):
        make()
