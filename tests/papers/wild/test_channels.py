"""Channels of schemes in the wild: closed forms against quadrature and simulation, and exact mechanisms."""

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.privacy import GaussianPrivacy, MetricDifferentialPrivacy
from sfumato_papers.wild import (
    SCHEMES,
    CertifiedNoise,
    DriftingOffset,
    FixedCells,
    PrivacyZone,
    RadialNoise,
    RoundedDistance,
    at_border,
    even_radius,
    gaussian_radius,
    laplace_radius,
    mesh_cells,
    mixed_radius,
)
from sfumato_papers.wild.channels import WildChannel, degree_m
from sfumato_papers.wild.published_attacks import drift_averaged

TOWN = sf.Grid.covering("4 km x 4 km around 40,-30", cell="500 m")
OFFSET = DriftingOffset(2000.0, 500.0, 0.03)
LAWS = [
    even_radius(400, 1200),
    mixed_radius(even_radius(0, 5000), even_radius(0, 10_000), 0.01),
    laplace_radius(0.004),
    gaussian_radius(300),
]
CHANNELS = [each.channel for each in SCHEMES if each.channel is not None]


def generator(seed=1):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("width", "height"), [(1.0, 1.0), (3.0, 1.0), (1.0, 0.4)])
@pytest.mark.parametrize("spread", [False, True])
def test_mean_distance_in_cells_is_that_of_a_quadrature(width, height, spread):
    x, y = (np.arange(400) + 0.5) / 400 * width, (np.arange(400) + 0.5) / 400 * height
    if spread:  # distances of two even numbers have a triangular law
        wx, wy = 1 - x / width, 1 - y / height
    else:
        x, y, wx, wy = np.abs(x - width / 2), np.abs(y - height / 2), np.ones(400), np.ones(400)
    mean = wx @ np.hypot(x[:, None], y[None, :]) @ wy / (wx.sum() * wy.sum())
    assert FixedCells(width, height, spread=spread).mean_m == pytest.approx(mean, rel=2e-3)


def test_known_means_of_squares():
    assert FixedCells(1, 1).mean_m == pytest.approx(0.382597858, abs=1e-8)
    assert FixedCells(1, 1, spread=True).mean_m == pytest.approx(0.521405433, abs=1e-8)


@pytest.mark.parametrize("lat", [-50.0, 0.0, 40.0, 70.0])
def test_degrees_are_as_long_as_the_projection_says(lat):
    plane = Projection(lat, 10.0)
    east, north = degree_m(lat)
    (x, _), (_, y) = plane.forward([lat, lat + 1e-4], [10.0001, 10.0])
    assert east == pytest.approx(x / 1e-4, rel=1e-6)
    assert north == pytest.approx(y / 1e-4, rel=1e-5)


def test_cells_report_the_same_and_kept_points_stay_in_their_cell():
    points = generator().uniform(-9000, 9000, (200, 2))
    for cells in (FixedCells(700, 400, (30, -80)), FixedCells(700, 400, (30, -80), spread=True)):
        reports = cells.reports(points, 3, generator())
        assert (reports == reports[:, :1]).all()
        assert (cells.centres(reports[:, 0]) == cells.centres(points)).all()
        assert (np.abs(cells.centres(points) - points) <= (350.0 + 1e-9, 200.0 + 1e-9)).all()


def test_an_exact_mechanism_of_cells_is_audited_at_its_border():
    mechanism = FixedCells(2000, 2000).mechanism(TOWN)
    found = MetricDifferentialPrivacy(TOWN.metric("euclidean", unit="km")).measure(mechanism)
    assert found.value == math.inf
    assert mechanism.shape == (64, 4)
    row = at_border("x", FixedCells(2000, 2000, (77.0, -5.0)))
    assert (row.same_cell_epsilon, row.border_epsilon) == (0.0, math.inf)
    assert 1 < row.certified_factor < 1.01


def test_the_drifting_offset_is_as_far_off_as_its_quadrature_says():
    points = generator().uniform(0, 1e6, (40_000, 2))
    off = np.hypot(*(OFFSET.reports(points, 1, generator(2))[:, 0] - points).T)
    assert OFFSET.mean_m == pytest.approx(off.mean(), rel=0.01)


@pytest.mark.parametrize("count", [1, 2, 30])
def test_the_mu_of_drifting_reports_is_that_of_their_covariance(count):
    hours = np.arange(count)
    covariance = 500.0**2 * OFFSET.memory ** np.abs(hours[:, None] - hours[None, :])
    ones = np.ones(count)
    mu = 100 * math.sqrt(ones @ np.linalg.solve(covariance, ones))
    bound = 100 / 500 * math.sqrt(1 + (count - 1) * 0.000226)  # as the guarantee says
    assert mu * (1 - 1e-9) <= bound <= mu * (1 + 1e-4)
    assert OFFSET.averaged_m(count) == pytest.approx(math.sqrt(ones @ covariance @ ones) / count)


def test_averages_of_drifting_offsets_are_as_computed():
    row, _ = drift_averaged(OFFSET, 40, 3, 4000)
    assert row.mean_m == pytest.approx(row.closed_m, rel=0.03)


def test_the_exact_mechanism_of_one_drifting_report():
    mechanism = OFFSET.mechanism(TOWN)
    far = float(TOWN.metric("euclidean", unit="m").array.max())
    # Rounding to cells is processing: mu cannot grow by it.
    assert GaussianPrivacy().measure(mechanism).value <= far / 500 * (1 + 1e-9)
    reports = OFFSET.reports(np.tile(np.asarray(TOWN.coordinates)[:1], (20_000, 1)), 1, generator())[:, 0]
    cells = np.asarray(mechanism.observables.coordinates)
    drawn = [(np.abs(reports - cell) < 1).all(axis=1).mean() for cell in cells]
    np.testing.assert_allclose(drawn, mechanism.matrix[0], atol=0.015)


def test_one_report_is_as_likely_as_the_exact_mechanism_says():
    mechanism = OFFSET.mechanism(TOWN)
    places = np.asarray(TOWN.coordinates)
    report = int(np.argmax(mechanism.matrix[20]))
    seen = np.asarray(mechanism.observables.coordinates)[report]
    found = np.exp(OFFSET.log_likelihood(seen[None, :], places))
    exact = mechanism.matrix[:, report]
    np.testing.assert_allclose(found / found.sum(), exact / exact.sum(), atol=0.006)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_laws_of_distances(law):
    radius = np.linspace(0, 60 * law.mean_m, 600_001)
    density = law.density(radius)
    assert np.trapezoid(density, radius) == pytest.approx(1, abs=1e-3)
    assert np.trapezoid(density * radius, radius) == pytest.approx(law.mean_m, rel=2e-3)
    drawn = law.draw(40_000, generator())
    assert drawn.mean() == pytest.approx(law.mean_m, rel=0.02)


def test_noise_is_renewed_or_kept():
    place = np.zeros((50, 2))
    fresh = RadialNoise(even_radius(400, 1200), renewed=True).reports(place, 4, generator())
    kept = RadialNoise(even_radius(400, 1200), renewed=False).reports(place, 4, generator())
    away = np.hypot(fresh[..., 0], fresh[..., 1])
    assert ((away >= 400) & (away <= 1200)).all()
    assert (kept == kept[:, :1]).all()
    assert (fresh[:, 1] != fresh[:, 0]).any(axis=1).all()


def test_certified_noise_has_the_mean_that_was_asked_for_and_a_proof():
    noise = CertifiedNoise.of_mean(500.0, renewed=True)
    reports = noise.reports(np.zeros((4000, 2)), 5, generator())
    assert np.hypot(reports[..., 0], reports[..., 1]).mean() == pytest.approx(500, rel=0.02)
    assert noise.proof.holds
    assert noise.proof.upper == pytest.approx(4.0, rel=1e-6)
    assert noise.proof.slack_m == pytest.approx(math.sqrt(2) * 0.5, rel=1e-6)


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: type(channel).__name__)
def test_every_channel_moves_points_as_far_as_it_says_and_holds_the_truth_possible(channel):
    points = generator().uniform(0, 100 * channel.mean_m, (4000, 2))
    off = np.hypot(*(channel.reports(points, 1, generator(5))[:, 0] - points).T)
    assert off.mean() == pytest.approx(channel.mean_m, rel=0.05)
    own = channel.reports(points[:1], 10, generator(6))[0]
    likely = channel.log_likelihood(own, np.vstack([points[:1], points[:1] + 50 * channel.mean_m]))
    assert likely[0] > likely[1]


def test_the_cells_of_a_radio():
    assert [round(mesh_cells(bits, 0.0).width_m / 1000, 1) for bits in (10, 12, 13, 15)] == [46.7, 11.7, 5.8, 1.5]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: FixedCells(0, 5),
        lambda: FixedCells(math.nan, 5),
        lambda: even_radius(5, 5),
        lambda: even_radius(math.nan, 5),
        lambda: mixed_radius(even_radius(0, 5), even_radius(0, 9), math.nan),
        lambda: laplace_radius(0.0),
        lambda: gaussian_radius(math.inf),
        lambda: DriftingOffset(0.0, 5.0, 0.1),
        lambda: DriftingOffset(5.0, math.nan, 0.1),
        lambda: DriftingOffset(5.0, 5.0, 0.0),
        lambda: RoundedDistance(math.inf),
        lambda: PrivacyZone(math.nan),
        lambda: PrivacyZone(500.0, error_m=math.nan),
        lambda: mesh_cells(32, 0.0),
        lambda: degree_m(math.nan),
        lambda: CertifiedNoise.of_mean(0.0, renewed=True),
        lambda: FixedCells(5, 5).reports([[0.0, math.nan]], 1, generator()),
        lambda: FixedCells(5, 5).reports([0.0, 1.0], 1, generator()),
        lambda: FixedCells(5, 5).reports([[0.0, 1.0]], 0, generator()),
    ],
)
def test_what_makes_no_channel_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()


def test_channels_share_a_face():
    assert all(isinstance(channel, WildChannel) for channel in CHANNELS)
