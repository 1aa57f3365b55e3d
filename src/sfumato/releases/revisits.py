"""Visits that share a place: one report stands for all of them, drawn for the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..errors import DataError, argument
from ..geo import Projection
from ..rounding import amount_at_most, counted

Positions = NDArray[np.intp]

_SAME_M: Final = 1e-6  # metres: nearer points are one, whatever floats make of the plane


@dataclass(frozen=True, slots=True, eq=False)
class Revisits:
    """The user and the place of each visit.

    Attributes:
        users: Names of users, one per visit.
        places: Names of places; None where a visit has none, which is never repeated.
    """

    users: tuple[str, ...]
    places: tuple[str | None, ...]

    @classmethod
    def of(cls, users: Any | None, places: Any | None) -> Revisits:
        """Return the users and places of visits.

        Args:
            users: The Arrow column of users; None where there is none.
            places: The Arrow column of places; None where none are named.

        Raises:
            DataError: If a visit has no user.
        """
        named = [] if users is None else [_text(user) for user in users.to_pylist()]
        lacking = None if users is None else next((row for row, user in enumerate(named) if user is None), None)
        if lacking is not None:
            raise DataError(
                f"row {lacking + 1} names no user, but places and budgets are those of users.",
                f"name the column of users with {argument('release.user', 'column')}.",
            )
        found = [None] * len(named) if places is None else [_text(place) for place in places.to_pylist()]
        return cls(tuple(map(str, named)), tuple(found))

    @property
    def anchors(self) -> Positions:
        """The number of the visit whose report each visit takes, array (n,): the first one of its place."""
        first: dict[tuple[str, str], int] = {}
        found = [
            number if place is None else first.setdefault((user, place), number)
            for number, (user, place) in enumerate(zip(self.users, self.places, strict=True))
        ]
        return np.array(found, dtype=np.intp)

    @property
    def distinct(self) -> int:
        """The number of different places of users."""
        return len({key for key in zip(self.users, self.places, strict=True) if key[1] is not None})

    def cost(self, spread_m: float | None, *, cells: bool = False, slack_m: float = 0.0) -> str:
        """Return what remembering places costs, in a sentence.

        Args:
            spread_m: How far visits are from the anchors of their places at most; None where it is not known.
            cells: Whether the promise is for centres of cells, so that it says nothing of visited points.
            slack_m: The slack of the promise, metres: what is added to a distance.
        """
        named = sum(place is not None for place in self.places)
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
            f"{_rows(named, self.distinct)} reported once, for the first visit to it (its anchor), and repeated. "
            "Given which rows share a place, each place costs epsilon x "
            f"{f'({anchors}{slack})' if slack else anchors}, as the promise of one report counts it, "
            f"once{'' if cells else visited}. "
            "Anyone can see that rows of one place share their report"
        )


def _rows(named: int, distinct: int) -> str:
    places = f"{counted(distinct, 'place')}{', each' if distinct > 1 else ','}"
    return f"{counted(named, 'row')} {'names' if named == 1 else 'name'} {places}"


def spread_m(lat: Floats, lon: Floats, anchors: Positions) -> float:
    """Return how far visits are from their anchors at most, metres, on a plane that shortens no distance.

    Args:
        lat: Latitudes of the visits, array (k,), degrees.
        lon: Longitudes, array (k,), degrees.
        anchors: The number of the visit that is the anchor of each, array (k,).
    """
    if not len(lat):
        return 0.0
    xy = Projection(float(np.median(lat)), float(np.median(lon))).forward(lat, lon)
    return float(np.hypot(*(xy - xy[anchors]).T).max())


def _text(value: Any) -> str | None:
    """Return a name as text; None where it is missing or empty."""
    if value is None or value != value:  # NaN and NaT are not themselves
        return None
    return str(value).strip() or None
