"""The remap to points of the plane: geometric medians with a bound, means, and what they leave untouched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import sfumato as sf
from sfumato.core import Mechanism, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.errors import InputError, SolverError
from sfumato.mechanisms import exponential, geometric_median, remap_in_plane, remap_mechanism


def points_of(space: Space) -> Floats:
    assert space.coordinates is not None
    return space.coordinates


def total(points, weights, y):
    return float(weights @ np.linalg.norm(points - y, axis=1))


@given(st.integers(1, 30), st.integers(0, 2**32), st.sampled_from([0.05, 1.0, 20.0]), st.booleans())
def test_no_point_is_better(count, seed, evenness, on_lattice):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, (count, 2)).astype(float) if on_lattice else rng.normal(size=(count, 2))
    w = rng.dirichlet(np.full(count, evenness))
    if count > 1:
        w[np.argmin(w)] = 0.0
    found = geometric_median(x, w)
    scale = np.ptp(x, axis=0).max() + 1e-300
    assert found.total.value == pytest.approx(total(x, w, found.point), rel=1e-12)
    assert found.total.lower <= found.total.value <= found.total.lower + 1e-8 * found.total.value + 1e-300
    grid = x.min(axis=0) + np.stack(np.meshgrid(*[np.linspace(-0.1, 1.1, 25)] * 2), -1).reshape(-1, 2) * scale
    near = found.point + rng.normal(size=(50, 2)) * 1e-3 * scale
    assert min(total(x, w, y) for y in [*grid, *near, *x]) >= found.total.lower - 1e-12 * scale


def test_against_a_general_optimiser():
    rng = np.random.default_rng(3)
    for _ in range(10):
        x, w = rng.normal(size=(12, 2)), rng.dirichlet(np.ones(12))
        other = minimize(lambda y, x=x, w=w: total(x, w, y), x.mean(axis=0), method="Nelder-Mead", tol=1e-12)
        assert geometric_median(x, w).total.value == pytest.approx(other.fun, rel=1e-8)


def test_known_medians():
    # Fermat: in a triangle without an angle above 120 degrees all sides are seen under 120 degrees.
    triangle = np.array([[0, 0], [4, 0], [1, 3]])
    rays = triangle - geometric_median(triangle, np.ones(3)).point
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    np.testing.assert_allclose(rays @ rays.T, 1.5 * np.eye(3) - 0.5, atol=1e-6)
    # With an angle above 120 degrees it is that corner; so it is where one place has half of the weight.
    assert geometric_median([[0, 0], [9, 1], [-9, 1]], np.ones(3)).point.tolist() == [0, 0]
    heavy = geometric_median([[0, 0], [1, 0], [0, 1], [5, 5]], [3, 1, 1, 1])
    assert heavy.point.tolist() == [0, 0]
    assert heavy.total.value == heavy.total.lower
    # On a line it is a weighted median.
    assert geometric_median([[0.0], [1.0], [7.0]], [1, 1, 1.5]).point.tolist() == [1.0]


@st.composite
def instances(draw):
    n, m = draw(st.integers(2, 9)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    belief = rng.dirichlet(np.ones(n))
    belief[0] = 0.0
    matrix = np.column_stack([rng.dirichlet(np.full(m, 0.5), size=n), np.zeros(n)])
    space = Space(range(n), rng.normal(size=(n, 2)) * 10, "km")
    return Mechanism(matrix, space, Space([f"z{i}" for i in range(m + 1)])), Prior.from_counts(space, belief)


def test_a_median_beside_a_given_point_is_found():
    """A whole Newton step is too long there, and Weiszfeld's steps are too short."""
    x = np.array([[-17.17551892, -8.77042702], [-6.19948829, 14.64460816], [7.06692575, 10.23496222]])
    x = np.vstack([x, [2.20501085, 5.43380275]])
    w = np.array([0.142341, 0.00024325, 0.0248919, 0.11729171])
    found = geometric_median(x, w)
    assert found.total.upper - found.total.lower <= 1e-9 * found.total.value
    exact = minimize(lambda y: total(x, w, y), x[3], method="Nelder-Mead", tol=1e-12)
    assert found.total.value == pytest.approx(exact.fun, rel=1e-8)


@given(instances())
def test_the_plane_is_better_than_any_cells(instance):
    mechanism, prior = instance
    space = mechanism.secrets
    after = remap_in_plane(mechanism, prior)
    loss = after.expected_loss(prior, sf.loss(space, after.observables))
    cells = remap_mechanism(mechanism, prior, space.metric("euclidean"), space)
    assert loss <= cells.expected_loss(prior, space.metric("euclidean")) * (1 + 1e-8)
    joint = mechanism.joint(prior)
    medians = [geometric_median(points_of(space), joint[:, z]).total.value for z in range(mechanism.shape[1] - 1)]
    assert loss == pytest.approx(sum(medians), rel=1e-7)
    assert np.array_equal(after.weights, mechanism.weights)
    assert after.bits == mechanism.bits
    assert after.observables.labels == mechanism.observables.labels


@given(instances())
def test_squared_loss_takes_the_mean_of_the_posterior(instance):
    mechanism, prior = instance
    x = points_of(mechanism.secrets)
    after = remap_in_plane(mechanism, prior, "squared")
    means = mechanism.posterior(prior)[:-1] @ x
    np.testing.assert_allclose(points_of(after.observables)[:-1], means, rtol=1e-9, atol=1e-9)
    # What is left is the mean variance of the posteriors: the law of total variance.
    squares = ((x[:, None] - points_of(after.observables)[None]) ** 2).sum(axis=2)
    within = float((mechanism.joint(prior) * squares).sum())
    overall = float(prior.probabilities @ ((x - prior.probabilities @ x) ** 2).sum(axis=1))
    produced = mechanism.marginal(prior)[:-1]
    between = float(produced @ ((means - prior.probabilities @ x) ** 2).sum(axis=1))
    assert within == pytest.approx(overall - between, rel=1e-9, abs=1e-9)


def test_an_unused_report_gets_the_best_point_of_the_prior():
    space = Space("abc", [[0, 0], [4, 0], [0, 4]], "km")
    prior = Prior(space, [0.0, 0.9, 0.1])
    mechanism = Mechanism(np.column_stack([np.eye(3), np.zeros(3)]), space, Space("wxyz"))
    after = remap_in_plane(mechanism, prior)
    assert points_of(after.observables).tolist() == [[4, 0], [4, 0], [0, 4], [4, 0]]
    assert after.observables.unit == "km"


def test_what_is_refused():
    space = Space("ab", [[0, 0], [1, 1]])
    mechanism = exponential(space, space.metric(), 1.0)
    with pytest.raises(InputError, match="coordinates on a plane"):
        remap_in_plane(Mechanism(np.eye(2)), Prior.uniform(Space(range(2))))
    degrees = Space("ab", [[48.0, 2.0], [48.1, 2.0]], crs="EPSG:4326")
    with pytest.raises(InputError, match="coordinates on a plane"):
        remap_in_plane(Mechanism(np.eye(2), degrees), Prior.uniform(degrees))
    with pytest.raises(InputError, match="'cubed' is unknown"):
        remap_in_plane(mechanism, Prior.uniform(space), "cubed")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="all are zero"):
        geometric_median([[0, 0]], [0])
    with pytest.raises(InputError, match="tolerance 0 is not positive"):
        geometric_median([[0, 0]], [1], tolerance=0)
    with pytest.raises(SolverError, match="asked for"):
        geometric_median(np.random.default_rng(1).normal(size=(9, 2)), np.ones(9), tolerance=1e-30)
