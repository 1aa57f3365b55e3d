"""Two people beside a border: apart as the middles of their cells under cells, and as two points under points."""

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.comparison import street, street_figure
from sfumato.errors import InputError
from sfumato_papers.invented_city import invented_city

CITY = invented_city(users=20, days=7)
REGION = CITY.region(trim=0.03)


@pytest.fixture(scope="module")
def found():
    return street(CITY, "1/km", region=REGION, spacing="900 m")


@pytest.mark.slow
def test_the_two_are_as_far_apart_as_asked_for_and_in_two_cells(found):
    grid = sf.Grid.covering(CITY, "900 m", region=REGION)
    one, other = grid.locate(*found.people.T)
    assert one != other
    apart = np.hypot(*np.diff(grid.projection.forward(*found.people.T), axis=0)[0])
    assert apart == pytest.approx(4, rel=1e-6)
    assert found.apart_m == 4


def test_points_keep_the_promise_and_cells_break_it(found):
    assert found.points.factor.upper <= math.exp(1 * 0.004) * (1 + 1e-9)
    assert found.cells.factor.lower > 1.3
    step = np.diff(found.metres)[0] / 1000
    used = found.points.likelihoods[:, found.points.likelihoods.max(axis=0) > 0]
    slopes = np.abs(np.diff(np.log(used), axis=0)) / step
    assert slopes.max() <= 1 + 1e-6
    used = found.cells.likelihoods[:, found.cells.likelihoods.min(axis=0) > 0]
    jumps = np.abs(np.diff(np.log(used), axis=0))
    assert np.count_nonzero(jumps.max(axis=1) > 1e-9) <= 4  # at borders alone
    assert jumps.max() / step > 50


def test_likelihoods_are_what_a_simulator_draws(found):
    """Twenty thousand reports of the first person, on a lattice that is made again."""
    lattice = sf.Lattice.covering(CITY, "900 m", region=REGION)
    made = sf.design(
        sf.Prior.from_visits(lattice, CITY),
        loss=lattice.loss(CITY),
        guarantees=sf.CoordinatePrivacy("1/km"),
        gap=1e-3,
        method="table",
    ).mechanism
    lat, lon = np.repeat(found.people[:1], 20_000, axis=0).T
    reports = sf.simulator(made, seed=5).blur(lat, lon)
    positions = np.argmin(np.hypot(*(made.observables.latlon[None] - reports[:, None]).transpose(2, 0, 1)), axis=1)
    shares = np.bincount(positions, minlength=len(lattice)) / 20_000
    assert np.abs(shares - found.points.pair[0]).max() < 0.02


def test_the_figure_says_both_ratios(found):
    walk, ratios = street_figure(found).axes
    texts = " ".join(text.get_text() for text in ratios.texts)
    assert "cells: up to" in texts
    assert "points: up to 1.00" in texts
    assert "(m)" in walk.get_xlabel()
    assert walk.get_legend_handles_labels()[1] == ["what the guarantee allows", "cells", "points"]


def test_what_cannot_be_walked_is_refused():
    with pytest.raises(InputError, match="do not fit"):
        street(CITY, "1/km", region=REGION, spacing="2 km", apart="3 km")
