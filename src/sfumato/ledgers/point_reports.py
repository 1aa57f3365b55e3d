"""Reports of points on the ground, in the form in which a ledger stores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from ..core import Capability, Mechanism, great_circle_m
from ..core.arrays import Floats, round_degrees
from ..geo import Places
from ..sampling import Sampler, SystemWords, simulator
from ..sampling.sampler import points_of
from .accounts import Report

Outside = Literal["error", "nearest"]
_RARE: Final = 0.01  # of fresh reports are as far: then a report is not taken for one of this point
_NEAR: Final = 6.0  # mean noise is 2 / epsilon; 1.7 % is farther than this many times 1 / epsilon
_SIMULATED: Final = 10_000
_ON_M: Final = 1.0  # so near to a place that is served, a point is served despite rounding


class PointReports:
    """Drawing of reports of points on the ground in the form of a ledger, and their degrees."""

    __slots__ = ("_latlon", "_mechanism", "_sampler", "_words")

    def __init__(self, sampler: Sampler) -> None:
        self._sampler, self._words = sampler, SystemWords()
        drawable = sampler.drawable
        self._mechanism: Mechanism | None = None if drawable.supports(Capability.POINTS) else drawable.channel()
        self._latlon: Floats | None = None  # of all observables, once one was asked for

    def draw(self, lat: Floats, lon: Floats, outside: Outside) -> list[Report]:
        """Return fresh reports of points, arrays (n,) of degrees, or refuse them; see `Sampler.blur`."""
        single = lat.size == 1  # prepared for single points, which is ten times as fast
        if self._mechanism is None:
            if single:
                north, east = self._sampler.blur(lat.item(), lon.item(), outside=outside).tolist()
                return [(north, east)]
            return [(y, x) for y, x in self._sampler.blur(lat, lon, outside=outside).tolist()]
        points: Any = points_of(self._sampler)  # MechanismPoints
        nearest = outside == "nearest"
        if single:
            return [points.report(lat.item(), lon.item(), self._words, nearest=nearest)]
        return [int(report) for report in points.reports(lat, lon, self._words, nearest=nearest)]

    def is_far(self, lat: float, lon: float, report: Report, outside: Outside) -> bool:
        """Return whether less than 1 in 100 fresh reports of a point, simulated for noise, are as far from it."""
        at = self.degrees([report])
        if at is None or not (abs(lat) <= 90 and abs(lon) <= 180):
            return False
        point, here = (np.array([lat]), np.array([lon])), np.array([[lat, lon]])
        if self._mechanism is not None:
            places = self._mechanism.secrets
            if not isinstance(places, Places) or self._latlon is None:
                return False
            target = np.column_stack(places.nearest(*point))
            if outside == "error" and great_circle_m(here, target)[0, 0] > _ON_M:
                return True
            secret = int(great_circle_m(here, places.latlon).argmin())
            away = great_circle_m(here, self._latlon)[0]
            return float(self._mechanism.matrix[secret, away >= great_circle_m(here, at)[0, 0]].sum()) < _RARE
        noise: Any = self._sampler.drawable  # a CoordinateNoise: no other kind serves points
        if outside == "error" and not noise.serves(*point)[0]:
            return True
        apart_m = float(great_circle_m(here, at)[0, 0])
        if apart_m * noise.epsilon < 1000 * _NEAR:
            return False
        reports = simulator(noise, 1).blur(*(np.repeat(axis, _SIMULATED) for axis in point), outside="nearest")
        return float((great_circle_m(here, reports)[0] >= apart_m).mean()) < _RARE

    def degrees(self, reports: Sequence[Report]) -> Floats | None:
        """Return reports as latitudes and longitudes, array (n, 2), or None if one is not the mechanism's."""
        if self._mechanism is None:
            pairs = [report for report in reports if isinstance(report, tuple)]
            return np.array(pairs, dtype=np.float64).reshape(-1, 2) if len(pairs) == len(reports) else None
        size = self._mechanism.shape[1]
        positions = [report for report in reports if isinstance(report, int) and report < size]
        if len(positions) < len(reports):
            return None
        if self._latlon is None:
            self._latlon = round_degrees(self._mechanism.observables.latlon)
        return self._latlon[positions]
