"""Attackers who know the documented law of a scheme: alone, or also where people go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from sfumato.core.arrays import Floats, floats, readonly
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError

from .channels import WildChannel

_FINEST_M, _COARSEST_M, _FINENESS = 5.0, 75.0, 10.0  # spacings of lattices; candidates in a mean distance
_REACH: Final = 4.0  # mean distances of the channel, from one report
_REACH_OF_MEAN: Final = 2.5  # of the distance that a mean of several is off
_NEAR_M: Final = 50.0  # the deviation with which beliefs are added up around a point
_RARE: Final = 1e-6  # of the largest weight: points below it do not move a median
_STEPS: Final = 60  # of the search for a weighted median
_SETTLED: Final = 1e-3  # of the spread of the points: a smaller step ends it
_REPORT_STEPS: Final = 200  # of the search for medians of reports
_REPORT_SETTLED, _LEAST_M = 1e-4, 1e-9
_SIDE, _LEVELS = 31, 3  # candidates in each direction of a refined lattice; lattices
_AROUND: Final = 4.0  # deviations of the belief that the next lattice covers
_LEAST: Final = 1.5  # spacings that it covers at least, since a belief may sit on one candidate
_PIXEL_M, _BLUR_M = 25.0, 75.0
_ANYWHERE: Final = 0.02  # of all people: spread evenly, since nobody knows every place
_MOST: Final = 4_000_000  # pixels


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PeopleMap(CompactRepr):
    """The log-density of people on a rectangle of a local plane, in pixels of 25 m."""

    corner_m: Floats
    log_density: Floats

    @classmethod
    def of(cls, points_m: Floats) -> PeopleMap:
        """Return the map of places where people were, each blurred by 75 m."""
        points = floats(points_m, "the places", shape=(None, 2))
        corner, far = points.min(axis=0) - 4 * _BLUR_M, points.max(axis=0) + 4 * _BLUR_M
        shape = np.ceil((far - corner) / _PIXEL_M).astype(int)
        if shape.prod() > _MOST:
            raise DataError("the places reach farther than a town.", "give the visits of one town.")
        pixel = np.floor((points - corner) / _PIXEL_M).astype(np.intp)
        flat = np.bincount(pixel[:, 0] * shape[1] + pixel[:, 1], minlength=int(shape.prod()))
        counts = flat.reshape(shape).astype(np.float64)
        dense = gaussian_filter(counts / len(points), _BLUR_M / _PIXEL_M, mode="constant")
        dense = (1 - _ANYWHERE) * dense / dense.sum() + _ANYWHERE / dense.size
        return cls(readonly(corner), readonly(np.log(dense)))

    @property
    def far_m(self) -> Floats:
        """The north-east corner, array (2,)."""
        found: Floats = self.corner_m + _PIXEL_M * np.array(self.log_density.shape)
        return found

    @property
    def densest_m(self) -> Floats:
        """The middle of the densest pixel, array (2,)."""
        pixel = np.unravel_index(int(np.argmax(self.log_density)), self.log_density.shape)
        found: Floats = self.corner_m + _PIXEL_M * (np.array(pixel) + 0.5)
        return found

    def log_prior(self, points_m: Floats) -> Floats:
        """Return the logarithm of the density at points, minus infinity off the map, array (n,)."""
        pixel = np.floor((points_m - self.corner_m) / _PIXEL_M).astype(np.intp)
        inside = np.logical_and.reduce((pixel >= 0) & (pixel < np.array(self.log_density.shape)), axis=1)
        east, north = np.where(inside[:, None], pixel, 0).T
        return np.where(inside, self.log_density[east, north], -np.inf)

    def candidates(self, around_m: Floats, reach_m: float, spacing_m: float) -> Floats:
        """Return the points of a lattice on the map around a place, array (columns, rows, 2)."""
        low = np.maximum(self.corner_m, around_m - reach_m)
        high = np.minimum(self.far_m, around_m + reach_m)
        if not (high > low).all():  # the report is far off the town
            low, high = self.corner_m, self.far_m
            spacing_m = max(spacing_m, float((high - low).max()) / 100)
        axes = [np.arange(a + spacing_m / 2, b, spacing_m) for a, b in zip(low, high, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


class BelievedPlaces(NamedTuple):
    """The points with the least expected error, and those with most belief nearby, arrays (n, 2)."""

    medians_m: Floats
    likeliest_m: Floats


def best_guesses(channel: WildChannel, reports_m: Floats, people: PeopleMap) -> BelievedPlaces:
    """Return the best guesses of an attacker who knows the channel's law and where people are."""
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
    """Return the best guess without any report, array (2,)."""
    middle = (people.corner_m + people.far_m) / 2
    places = people.candidates(middle, float((people.far_m - people.corner_m).max()), _COARSEST_M).reshape(-1, 2)
    return weighted_median(places, np.exp(people.log_prior(places)))


def weighted_median(points_m: Floats, weights: Floats) -> Floats:
    """Return the geometric median of weighted points, by Weiszfeld's iteration, array (2,)."""
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


def least_error(channel: WildChannel, reports_m: Floats) -> Floats:
    """Return the points with the least expected error from fresh reports, on refined lattices, array (n, 2)."""
    side = np.linspace(-1, 1, _SIDE)
    square = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    found = np.empty((len(reports_m), 2))
    for row, own in enumerate(reports_m):
        middle = own.mean(axis=0)
        reach = _REACH_OF_MEAN * channel.mean_m / math.sqrt(len(own))
        for level in range(_LEVELS):
            places = middle + reach * square
            likely = channel.log_likelihood(own, places)
            weights = np.exp(likely - likely.max())
            shares = weights / weights.sum()
            middle = shares @ places
            spread = math.sqrt(float(shares @ ((places - middle) ** 2).sum(axis=1)))
            finer = max(_AROUND * spread, _LEAST * 2 * reach / (_SIDE - 1))
            if finer >= reach or level == _LEVELS - 1:
                break
            reach = finer
        found[row] = weighted_median(places, weights)
    return found


def geometric_medians(reports_m: Floats) -> Floats:
    """Return each person's geometric median, the most probable place under planar Laplace noise, array (n, 2)."""
    found: Floats = reports_m.mean(axis=1)
    spread = np.hypot(*(reports_m - found[:, None]).transpose(2, 0, 1)).mean(axis=1)
    near = np.maximum(_REPORT_SETTLED * spread, _LEAST_M)[:, None]
    for _ in range(_REPORT_STEPS):
        away = np.hypot(*(reports_m - found[:, None]).transpose(2, 0, 1))
        pull = 1 / np.maximum(away, near)
        before, found = found, (pull[..., None] * reports_m).sum(axis=1) / pull.sum(axis=1)[:, None]
        if (np.hypot(*(found - before).T) <= near[:, 0]).all():
            break
    return found
