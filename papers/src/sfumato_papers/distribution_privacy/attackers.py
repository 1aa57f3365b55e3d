"""Attackers who know distributions from samples: their success, and the epsilon that holds with confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.geo import Grid
from sfumato.mechanisms import Tupling, attack_success, mixture_dummies
from sfumato.privacy import DifferentialPrivacy, DistributionPrivacy, Family, worst_beliefs
from sfumato.statistics import total_variation_radius

from ..reproduction import Tables
from .groups import Groups
from .measurements import EVERYWHERE, noise

FAILURE: Final = 0.05
VISITS, USERS, IMAGINED = "visits", "users", "imagined"
_DRAWS: Final = 4_000  # of the dummies of a tuple


@dataclass(frozen=True, slots=True, repr=False)
class SuccessRow(CompactRepr):
    """The success of an attacker who names one of two groups of equal size, from one tuple."""

    groups: str
    seed: int
    dummies: int  # of the mixture that the learning half reports
    slope_per_km: float
    learned_from: float  # share right on the half that the attacker learned from, proved from above
    judged_on: float  # share right on the other half: an estimate over drawn dummies
    at_most: float  # share right of an attacker who knows the other half's distributions, proved from above


def run_attacks(
    halves: tuple[Groups, Groups], city: Grid, seed: int, dummies: Sequence[int], slopes: Sequence[float]
) -> Tables:
    """Return the success of attackers who learned from the first half, on both halves."""
    known, _ = halves
    rows = []
    for slope in slopes:
        inner = noise(city, known.metric, slope)
        nu = mixture_dummies(inner, known.distributions)
        believed, true = (inner.lift(groups.distributions) for groups in halves)
        for k in dummies:
            tupling = Tupling(inner, k, nu)
            random = np.random.Generator(np.random.PCG64([seed, k, round(1000 * slope)]))
            judged_on = success_of(believed, true, nu.probabilities, k, random)
            learned_from, at_most = (attack_success(tupling, *half.distributions).upper for half in halves)
            rows.append(SuccessRow(known.title, seed, k, slope, learned_from, judged_on, at_most))
    return {"success": rows}


def success_of(
    believed: Floats, true: Floats, nu: Floats, dummies: int, random: np.random.Generator, draws: int = _DRAWS
) -> float:
    """Return how often the best rule for believed laws of reports, array (2, m), names the right group.

    It names the first one if the sum of (p(y) - q(y)) / nu(y) over the tuple is positive, and tosses a coin at 0.
    """
    # The dummies' part of the sum is drawn; given it, the probability over the true report is exact.
    scores = (believed[0] - believed[1]) / nu
    ends = np.cumsum(nu)
    sums = np.zeros(draws if dummies else 1)
    for _ in range(dummies):
        places = np.searchsorted(ends, random.random(draws) * ends[-1], side="right")
        sums += scores[np.minimum(places, len(nu) - 1)]
    order = np.argsort(scores, kind="stable")
    below = np.concatenate([np.zeros((2, 1)), np.cumsum(true[:, order], axis=1)], axis=1)
    # Named first: a score above -sum; with rounding in mind, scores within it count as equal.
    edge = 1e-12 * float(np.abs(scores).max())
    under = np.searchsorted(scores[order], -sums - edge, side="left")
    upto = np.searchsorted(scores[order], -sums + edge, side="right")
    for_second = (below[:, under] + below[:, upto]) / 2
    first, second = for_second.mean(axis=1)
    return float((1 - first) / 2 + second / 2)


@dataclass(frozen=True, slots=True, repr=False)
class ConfidenceRow(CompactRepr):
    """The epsilon at delta 0 of two estimated groups that holds with a confidence of 95 %."""

    groups: str
    unit: str  # of samples: visits are not independent and shown for comparison; imagined ones are only assumed
    first: int  # samples of the first group
    second: int
    cells: int
    radius: float  # total variation within which both true distributions are of their estimates
    slope_per_km: float  # of the planar Laplace noise, whose epsilon is at most twice that per km
    estimated: float  # epsilon between the estimates
    epsilon_upper: float  # no beliefs within the radius need more
    anyone: float  # epsilon between any two distributions: differential privacy for all pairs


@dataclass(frozen=True, slots=True, repr=False)
class CoverageRow(CompactRepr):
    """Draws of samples, and how often the radius held their distribution."""

    samples: int
    draws: int
    beyond: int  # draws whose distribution was farther from the true one than the radius
    radius: float  # for a failure of 5 %
    mean_distance: float
    truth_kept: int  # draws where the epsilon of the worst beliefs was at least that of the true distributions
    checked: int  # draws where that was looked at


def confident(groups: Groups, city: Grid, sizes: Sequence[tuple[str, tuple[int, int]]], slope: float) -> Tables:
    """Return the epsilon that holds for all distributions within the radius of each number of samples."""
    family = _family(groups, groups.distributions)
    inner = noise(city, groups.metric, slope, EVERYWHERE)
    estimated = DistributionPrivacy(family).measure(inner).upper
    anyone = DifferentialPrivacy().measure(inner).upper
    rows = []
    for unit, (first, second) in sizes:
        # Each group may fail with half of the probability; the larger of the two balls is taken for both.
        radius = total_variation_radius(min(first, second), len(city), FAILURE / 2)
        upper = min(worst_beliefs(inner, family, radius).epsilon.upper, anyone)
        samples = unit, first, second, len(city), radius
        rows.append(ConfidenceRow(groups.title, *samples, slope, estimated, upper, anyone))
    return {"confidence": rows}


def measure_coverage(groups: Groups, city: Grid, samples: int, seed: int, draws: int, checked: int) -> Tables:
    """Return how often the radius holds the distance of drawn samples from the distribution of the groups."""
    random = np.random.Generator(np.random.PCG64([seed, samples]))
    truth = groups.distributions
    inner = noise(city, groups.metric, 1.0, EVERYWHERE)
    epsilon = DistributionPrivacy(_family(groups, truth)).measure(inner).lower
    radius = total_variation_radius(samples, len(city), FAILURE)
    both = total_variation_radius(samples, len(city), FAILURE / 2)
    enough, distances = 0, []
    for number in range(draws):
        frequencies = np.array([random.multinomial(samples, law / law.sum()) for law in truth]) / samples
        distances.append(float(np.abs(frequencies - truth).sum(axis=1)[0] / 2))
        if number < checked:
            enough += worst_beliefs(inner, _family(groups, frequencies), both).epsilon.upper >= epsilon
    beyond, mean = sum(distance > radius for distance in distances), math.fsum(distances) / draws
    return {"coverage": [CoverageRow(samples, draws, beyond, radius, mean, enough, checked)]}


def _family(groups: Groups, laws: Floats) -> Family:
    return Family(dict(zip(groups.names, laws, strict=True)))
