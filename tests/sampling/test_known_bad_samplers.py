"""Samplers that are known to be bad are found out; ours are not among them."""

import numpy as np
import pytest

import sfumato as sf

from .mechanisms import geometric_mechanism
from .test_sampler import BY_CHANCE, chance

MECHANISM = geometric_mechanism(16, 0.7)
SECRET, DRAWS = 5, 2_000


def alarmed(reports: np.ndarray) -> bool:
    return chance(np.bincount(reports, minlength=16), MECHANISM.matrix[SECRET]) < BY_CHANCE


@pytest.mark.slow
def test_a_seed_fixed_for_every_call_is_found_out():
    reports = np.array([int(sf.simulator(MECHANISM, seed=7).draw([SECRET])[0]) for _ in range(DRAWS)])
    assert alarmed(reports)


def test_a_memo_sold_as_fresh_noise_is_found_out():
    memo = sf.sampler(MECHANISM).draw(np.arange(16))
    assert alarmed(memo[np.full(DRAWS, SECRET)])


def test_one_sampler_asked_again_and_again_is_not():
    drawer = sf.sampler(MECHANISM)
    assert not alarmed(np.array([int(drawer.draw([SECRET])[0]) for _ in range(DRAWS)]))


def test_fine_bits_of_laplace_noise_in_doubles_name_the_secret_and_ours_has_none():
    """Noise added in doubles is a multiple of the last bit of the secret's size (Mironov, CCS 2012)."""
    rng = np.random.default_rng(1)
    epsilon = np.log(2) / 200
    angle, radius = rng.uniform(0, 2 * np.pi, 200_000), rng.gamma(2, 1 / epsilon, 200_000)
    fine = {}
    for secret in (0.0, 256.0):
        reported = secret + radius * np.cos(angle)
        near = reported[np.abs(reported) < 128]
        fine[secret] = float(np.mean(near * 2.0**45 % 1 != 0))
    assert fine[0.0] > 0.5
    assert fine[256.0] == 0.0

    line = sf.Space.numbers(np.arange(0.0, 512.0, 64.0), unit="m")
    ours = sf.sampler(sf.mechanisms.geometric(line, epsilon))
    assert line.coordinates is not None
    places = {secret: set(line.coordinates[ours.draw(np.full(5_000, secret)), 0].tolist()) for secret in (0, 4)}
    assert places[0] | places[4] <= set(line.coordinates[:, 0].tolist())
    # Every report is possible from every secret, to the last bit. By chance one is unseen: 5e-65.
    assert places[0] == places[4]
