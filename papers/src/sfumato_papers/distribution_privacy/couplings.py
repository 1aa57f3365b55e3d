"""Figure 1: a coupling that moves one distribution to another, on a line and on a map."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.geo import Grid
from sfumato.transport import Coupling, Wasserstein, north_west_corner, wasserstein

from ..reproduction import Made
from ..results import columns_of
from .groups import Groups

COUPLING: Final = "coupling"
DISTANCES: Final = "distances"

LINE: Final = "line"
MAP: Final = "map"


@dataclass(frozen=True, slots=True, repr=False)
class MovedRow(CompactRepr):
    """Mass that an optimal coupling moves from one place to another.

    Attributes:
        groups: Whose distributions.
        where: On a line, from west to east, or on the map.
        order: Of the Wasserstein distance.
        x: Of the first place, km.
        y: The same.
        to_x: Of the second place, km.
        to_y: The same.
        mass: The mass.
    """

    groups: str
    where: str
    order: float
    x: float
    y: float
    to_x: float
    to_y: float
    mass: float


@dataclass(frozen=True, slots=True, repr=False)
class GroupDistanceRow(CompactRepr):
    """A Wasserstein distance of two groups, and what a coupling made in one pass costs.

    Attributes:
        groups: Whose distributions.
        where: On a line, from west to east, or on the map.
        order: p.
        lower_km: Its proved lower bound.
        upper_km: What the coupling found attains.
        north_west_km: What the north-west corner rule attains; None where the package refuses it, because the
            order of the values does not suit the distances.
    """

    groups: str
    where: str
    order: float
    lower_km: float
    upper_km: float
    north_west_km: float | None


def coupled(groups: Groups, city: Grid) -> Made:
    """Return optimal couplings of two groups, of several orders, on the line from west to east and on the map.

    Args:
        groups: The groups.
        city: Their cells.
    """
    centres = city.coordinates / 1000 if city.coordinates is not None else np.zeros((len(city), 2))
    east = np.unique(np.round(centres[:, 0], 9))
    column = np.searchsorted(east, np.round(centres[:, 0], 9))
    first, second = (np.bincount(column, weights=law) for law in groups.distributions)
    line = np.abs(np.subtract.outer(east, east))
    on_line = np.column_stack([east, np.zeros_like(east)])
    moved: list[MovedRow] = []
    found: list[GroupDistanceRow] = []
    for order in (1.0, 2.0, inf):
        for where, laws, d, places in (
            (LINE, (first / first.sum(), second / second.sum()), line, on_line),
            (MAP, (groups.distributions[0], groups.distributions[1]), groups.metric.array, centres),
        ):
            best = wasserstein(laws[0], laws[1], d, order)
            found.append(_distance(groups.title, where, order, best, _corner(laws[0], laws[1], d, order)))
            if order != 2.0:
                moved += _moved(groups.title, where, order, best.coupling, places)
    return {
        COUPLING: [columns_of(row) for row in moved],
        DISTANCES: [columns_of(row) for row in found],
    }


def _corner(first: Floats, second: Floats, d: Floats, order: float) -> float | None:
    try:
        return north_west_corner(first, second, d, order).expected(d, order)
    except InputError:
        return None


def _distance(title: str, where: str, order: float, best: Wasserstein, corner: float | None) -> GroupDistanceRow:
    return GroupDistanceRow(title, where, order, best.distance.lower, best.distance.upper, corner)


def _moved(title: str, where: str, order: float, coupling: Coupling, places: Floats) -> list[MovedRow]:
    return [
        MovedRow(title, where, order, *map(float, (*places[i], *places[j], coupling.joint[i, j])))
        for i, j in np.argwhere(coupling.support)
    ]
