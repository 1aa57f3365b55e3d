"""Attackers who know the documented law of a scheme: alone, or also where people go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

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
_STEPS: Final = 200  # of the search for medians
_LEAST_STEP, _LEAST_M = 1e-4, 1e-9  # of the spread of the points, and metres: a smaller step ends it
_ROUGHLY: Final = 1e-3  # the same of the spread, where points are a lattice
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
        corner: Floats = self.corner_m + _PIXEL_M * np.array(self.log_density.shape)
        return corner

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


def best_guesses(channel: WildChannel, reports_m: Floats, people: PeopleMap) -> tuple[Floats, Floats]:
    """Return the points with the least expected error, and those with most belief nearby, arrays (n, 2).

    The attacker knows the channel's law and where people are.
    """
    count = reports_m.shape[1] if channel.independent else 1
    scale = channel.mean_m / math.sqrt(count)  # how far their mean is from the place
    spacing = float(np.clip(scale / _FINENESS, _FINEST_M, _COARSEST_M))
    reach = max((_REACH if count == 1 else _REACH_OF_MEAN) * scale, 4 * spacing)
    medians, modes = np.empty((len(reports_m), 2)), np.empty((len(reports_m), 2))
    for row, reports in enumerate(reports_m):
        lattice = people.candidates(reports.mean(axis=0), reach, spacing)
        places = lattice.reshape(-1, 2)
        log_weights = people.log_prior(places) + channel.log_likelihood(reports, places)
        if np.isneginf(log_weights).all():  # every candidate is excluded, by a hair
            log_weights = people.log_prior(places) - np.hypot(*(places - reports.mean(axis=0)).T) / spacing
        weights = np.exp(log_weights - log_weights.max())
        medians[row] = weighted_median(places, weights)
        near = gaussian_filter(weights.reshape(lattice.shape[:2]), _NEAR_M / spacing, mode="constant")
        modes[row] = places[np.argmax(near)]
    return medians, modes


def weighted_median(points_m: Floats, weights: Floats) -> Floats:
    """Return the geometric median of the weighted points of a lattice, array (2,)."""
    used = weights > _RARE * weights.max()
    median: Floats = geometric_medians(points_m[None, used], weights[used], _ROUGHLY)[0]
    return median


def least_error(channel: WildChannel, reports_m: Floats) -> Floats:
    """Return the points with the least expected error from fresh reports, on refined lattices, array (n, 2)."""
    side = np.linspace(-1, 1, _SIDE)
    square = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    guesses = np.empty((len(reports_m), 2))
    for row, reports in enumerate(reports_m):
        middle = reports.mean(axis=0)
        reach = _REACH_OF_MEAN * channel.mean_m / math.sqrt(len(reports))
        for level in range(_LEVELS):
            places = middle + reach * square
            likely = channel.log_likelihood(reports, places)
            weights = np.exp(likely - likely.max())
            shares = weights / weights.sum()
            middle = shares @ places
            spread = math.sqrt(float(shares @ ((places - middle) ** 2).sum(axis=1)))
            finer = max(_AROUND * spread, _LEAST * 2 * reach / (_SIDE - 1))
            if finer >= reach or level == _LEVELS - 1:
                break
            reach = finer
        guesses[row] = weighted_median(places, weights)
    return guesses


def geometric_medians(points_m: Floats, weights: Floats | None = None, tolerance: float = _LEAST_STEP) -> Floats:
    """Return the geometric median of each row of points, by Weiszfeld's iteration, array (n, 2).

    Of equal weights it is the most probable place under planar Laplace noise.
    """
    shares = np.full(points_m.shape[1], 1.0) if weights is None else weights
    shares = shares / shares.sum()
    median: Floats = shares @ points_m
    near = np.maximum(tolerance * (_distances(points_m, median) @ shares), _LEAST_M)[:, None]
    for _ in range(_STEPS):
        pull = shares / np.maximum(_distances(points_m, median), near)
        before, median = median, (pull[:, None] @ points_m)[:, 0] / pull.sum(axis=1)[:, None]
        if (np.hypot(*(median - before).T) <= near[:, 0]).all():
            break
    return median


def _distances(points_m: Floats, median: Floats) -> Floats:
    apart = points_m - median[:, None]
    return np.asarray(np.sqrt(apart[..., 0] ** 2 + apart[..., 1] ** 2))
