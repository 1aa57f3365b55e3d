"""Groups of people or of visits, as distributions on the same places, and the attributes that split them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.core import Metric, Prior
from sfumato.core.arrays import Floats, readonly
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import TOTAL_VARIATION
from sfumato.errors import DataError, InputError
from sfumato.geo import Grid, Places, Region, Visits

from ..reproduction import Tables

HOURS: Final = "hours"
DAY, NIGHT = "8 to 20", "20 to 8"

_OF_PEOPLE: Final = ("home_area", "area", "age_group", "gender", "sex")  # attributes that are taken first
_FEWEST: Final = 20  # visits of a group on the map
_MOST_VALUES: Final = 12
_SIDE_M: Final = 8000.0


@dataclass(frozen=True, slots=True, repr=False)
class Groups(CompactRepr):
    """Two groups of people, as distributions on the same places; distances are in kilometres."""

    names: tuple[str, str]
    priors: tuple[Prior, Prior]
    metric: Metric
    title: str = ""

    @classmethod
    def from_visits(
        cls, places: Places, visits: Visits, attribute: str, first: object, second: object, title: str = ""
    ) -> Groups:
        """Return the groups whose visits have one or the other value; `InputError` without the attribute."""
        if attribute not in visits.attributes:
            raise InputError(
                f"the visits have no attribute {attribute!r}.",
                f"they have {', '.join(visits.attributes) or 'none'}.",
            )
        column = visits.attributes[attribute]
        left, right = (Prior.from_visits(places, visits.select(column == value)) for value in (first, second))
        return cls((str(first), str(second)), (left, right), places.metric("euclidean", unit="km"), title)

    @property
    def distributions(self) -> Floats:
        """Both distributions, array (2, n)."""
        return np.array([prior.probabilities for prior in self.priors])

    @property
    def population(self) -> Prior:
        """Both groups together, in equal parts: the prior of the service quality loss."""
        return Prior(self.priors[0].space, self.distributions.mean(axis=0))

    @property
    def total_variation(self) -> float:
        """Total variation between the two distributions."""
        return TOTAL_VARIATION(*self.distributions)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Split(CompactRepr):
    """Two groups of one source by one attribute, on a map of 8 km x 8 km around its visits."""

    source: str
    attribute: str
    values: tuple[object, object]
    city: Grid
    visits: Visits
    of_people: bool  # whether each user has one value only; otherwise groups are of visits

    @property
    def title(self) -> str:
        """The two groups, with the source and the attribute."""
        return f"{self.values[0]} and {self.values[1]} ({self.source}, {self.attribute})"

    @property
    def groups(self) -> Groups:
        """The distributions of visits of both groups."""
        return self._groups(self.visits)

    @property
    def parts(self) -> tuple[Visits, Visits]:
        """The visits of each group."""
        column = self.visits.attributes[self.attribute]
        return self.visits.select(column == self.values[0]), self.visits.select(column == self.values[1])

    @property
    def users(self) -> tuple[int, ...]:
        """The number of users with a visit in each group."""
        return tuple(len(visits.users()) for visits in self.parts)

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of visits of each group."""
        return tuple(len(visits) for visits in self.parts)

    def by_user(self) -> Groups:
        """Return the groups with equal weight for each user, however many visits they have."""

        def prior(visits: Visits) -> Prior:
            _, user_index = np.unique(_names(visits), return_inverse=True)
            cells = self.city.locate(visits.lat, visits.lon)
            law = np.bincount(cells, weights=1 / np.bincount(user_index)[user_index], minlength=len(self.city))
            return Prior(self.city, law / law.sum())

        first, second = self.parts
        return replace(self.groups, priors=(prior(first), prior(second)))

    def halves(self, seed: int) -> tuple[Groups, Groups]:
        """Return the groups of a random half of the users, or of visits without users, and of the rest."""
        random = np.random.Generator(np.random.PCG64(seed))
        half = np.zeros(len(self.visits), dtype=np.bool_)
        column = self.visits.attributes[self.attribute]
        # A user with visits in both groups is in one half only: attackers learn nothing about the other half.
        every = [column == value for value in self.values] if self.of_people else [np.ones(len(column), np.bool_)]
        for members in every:
            users = _names(self.visits)[members]
            names = np.unique(users)
            sample = random.permutation(len(names))[: max(1, len(names) // 2)]
            half[members] = np.isin(users, names[sample])
        return self._groups(self.visits.select(half)), self._groups(self.visits.select(~half))

    def _groups(self, visits: Visits) -> Groups:
        return Groups.from_visits(self.city, visits, self.attribute, *self.values, self.title)


def _names(visits: Visits) -> NDArray[Any]:
    """Return the name of the user of each visit; each visit is a user where none is named."""
    return np.arange(len(visits)) if visits.user is None else visits.user.astype(str)


def splits(data: Mapping[str, Visits], cell: str, most: int) -> list[Split]:
    """Return at most so many splits of each source: by attributes of people first, then by others, then by hours.

    The two values with most visits are taken. Raises `DataError` if no source has an attribute or times.
    """
    selection = [split for source, visits in data.items() for split in _of_source(source, visits, cell)[:most]]
    if not selection:
        raise DataError(
            "no file has an attribute with 2 to 12 values, or times, that splits its visits into two groups.",
            "give visits with a column such as home_area, or with times; examples/home_area.py makes one.",
        )
    return selection


def _of_source(source: str, visits: Visits, cell: str) -> list[Split]:
    lat, lon = (round(float(np.median(column)), 3) for column in (visits.lat, visits.lon))
    region = Region.around(lat, lon, _SIDE_M, _SIDE_M)
    near = visits.inside(region)
    city = Grid.covering(region, cell=cell)
    columns: dict[str, NDArray[Any]] = dict(near.attributes)
    if near.time is not None and not np.isnat(near.time).any():
        columns[HOURS] = np.where(by_day(near), DAY, NIGHT).astype(object)
    candidates = [_split(source, name, near, column, city) for name, column in columns.items()]

    def rank(split: Split) -> tuple[bool, bool, int]:
        known = (*_OF_PEOPLE, split.attribute).index(split.attribute)
        return split.attribute == HOURS, not split.of_people, known

    return sorted((split for split in candidates if split is not None), key=rank)


def _split(source: str, name: str, visits: Visits, column: NDArray[Any], city: Grid) -> Split | None:
    known = np.array([isinstance(value, str) and value != "" for value in column.tolist()])
    values, counts = np.unique(column[known].astype(str), return_counts=True)
    if not 2 <= len(values) <= _MOST_VALUES or np.sort(counts)[-2] < _FEWEST:
        return None
    first, second = (str(value) for value in values[np.argsort(-counts, kind="stable")[:2]])
    both = known & ((column == first) | (column == second))
    part = visits.select(both)
    subset = Visits(part.lat, part.lon, part.user, part.time, {name: column[both]})
    pairs = None if part.user is None else set(zip(part.user, column[both], strict=True))
    of_people = pairs is not None and len(pairs) == len({user for user, _ in pairs})
    return Split(source, name, (first, second), city, subset, of_people)


def by_day(visits: Visits) -> NDArray[np.bool_]:
    """Return whether each visit was between 8 and 20 solar time, array (n,)."""
    times = np.asarray(visits.time, dtype="datetime64[s]")
    seconds = (times - times.astype("datetime64[D]")).astype(np.int64).astype(np.float64)
    hour: Floats = readonly((seconds / 3600 + visits.lon / 15) % 24)
    return (hour >= 8) & (hour < 20)


@dataclass(frozen=True, slots=True, repr=False)
class GroupRow(CompactRepr):
    """One of two groups that are compared."""

    groups: str
    name: str
    users: int  # 0 where the file names none
    visits: int
    cells: int
    visited: int  # cells of the map with a visit of the group
    total_variation: float


def describe_groups(splits: Sequence[Split]) -> Tables:
    """Return the table of the groups that are compared."""
    rows = []
    for split in splits:
        groups = split.groups
        for name, prior, users, visits in zip(groups.names, groups.priors, split.users, split.counts, strict=True):
            sizes = users, visits, len(split.city), len(prior.support)
            rows.append(GroupRow(split.title, name, *sizes, groups.total_variation))
    return {"groups": rows}
