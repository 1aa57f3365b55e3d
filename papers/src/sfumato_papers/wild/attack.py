"""The attacker who knows the documented law of a scheme and where people go: Bayes on a fine lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr

from .channel import WildChannel
from .people import PeopleMap

_FINEST_M: Final = 5.0
_COARSEST_M: Final = 75.0
_REACH: Final = 4.0  # mean distances of the channel, from one report
_REACH_OF_MEAN: Final = 2.5  # of the distance that a mean of several is off
_FINENESS: Final = 10.0  # candidates in a mean distance
_NEAR_M: Final = 50.0  # the deviation with which beliefs are added up around a point
_STEPS: Final = 60  # of the search for a median, at most
_SETTLED: Final = 1e-3  # of the spread of the points: a smaller step ends the search
_RARE: Final = 1e-6  # of the largest weight: points below it do not move a median


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BelievedPlaces(CompactRepr):
    """BelievedPlaces of the attacker for some people.

    Attributes:
        medians_m: The point with the least expected error, array (n, 2), metres.
        likeliest_m: The point around which they believe most to be near, array (n, 2), metres.
    """

    medians_m: Floats
    likeliest_m: Floats


def believed(channel: WildChannel, reports_m: Floats, people: PeopleMap) -> BelievedPlaces:
    """Return the best guesses of an attacker who knows the channel's law and where people are.

    Args:
        channel: The channel.
        reports_m: The reports of each person, array (n, k, 2), metres.
        people: Where people are.
    """
    count = reports_m.shape[1] if channel.independent else 1
    scale = channel.mean_m / math.sqrt(count)  # how far their mean is from the place
    spacing = float(np.clip(scale / _FINENESS, _FINEST_M, _COARSEST_M))
    reach = max((_REACH if count == 1 else _REACH_OF_MEAN) * scale, 4 * spacing)
    medians, likeliest = np.empty((len(reports_m), 2)), np.empty((len(reports_m), 2))
    for row, own in enumerate(reports_m):
        lattice = people.candidates(own.mean(axis=0), reach, spacing)
        places = lattice.reshape(-1, 2)
        found = people.log_prior(places) + channel.log_likelihood(own, places)
        if np.isneginf(found).all():  # every candidate is excluded, by a hair
            found = people.log_prior(places) - np.hypot(*(places - own.mean(axis=0)).T) / spacing
        weights = np.exp(found - found.max())
        medians[row] = weighted_median(places, weights)
        near = gaussian_filter(weights.reshape(lattice.shape[:2]), _NEAR_M / spacing, mode="constant")
        likeliest[row] = places[np.argmax(near)]
    return BelievedPlaces(medians, likeliest)


def blind_guess(people: PeopleMap) -> Floats:
    """Return the best guess without any report, array (2,), metres."""
    middle = (people.corner_m + people.far_m) / 2
    places = people.candidates(middle, float((people.far_m - people.corner_m).max()), _COARSEST_M).reshape(-1, 2)
    return weighted_median(places, np.exp(people.log_prior(places)))


def weighted_median(points_m: Floats, weights: Floats) -> Floats:
    """Return the geometric median of weighted points by Weiszfeld's iteration, array (2,), metres.

    Args:
        points_m: Array (m, 2).
        weights: Array (m,), at least 0 and not all 0.
    """
    used = weights > _RARE * weights.max()
    points, shares = points_m[used], weights[used] / weights[used].sum()
    found: Floats = shares @ points
    spread = float(shares @ np.hypot(*(points - found).T))
    for _ in range(_STEPS):
        pull = shares / np.maximum(np.sqrt(((points - found) ** 2).sum(axis=1)), 0.1)
        before, found = found, pull @ points / pull.sum()
        if np.hypot(*(found - before)) <= _SETTLED * spread:
            break
    return found
