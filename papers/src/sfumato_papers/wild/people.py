"""People: how densely an attacker believes that people are, from visits of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter

from sfumato.core.arrays import Floats, floats, readonly
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError

_PIXEL_M: Final = 25.0
_BLUR_M: Final = 75.0
_ANYWHERE: Final = 0.02  # of all people: spread evenly, since nobody knows every place
_MOST: Final = 4_000_000  # pixels


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PeopleMap(CompactRepr):
    """The density of people on a rectangle of a local plane.

    Attributes:
        corner_m: The south-west corner, array (2,), metres.
        log_density: The logarithm of the density of each pixel of 25 m, array (columns, rows).
    """

    corner_m: Floats
    log_density: Floats

    @classmethod
    def of(cls, points_m: Floats) -> PeopleMap:
        """Return the map of places where people were, each blurred by 75 m.

        Args:
            points_m: Array (n, 2), metres.

        Raises:
            DataError: If they reach farther than a town.
        """
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
        """The north-east corner, array (2,), metres."""
        found: Floats = self.corner_m + _PIXEL_M * np.array(self.log_density.shape)
        return found

    @property
    def densest_m(self) -> Floats:
        """The middle of the densest pixel, array (2,), metres."""
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
        """Return the points of a lattice on the map that are near a place, array (columns, rows, 2), metres.

        Args:
            around_m: The place, array (2,).
            reach_m: How far the lattice goes from it to each side.
            spacing_m: Of the lattice.
        """
        low = np.maximum(self.corner_m, around_m - reach_m)
        high = np.minimum(self.far_m, around_m + reach_m)
        if not (high > low).all():  # the report is far off the town
            low, high = self.corner_m, self.far_m
            spacing_m = max(spacing_m, float((high - low).max()) / 100)
        axes = [np.arange(a + spacing_m / 2, b, spacing_m) for a, b in zip(low, high, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
