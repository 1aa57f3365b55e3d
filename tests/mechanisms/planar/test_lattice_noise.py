"""Noise on the square lattice against enumeration, and sums over the lattice against other sums."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from sfumato.errors import InputError
from sfumato.mechanisms.planar import LatticeNoise
from sfumato.mechanisms.planar import lattice_noise as sums
from sfumato.sampling import SeededWords, SystemWords
from tests.sampling.test_sampler import BY_CHANCE, chance

FALSE_ALARM = 1e-6
RATES = [Fraction(1, 15), Fraction(1, 7), Fraction(1, 2), Fraction(0.7), Fraction(3), Fraction(50)]


def enumerated(rate, reach):
    """Lattice points up to a reach and exp(-rate |z|), by a plain double loop's arithmetic."""
    line = np.arange(-reach, reach + 1)
    i, j = np.meshgrid(line, line, indexing="ij")
    return i.ravel(), j.ravel(), np.exp(-float(rate) * np.sqrt(i**2 + j**2)).ravel()


def pooled(drawn, rate):
    """Return counts of single lattice points and what is expected of each, the rare ones pooled at the end."""
    reach = math.ceil(50 / rate)
    _, _, weight = enumerated(rate, reach)
    expected = weight / weight.sum() * len(drawn)
    line = 2 * reach + 1
    counts = np.bincount((drawn[:, 0] + reach) * line + drawn[:, 1] + reach, minlength=line**2)
    often = expected > 20
    return tuple(np.append(x[often], x[~often].sum()) for x in (counts, expected))


def p_value(drawn, rate):
    """Pearson's, for fixed seeds."""
    seen, wanted = pooled(drawn, rate)
    if len(wanted) <= 2:
        return float(seen[-1] <= 5 + 10 * wanted[-1])
    if wanted[-1] < 20:
        seen, wanted = (np.append(x[:-2], x[-2:].sum()) for x in (seen, wanted))
    return chi2.sf(((seen - wanted) ** 2 / wanted).sum(), len(wanted) - 1)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_noise_has_its_distribution(rate):
    noise = LatticeNoise(rate)
    assert p_value(noise.noise(60_000, SeededWords(5)), rate) > FALSE_ALARM
    seen, wanted = pooled(noise.noise(60_000, SystemWords()), rate)
    assert chance(seen, wanted / 60_000) > BY_CHANCE


def test_the_test_can_fail():
    drawn = LatticeNoise(Fraction(55, 100)).noise(60_000, SeededWords(5))
    assert p_value(drawn, Fraction(1, 2)) < FALSE_ALARM
    proposed = LatticeNoise(Fraction(1, 2)).proposal.noise(120_000, SeededWords(5)).reshape(-1, 2)
    assert p_value(proposed, Fraction(1, 2)) < FALSE_ALARM


def test_fine_noise_is_planar_laplace():
    """Lengths of gamma distribution and uniform directions, up to the lattice's own fineness."""
    drawn = LatticeNoise(Fraction(1, 5000)).noise(40_000, SeededWords(2)).astype(float)
    lengths = np.hypot(*drawn.T) / 5000
    assert kstest(lengths, lambda r: 1 - (1 + r) * np.exp(-r)).pvalue > FALSE_ALARM
    assert kstest(np.arctan2(*drawn.T) / (2 * math.pi) + 0.5, "uniform").pvalue > FALSE_ALARM


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**3, max_denominator=10**9).filter(lambda r: r > 0))
def test_no_exponent_can_be_negative(rate):
    """2 slope**2 <= rate**2, and close to it, so that |i| + |j| <= sqrt(2) |z| is enough."""
    slope = LatticeNoise(rate).exponent.slope
    assert 2 * slope**2 <= rate**2
    assert 2 * slope**2 >= rate**2 * (1 - Fraction(1, 500))


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 500), *RATES], ids=str)
def test_acceptance_is_as_stated_and_high(rate):
    noise = LatticeNoise(rate)
    tries = 40_000
    proposed = noise.proposal.noise(2 * tries, SeededWords(3)).reshape(-1, 2)
    share = noise.exponent.accepts(proposed, SeededWords(4)).mean()
    stated = noise.acceptance
    assert stated.lower > 0.7
    assert stated.lower - 5 / tries**0.5 / 2 < share < stated.upper + 5 / tries**0.5 / 2
    if rate < Fraction(1, 100):
        assert stated.value == pytest.approx(math.pi / 4, abs=2e-3)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 8), *RATES], ids=str)
def test_sums_hold_what_enumeration_finds(rate):
    reach = math.ceil(40 / rate)
    i, j, weight = enumerated(rate, reach)
    length = np.hypot(i, j)
    total, mean = math.fsum(weight), math.fsum(weight * length) / math.fsum(weight)
    found, lengths = sums.normaliser(rate), sums.mean_length(rate)
    assert found.lower * (1 - 1e-13) <= total <= found.upper * (1 + 1e-13)
    assert lengths.lower * (1 - 1e-13) <= mean <= lengths.upper * (1 + 1e-13)
    assert found.width < 1e-4 * total
    assert lengths.width < 2e-4 * mean + 1e-20
    away = np.array([0.0, 1, 5, 3 / float(rate), 9.3 / float(rate)])
    share = [weight[length >= r].sum() / total for r in away]
    bounds = sums.share_beyond(rate, away)
    assert (bounds * (1 + 1e-12) >= share).all()
    if rate < Fraction(1, 5):
        assert (bounds[3:] < 1.6 * np.array(share[3:])).all()


def test_limits():
    assert not LatticeNoise(Fraction(100)).noise(5000, SeededWords(1)).any()
    assert sums.mean_length(Fraction(1, 10**7)).value == pytest.approx(2e7, rel=1e-9)
    assert LatticeNoise(Fraction(1)).noise(0, SeededWords(1)).shape == (0, 2)


def test_bad_rates_are_refused():
    with pytest.raises(InputError, match="not positive"):
        LatticeNoise(Fraction(0))
    with pytest.raises(InputError, match="use a coarser unit"):
        LatticeNoise(Fraction(1, 2**45))
