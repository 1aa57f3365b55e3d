"""Restricted Laplace, elastic metrics, and mechanisms of equal loss."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core import Metric, MetricPrivacy, Prior, Space
from sfumato.errors import InfeasibleError, InputError
from sfumato.geo import Grid
from sfumato.mechanisms import (
    PlanarGaussian,
    elastic_metric,
    elastic_surplus,
    exponential,
    match_loss,
    planar_geometric,
    restricted_laplace,
)
from sfumato.proofs import prove_metric_privacy

GRID = Grid.covering("3 km x 2 km around 48.85,2.35", cell="500 m")
METRES = GRID.metric("euclidean")


@given(st.integers(0, 2**32), st.floats(0, 5), st.floats(0.3, 4))
def test_restricted_laplace_by_loops(seed, epsilon, radius):
    rng = np.random.default_rng(seed)
    secrets, reports = Space(range(4), rng.uniform(0, 1, (4, 2))), Space(range(6), rng.uniform(0, 1, (6, 2)))
    d = sf.loss(secrets, reports).array
    if (d.min(axis=1) > radius).any():
        with pytest.raises(InfeasibleError, match="have no observable within"):
            restricted_laplace(secrets, d, epsilon, radius, reports)
        return
    found = restricted_laplace(secrets, d, epsilon, radius, reports)
    for s in range(4):
        weights = [math.exp(-epsilon * d[s, o]) if d[s, o] <= radius else 0.0 for o in range(6)]
        np.testing.assert_allclose(found.matrix[s], np.array(weights) / sum(weights), atol=1e-9)


def test_restricted_laplace_never_leaves_the_disc_and_gives_no_metric_privacy():
    mechanism = restricted_laplace(GRID, METRES, "2/km", "1 km")
    assert METRES.array[mechanism.weights > 0].max() == pytest.approx(1000)
    assert prove_metric_privacy(mechanism, MetricPrivacy("2/km", METRES)).upper == math.inf
    assert restricted_laplace(GRID, METRES, 0, "10 km").matrix == pytest.approx(1 / len(GRID))
    same = restricted_laplace(GRID, METRES, "2/km", "10 km")  # all reports within: 2 epsilon holds
    assert prove_metric_privacy(same, MetricPrivacy("4/km", METRES)).holds
    with pytest.raises(InputError, match="negative"):
        restricted_laplace(GRID, METRES, -1, 1)


def requirement_holds(metric, mass, required, radius):
    """Balls just below every distance that occurs, by loops."""
    total = mass.sum()
    for row in metric.array:
        for reach in np.unique(row[row > 0]) * (1 - 1e-9):
            asked = required * (reach / radius) ** 2
            if asked <= total and mass[row <= reach].sum() < asked * (1 - 1e-9):
                return False
    return True


@given(st.integers(2, 14), st.integers(0, 2**32), st.floats(0.05, 3), st.floats(0.1, 5), st.booleans())
def test_every_ball_holds_what_is_required(count, seed, required, radius, on_lattice):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 2))
    if on_lattice:
        x = np.stack(np.unravel_index(rng.permutation(25)[:count], (5, 5)), axis=1).astype(float)
    mass = rng.dirichlet(np.full(count, 0.3)) + 1e-3
    ground = Space(range(count), x).metric()
    found = elastic_metric(ground, mass, quota=required, radius=radius)
    assert requirement_holds(found, mass, required, radius)
    assert elastic_surplus(found, mass, quota=required, radius=radius).min() >= 1 - 1e-12
    Metric(found.array)  # its axioms, checked
    larger = found.scale(1.3)
    assert elastic_surplus(larger, mass, quota=required, radius=radius).min() < 1
    assert not requirement_holds(larger, mass, required, radius)


def test_even_mass_on_a_square_lattice():
    ij = np.stack(np.meshgrid(range(15), range(15)), axis=-1).reshape(-1, 2).astype(float)
    square = Space(range(225), ij)
    found = elastic_metric(square.metric(), np.full(225, 2.0), quota=0.5, radius=3.0)
    middle = np.flatnonzero(np.abs(ij - 7).max(axis=1) <= 2)
    manhattan = square.metric("manhattan").array
    np.testing.assert_allclose(found.array[middle][:, middle], 6.0 * manhattan[middle][:, middle], rtol=1e-11)


def test_towns_and_country():
    line = Space.numbers(range(20))
    mass = np.where(np.arange(20) < 10, 10.0, 0.1)
    metric = elastic_metric(line.metric(), mass, quota=0.5, radius=1.0)
    steps = metric.array[np.arange(19), np.arange(1, 20)]
    assert steps[:9].min() > 5 * steps[12:].max()
    mechanism = exponential(line, metric, 1.0)
    assert prove_metric_privacy(mechanism, MetricPrivacy(1.0, metric)).holds
    losses = mechanism.loss_of_secrets(line.metric())
    assert losses[:5].max() < 0.5 * losses[12:].min()


def test_elastic_metrics_need_mass_everywhere():
    line = Space.numbers(range(3)).metric()
    with pytest.raises(InputError, match="place 1 is 0"):
        elastic_metric(line, [1, 0, 1], quota=1)
    with pytest.raises(InputError, match="required mass must be a positive"):
        elastic_metric(line, [1, 1, 1], quota=0)
    with pytest.raises(InputError, match="radius must be a positive"):
        elastic_surplus(line, [1, 1, 1], quota=1, radius=0)


@pytest.mark.slow
def test_mechanisms_of_equal_loss():
    prior = Prior.from_counts(GRID, np.arange(len(GRID)))
    km = GRID.metric("euclidean", unit="km")
    families = {
        "planar geometric": (lambda e: planar_geometric(GRID, e), (1e-4, 1e-1)),
        "exponential": (lambda e: exponential(GRID, METRES, e), (1e-4, 1e-1)),
        "planar Gaussian": (lambda sigma: PlanarGaussian(GRID, sigma).mechanism(), (10.0, 1e4)),
    }
    for build, bracket in families.values():
        found = match_loss(build, prior, km, "600 m", bracket, tolerance=1e-3)
        assert 0.6 * (1 - 1e-3) <= found.loss <= 0.6
        assert found.loss == build(found.parameter).expected_loss(prior, km)
        assert found.unit == "km"
    with pytest.raises(InfeasibleError, match="farther apart"):
        match_loss(families["exponential"][0], prior, km, "600 m", (0.09, 0.1))
    with pytest.raises(InputError, match="cannot be used"):
        match_loss(families["exponential"][0], prior, km, "600 m", (0.0, 0.1))
    steps = match_loss(
        lambda p: exponential(GRID, METRES, round(p, 3)), prior, km, "600 m", (1e-3, 1e-1), tolerance=0.5
    )
    assert 0.3 <= steps.loss <= 0.6
    with pytest.raises(InfeasibleError, match="jumps"):
        match_loss(
            lambda p: exponential(GRID, METRES, round(p, 3)), prior, km, "600 m", (1e-3, 1e-1), tolerance=1e-9
        )
