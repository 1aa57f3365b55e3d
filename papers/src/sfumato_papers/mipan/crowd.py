"""Whom to hide in a file of visits: where most visits are, who has most of them, and where people live."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core import Space
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError
from sfumato.geo import Grid, Projection, Visits
from sfumato.learning import Pairs

HOMES: Final = ("home_area", "area")
"""Columns with people's homes; the first existing one is used."""

_LEAST: Final = 10  # visits in the region of each hidden user
_STEP_M: Final = 500.0  # between the corners of regions that are tried
_DEGREES: Final = 0.01  # the squares of which the busiest one lies in the region


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hidden(CompactRepr):
    """A label to hide, and its visits.

    Attributes:
        source: The name of the visits.
        name: What is hidden, in words.
        cells: The cells of the region.
        data: The visits with their labels; users are numbers, from the most frequent visitor on.
        homes: Whether the label is the home, not the user.
    """

    source: str
    name: str
    cells: Grid
    data: Pairs
    homes: bool


def busiest(visits: Visits, size_m: tuple[float, float], cell_m: float) -> Grid:
    """Return the cells of a region that holds the most visits of those around the busiest square of 0.01 degrees.

    Files of the whole world need no more room or time for this than those of a town.

    Args:
        visits: The visits.
        size_m: Width and height of the region, multiples of the side of a cell.
        cell_m: The side of a cell.

    Raises:
        DataError: If there is no visit.
    """
    if not len(visits):
        raise DataError("there is no visit.", "give a file of visits.")
    squares = np.floor(np.column_stack([visits.lat, visits.lon]) / _DEGREES)
    distinct, counts = np.unique(squares, axis=0, return_counts=True)
    lat, lon = (distinct[int(counts.argmax())] + 0.5) * _DEGREES
    plane = Projection(float(lat), float(lon))
    reach = max(size_m)
    near = (abs(visits.lat - lat) < 1) & (abs(visits.lon - lon) < 1)
    xy = plane.forward(visits.lat[near], visits.lon[near])
    steps = np.floor(xy / _STEP_M).astype(int)
    half = int(reach // _STEP_M)
    steps = steps[(abs(steps) <= half).all(axis=1)] + half
    many = np.zeros((2 * half + 1, 2 * half + 1))
    np.add.at(many, (steps[:, 0], steps[:, 1]), 1)
    sums = np.pad(many.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    wide, high = (int(side // _STEP_M) for side in size_m)
    held = sums[wide:, high:] - sums[:-wide, high:] - sums[wide:, :-high] + sums[:-wide, :-high]
    corner = (np.array(np.unravel_index(int(held.argmax()), held.shape)) - half) * _STEP_M
    columns, rows = (round(side / cell_m) for side in size_m)
    return Grid(columns, rows, (cell_m, cell_m), (float(corner[0]), float(corner[1])), plane.crs)


def hidden_in(
    source: str, visits: Visits, users: tuple[int, ...], size_m: tuple[float, float], cell_m: float
) -> list[Hidden]:
    """Return the labels to hide in a file of visits: its most frequent visitors, and two home areas.

    Home areas need a column of `HOMES` with two values in the region.

    Args:
        source: The name of the visits.
        visits: The visits.
        users: Numbers of most frequent visitors to hide.
        size_m: Width and height of the region.
        cell_m: The side of a cell.

    Raises:
        DataError: If the visits have no users, or fewer than two have enough visits in the region.
    """
    if visits.user is None:
        raise DataError(
            f"{source}: the visits have no user column, and users are to be hidden.", "give a file that has one."
        )
    cells = busiest(visits, size_m, cell_m)
    inside = visits.select(cells.inside(visits.lat, visits.lon))
    present = [user for user, count in inside.users().items() if count >= _LEAST]
    if len(present) < 2:
        raise DataError(
            f"{source}: fewer than two users have {_LEAST} visits in a region of {size_m[0] / 1000:g} km x "
            f"{size_m[1] / 1000:g} km.",
            "give visits of people who have more, with a column that says whose each is.",
        )
    found = []
    for many in dict.fromkeys(min(many, len(present)) for many in users):
        own = Pairs.of_visits(inside, cells, values=present[:many])
        numbers = Space(range(1, many + 1))
        data = Pairs((own.classes + 1).tolist(), own.points, "m", numbers)
        found.append(Hidden(source, f"{many} users", cells, data, False))
    for column in HOMES:
        if column in visits.attributes:
            counts = Counter(value for value in inside.attributes[column].tolist() if value)
            common = [str(value) for value, count in counts.most_common(2) if count >= _LEAST]
            if len(common) == 2:
                homes = Pairs.of_visits(inside, cells, column, values=common)
                found.append(Hidden(source, " or ".join(common), cells, homes, True))
            break
    return found
