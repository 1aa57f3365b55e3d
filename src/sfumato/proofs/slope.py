"""The steepest slope of a mechanism on a lattice: how fast its reports change with the true point, and where."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core import Bracket, Mechanism
from ..core.arguments import checked
from ..core.arrays import Floats
from ..core.units import factor
from ..errors import InputError
from ..geo import Lattice
from .spline import gradient_and_value, halved

_CHUNK: Final = 20_000  # polynomials at a time
_CLOSE: Final = 1e-9  # relative distance of the two ends of the bracket
_ERROR: Final = 1e-12  # relative rounding of the coefficients
_LEAST: Final = 1e-14  # rounding of a slope per step that integers turned into floats may add, or hide


@dataclass(frozen=True, slots=True)
class Steepest:
    """The supremum of |grad log M(x, o)| over the points x that a lattice serves and the reports o.

    It is the smallest epsilon that nearby points keep. Where the points served form a convex region it is the
    smallest that all points keep.

    Attributes:
        epsilon: The supremum, per ``unit`` on the ground.
        unit: The unit of length.
        point: Latitude and longitude in degrees at which the lower end is attained.
        observable: Position of the report.
    """

    epsilon: Bracket
    unit: str
    point: tuple[float, float]
    observable: int


@checked
def steepest(mechanism: Mechanism, unit: str = "km") -> Steepest:
    """Return the steepest slope of the logarithm of a mechanism's likelihoods, from its integers.

    On a triangle a likelihood is affine, and its slope is largest where it is least, at a corner. On a square it
    is a sum of products of splines: the slope is bounded by Bernstein coefficients of |grad f|**2 and f**2 on
    smaller and smaller parts, until both ends of the bracket agree to one part in 10**9.

    Args:
        mechanism: A mechanism whose secrets are the vertices of a lattice.
        unit: The unit of length.

    Raises:
        InputError: If the secrets are not the vertices of a lattice.
    """
    lattice = mechanism.secrets
    if not isinstance(lattice, Lattice):
        raise InputError(
            f"the slope at points needs the vertices of a lattice, but the secrets are {lattice!r}.",
            "design on sf.Lattice.covering(...).",
        )
    search = _search_square if lattice.kind == "square" else _search_triangles
    lower, upper, place, observable = search(mechanism, lattice)
    per_unit = 1 / (lattice.spacing_m * factor("m", unit))
    lat, lon = lattice.projection.inverse(place[None])[0]
    slack = 0.0 if (mechanism.weights == mechanism.weights[0]).all() else _LEAST  # equal rows are equal exactly
    bracket = Bracket(
        max(0.0, lower * (1 - _ERROR) - slack) * per_unit,
        lower * per_unit,
        (upper * (1 + _ERROR) + slack) * per_unit * lattice.stretch,
    )
    return Steepest(bracket, unit, (float(lat), float(lon)), observable)


def _search_triangles(mechanism: Mechanism, lattice: Lattice) -> tuple[float, float, Floats, int]:
    pieces, weights = lattice.pieces, mechanism.weights.astype(np.float64)
    best, where = -1.0, (0, 0)
    for k, corners in enumerate(pieces):
        f = weights[corners]
        p, q, low = f[1] - f[0], f[2] - f[0], f.min(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            steep = np.sqrt(np.maximum(p * p - p * q + q * q, 0)) * 2 / math.sqrt(3) / low
        steep[f.max(axis=0) == 0] = 0.0
        o = int(np.argmax(steep))
        if steep[o] > best:
            best, where = float(steep[o]), (k, o)
    corners = pieces[where[0]]
    vertex = corners[int(np.argmin(weights[corners, where[1]]))]
    return best, best, _centres(lattice)[vertex], where[1]


def _search_square(mechanism: Mechanism, lattice: Lattice) -> tuple[float, float, Floats, int]:
    pieces, weights = lattice.pieces, mechanism.weights.astype(np.float64)
    m = weights.shape[1]
    best, where = 0.0, (0, 0, 0.0, 0.0)
    each = max(1, _CHUNK // m)
    for start in range(0, len(pieces), each):
        columns = weights[pieces[start : start + each]].transpose(0, 2, 1).reshape(-1, 3, 3)
        top = columns.max(axis=(1, 2))
        used = np.flatnonzero(top > 0)
        steep, value = gradient_and_value(columns[used] / top[used, None, None])
        box = np.tile([0.0, 0.0, 1.0, 1.0], (len(used), 1))
        depth = 0
        while len(used):
            with np.errstate(divide="ignore", invalid="ignore"):
                corners = (steep[::4, ::4] / value[::4, ::4]).transpose(2, 0, 1)
                bounds = np.where(value > 0, steep / value, np.where(steep > 0, np.inf, 0.0)).max(axis=(0, 1))
            corners[np.isnan(corners)] = 0.0
            k, i, j = np.unravel_index(int(np.argmax(corners)), corners.shape)
            if corners[k, i, j] > best:
                best = float(corners[k, i, j])
                piece, o = divmod(int(used[k]), m)
                side = box[k]
                where = (start + piece, o, float(side[2 * i]), float(side[2 * j + 1]))
            open_ = bounds > best * (1 + _CLOSE)
            if math.isinf(best) or not open_.any():
                break
            axis = depth % 2
            steep = np.concatenate(halved(steep[..., open_], axis), axis=-1)
            value = np.concatenate(halved(value[..., open_], axis), axis=-1)
            used, box = np.tile(used[open_], 2), _boxes(box[open_], axis)
            depth += 1
    piece, o, u, v = where
    place = _centres(lattice)[pieces[piece][4]] + lattice.spacing_m * np.array([u - 0.5, v - 0.5])
    return math.sqrt(best), math.sqrt(best * (1 + _CLOSE)), place, o


def _boxes(box: Floats, axis: int) -> Floats:
    """Return the lower and then the upper halves of boxes (west, south, east, north) along an axis."""
    low, high = box.copy(), box.copy()
    middle = (box[:, axis] + box[:, axis + 2]) / 2
    low[:, axis + 2], high[:, axis] = middle, middle
    return np.concatenate([low, high])


def _centres(lattice: Lattice) -> NDArray[np.float64]:
    return np.zeros((len(lattice), 2)) if lattice.coordinates is None else lattice.coordinates
