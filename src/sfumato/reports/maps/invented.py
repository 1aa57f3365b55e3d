"""An outline for the built-in city, invented as the city is."""

from __future__ import annotations

import numpy as np

from ...core.arrays import Floats, readonly
from ...geo.synthetic import AREAS, BAY, CENTRE, HALF_M, METRES_PER_DEGREE
from .named import Name
from .outline import Outline, Shape

_AROUND = 1500.0  # metres of land and sea beyond the city
_SPARED = 45.0  # metres: visits are written down up to so far from where they are
# Metres east and north, from the hills in the north to the bay.
_RIVER = ((-1500, 4600), (-1350, 3600), (-1500, 2700), (-1100, 1800), (-1250, 900), (-800, 300), (-100, -200))
_MOUTH = ((600, -700), (1000, -1250), (1250, -1700))


def invented_outline() -> Outline:
    """Return a shore with a bay, a river and the names of quarters for `synthetic_city`.

    All of it is invented. Where it lies there is nothing but the open Atlantic.
    """
    east, north = HALF_M
    at, below, radius = BAY
    angles = np.linspace(np.pi, 0.0, 60)
    bay = np.column_stack([at + (radius - _SPARED) * np.cos(angles), below + (radius - _SPARED) * np.sin(angles)])
    west_x = np.linspace(-east - _AROUND, at - radius, 25)
    east_x = np.linspace(at + radius, east + _AROUND, 15)
    coast = [np.column_stack([x, -north - 60 - 40 * (1 + np.sin(x / 420))]) for x in (west_x, east_x)]
    far = [(east + _AROUND, north + _AROUND), (-east - _AROUND, north + _AROUND)]
    shore = np.concatenate([coast[0], bay, coast[1], far])
    low, high = -np.array(HALF_M) - _AROUND, np.array(HALF_M) + _AROUND
    sea = np.array([(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])])
    shapes = (
        Shape("water", (_degrees(np.vstack([sea, sea[:1]])),)),
        Shape("land", (_degrees(np.vstack([shore, shore[:1]])),)),
        Shape("line", (_degrees(np.array([*_RIVER, *_MOUTH], dtype=float)),)),
    )
    names = [(text, x, y) for text, x, y, *_ in AREAS]
    names += [("Gull Bay", at, below + 450.0), ("River Sill", -1250.0, 3000.0)]
    placed = [(text, *_degrees(np.array([[x, y]]))[0].tolist()) for text, x, y in names]
    return Outline(
        shapes,
        tuple(Name(text, lat, lon, 0) for text, lat, lon in placed),
        "an invented outline of an invented city",
    )


def _degrees(metres: Floats) -> Floats:
    found: Floats = np.array(CENTRE) + metres[:, ::-1] / np.array(METRES_PER_DEGREE)
    return readonly(found)
