"""Planar Laplace noise for studies: its distribution, the cost of finite precision, the attack on last bits."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import lambertw

from sfumato.core import Metric, Space
from sfumato.errors import InfeasibleError, InputError, SfumatoError
from sfumato.mechanisms import (
    PlanarGaussian,
    PlanarLaplace,
    epsilon_before_rounding,
    planar_geometric,
    rounded_epsilon,
)
from sfumato.sampling import sampler, simulator
from sfumato.statistics import FineBits, decide

HUNDRED = PlanarLaplace(math.log(2) / 100)


@given(st.floats(1e-3, 10), st.floats(0, 0.999999))
def test_quantiles_are_lambert_and_invert_the_cdf(epsilon, share):
    noise = PlanarLaplace(epsilon)
    radius = float(noise.quantile(share))
    assert float(noise.cdf(radius)) == pytest.approx(share, rel=1e-9, abs=1e-300)
    assert float(noise.cdf(radius)) == pytest.approx(
        1 - (1 + epsilon * radius) * math.exp(-epsilon * radius), abs=1e-12
    )
    if share > 1e-9:  # nearer to its branch point W is lost
        assert radius * epsilon == pytest.approx(-(lambertw((share - 1) / math.e, -1).real + 1), abs=1e-6)


def test_moments_are_integrals_of_the_density():
    noise = PlanarLaplace("2/km", unit="km")
    for power, known in [(0, 1.0), (1, noise.absolute), (2, noise.variance)]:
        found, _ = quad(
            lambda r, power=power: 2 * math.pi * r ** (1 + power) * float(noise.density([r, 0])), 0, 40
        )
        assert found == pytest.approx(known, rel=1e-7)
    # No ratio of densities is larger than epsilon allows.
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 500, 2))
    logs = np.log(noise.density(z - x) / noise.density(z - y))
    assert (logs <= 2 * np.linalg.norm(x - y, axis=1) + 1e-12).all()


def test_simulations_follow_the_distribution():
    noise = PlanarLaplace(0.5)
    moved = noise.simulate(np.tile([3.0, -4.0], (100_000, 1)), np.random.default_rng(8)) - [3, -4]
    r, angle = np.linalg.norm(moved, axis=1), np.arctan2(moved[:, 1], moved[:, 0])
    for share in (0.1, 0.5, 0.9, 0.99):
        assert (r < noise.quantile(share)).mean() == pytest.approx(share, abs=6 * math.sqrt(0.25 / 1e5))
    assert np.abs(np.exp(1j * angle).mean()) < 6 / math.sqrt(1e5)
    assert (moved**2).sum(axis=1).mean() == pytest.approx(noise.variance, rel=0.03)


def test_no_release_takes_it():
    assert HUNDRED.study_only
    assert "for studies only" in repr(HUNDRED)
    assert HUNDRED.hamming_loss == 1
    with pytest.raises(InputError, match="for studies only"):
        HUNDRED.recipe()
    with pytest.raises(InputError, match="PlanarGeometric"):
        HUNDRED.mechanism()
    with pytest.raises(SfumatoError, match="for studies only"):
        simulator(HUNDRED, 1)
    with pytest.raises(InputError, match="for studies only"):
        sampler(HUNDRED)


@pytest.mark.parametrize(
    ("step", "precision", "expected"),
    [(100.0, 2.0**-52, 0.006931471806), (0.001, 2.0**-52, 0.00702), (1.0, 2.0**-24, 0.0309)],
)
def test_finite_precision_golden(step, precision, expected):
    digits = 12 if expected == 0.006931471806 else 5 if expected == 0.00702 else 4
    assert round(rounded_epsilon(math.log(2) / 100, step, 1e5, precision), digits) == expected


@given(st.floats(1e-4, 1.0), st.floats(0.01, 1000), st.floats(10, 1e6), st.sampled_from([2.0**-52, 2.0**-24]))
def test_finite_precision_and_its_inverse(epsilon, step, widest, precision):
    q = step / (widest * precision)
    assume(epsilon * step < 700 and q > 2 * math.exp(epsilon * step) * (1 + 1e-9))
    found = rounded_epsilon(epsilon, step, widest, precision)
    growth = 2 * math.exp(epsilon * step)
    assert found == pytest.approx(epsilon + math.log((q + growth) / (q - growth)) / step, rel=1e-6)
    assert found >= epsilon
    before = epsilon_before_rounding(found, step, widest, precision)
    assert before == pytest.approx(epsilon, rel=1e-9)
    assert rounded_epsilon(before, step, widest, precision) <= found


def test_grids_too_fine_for_the_precision():
    with pytest.raises(InfeasibleError, match="too fine"):
        rounded_epsilon(0.01, 1e-3, 1e5, 2.0**-24)
    with pytest.raises(InfeasibleError, match="no noise has at most"):
        epsilon_before_rounding(0.01, 1.0, 1e5, 2.0**-24)
    with pytest.raises(InputError, match="step must be a positive"):
        rounded_epsilon(0.01, 0.0, 1e5)


# The attack of F.7. Near zero, noise in doubles has bits below 2^-45; added to 256 it has none.
EPSILON = math.log(2) / 200
FINE = FineBits(2.0**-45, 128.0, dimensions=2)
NEAR_AND_FAR = Metric([[0.0, 256.0], [256.0, 0.0]], "m")
FAILURE = 1e-10  # the probability with which a sound sampler is accused, at most


def test_the_last_bits_of_one_report_name_the_secret():
    noise, rng = PlanarLaplace(EPSILON), np.random.default_rng(21)
    seen = {}
    for secret in (0.0, 256.0):
        reported = noise.simulate(np.tile([secret, 0.0], (200_000, 1)), rng)[:, 0]
        near = reported[np.abs(reported) < 128]
        seen[secret] = float((near / 2.0**-45 % 1 != 0).mean())
    assert seen[0.0] == pytest.approx(0.678, abs=0.01)
    assert seen[256.0] == 0.0

    found = decide(
        lambda secret: noise.simulate([secret, 0.0], rng),
        [0.0, 256.0],
        EPSILON,
        NEAR_AND_FAR,
        bins=FINE,
        failure=FAILURE,
    )
    assert found.is_violated
    assert found.finding is not None
    assert found.finding.is_unbounded


LINE_OF_CELLS = Space(range(27), [[64.0 * i, 64.0 * j] for i in range(9) for j in (-1, 0, 1)], "m")
FINITE = {
    "planar geometric": planar_geometric(LINE_OF_CELLS, EPSILON),
    "planar Gaussian": PlanarGaussian(LINE_OF_CELLS, 2000.0).mechanism(),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("seeded", [False, True])
def test_the_reports_of_finite_mechanisms_have_no_last_bits(name, seeded):
    mechanism, points = FINITE[name], LINE_OF_CELLS.coordinates
    assert points is not None
    drawer = simulator(mechanism, seed=4) if seeded else sampler(mechanism)
    positions = {0.0: 1, 256.0: 13}
    assert [points[p].tolist() for p in positions.values()] == [[0, 0], [256, 0]]
    # Every report is one of the cells, bit by bit, and every cell is possible from both secrets.
    assert (mechanism.weights > 0).all()
    for position in positions.values():
        drawn = points[drawer.draw(np.full(20_000, position))]
        assert {tuple(row) for row in drawn} <= {tuple(row) for row in points}
        assert FINE.labels[int(FINE.place(drawn).max())].count("fine") == 0
    found = decide(
        lambda secret: points[drawer.draw([positions[secret]])[0]],
        [0.0, 256.0],
        EPSILON,
        NEAR_AND_FAR,
        bins=FINE,
        failure=FAILURE,
        limit=4_000,
    )
    assert not found.is_violated


PEER = """
import json, sys
import qif
secret, calls = float(sys.argv[1]), int(sys.argv[2])
noise = [qif.mechanism.geo_ind.planar_laplace_sample(float(sys.argv[3])) for _ in range(calls)]
print(json.dumps([[secret + point.x, point.y] for point in noise]))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("qif")
def test_the_last_bits_name_the_secret_of_libqif_too():
    # In a process of its own: libqif brings its own solvers.
    drawn = {}
    for secret in (0.0, 256.0):
        arguments = [sys.executable, "-c", PEER, str(secret), "8000", str(EPSILON)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        drawn[secret] = iter(json.loads(done.stdout))
    found = decide(
        lambda secret: tuple(next(drawn[secret])),
        [0.0, 256.0],
        EPSILON,
        NEAR_AND_FAR,
        bins=FINE,
        failure=FAILURE,
        limit=8_000,
    )
    assert found.is_violated  # not by chance: below 1e-30 (thirteen deviations)
