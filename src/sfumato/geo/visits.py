"""Visits: places where people were, with users and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arguments import check_arguments, random_generator
from ..core.arrays import Floats, floats, readonly
from ..core.immutable import Immutable, assign
from ..errors import DataError, InputError, argument, row_value
from ..rounding import plural
from .region import Polygon, Region

if TYPE_CHECKING:
    from ..tables import Objects, Times

LAT_LON: Final = f"{argument('lat', 'column')} and {argument('lon', 'column')}"
"""The mention of the arguments that name the columns of places."""

_NO_USERS: Final = (
    "the visits have no user column.",
    f"name it with {argument('read_visits.user', 'column')}",
    f"state who is a person with {argument('people', 'file')} (or folder, or one).",
)
_SWAPPED = 0.05  # of the latitudes beyond 90 degrees: fewer are slips
_POLAR_SHARE = 0.95  # of the latitudes in Antarctica: then they look like longitudes
_DEGREES = (
    "they must be in degrees (WGS84): correct the rows",
    f"name the right columns with {LAT_LON}.",
)
_METRES = (
    "such numbers are often metres of a map projection: convert them to degrees (WGS84, EPSG:4326), for example "
    "with pyproj.Transformer",
    f"name the right columns with {LAT_LON}.",
)
_FAR = 1000.0  # larger values are not mistyped degrees
_PEOPLED = (-60.0, 75.0)  # the latitudes between which people live


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Visits(Immutable):
    """Places where people were: one row per visit, in the order given.

    Raises `DataError` if there is no visit, a latitude or longitude is out of range, latitude and longitude look
    swapped, or the columns differ in length. Raises `InputError` if a coordinate is NaN or infinite.

    Args:
        lat: Latitudes in degrees (WGS84), array (n,).
        lon: Longitudes in degrees, array (n,).
        user: User of each visit, array (n,) of strings or integers; None where unknown. Blanks around a name are
            removed, and 1.0 is the user 1.
        time: UTC times, array (n,); NaT where unknown.
        attributes: Other columns by name, each an array (n,).
        notes: Sentences about how the visits were read, such as what was dropped.
        polar: Whether places in Antarctica are meant. Without it, latitudes that almost all lie there are refused
            as swapped longitudes.

    Example:
        >>> import sfumato as sf
        >>> sf.Visits([48.86, 48.85], [2.34, 2.35], user=["ann", "bob"])
        2 visits of 2 users, 48.85000 to 48.86000 N, 2.34000 to 2.35000 E
    """

    lat: Floats
    lon: Floats
    user: Objects | None
    time: Times | None
    attributes: Mapping[str, NDArray[Any]]
    notes: tuple[str, ...]

    def __init__(
        self,
        lat: ArrayLike,
        lon: ArrayLike,
        user: Iterable[Hashable] | None = None,
        time: ArrayLike | None = None,
        attributes: Mapping[str, ArrayLike] | None = None,
        notes: Iterable[str] = (),
        *,
        polar: bool = False,
    ) -> None:
        latitudes = floats(lat, "the latitudes", shape=(None,))
        longitudes = floats(lon, "the longitudes", shape=(None,))
        size = len(latitudes)
        users = None if user is None else _users(user)
        times = None if time is None else _times(time)
        columns = {name: readonly(np.array(values)) for name, values in (attributes or {}).items()}
        for name, column in {"lon": longitudes, "user": users, "time": times, **columns}.items():
            if column is not None and column.shape != (size,):
                raise DataError(
                    f"the column {name!r} has shape {column.shape}, but there are {size} latitudes.",
                    "pass one value per visit.",
                )
        if size == 0:
            raise DataError("there is no visit.", "pass at least one latitude and longitude.")
        check_degrees(latitudes, longitudes, polar=polar)
        assign(self, lat=latitudes, lon=longitudes, user=users, time=times, attributes=columns, notes=tuple(notes))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        build, (kind, arguments) = Immutable.__reduce__(self)
        return build, (kind, {**arguments, "polar": True})  # positions were checked before

    def __len__(self) -> int:
        return len(self.lat)

    def __repr__(self) -> str:
        people = "" if self.user is None else f" of {plural(len(self.users()), 'user')}"
        return f"{plural(len(self), 'visit')}{people}, {self.extent}"

    @property
    def extent(self) -> str:
        """The area of the visits, in words."""
        south, north, west, east = self.lat.min(), self.lat.max(), self.lon.min(), self.lon.max()
        return f"{south:.5f} to {north:.5f} N, {west:.5f} to {east:.5f} E"

    def users(self) -> dict[Hashable, int]:
        """Return the number of visits of each user, in descending order."""
        counts = Counter(() if self.user is None else self.user.tolist())
        del counts[None]
        return dict(counts.most_common())

    @check_arguments
    def of_user(self, user: Hashable) -> Visits:
        """Return the visits of one user, ``"17"`` being the integer 17, too; `DataError` if there are none."""
        from ..tables import name_text

        known = self.users()
        if self.user is None or not known:
            raise DataError(*_NO_USERS)
        text = name_text(user) or str(user)
        match = user if user in known else next((name for name in known if str(name) == text), None)
        if match is None:
            sample = ", ".join(str(name) for name in list(known)[:5])
            raise DataError(
                f"the user {user!r} is not among the {len(known):,} users.",
                row_value(f"those with the most visits are {sample}.", "correct the name of the user."),
            )
        return self.select(self.user == match)

    def inside(self, region: Region | Polygon) -> Visits:
        """Return the visits inside a region with its borders, or a polygon; `DataError` if there is none."""
        within = region.contains(self.lat, self.lon)
        if not within.any():
            raise DataError(
                f"of {plural(len(self), 'visit')} none is inside {region}.",
                f"choose a region where they are{row_value(f' ({self.extent})', '')}.",
            )
        return self.select(within)

    @check_arguments
    def held_out(self, share: float, *, by_user: bool | None = None, seed: int = 1) -> tuple[Visits, Visits]:
        """Return the visits to design with, and a random part that is held out to judge the result.

        A loss on the visits that a mechanism was designed for is slightly too small for new ones. Raises
        `InputError` if a part would be empty. Raises `DataError` if users are to be held out, but there is no user
        column. ``share`` is that of the users, or of the visits, between 0 and 1; ``by_user`` holds out all visits
        of some users, by default where there are several. The same seed gives the same parts.
        """
        users = list(self.users())
        if by_user and not users:
            raise DataError(*_NO_USERS)
        whole = users if by_user or (by_user is None and len(users) > 1) else range(len(self))
        count = round(share * len(whole)) if 0 < share < 1 else 0
        if not 0 < count < len(whole):
            noun = "users" if whole is users else "visits"
            raise InputError(
                f"a share of {share:g} of {len(whole):,} {noun} cannot be held out.",
                "use a share between 0 and 1, such as 0.2, that leaves something on both sides.",
            )
        sample = random_generator(seed).permutation(len(whole))[:count]
        apart = np.zeros(len(self), dtype=np.bool_)
        if whole is users and self.user is not None:
            names = {users[position] for position in sample.tolist()}
            apart[:] = [user in names for user in self.user.tolist()]
        else:
            apart[sample] = True
        return self.select(~apart), self.select(apart)

    def region(self, trim: float = 0.0) -> Region:
        """Return the smallest region that contains the visits.

        ``trim`` is the share of visits left out on each of the four sides as outliers, such as 0.01. Raises
        `InputError` if the share is not between 0 and 0.5, or the region is too wide for a plane.
        """
        if not 0 <= trim < 0.5:
            raise InputError(f"the trim {trim} is not between 0 and 0.5.", "use 0.01 for 1 % on each side.")
        south, north = np.quantile(self.lat, [trim, 1 - trim])
        west, east = np.quantile(self.lon, [trim, 1 - trim])
        around = np.where(self.lon < 0, self.lon + 360, self.lon)
        if east - west > 180 > np.ptp(around):
            raise InputError(
                "the visits lie on both sides of the 180th meridian, which a region cannot cross.",
                "take the visits of each side separately, with "
                f"{argument('region', 'south,west,north,east')} or in files of their own.",
            )
        try:
            return Region(float(south), float(west), float(north), float(east))
        except InputError as error:
            raise InputError(
                error.text,
                f"leave out far-off visits with {argument('trim', 0.01)}",
                f"choose the region with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
            ) from None

    def select(self, rows: NDArray[Any]) -> Visits:
        """Return the visits of a mask (n,) or of an array of positions."""
        return Visits(
            self.lat[rows],
            self.lon[rows],
            None if self.user is None else self.user[rows],
            None if self.time is None else self.time[rows],
            {name: column[rows] for name, column in self.attributes.items()},
            self.notes,
            polar=True,  # checked for all visits
        )


def check_degrees(lat: Floats, lon: Floats, *, polar: bool) -> None:
    """Refuse impossible or implausible degrees (`DataError` with the first wrong row, from 1); NaN is ignored."""
    beyond = np.abs(lat) > 90
    if beyond.any():
        row = int(np.argmax(beyond))
        degrees = row_value(f"the latitude {lat[row]:g},", "a latitude")
        problem = f"row {row + 1} has {degrees} beyond 90 degrees"
        likely = beyond.sum() >= _SWAPPED * np.isfinite(lat).sum()
        if likely and (np.abs(lat[beyond]) <= 180).all() and not (np.abs(lon) > 90).any():
            raise DataError(
                f"{problem}, and every longitude could be a latitude: the two look swapped.",
                f"exchange the columns: name them with {LAT_LON}.",
            )
        raise DataError(f"{problem}{_count_words(beyond)}.", *(_METRES if abs(lat[row]) > _FAR else _DEGREES))
    wide = np.abs(lon) > 180
    if wide.any():
        row = int(np.argmax(wide))
        raise DataError(
            f"row {row + 1} has {row_value(f'the longitude {lon[row]:g},', 'a longitude')} beyond 180 degrees"
            f"{_count_words(wide)}.",
            *(_METRES if abs(lon[row]) > _FAR else _DEGREES),
        )
    has_place = ~np.isnan(lat) & ~np.isnan(lon) & ((lat != 0) | (lon != 0))
    south = has_place & (lat < -60)
    peopled = (lon[south] > _PEOPLED[0]) & (lon[south] < _PEOPLED[1])
    if not polar and peopled.any() and peopled.sum() >= _POLAR_SHARE * has_place.sum():
        raise DataError(
            f"{peopled.sum() / has_place.sum():.0%} of the latitudes are south of 60 S, in Antarctica, and their "
            "longitudes could be latitudes: the two look swapped.",
            f"exchange the columns: name them with {LAT_LON}",
            f"where Antarctica is meant, pass {argument('polar', True)}.",
        )


def _times(values: ArrayLike) -> Times:
    try:
        return readonly(np.array(values).astype("datetime64[us]"))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the times cannot be read{row_value(f' ({error})', '')}.",
            "pass times of numpy, or texts such as 2024-03-01T18:30.",
        ) from None


def _users(values: Iterable[Hashable]) -> Objects:
    from ..tables import one_spelling

    names = values.astype(object).tolist() if isinstance(values, np.ndarray) else list(values)
    array = np.empty(len(names), dtype=object)
    try:
        array[:] = one_spelling(names)
    except TypeError:
        raise DataError("one of the users is not a name.", "pass texts or whole numbers.") from None
    return readonly(array)


def _count_words(rows: NDArray[np.bool_]) -> str:
    """Return the number of rows like the first one, in words; "" if it is the only one."""
    count = int(np.count_nonzero(rows))
    return "" if count == 1 else f" ({count:,} such rows)"
