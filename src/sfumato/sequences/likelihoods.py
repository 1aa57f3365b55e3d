"""ReportLikelihoods of reports for places, of planar noise and of tables."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import Randomizer
from ..core.arrays import Floats, numbers, readonly
from ..errors import InputError, python
from ..geo import Places, Projection, latlon_of, pulled_in
from ..mechanisms.planar import CoordinateNoise

_UNITS: Final = 1e7  # per degree: reports have seven decimals
_DEEPEST: Final = 600.0  # exponents


class ReportLikelihoods:
    """The likelihoods p(report | place) of one mechanism for places, prepared for many reports.

    ``places`` are latitudes and longitudes in degrees, array (n, 2). Of `CoordinateNoise` the likelihood is that
    of its lattice; of a table on places it is the mixture of the rows that the place may be taken for. Raises
    `InputError` if the mechanism makes no reports for points on the ground, its reports are replaced by a remap,
    or it does not serve a place.
    """

    __slots__ = ("_columns", "_east", "_north", "_rate", "_reports", "projection", "xy")

    projection: Projection
    xy: Floats  # the places on the plane, metres (n, 2)

    def __init__(self, mechanism: Randomizer, places: Floats) -> None:
        self._reports: dict[tuple[int, int], int] = {}
        if isinstance(mechanism, CoordinateNoise):
            self._of_noise(mechanism, places)
        else:
            self._of_table(mechanism, places)

    def _of_noise(self, noise: CoordinateNoise, places: Floats) -> None:
        if noise.projection is None or noise.remap is not None:
            raise InputError(
                "the noise has a remap, or no projection, so the likelihood of its reports is not known.",
                python("make it with CoordinateNoise(epsilon, projection=...), without a remap."),
            )
        self.projection = noise.projection
        self.xy = readonly(self.projection.forward(*places.T))
        self._east, self._north = noise.origins(pulled_in(self.xy, noise.reach_m)).T.copy()
        self._rate = noise.rate_per_m

    def _of_table(self, mechanism: Randomizer, places: Floats) -> None:
        table = mechanism.channel()
        secrets, degrees = table.secrets, latlon_of(table.observables)
        if not isinstance(secrets, Places) or degrees is None:
            raise InputError(
                f"{mechanism!r} does not lead from places on the ground to places.",
                python("use CoordinateNoise, or a mechanism on a Grid, Hexagons or a Lattice."),
            )
        self.projection = secrets.projection
        self.xy = readonly(self.projection.forward(*places.T))
        rounding = secrets.rounding(*places.T)
        if not rounding.inside.all():
            raise InputError(
                f"the mechanism does not serve {int((~rounding.inside).sum())} of the {len(places)} places.",
                "use places inside its region.",
            )
        rows = table.matrix[np.maximum(rounding.positions, 0)]
        self._columns = np.ascontiguousarray(np.einsum("nk,nkm->mn", rounding.shares, rows))
        self._reports = {report: number for number, report in enumerate(_keys(degrees))}

    def points(self, reports: ArrayLike) -> Floats:
        """Return reports, degrees (k, 2), as points on the plane, metres (k, 2); NaN where there is none."""
        degrees = numbers(reports, "the reports")
        if degrees.ndim != 2 or degrees.shape[1] != 2:
            raise InputError(
                f"the reports have shape {' x '.join(map(str, degrees.shape)) or 'of a number'}.",
                "pass a latitude and a longitude for each.",
            )
        xy = self.projection.forward(*degrees.T)
        bad = np.isnan(xy).any(axis=1) & ~np.isnan(degrees).all(axis=1)
        if bad.any():
            first = int(np.argmax(bad))
            raise InputError(
                f"report {first + 1} is not a latitude and a longitude.",
                "pass degrees, or NaN for both where a tick has no report.",
            )
        return xy

    def rows(self, reports: ArrayLike) -> Floats:
        """Return the likelihoods of reports, degrees (k, 2), each row up to a factor, array (k, n).

        A tick without a report is NaN, and its row is 1. Raises `InputError` if a report is none of the
        mechanism, or not on the Earth.
        """
        xy = self.points(reports)
        silent = np.isnan(xy[:, 0])
        if not self._reports:
            away = np.hypot(xy[:, :1] - self._east, xy[:, 1:] - self._north)
            return np.where(silent[:, None], 1.0, self._density(away))
        likelihoods = np.ones((len(xy), len(self.xy)))
        degrees = numbers(reports, "the reports")[~silent]
        numbered = [self._reports.get(key, -1) for key in _keys(degrees)]
        if -1 in numbered:
            raise InputError(
                f"report {numbered.index(-1) + 1} is none of the mechanism's {len(self._reports)} reports.",
                "pass reports as the mechanism made them, in degrees with seven decimals.",
            )
        likelihoods[~silent] = self._columns[numbered]
        return likelihoods

    def row(self, lat: float, lon: float) -> Floats:
        """Return the likelihoods of one report, array (n,), in less time; see `rows`. NaN is refused."""
        x, y = self.projection.forward_one(lat, lon)
        if math.isnan(x):
            raise InputError(f"the report {lat:g}, {lon:g} is not a latitude and a longitude.", "pass degrees.")
        if self._reports:
            return np.asarray(self.rows([[lat, lon]])[0])
        away = np.hypot(self._east - x, self._north - y)
        return self._density(away)

    def _density(self, away: Floats) -> Floats:
        """Return exp(-rate * distance), up to a factor for each row of distances."""
        # The limit leaves every report possible, also for a belief in places far from it.
        exponents = np.minimum(self._rate * (away - away.min(axis=-1, keepdims=True)), _DEEPEST)
        return np.asarray(np.exp(-exponents))


def _keys(degrees: Floats) -> list[tuple[int, int]]:
    """Return points in degrees as pairs of integers, which compare exactly."""
    return [(lat, lon) for lat, lon in np.rint(degrees * _UNITS).astype(np.int64).tolist()]
