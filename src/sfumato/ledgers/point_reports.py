"""Reports of points on the ground, as a ledger keeps them: positions of observables, or degrees of noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from ..core import Capability, Mechanism
from ..core.arrays import Floats, round_degrees
from ..errors import InputError, argument
from ..geo import Places
from ..sampling import Sampler, SystemWords, simulator
from .places import Report

Outside = Literal["error", "nearest"]
_RARE: Final = 0.01  # of fresh reports are as far: then a report is not taken for one of this point
_NEAR: Final = 6.0  # mean noise is 2 / epsilon; 1.7 % is farther than this many times 1 / epsilon
_SIMULATED: Final = 10_000
_ON_M: Final = 1.0  # so near to a place that is served, a point is served, whatever rounding says
_RADIUS_M: Final = 6_371_009.0


class PointReports:
    """Draws reports of points, and turns reports into degrees.

    Args:
        sampler: Of a mechanism, or of noise for coordinates.
    """

    __slots__ = ("_latlon", "_mechanism", "_places", "_sampler", "_single", "_words")

    def __init__(self, sampler: Sampler) -> None:
        self._sampler, self._words = sampler, SystemWords()
        drawable = sampler.drawable
        self._mechanism: Mechanism | None = None if drawable.supports(Capability.POINTS) else drawable.channel()
        secrets = None if self._mechanism is None else self._mechanism.secrets
        self._places = secrets if isinstance(secrets, Places) else None
        self._latlon: Floats | None = None  # of all observables, once one was asked for
        self._single = None if self._places is None else self._places.singly()

    def draw(self, lat: Floats, lon: Floats, outside: Outside) -> list[Report]:
        """Return fresh reports.

        Args:
            lat: Latitudes in degrees, array (n,).
            lon: Longitudes in degrees, array (n,).
            outside: Whether points outside are refused or moved; see `Sampler.blur`.

        Raises:
            InputError: If the mechanism is not one of places, or a point is outside.
        """
        if self._mechanism is None:
            if lat.size == 1:  # prepared for single points, which is ten times as fast
                north, east = self._sampler.blur(lat.item(), lon.item(), outside=outside).tolist()
                return [(north, east)]
            return [(y, x) for y, x in self._sampler.blur(lat, lon, outside=outside).tolist()]
        if self._single is not None and lat.size == 1:
            nearest = outside == "nearest"
            secret = self._single.drawn(lat.item(), lon.item(), self._words.draw, nearest=nearest)
            if secret is not None:
                return [int(self._sampler.draw(np.array([secret]))[0])]
        return [int(report) for report in self._sampler.draw(self._secrets(lat, lon, outside))]

    def _secrets(self, lat: Floats, lon: Floats, outside: Outside) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        secrets = self._places
        if secrets is None:
            raise InputError(
                f"points cannot be blurred by {self._mechanism!r}: its secrets are not places on the ground.",
                "use draw() with the position of a secret.",
            )
        north, east = secrets.nearest(lat, lon) if outside == "nearest" else (lat, lon)
        drawn = secrets.drawn(north, east, self._words.draw)
        if (drawn < 0).any():
            raise InputError(
                f"{int((drawn < 0).sum()):,} of {drawn.size:,} points are not served by {secrets!r}.",
                ""
                if outside == "nearest"
                else f"pass {argument('outside', 'nearest')} to move them to the nearest place",
                "leave them out, or design for a wider region.",
            )
        return drawn

    def far(self, lat: float, lon: float, report: Report, outside: Outside) -> bool:
        """Return whether fresh reports of a point are as far from it as another one less than once in 100 times.

        Nothing is known but the point and the report. Of noise it is estimated from simulated
        reports. A point outside has no reports, unless it is moved.

        Args:
            lat: Latitude in degrees.
            lon: Longitude in degrees.
            report: The report.
            outside: Whether a point outside is refused or moved.
        """
        at = self.degrees([report])
        if at is None or not (abs(lat) <= 90 and abs(lon) <= 180):
            return False
        point = np.array([lat]), np.array([lon])
        if self._mechanism is not None:
            if self._places is None or self._latlon is None:
                return False
            if outside == "error" and _apart_m(lat, lon, np.column_stack(self._places.nearest(*point)))[0] > _ON_M:
                return True
            secret = int(_apart_m(lat, lon, self._places.latlon).argmin())
            away = _apart_m(lat, lon, self._latlon)
            return float(self._mechanism.matrix[secret, away >= _apart_m(lat, lon, at)[0]].sum()) < _RARE
        noise: Any = self._sampler.drawable  # a CoordinateNoise: no other kind serves points
        if outside == "error" and not noise.serves(*point)[0]:
            return True
        apart_m = float(_apart_m(lat, lon, at)[0])
        if apart_m * noise.epsilon < 1000 * _NEAR:
            return False
        reports = simulator(noise, 1).blur(*(np.repeat(each, _SIMULATED) for each in point), outside="nearest")
        return float((_apart_m(lat, lon, reports) >= apart_m).mean()) < _RARE

    def degrees(self, reports: Sequence[Report]) -> Floats | None:
        """Return reports as latitudes and longitudes, array (n, 2), or None if one is not the mechanism's."""
        if self._mechanism is None:
            pairs = [report for report in reports if isinstance(report, tuple)]
            found = np.array(pairs, dtype=np.float64).reshape(-1, 2)
            return found if len(pairs) == len(reports) else None
        made = self._mechanism.shape[1]
        positions = [report for report in reports if isinstance(report, int) and report < made]
        if len(positions) < len(reports):
            return None
        if self._latlon is None:
            self._latlon = round_degrees(self._mechanism.observables.latlon)
        return self._latlon[positions]


def _apart_m(lat: float, lon: float, points: Floats) -> Floats:
    """Return the distances of points in degrees, array (n, 2), from one, in metres on a sphere."""
    north, east = np.radians(points).T
    here, there = math.radians(lat), math.radians(lon)
    half = np.sin((north - here) / 2) ** 2 + math.cos(here) * np.cos(north) * np.sin((east - there) / 2) ** 2
    return np.asarray(2 * _RADIUS_M * np.arcsin(np.sqrt(np.minimum(half, 1.0))))
