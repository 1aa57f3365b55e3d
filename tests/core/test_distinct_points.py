"""Distinct points: those that numpy finds by comparing rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.arrays import distinct_points

numbers = st.sampled_from([-0.0, 0.0, 1.0, -2.5, 1e-300, 1e9])


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30))
def test_they_are_the_rows_that_differ(rows):
    points = np.array(rows)
    distinct, where, times = distinct_points(points)
    rows_of, index, counts = np.unique(points + 0.0, axis=0, return_inverse=True, return_counts=True)
    assert distinct.tobytes() == rows_of.tobytes()
    np.testing.assert_array_equal(where, index.ravel())
    np.testing.assert_array_equal(times, counts)
    np.testing.assert_array_equal(distinct[where], points)
