"""Confidence: distributions known from samples alone, and the epsilon that holds for all that they may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core.immutable import CompactRepr
from sfumato.geo import Grid
from sfumato.mechanisms import exponential
from sfumato.privacy import DifferentialPrivacy, DistributionPrivacy, Family, worst_beliefs
from sfumato.statistics import total_variation_radius

from ..reproduction import Made
from ..results import columns_of
from .groups import Groups

CONFIDENCE: Final = "confidence"
COVERAGE: Final = "coverage"

FAILURE: Final = 0.05
VISITS, USERS, IMAGINED = "visits", "users", "imagined"


@dataclass(frozen=True, slots=True, repr=False)
class ConfidenceRow(CompactRepr):
    """The epsilon that two estimated groups keep with a confidence of 95 %.

    Attributes:
        groups: Who is compared.
        unit: What counts as an independent sample; ``visits`` are not independent, and are shown for comparison;
            with ``imagined`` ones the estimate is taken to come from so many.
        first: How many there are in the first group.
        second: In the second.
        cells: How many places there are.
        radius: The total variation within which both true distributions are of their estimates.
        slope_per_km: Of the planar Laplace noise, which promises twice that per km.
        estimated: The epsilon between the estimates, delta 0.
        epsilon_lower: Some beliefs within the radius need this much.
        epsilon_upper: No beliefs within the radius need more: it holds with confidence.
        anyone: The epsilon between any two distributions, that of differential privacy for all pairs.
    """

    groups: str
    unit: str
    first: int
    second: int
    cells: int
    radius: float
    slope_per_km: float
    estimated: float
    epsilon_lower: float
    epsilon_upper: float
    anyone: float


@dataclass(frozen=True, slots=True, repr=False)
class CoverageRow(CompactRepr):
    """Draws of samples, and whether the radius held them.

    Attributes:
        cells: m.
        samples: n.
        seed: Of the draws.
        draws: How many times n samples were drawn.
        beyond: How often their distribution was farther from the true one than the radius for 5 %.
        radius: That radius.
        mean_distance: The mean distance.
        truth_kept: How often the epsilon of the worst beliefs around the draws was at least that of the true
            distributions.
        checked: For how many of the draws that was looked at.
    """

    cells: int
    samples: int
    seed: int
    draws: int
    beyond: int
    radius: float
    mean_distance: float
    truth_kept: int
    checked: int


def confident(
    groups: Groups, city: Grid, sizes: Sequence[tuple[str, tuple[int, int]]], slopes: Sequence[float]
) -> Made:
    """Return the epsilon that holds for all distributions within the radius of each number of samples.

    Args:
        groups: The estimates.
        city: Their cells.
        sizes: What a sample is, and how many each group has.
        slopes: Of the planar Laplace noise, per km.
    """
    family = Family(dict(zip(groups.names, groups.distributions, strict=True)))
    rows = []
    for slope in slopes:
        inner = exponential(city, groups.metric, 2 * slope)
        estimated = DistributionPrivacy(family).measure(inner).upper
        anyone = DifferentialPrivacy().measure(inner).upper
        for unit, (first, second) in sizes:
            # Each group may fail with half of the probability; the larger of the two balls is taken for both.
            radius = total_variation_radius(min(first, second), len(city), FAILURE / 2)
            worst = worst_beliefs(inner, family, radius).epsilon
            upper = min(worst.upper, anyone)
            rows.append(
                ConfidenceRow(
                    groups.title,
                    unit,
                    first,
                    second,
                    len(city),
                    radius,
                    slope,
                    estimated,
                    min(worst.lower, upper),
                    upper,
                    anyone,
                )
            )
    return {CONFIDENCE: [columns_of(row) for row in rows]}


def covered(groups: Groups, city: Grid, samples: int, seed: int, draws: int, checked: int) -> Made:
    """Return how often the radius holds the distance of drawn samples from what they are drawn from.

    Args:
        groups: The true distributions.
        city: Their cells.
        samples: How many samples each group gives.
        seed: Of the draws.
        draws: How many times they are drawn.
        checked: For how many of these the worst beliefs are looked for.
    """
    random = np.random.Generator(np.random.PCG64([seed, samples]))
    truth = groups.distributions
    inner = exponential(city, groups.metric, 2.0)
    needed = DistributionPrivacy(Family(dict(zip(groups.names, truth, strict=True)))).measure(inner).lower
    radius = total_variation_radius(samples, len(city), FAILURE)
    both = total_variation_radius(samples, len(city), FAILURE / 2)
    beyond, kept, distances = 0, 0, []
    for number in range(draws):
        drawn = np.array([random.multinomial(samples, law / law.sum()) for law in truth]) / samples
        apart = np.abs(drawn - truth).sum(axis=1) / 2
        distances.append(float(apart[0]))
        beyond += bool(apart[0] > radius)
        if number < checked:
            family = Family(dict(zip(groups.names, drawn, strict=True)))
            kept += worst_beliefs(inner, family, both).epsilon.upper >= needed
    row = CoverageRow(len(city), samples, seed, draws, beyond, radius, math.fsum(distances) / draws, kept, checked)
    return {COVERAGE: [columns_of(row)]}
