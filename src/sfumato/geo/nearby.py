"""Many points near the centre of a projection: polynomials in place of series, to the same nanometres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats, readonly
from .geodesic import from_centre

MANY: Final = 1 << 12
"""How many points it takes before polynomials pay."""

_HALF: Final = 0.5  # of the box, degrees of latitude
_STEEPEST: Final = 70.0  # degrees of latitude: beyond it meridians bend too much
_DEGREES: Final = (7, 3)  # in the latitude, and in the square of the longitude
_ALLOWED_M: Final = 2e-8
_NEGLIGIBLE_M: Final = 5e-10
_BLOCK: Final = 1 << 14  # points at a time: what a block needs stays in the processor's cache

Terms = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NearCentre:
    """Metres east and north of points in a box around the centre, by two polynomials.

    With u the latitude and v the longitude from the centre, in units of the box's halves, x = v P(u, v**2) and
    y = Q(u, v**2). They are interpolated from the series of `geodesic` and checked against it when they are made.

    Attributes:
        centre: Latitude and longitude, degrees.
        halves: Half the height and the width of the box, degrees.
        east: P, coefficients of powers of u for each power of v**2, the highest first.
        north: Q, likewise.
    """

    centre: tuple[float, float]
    halves: tuple[float, float]
    east: Terms
    north: Terms

    def forward(self, lat: Floats, lon: Floats) -> Floats:
        """Return metres east and north, array (n, 2); NaN for what is not on the Earth.

        Args:
            lat: Latitudes, array (n,) in degrees.
            lon: Longitudes, array (n,) in degrees.
        """
        found = np.empty((len(lat), 2))
        for start in range(0, len(lat), _BLOCK):
            block = slice(start, start + _BLOCK)
            u, v = (lat[block] - self.centre[0]) / self.halves[0], (lon[block] - self.centre[1]) / self.halves[1]
            near = (np.abs(u) <= 1) & (np.abs(v) <= 1)
            far = np.flatnonzero(~near)
            if far.size:
                u[far] = v[far] = 0.0
            squared = v * v
            found[block, 0] = v * _value(self.east, u, squared)
            found[block, 1] = _value(self.north, u, squared)
            if far.size:
                found[start + far] = _series(self.centre, lat[start + far], lon[start + far])
        return found


def _series(centre: tuple[float, float], lat: Floats, lon: Floats) -> Floats:
    """Return metres east and north by the series, array (n, 2); NaN for what is not on the Earth."""
    known: NDArray[np.bool_] = (np.abs(lat) <= 90) & np.isfinite(lon)
    x, y = from_centre(np, centre, np.where(known, lat, centre[0]), np.where(known, lon, centre[1]))
    return np.where(known[:, None], np.column_stack([x, y]), np.nan)


@lru_cache(maxsize=64)
def near_centre(lat: float, lon: float) -> NearCentre | None:
    """Return the polynomials around a centre; None where they would not be as good as the series.

    Args:
        lat: Latitude of the centre, degrees.
        lon: Longitude of the centre, degrees.
    """
    if abs(lat) > _STEEPEST:
        return None
    halves = (_HALF, _HALF / math.cos(math.radians(lat)))
    degrees, (nodes_u, nodes_w) = _DEGREES, (np.polynomial.chebyshev.chebpts1(degree + 1) for degree in _DEGREES)
    u, w = (grid.ravel() for grid in np.meshgrid(nodes_u, (nodes_w + 1) / 2, indexing="ij"))
    v = np.sqrt(w)
    shape = (degrees[0] + 1, degrees[1] + 1)
    x, y = _series((lat, lon), lat + halves[0] * u, lon + halves[1] * v).T
    found = NearCentre(
        (lat, lon), halves, _powers((x / v).reshape(shape), nodes_u), _powers(y.reshape(shape), nodes_u)
    )
    steps = np.linspace(-1, 1, 41)
    u, v = (grid.ravel() for grid in np.meshgrid(steps, steps))
    north, east = lat + halves[0] * u, lon + halves[1] * v
    inside = (np.abs((north - lat) / halves[0]) <= 1) & (np.abs((east - lon) / halves[1]) <= 1)
    apart = found.forward(north[inside], east[inside]) - _series((lat, lon), north[inside], east[inside])
    return found if float(np.abs(apart).max()) <= _ALLOWED_M else None


def _powers(values: Floats, nodes_u: Floats) -> Terms:
    """Return the coefficients of powers of u and of v**2 of what is interpolated, the highest first."""
    chebyshev = np.polynomial.chebyshev
    nodes_w = chebyshev.chebpts1(values.shape[1])
    waves = np.linalg.solve(chebyshev.chebvander(nodes_u, values.shape[0] - 1), values)
    waves = np.linalg.solve(chebyshev.chebvander(nodes_w, values.shape[1] - 1), waves.T).T
    in_u = np.column_stack([_padded(chebyshev.cheb2poly(column), values.shape[0]) for column in waves.T])
    rows = []
    for row in in_u:  # in 2 w - 1: expand the shift
        shifted = np.polynomial.Polynomial(_padded(chebyshev.cheb2poly(row), values.shape[1]))
        rows.append(_padded(shifted(np.polynomial.Polynomial([-1.0, 2.0])).coef, values.shape[1]))
    coefficients = readonly(np.array(rows))
    terms = []
    for power in coefficients.T[::-1]:
        used = np.flatnonzero(np.abs(power) > _NEGLIGIBLE_M)
        terms.append(tuple(power[: used[-1] + 1][::-1].tolist()) if used.size else ())
    while terms and not terms[0]:
        terms.pop(0)
    return tuple(terms)


def _padded(values: Any, size: int) -> Floats:
    found: Floats = np.concatenate([values, np.zeros(size - len(values))])
    return found


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
