"""Geodesics of the WGS84 ellipsoid from one point: where a distance and a direction lead, and back.

Shortest lines on the ellipsoid are great circles of an auxiliary sphere of reduced latitudes, with the length and
the longitude corrected by trigonometric series in a small number epsilon. The series are those of Karney to
order four; what is left out is below ten nanometres.

Source:
    Karney, "Algorithms for geodesics", Journal of Geodesy 87 (2013), equations 7 to 25.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..core.arrays import Floats

_F: Final = 1 / 298.257223563
_B: Final = 6_378_137.0 * (1 - _F)  # the polar half-axis of WGS84, metres
_N: Final = _F / (2 - _F)  # the third flattening
_ROUNDS: Final = 12  # at most, of a fixed point that gains a factor of 300 in each
_SMALL: Final = 1e-16  # of an angle: half a nanometre
_TINY: Final = 1e-150  # stands for the radius of the parallel through a pole

# Coefficients of powers of epsilon, from the power 0 on; equations 17, 18, 24 and 25.
_A1: Final = (1, 0, 1 / 4, 0, 1 / 64)
_C1: Final = (
    (0, -1 / 2, 0, 3 / 16),
    (0, 0, -1 / 16, 0, 1 / 32),
    (0, 0, 0, -1 / 48),
    (0, 0, 0, 0, -5 / 512),
)
_A3: Final = (
    1,
    -(1 / 2 - _N / 2),
    -(1 / 4 + _N / 8 - 3 * _N**2 / 8),
    -(1 / 16 + 3 * _N / 16 + _N**2 / 16),
    -(3 / 64 + _N / 32),
)
_C3: Final = (
    (0, 1 / 4 - _N / 4, 1 / 8 - _N**2 / 8, 3 / 64 + 3 * _N / 64 - _N**2 / 64, 5 / 128 + _N / 64),
    (0, 0, 1 / 16 - 3 * _N / 32 + _N**2 / 32, 3 / 64 - _N / 32 - 3 * _N**2 / 64, 3 / 128 + _N / 128),
    (0, 0, 0, 5 / 192 - 3 * _N / 64 + 5 * _N**2 / 192, 3 / 128 - 5 * _N / 192),
    (0, 0, 0, 0, 7 / 512 - 7 * _N / 256),
)


class _Line(NamedTuple):
    """A great circle of the auxiliary sphere: its direction at the equator, its start, and its epsilon."""

    sine: Floats
    start: Floats
    small: Floats


def from_centre(centre: tuple[float, float], lat: Floats, lon: Floats) -> Floats:
    """Return how far east and north points are, along geodesics from a centre: array (n, 2), metres.

    Distance and direction of each point from the centre, as plane polar coordinates.

    Args:
        centre: Latitude and longitude, degrees.
        lat: Latitudes of the points, array (n,), degrees; a quarter of the Earth away at most.
        lon: Longitudes, array (n,), degrees.
    """
    sin1, cos1 = _reduced(np.asarray(centre[0]))
    sin2, cos2 = _reduced(lat)
    along = np.radians((lon - centre[1] + 180) % 360 - 180)
    turned = along
    for _ in range(_ROUNDS):
        east, north = cos2 * np.sin(turned), cos1 * sin2 - sin1 * cos2 * np.cos(turned)
        apart = np.hypot(east, north)
        arc = np.arctan2(apart, sin1 * sin2 + cos1 * cos2 * np.cos(turned))
        sine, cosine = _direction(east, north)
        line = _line(sine, cosine, sin1, cos1)
        last, turned = turned, along + _F * line.sine * _stretched(_A3, _C3, line, arc)
        if not (np.abs(turned - last) > _SMALL).any():
            break
    length = _B * _stretched(_A1, _C1, line, arc) / (1 - line.small)
    return np.column_stack([length * sine, length * cosine])


def to_degrees(centre: tuple[float, float], xy: Floats) -> Floats:
    """Return the latitudes and longitudes, array (n, 2), of points so far east and north of a centre.

    Args:
        centre: Latitude and longitude, degrees.
        xy: Array (n, 2), metres, as `from_centre` gives them.
    """
    sin1, cos1 = _reduced(np.asarray(centre[0]))
    length = np.hypot(xy[:, 0], xy[:, 1])
    sine, cosine = _direction(*xy.T)
    line = _line(sine, cosine, sin1, cos1)
    wanted, scale = length / _B * (1 - line.small), _power_sum(line.small, _A1)
    arc = wanted / scale
    for _ in range(_ROUNDS):
        missing = (wanted - _stretched(_A1, _C1, line, arc)) / scale
        arc = arc + missing
        if not (np.abs(missing) > _SMALL).any():
            break
    end = line.start + arc
    across = np.hypot(cosine, sine * sin1)  # the cosine of the direction at the equator
    lat = np.arctan2(across * np.sin(end), (1 - _F) * np.hypot(line.sine, across * np.cos(end)))
    turned = np.arctan2(line.sine * np.sin(end), np.cos(end)) - np.arctan2(line.sine * sin1, cosine * cos1)
    along = turned - _F * line.sine * _stretched(_A3, _C3, line, arc)
    lon = (centre[1] + np.degrees(along) + 180) % 360 - 180
    return np.column_stack([np.degrees(lat), lon])


def _direction(east: Floats, north: Floats) -> tuple[Floats, Floats]:
    """Return sine and cosine of the angle from north to vectors; of no length: north.

    They are scaled to a size near one first: the length of a vector of subnormal numbers has few digits.
    """
    size = np.maximum(np.abs(east), np.abs(north))
    still = size == 0
    east, north = east / np.where(still, 1, size), np.where(still, 1, north / np.where(still, 1, size))
    length = np.hypot(east, north)
    return east / length, north / length


def _reduced(lat: Floats) -> tuple[Floats, Floats]:
    """Return sine and cosine of the reduced latitudes of latitudes in degrees."""
    angle = np.radians(lat)
    north, outward = (1 - _F) * np.sin(angle), np.maximum(np.cos(angle), _TINY)
    length = np.hypot(north, outward)
    return north / length, outward / length


def _line(sine: Floats, cosine: Floats, sin1: Floats, cos1: Floats) -> _Line:
    """Return the great circle that leaves a reduced latitude in a direction (clockwise from north)."""
    across = np.hypot(cosine, sine * sin1)
    square = across**2 * (2 * _F - _F**2) / (1 - _F) ** 2
    root = np.sqrt(1 + square)
    return _Line(sine * cos1, np.arctan2(sin1, cosine * cos1), (root - 1) / (root + 1))


def _stretched(scale: tuple[float, ...], sines: tuple[tuple[float, ...], ...], line: _Line, arc: Floats) -> Floats:
    """Return scale * (arc + sum of c_k (sin 2 k (start + arc) - sin 2 k start)), without cancellation."""
    first, second = np.cos(2 * line.start + arc), np.cos(arc)
    cosine, before = first, np.ones_like(first)  # cos k x, for k = 1 and 0
    sine, previous = np.sin(arc), np.zeros_like(arc)  # sin k arc
    total = np.array(arc, dtype=np.float64)
    for coefficients in sines:
        total += 2 * _power_sum(line.small, coefficients) * cosine * sine
        cosine, before = 2 * first * cosine - before, cosine
        sine, previous = 2 * second * sine - previous, sine
    result: Floats = _power_sum(line.small, scale) * total
    return result


def _power_sum(x: Floats, coefficients: tuple[float, ...]) -> Floats:
    """Return the sum of coefficients times powers of x, by Horner's rule."""
    total = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total
