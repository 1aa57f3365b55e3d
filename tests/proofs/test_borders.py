"""Borders of cells: the worst pair by brute force over all neighbours, and points that lie where they should."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, UnitError
from sfumato.proofs import worst_border
from sfumato_papers.invented_city import invented_city


def random_mechanism(seed, columns, rows, reports=4):
    grid = sf.Grid.covering("3 km x 2 km around 48.85,2.35", shape=(columns, rows))
    matrix = np.random.default_rng(seed).dirichlet(np.ones(reports), size=len(grid))
    return sf.Mechanism(matrix, grid, sf.Space(range(reports)))


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=15, deadline=None)
def test_no_other_pair_of_neighbours_is_told_apart_more(seed, columns, rows):
    if columns * rows < 2:
        return
    mechanism = random_mechanism(seed, columns, rows)
    grid, matrix = mechanism.secrets, mechanism.matrix
    best = 0.0
    for s in range(len(grid)):
        for t in range(len(grid)):
            away = abs(s % columns - t % columns), abs(s // columns - t // columns)
            if s != t and max(away) == 1:
                best = max(best, float((matrix[s] / matrix[t]).max()))
    found = worst_border(mechanism)
    assert found.factor.lower <= best * (1 + 1e-12)
    assert best <= found.factor.upper * (1 + 1e-12)
    s, t = found.cells
    assert matrix[s, found.observable] / matrix[t, found.observable] == pytest.approx(best, rel=1e-12)
    assert grid.locate(*found.points.T).tolist() == [s, t]
    near = np.hypot(*np.diff(grid.projection.forward(*found.points.T), axis=0)[0])
    assert near == pytest.approx(1, rel=1e-6)


def test_what_is_impossible_on_the_other_side_is_infinitely_likelier():
    grid = sf.Grid.covering("3 km x 2 km around 48.85,2.35", shape=(2, 1))
    found = worst_border(sf.Mechanism(np.eye(2), grid, grid), "20 m")
    assert math.isinf(found.factor.lower)
    assert found.apart_m == 20


def test_a_constant_report_tells_nothing_apart():
    grid = sf.Grid.covering("3 km x 2 km around 48.85,2.35", shape=(3, 2))
    found = worst_border(sf.Mechanism(np.full((6, 3), 1 / 3), grid, sf.Space(range(3))))
    assert (found.factor.lower, found.factor.upper) == (1, 1)


def test_two_people_on_the_two_sides_of_a_border_are_told_apart_as_the_middles_of_their_cells():
    """The promise between middles 500 m apart, at 2/km, is e^1; corners are sqrt(2) times farther apart."""
    visits = invented_city(users=20, days=7)
    grid = sf.Grid.covering("4 km x 3 km around 40,-30", "500 m")
    made = sf.design(
        sf.Prior.from_visits(grid, visits),
        loss=grid.loss(visits),
        guarantees=sf.MetricPrivacy("2/km", grid.metric("euclidean", unit="km")),
        gap=1e-3,
        tie_break=False,
    )
    found = worst_border(made.mechanism)
    assert 2.5 < found.factor.lower <= math.exp(math.sqrt(2)) * (1 + 1e-9)
    assert "points 1 m apart" in repr(found)


def test_what_has_no_borders_is_refused():
    with pytest.raises(InputError, match="cells of a grid"):
        worst_border(sf.Mechanism(np.eye(2)))
    mechanism = random_mechanism(0, 3, 2)
    with pytest.raises(InputError, match="do not fit"):
        worst_border(mechanism, "3 km")
    with pytest.raises(InputError, match="nan"):
        worst_border(mechanism, float("nan"))
    with pytest.raises(UnitError):
        worst_border(mechanism, "3")
