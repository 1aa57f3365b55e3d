"""Geodesics of the WGS84 ellipsoid from one point: where a distance and a direction lead, and back.

Shortest lines on the ellipsoid are great circles of an auxiliary sphere of reduced latitudes, with the length and
the longitude corrected by trigonometric series in a small number epsilon. The series are those of Karney to
order four; what is left out is below ten nanometres.

All functions take the module whose sines and roots they use: ``numpy`` for arrays, and ``math`` for single
numbers, for which it is much faster.

Source:
    Karney, "Algorithms for geodesics", Journal of Geodesy 87 (2013), equations 7 to 25.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final, NamedTuple, TypeVar

from ..core.arrays import Floats

Number = TypeVar("Number", float, Floats)

_F: Final = 1 / 298.257223563
_B: Final = 6_378_137.0 * (1 - _F)  # the polar half-axis of WGS84, metres
_N: Final = _F / (2 - _F)  # the third flattening
_SECOND: Final = (2 * _F - _F**2) / (1 - _F) ** 2  # the square of the second eccentricity
_ROUNDS: Final = 12  # at most, of an iteration that gains a factor of 1,000 in each
_SMALL: Final = 1e-15  # of an angle: six nanometres

# Coefficients of powers of epsilon, the highest first, and series of sines, the shortest wave first; equations 17,
# 18, 24 and 25. A power of epsilon that all coefficients of a wave share is left out.
_A1: Final = (1 / 64, 0, 1 / 4, 0, 1)
_C1: Final = ((-5 / 512,), (0, -1 / 48), (1 / 32, 0, -1 / 16), (3 / 16, 0, -1 / 2))
_A3: Final = (
    -(3 / 64 + _N / 32),
    -(1 / 16 + 3 * _N / 16 + _N**2 / 16),
    -(1 / 4 + _N / 8 - 3 * _N**2 / 8),
    -(1 / 2 - _N / 2),
    1,
)
_C3: Final = (
    (7 / 512 - 7 * _N / 256,),
    (3 / 128 - 5 * _N / 192, 5 / 192 - 3 * _N / 64 + 5 * _N**2 / 192),
    (3 / 128 + _N / 128, 3 / 64 - _N / 32 - 3 * _N**2 / 64, 1 / 16 - 3 * _N / 32 + _N**2 / 32),
    (5 / 128 + _N / 64, 3 / 64 + 3 * _N / 64 - _N**2 / 64, 1 / 8 - _N**2 / 8, 1 / 4 - _N / 4),
)


class _Line(NamedTuple):
    """A great circle of the auxiliary sphere: its direction at the equator, its start, and its epsilon."""

    sine: Any
    start: Any
    small: Any


def from_centre(m: ModuleType, centre: tuple[float, float], lat: Number, lon: Number) -> tuple[Number, Number]:
    """Return how far east and north points are, along geodesics from a centre, metres.

    Distance and direction of each point from the centre, as plane polar coordinates.

    Args:
        m: ``numpy`` or ``math``.
        centre: Latitude and longitude, degrees.
        lat: Latitudes of the points, degrees, an array or a number. Within 1,000 km of the antipode
            what comes out is far away, but not the right point.
        lon: Longitudes, degrees.
    """
    (sin1, cos1), (sin2, cos2) = _reduced(m, centre[0]), _reduced(m, lat)
    along = m.radians((lon - centre[1] + 180) % 360 - 180)
    # The angle between the meridians of the auxiliary sphere: as halfway between close points, then by Newton.
    turned = along / ((1 - _F) * m.sqrt(1 + _SECOND * ((sin1 + sin2) / 2) ** 2))
    for _ in range(_ROUNDS):
        beside, behind = cos2 * m.sin(turned), cos2 * m.cos(turned)
        ahead = cos1 * sin2 - sin1 * behind
        arc = m.atan2(m.hypot(beside, ahead), sin1 * sin2 + cos1 * behind)
        sine, cosine = _direction(m, beside, ahead)
        line = _line(m, sine, cosine, sin1, cos1)
        waves = _waves(m, line, arc)
        missing = along + _F * line.sine * _stretched(_A3, _C3, line.small, arc, waves) - turned
        turned = turned + missing / (1 - _F * cos1 * cos2)
        if _settled(missing):
            break
    length = _B * _stretched(_A1, _C1, line.small, arc, waves) / (1 - line.small)
    return length * sine, length * cosine


def to_degrees(m: ModuleType, centre: tuple[float, float], x: Number, y: Number) -> tuple[Number, Number]:
    """Return the latitudes and longitudes of points so far east and north of a centre.

    Args:
        m: ``numpy`` or ``math``.
        centre: Latitude and longitude, degrees.
        x: Metres east, as `from_centre` gives them, an array or a number.
        y: Metres north.
    """
    sin1, cos1 = _reduced(m, centre[0])
    sine, cosine = _direction(m, x, y)
    line = _line(m, sine, cosine, sin1, cos1)
    wanted, scale = m.hypot(x, y) / _B * (1 - line.small), _power_sum(line.small, _A1)
    arc = wanted / scale
    for _ in range(_ROUNDS):
        waves = _waves(m, line, arc)
        missing = (wanted - _stretched(_A1, _C1, line.small, arc, waves)) / scale
        arc = arc + missing
        if _settled(missing):
            break
    end = line.start + arc
    across = m.hypot(cosine, sine * sin1)  # the cosine of the direction at the equator
    lat = m.atan2(across * m.sin(end), (1 - _F) * m.hypot(line.sine, across * m.cos(end)))
    turned = m.atan2(line.sine * m.sin(end), m.cos(end)) - m.atan2(line.sine * sin1, cosine * cos1)
    along = turned - _F * line.sine * _stretched(_A3, _C3, line.small, arc, waves)
    return m.degrees(lat), (centre[1] + m.degrees(along) + 180) % 360 - 180


def _settled(step: Any) -> bool:
    small = abs(step) <= _SMALL
    return small if isinstance(small, bool) else bool(small.all())


def _direction(m: ModuleType, east: Any, north: Any) -> tuple[Any, Any]:
    """Return sine and cosine of the angle from north to vectors; of no length: north."""
    angle = m.atan2(east, north)
    return m.sin(angle), m.cos(angle)


def _reduced(m: ModuleType, lat: Any) -> tuple[Any, Any]:
    """Return sine and cosine of the reduced latitudes of latitudes in degrees."""
    angle = m.radians(lat)
    north, outward = (1 - _F) * m.sin(angle), m.cos(angle)
    length = m.hypot(north, outward)
    return north / length, outward / length


def _line(m: ModuleType, sine: Any, cosine: Any, sin1: float, cos1: float) -> _Line:
    """Return the great circle that leaves a reduced latitude in a direction (clockwise from north)."""
    root = m.sqrt(1 + _SECOND * (cosine**2 + (sine * sin1) ** 2))
    return _Line(sine * cos1, m.atan2(sin1, cosine * cos1), (root - 1) / (root + 1))


def _waves(m: ModuleType, line: _Line, arc: Any) -> tuple[Any, ...]:
    """Return (sin 2 k (start + arc) - sin 2 k start) / 2 for k = 4 to 1, without cancellation."""
    first, second = 2 * m.cos(2 * line.start + arc), 2 * m.cos(arc)
    sine1 = m.sin(arc)
    sine2 = second * sine1
    sine3 = second * sine2 - sine1
    cosine2 = first * first / 2 - 1
    cosine3 = first * (cosine2 - 0.5)
    return (
        (first * cosine3 - cosine2) * (second * sine3 - sine2),
        cosine3 * sine3,
        cosine2 * sine2,
        first / 2 * sine1,
    )


def _stretched(
    scale: tuple[float, ...],
    sines: tuple[tuple[float, ...], ...],
    small: Any,
    arc: Any,
    waves: tuple[Any, ...],
) -> Any:
    """Return scale * (arc + sum of c_k (sin 2 k (start + arc) - sin 2 k start))."""
    total = 0.0
    for coefficients, wave in zip(sines, waves, strict=True):
        total = small * (total + _power_sum(small, coefficients) * wave)
    return _power_sum(small, scale) * (arc + 2 * total)


def _power_sum(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Return the sum of coefficients times powers of x, by Horner's rule."""
    total: Any = 0.0
    for coefficient in coefficients:
        total = total * x + coefficient
    return total
