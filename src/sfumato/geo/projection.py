"""Local projection from degrees to metres, by polynomials near its centre and by geodesics elsewhere.

Geodesics of the WGS84 ellipsoid are great circles of an auxiliary sphere of reduced latitudes. Length and
longitude are corrected by trigonometric series in a small number epsilon, here to order four: the error is below
ten nanometres. The functions take the module of sines and roots: ``numpy`` for arrays, or the faster ``math`` for
numbers.

Source:
    Karney, "Algorithms for geodesics", Journal of Geodesy 87 (2013), equations 7 to 25.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Floats, numbers
from ..errors import InputError

LIMIT_KM: Final = 1500
"""How far from its centre a projection is used; there it stretches by up to 0.95 %."""

CLOSE_M: Final = 1e-7
"""How far apart two projections of a point by different arithmetic may be, metres; in truth some nanometres."""

_HALF_AXIS_M: Final = 6_356_752.3  # the polar one of WGS84, rounded down
_FORM = "+proj=aeqd +lat_0={} +lon_0={} +datum=WGS84 +units=m +no_defs"
_PATTERN: Final = re.compile(re.escape(_FORM).replace(r"\{\}", r"(-?[0-9.e-]+)"))
MANY: Final = 1 << 12
"""How many points it takes before polynomials pay."""

_HALF: Final = 0.5  # of the box, degrees of latitude
_STEEPEST: Final = 70.0  # degrees of latitude: beyond it meridians bend too much
_DEGREES: Final = (7, 3)  # in the latitude, and in the square of the longitude
_ALLOWED_M: Final = 2e-8
_NEGLIGIBLE_M: Final = 5e-10
_BLOCK: Final = 1 << 14  # points at a time: what a block needs stays in the processor's cache

Terms = tuple[tuple[float, ...], ...]
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NearCentre:
    """Metres east and north in a box around the centre, by two polynomials that are checked against the geodesics.

    With u the latitude and v the longitude from the centre, in units of the box's halves (degrees), x = v P(u,
    v**2) and y = Q(u, v**2). ``east`` is P and ``north`` Q: coefficients of u for each power of v**2, the highest
    first.
    """

    centre: tuple[float, float]
    halves: tuple[float, float]
    east: Terms
    north: Terms

    def forward(self, lat: Floats, lon: Floats) -> Floats:
        """Return metres east and north of degrees (n,), array (n, 2); NaN for what is not on the Earth."""
        xy = np.empty((len(lat), 2))
        for start in range(0, len(lat), _BLOCK):
            block = slice(start, start + _BLOCK)
            u, v = (lat[block] - self.centre[0]) / self.halves[0], (lon[block] - self.centre[1]) / self.halves[1]
            near = (np.abs(u) <= 1) & (np.abs(v) <= 1)
            far = np.flatnonzero(~near)
            if far.size:
                u[far] = v[far] = 0.0
            squared = v * v
            xy[block, 0] = v * _value(self.east, u, squared)
            xy[block, 1] = _value(self.north, u, squared)
            if far.size:
                xy[start + far] = _series(self.centre, lat[start + far], lon[start + far])
        return xy


def _series(centre: tuple[float, float], lat: Floats, lon: Floats) -> Floats:
    """Return metres east and north by the series, array (n, 2); NaN for what is not on the Earth."""
    known: NDArray[np.bool_] = (np.abs(lat) <= 90) & np.isfinite(lon)
    x, y = from_centre(np, centre, np.where(known, lat, centre[0]), np.where(known, lon, centre[1]))
    return np.where(known[:, None], np.column_stack([x, y]), np.nan)


@lru_cache(maxsize=64)
def near_centre(lat: float, lon: float) -> NearCentre | None:
    """Return the polynomials around a centre in degrees; None where they are not as accurate as the series."""
    if abs(lat) > _STEEPEST:
        return None
    halves = (_HALF, _HALF / math.cos(math.radians(lat)))
    degrees, (nodes_u, nodes_w) = _DEGREES, (np.polynomial.chebyshev.chebpts1(degree + 1) for degree in _DEGREES)
    u, w = (grid.ravel() for grid in np.meshgrid(nodes_u, (nodes_w + 1) / 2, indexing="ij"))
    v = np.sqrt(w)
    shape = (degrees[0] + 1, degrees[1] + 1)
    x, y = _series((lat, lon), lat + halves[0] * u, lon + halves[1] * v).T
    plane = NearCentre(
        (lat, lon), halves, _powers((x / v).reshape(shape), nodes_u), _powers(y.reshape(shape), nodes_u)
    )
    steps = np.linspace(-1, 1, 41)
    u, v = (grid.ravel() for grid in np.meshgrid(steps, steps))
    north, east = lat + halves[0] * u, lon + halves[1] * v
    inside = (np.abs((north - lat) / halves[0]) <= 1) & (np.abs((east - lon) / halves[1]) <= 1)
    apart = plane.forward(north[inside], east[inside]) - _series((lat, lon), north[inside], east[inside])
    return plane if float(np.abs(apart).max()) <= _ALLOWED_M else None


def _powers(values: Floats, nodes_u: Floats) -> Terms:
    """Return the coefficients of powers of u and of v**2 of interpolated values, the highest first."""
    chebyshev = np.polynomial.chebyshev
    nodes_w = chebyshev.chebpts1(values.shape[1])
    waves = np.linalg.solve(chebyshev.chebvander(nodes_u, values.shape[0] - 1), values)
    waves = np.linalg.solve(chebyshev.chebvander(nodes_w, values.shape[1] - 1), waves.T).T
    in_u = np.column_stack([_pad_zeros(chebyshev.cheb2poly(column), values.shape[0]) for column in waves.T])
    rows = []
    for row in in_u:  # in 2 w - 1: expand the shift
        shifted = np.polynomial.Polynomial(_pad_zeros(chebyshev.cheb2poly(row), values.shape[1]))
        rows.append(_pad_zeros(shifted(np.polynomial.Polynomial([-1.0, 2.0])).coef, values.shape[1]))
    terms = []
    for power in np.array(rows).T[::-1]:
        used = np.flatnonzero(np.abs(power) > _NEGLIGIBLE_M)
        terms.append(tuple(power[: used[-1] + 1][::-1].tolist()) if used.size else ())
    return tuple(dropwhile(operator.not_, terms))


def _pad_zeros(values: Any, size: int) -> Floats:
    return np.concatenate([values, np.zeros(size - len(values))])


def _value(terms: Terms, u: Floats, squared: Floats) -> Floats:
    """Return a polynomial's values, by Horner's rule in both variables."""
    total = np.zeros_like(u)
    for coefficients in terms:
        total *= squared
        if coefficients:
            inner = np.full_like(u, coefficients[0])
            for coefficient in coefficients[1:]:
                inner *= u
                inner += coefficient
            total += inner
    return total


@dataclass(frozen=True, slots=True)
class Projection:
    """The azimuthal equidistant projection of the WGS84 ellipsoid around a point.

    Distances from the centre are exact. A distance between two other points is never shortened, and stretched by
    at most c / sin c, where c is their angle from the centre: by 1e-7 in a town, 1 % at 1,560 km. Beyond
    `LIMIT_KM` it is not used. ``lat`` and ``lon`` are those of the centre, in degrees.

    Source:
        Snyder, "Map Projections: A Working Manual", chapter 25.
    """

    lat: float
    lon: float

    def __post_init__(self) -> None:
        if not (abs(self.lat) <= 90 and abs(self.lon) <= 180):
            raise InputError(
                f"the centre {self.lat:g}, {self.lon:g} is not a latitude and a longitude.",
                "pass degrees: -90 to 90, -180 to 180.",
            )

    @classmethod
    def from_crs(cls, crs: str) -> Projection:
        """Return the projection of a PROJ string."""
        match = _PATTERN.fullmatch(crs)
        if match is None:
            raise InputError(f"{crs!r} is not a local projection.", f"use one like {_FORM.format(48.85, 2.35)!r}.")
        try:
            return cls(float(match[1]), float(match[2]))
        except ValueError as error:
            raise InputError(
                f"{crs!r} is not centred on a latitude and a longitude.", "use degrees: -90 to 90, -180 to 180."
            ) from error

    @property
    def crs(self) -> str:
        """The projection as a PROJ string."""
        return _FORM.format(float(self.lat), float(self.lon))

    def forward(self, lat: ArrayLike, lon: ArrayLike) -> Floats:
        """Return metres east and north of the centre, array (n, 2); NaN for points that are not on the Earth.

        Many points near the centre are projected by polynomials, which agree with the series to 20 nanometres.
        Points are arrays (n,) in degrees.
        """
        north, east = np.ravel(numbers(lat, "the latitude")), np.ravel(numbers(lon, "the longitude"))
        if north.shape != east.shape:
            raise InputError(
                f"{len(north)} latitudes and {len(east)} longitudes were given.",
                "pass as many latitudes as longitudes.",
            )
        near = near_centre(float(self.lat), float(self.lon)) if len(north) >= MANY else None
        return _series((self.lat, self.lon), north, east) if near is None else near.forward(north, east)

    def forward_one(self, lat: float, lon: float) -> tuple[float, float]:
        """Return metres east and north of the centre for one point, within `CLOSE_M` of `forward`, but faster."""
        if not (abs(lat) <= 90 and math.isfinite(lon)):
            return math.nan, math.nan
        return from_centre(math, (self.lat, self.lon), lat, lon)

    def check_reach(self, xy: Floats) -> None:
        """Refuse places (n, 2) in metres, from beyond which distances are more than 1 % off (`InputError`)."""
        with np.errstate(over="ignore"):  # infinitely far away is too far
            reach = float(np.hypot(*xy.T).max())
        if not reach <= 1000 * LIMIT_KM:
            raise InputError(
                f"the places reach {reach / 1000:,.6g} km from the centre of their plane "
                f"({self.lat:g}, {self.lon:g}), and beyond {LIMIT_KM:,} km distances on it are more than 1 % off.",
                "use a plane centred on the places, as sfumato does for itself, and a smaller region.",
            )

    def stretch(self, reach_m: float) -> float:
        """Return an upper bound on the ratio of distances on the plane and on the ground, up to a reach in metres.

        With s the distance from the centre, lengths around it are stretched by s over the reduced length of the
        geodesic, which is at least b sin(s / b) for the ellipsoid's smaller half-axis b: its curvature is nowhere
        above 1 / b**2 (Sturm). Lengths towards the centre are exact.
        """
        angle = reach_m / _HALF_AXIS_M
        ratio = angle / math.sin(angle) if angle > 0 else 1.0  # a small angle may vanish as a float
        return ratio * (1 + 1e-14) if reach_m else 1.0

    def inverse(self, xy: ArrayLike) -> Floats:
        """Return latitudes and longitudes, array (n, 2), of metres east and north, array (n, 2)."""
        x, y = np.array(xy, dtype=np.float64).T
        return np.column_stack(to_degrees(np, (self.lat, self.lon), x, y))

    def inverse_one(self, x: float, y: float) -> tuple[float, float]:
        """Return latitude and longitude of one point in metres east and north; see `inverse`."""
        return to_degrees(math, (self.lat, self.lon), x, y)


class _Line(NamedTuple):
    """A great circle of the auxiliary sphere: its direction at the equator, its start, and its epsilon."""

    sine: Any
    start: Any
    small: Any


def from_centre(m: ModuleType, centre: tuple[float, float], lat: Number, lon: Number) -> tuple[Number, Number]:
    """Return metres east and north of points in degrees, as polar coordinates of geodesics from a centre.

    Within 1,000 km of the antipode the result is far away, but not exact; ``m`` is ``numpy``, or ``math``.
    """
    (sin1, cos1), (sin2, cos2) = _reduced_latitude(m, centre[0]), _reduced_latitude(m, lat)
    along = m.radians((lon - centre[1] + 180) % 360 - 180)
    # The angle between the meridians of the auxiliary sphere: as halfway between close points, then by Newton.
    angle = along / ((1 - _F) * m.sqrt(1 + _SECOND * ((sin1 + sin2) / 2) ** 2))
    for _ in range(_ROUNDS):
        east, inner = cos2 * m.sin(angle), cos2 * m.cos(angle)
        north = cos1 * sin2 - sin1 * inner
        arc = m.atan2(m.hypot(east, north), sin1 * sin2 + cos1 * inner)
        sine, cosine = _direction(m, east, north)
        line = _line(m, sine, cosine, sin1, cos1)
        waves = _waves(m, line, arc)
        missing = along + _F * line.sine * _arc_integral(_A3, _C3, line.small, arc, waves) - angle
        angle = angle + missing / (1 - _F * cos1 * cos2)
        if _is_small(missing):
            break
    length = _B * _arc_integral(_A1, _C1, line.small, arc, waves) / (1 - line.small)
    return length * sine, length * cosine


def to_degrees(m: ModuleType, centre: tuple[float, float], x: Number, y: Number) -> tuple[Number, Number]:
    """Return latitudes and longitudes of metres east and north of a centre: the inverse of `from_centre`."""
    sin1, cos1 = _reduced_latitude(m, centre[0])
    sine, cosine = _direction(m, x, y)
    line = _line(m, sine, cosine, sin1, cos1)
    target, scale = m.hypot(x, y) / _B * (1 - line.small), _power_sum(line.small, _A1)
    arc = target / scale
    for _ in range(_ROUNDS):
        waves = _waves(m, line, arc)
        missing = (target - _arc_integral(_A1, _C1, line.small, arc, waves)) / scale
        arc = arc + missing
        if _is_small(missing):
            break
    end = line.start + arc
    across = m.hypot(cosine, sine * sin1)  # the cosine of the direction at the equator
    lat = m.atan2(across * m.sin(end), (1 - _F) * m.hypot(line.sine, across * m.cos(end)))
    angle = m.atan2(line.sine * m.sin(end), m.cos(end)) - m.atan2(line.sine * sin1, cosine * cos1)
    along = angle - _F * line.sine * _arc_integral(_A3, _C3, line.small, arc, waves)
    return m.degrees(lat), (centre[1] + m.degrees(along) + 180) % 360 - 180


def _is_small(step: Any) -> bool:
    small = abs(step) <= _SMALL
    return small if isinstance(small, bool) else bool(small.all())


def _direction(m: ModuleType, east: Any, north: Any) -> tuple[Any, Any]:
    """Return sine and cosine of the angle from north to vectors; a vector of length zero points north."""
    angle = m.atan2(east, north)
    return m.sin(angle), m.cos(angle)


def _reduced_latitude(m: ModuleType, lat: Any) -> tuple[Any, Any]:
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


def _arc_integral(
    scale: tuple[float, ...], sines: tuple[tuple[float, ...], ...], small: Any, arc: Any, waves: tuple[Any, ...]
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
