"""Visits that share a place: one report stands for all of them, drawn for the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..errors import DataError, argument
from ..rounding import amount_at_most, counted
from ..tables import spelled
from .columns import fresh

Positions = NDArray[np.intp]

_SAME_M: Final = 1e-6  # metres: nearer points are one, whatever floats make of degrees
_CURVED_M: Final = 6_399_594.0  # the largest radius of curvature of the Earth's ellipsoid: a^2 / b


@dataclass(frozen=True, slots=True, eq=False)
class Revisits:
    """The visits of a batch that need a report of their own, and which of these each visit takes.

    Attributes:
        rows: The first visit to each place, and all visits without one, array (k,), in rising order.
        users: Names of their users.
        places: Names of their places; None where a visit has none, which is never repeated.
        taken: The number among ``rows`` of the visit whose report each visit takes, array (n,).
        named: How many visits name a place.
    """

    rows: Positions
    users: tuple[str, ...]
    places: tuple[str | None, ...]
    taken: Positions
    named: int

    @classmethod
    def of(cls, users: Any, places: Any | None, numbers: Positions) -> Revisits:
        """Return the users and places of visits.

        Args:
            users: The Arrow column of users.
            places: The Arrow column of places; None where none are named.
            numbers: The numbers of the visits in the source, array (n,), for messages.

        Raises:
            DataError: If a visit has no user.
        """
        names, of_user = _names(users)
        lacking = np.flatnonzero(of_user < 0)
        if lacking.size:
            raise DataError(
                f"row {numbers[lacking[0]] + 1:,} names no user, but places and budgets are those of users.",
                f"name the column of users with {argument('release.user', 'column')}.",
            )
        called, of_place = ([], np.full(len(of_user), -1)) if places is None else _names(places)
        alone = of_place < 0
        pairs = of_user * (len(called) + 1) + of_place
        pairs[alone] = -1 - np.flatnonzero(alone)  # each is a pair of its own
        _, first, where = np.unique(pairs, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        rows = first[order].astype(np.intp)
        return cls(
            rows,
            tuple(names[user] for user in of_user[rows].tolist()),
            tuple(None if place < 0 else called[place] for place in of_place[rows].tolist()),
            rank[where.reshape(-1)],
            int(np.count_nonzero(~alone)),
        )


def cost_of_places(
    named: int, places: int, spread_m: float | None, *, cells: bool = False, slack_m: float = 0.0
) -> str:
    """Return what remembering places costs, in a sentence.

    Args:
        named: How many visits name a place.
        places: How many different places of users they name.
        spread_m: How far visits are from the anchors of their places at most; None where it is not known.
        cells: Whether the promise is for centres of cells, so that it says nothing of visited points.
        slack_m: The slack of the promise, metres: what is added to a distance.
    """
    if spread_m is not None and spread_m <= _SAME_M:
        spread_m = 0.0
    r = "r" if spread_m is None else amount_at_most(spread_m, "m")
    where = f"all within {r} of theirs" if spread_m is None else f"which are at most {r} from theirs"
    slack = f" + {amount_at_most(slack_m, 'm')} of slack" if slack_m else ""
    anchors = "the distance of two possible anchors"
    visited = "; every visit to a place is at its anchor, so this is said of visited points, too"
    if spread_m != 0:
        visited = (
            f"; between visited points, {where}, it is epsilon x (distance + 2 x {r}{slack}), counted likewise"
        )
    return (
        f"{_rows(named, places)} reported once, for the first visit to it (its anchor), and repeated. "
        "Given which rows share a place, each place costs epsilon x "
        f"{f'({anchors}{slack})' if slack else anchors}, as the promise of one report counts it, "
        f"once{'' if cells else visited}. "
        "Anyone can see that rows of one place share their report"
    )


def far_places(places: int, far_m: float, rows: Sequence[int], loss_m: float, *, kept: bool) -> str:
    """Return that places may have moved, in a sentence.

    Args:
        places: How many.
        far_m: How far a visit is away at most, metres.
        rows: A row of each place in which it is far, of the first places.
        loss_m: The mean distance of a report from the place that it is of, metres.
        kept: Whether a ledger keeps reports, so that visits are compared with these, and not with first visits.
    """
    far = amount_at_most(far_m, "m")
    noun, more = ("row" if places == 1 else "rows"), (", ..." if places > len(rows) else "")
    moved = f"{counted(places, 'place')} may have moved ({noun} {', '.join(f'{row:,}' for row in rows)}{more})"
    if kept:
        return (
            f"At least {moved}: a visit is up to {far} from the report that is "
            "repeated, and fewer than one in 100 fresh reports would be so far. Blur.report with move=True draws "
            "and charges a place once more"
        )
    return (
        f"{moved}: a visit is more than {amount_at_most(loss_m, 'm')}, the mean "
        f"loss of a report, from the first one, and up to {far}. The repeated report is of the first visit: give "
        "a place elsewhere a name of its own"
    )


def apart_m(lat: Floats, lon: Floats, there_lat: Floats, there_lon: Floats) -> Floats:
    """Return how far points are from others on the ground at most, metres, array (n,); 1.1 % too far at most.

    The way over the ellipsoid along which its normal turns by the angle between both normals is no longer than
    that angle times the largest radius of curvature.

    Args:
        lat: Latitudes of points, array (n,), degrees.
        lon: Longitudes.
        there_lat: Latitudes of the others.
        there_lon: Longitudes.
    """
    north, north_there = np.radians(lat), np.radians(there_lat)
    across = np.radians(there_lon - lon)
    half = np.sin((north_there - north) / 2) ** 2 + np.cos(north) * np.cos(north_there) * np.sin(across / 2) ** 2
    found: Floats = 2 * _CURVED_M * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
    return found


def _rows(named: int, places: int) -> str:
    each = f"{counted(places, 'place')}{', each' if places > 1 else ','}"
    return f"{counted(named, 'row')} {'names' if named == 1 else 'name'} {each}"


def _names(column: Any) -> tuple[list[str], Positions]:
    """Return the names in an Arrow column, and which one each row has, array (n,); -1 where it has none."""
    import pyarrow as pa

    plain = fresh(column, "of names")
    if pa.types.is_nested(plain.type):
        plain = pa.array([None if value is None else str(value) for value in plain.to_pylist()], pa.string())
    kind = column.type
    encoded = plain.dictionary_encode()
    values = encoded.dictionary
    if isinstance(kind, pa.BaseExtensionType) and values.type == kind.storage_type:
        values = pa.ExtensionArray.from_storage(kind, values)  # a UUID is written as one
    numbers: dict[str, int] = {}
    of_value = np.array(
        [
            -1 if name is None else numbers.setdefault(name, len(numbers))
            for name in map(spelled, values.to_pylist())
        ]
        + [-1],
        dtype=np.intp,
    )
    indices = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    return list(numbers), of_value[indices]
