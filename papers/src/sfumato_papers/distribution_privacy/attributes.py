"""Attributes of visits that split people, or their visits, into two groups."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.core import Prior
from sfumato.core.arrays import Floats, readonly
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError
from sfumato.geo import Grid, Region, Visits

from .groups import Groups

PEOPLE: Final = ("home_area", "area", "age_group", "gender", "sex")
"""Attributes of people that are taken first, by the names of their columns."""

HOURS: Final = "hours"
DAY, NIGHT = "8 to 20", "20 to 8"

_FEWEST: Final = 20  # visits of a group on the map
_MOST_VALUES: Final = 12
_SIDE_M: Final = 8000.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Split(CompactRepr):
    """Two groups of one source by one attribute, on a map of 8 km x 8 km where its visits are.

    Attributes:
        source: The name of the source.
        attribute: The name of the attribute.
        values: Its two values with most visits on the map.
        city: The map.
        visits: The visits of both groups on the map.
        of_people: Whether each user has one value only: then groups are of people, else of visits.
    """

    source: str
    attribute: str
    values: tuple[object, object]
    city: Grid
    visits: Visits
    of_people: bool

    @property
    def title(self) -> str:
        """The two groups, with the source and the attribute."""
        return f"{self.values[0]} and {self.values[1]} ({self.source}, {self.attribute})"

    @property
    def groups(self) -> Groups:
        """The distributions of visits of both groups."""
        return self._groups(self.visits)

    @property
    def users(self) -> tuple[int, int]:
        """The number of users with a visit in each group."""
        first, second = (len(_of(self, value).users()) for value in self.values)
        return first, second

    @property
    def counts(self) -> tuple[int, int]:
        """The number of visits of each group."""
        first, second = (len(_of(self, value)) for value in self.values)
        return first, second

    def by_user(self) -> Groups:
        """Return the groups with equal weight for each user, however many visits they have."""
        laws: list[Floats] = []
        for value in self.values:
            own = _of(self, value)
            if own.user is None:
                laws.append(Prior.from_visits(self.city, own).probabilities)
                continue
            cells = self.city.locate(own.lat, own.lon)
            _, who = np.unique(own.user.astype(str), return_inverse=True)
            visits = np.bincount(who).astype(np.float64)
            weights: Floats = np.reciprocal(len(visits) * visits[who])
            laws.append(np.bincount(cells, weights=weights, minlength=len(self.city)).astype(np.float64))
        first, second = (Prior(self.city, law / law.sum()) for law in laws)
        names = str(self.values[0]), str(self.values[1])
        return Groups(names, (first, second), self.city.metric("euclidean", unit="km"), self.title)

    def halves(self, seed: int) -> tuple[Groups, Groups]:
        """Return the groups of one half of the users, drawn at random, and those of the others.

        Args:
            seed: The same seed gives the same halves. Visits without users are halved themselves.
        """
        random = np.random.Generator(np.random.PCG64(seed))
        one = np.zeros(len(self.visits), dtype=np.bool_)
        column = self.visits.attributes[self.attribute]
        # A user with visits in both groups is in one half only: otherwise what is learned of them misleads.
        every = [column == value for value in self.values] if self.of_people else [np.ones(len(column), np.bool_)]
        for members in every:
            own = np.flatnonzero(members)
            who = own if self.visits.user is None else self.visits.user[own].astype(str)
            names = np.unique(who)
            chosen = random.permutation(len(names))[: max(1, len(names) // 2)]
            one[own] |= np.isin(who, names[chosen])
        return self._groups(self.visits.select(one)), self._groups(self.visits.select(~one))

    def _groups(self, visits: Visits) -> Groups:
        return Groups.from_visits(self.city, visits, self.attribute, *self.values, self.title)


def splits(data: Mapping[str, Visits], cell: str, most: int) -> list[Split]:
    """Return up to so many splits of each source: by attributes of people first, then by others, then by hours.

    An attribute counts if it has 2 to 12 values; its two values with most visits on the map are taken. Hours are
    those of the sun, 8 to 20 against 20 to 8.

    Args:
        data: Visits by the name of their source.
        cell: The side of a cell.
        most: Of each source.

    Raises:
        DataError: If no source has an attribute or times.
    """
    found = [split for source, visits in data.items() for split in _of_source(source, visits, cell)[:most]]
    if not found:
        raise DataError(
            "no file has an attribute with 2 to 12 values, or times, that splits its visits into two groups.",
            "give visits with a column such as home_area, or with times; examples/home_area.py makes one.",
        )
    return found


def _of_source(source: str, visits: Visits, cell: str) -> list[Split]:
    lat, lon = (round(float(np.median(column)), 3) for column in (visits.lat, visits.lon))
    region = Region.around(lat, lon, _SIDE_M, _SIDE_M)
    near = visits.inside(region)
    city = Grid.covering(region, cell=cell)
    columns = dict(near.attributes) | _hours(near)
    found = [
        split
        for name, column in columns.items()
        if (split := _split(source, name, near, column, city)) is not None
    ]
    return sorted(found, key=lambda split: (split.attribute == HOURS, not split.of_people, _rank(split.attribute)))


def _split(source: str, name: str, visits: Visits, column: NDArray[Any], city: Grid) -> Split | None:
    known = np.array([isinstance(each, str) and each != "" for each in column.tolist()])
    values, counts = np.unique(column[known].astype(str), return_counts=True)
    if not 2 <= len(values) <= _MOST_VALUES or np.sort(counts)[-2] < _FEWEST:
        return None
    first, second = (str(each) for each in values[np.argsort(-counts, kind="stable")[:2]])
    both = known & ((column == first) | (column == second))
    own = visits.select(both)
    named = Visits(own.lat, own.lon, own.user, own.time, {name: column[both]})
    return Split(source, name, (first, second), city, named, _one_each(own.user, column[both]))


def _one_each(users: Sequence[Hashable] | NDArray[Any] | None, values: NDArray[Any]) -> bool:
    """Whether every user has one value only."""
    if users is None:
        return False
    pairs = set(zip(users, values, strict=True))
    return len(pairs) == len({user for user, _ in pairs})


def _hours(visits: Visits) -> dict[str, NDArray[Any]]:
    """Return whether visits were by day or by night, by the sun, where times are known."""
    if visits.time is None or np.isnat(visits.time).any():
        return {}
    return {HOURS: np.where(by_day(visits), DAY, NIGHT).astype(object)}


def by_day(visits: Visits) -> NDArray[np.bool_]:
    """Return whether each visit was between 8 and 20 by the sun, array (n,).

    Args:
        visits: Visits with times.
    """
    times = np.asarray(visits.time, dtype="datetime64[s]")
    seconds = (times - times.astype("datetime64[D]")).astype(np.int64).astype(np.float64)
    hour: Floats = readonly((seconds / 3600 + visits.lon / 15) % 24)
    return (hour >= 8) & (hour < 20)


def _rank(attribute: str) -> int:
    return PEOPLE.index(attribute) if attribute in PEOPLE else len(PEOPLE)


def _of(split: Split, value: object) -> Visits:
    return split.visits.select(split.visits.attributes[split.attribute] == value)
