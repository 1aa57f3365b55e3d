"""Visits without personal data: a synthetic city, an evenly covered region, and weighted points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..core.arguments import random_generator
from ..core.arrays import Bools, Floats
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError
from .cells import Grid
from .region import Region
from .visits import Visits
from .world import world

_NAME: Final = "city"  # of its visits, where a file can be named
_AGES: Final = (("18-29", 0.30), ("30-44", 0.32), ("45-64", 0.26), ("65+", 0.12))
_MONDAY: Final = np.datetime64("2024-01-01T00:00:00", "us")
POINTS: Final = 2_500  # of a region, about: more change the third digit of a loss
_SHARES: Final = 20_000  # the parts that the weight of all is divided into, at least
_MOST: Final = 200_000  # weighted points
_NAMES: Final = ("weight", "weights", "population", "pop", "people", "persons", "inhabitants", "count")


def is_city(visits: Path) -> bool:
    """Return whether a path names the built-in city, and no file has this name."""
    return str(visits) == _NAME and not visits.exists()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class City(CompactRepr):
    """Homes, work places and evening quarters of the people of a synthetic city."""

    centre: tuple[float, float]  # latitude and longitude
    metres_per_degree: tuple[float, float]  # north and east
    areas: tuple[tuple[str, float, float, float, float], ...]  # name, east, north, spread, share of people
    work: tuple[tuple[float, float, float, float], ...]  # east, north and spread in metres, share
    evening: tuple[tuple[float, float, float, float], ...]
    on_land: Callable[[Floats], Bools]  # for points (..., 2) in metres east and north
    note: str

    def degrees(self, metres: Floats) -> Floats:
        """Return latitude and longitude of points (..., 2) in metres east and north of the centre."""
        return np.asarray(self.centre + metres[..., ::-1] / np.array(self.metres_per_degree))


def _dry(metres: Floats) -> Bools:
    corners = metres[..., None, :] + _ERROR_M * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    degrees = _SAN_FRANCISCO.degrees(corners)
    return np.asarray(world(*_BOUNDS).on_land(degrees[..., 0], degrees[..., 1]).all(axis=-1))


_ERROR_M: Final = 30.0  # of a phone, east and north
_BOUNDS: Final = (37.70, -122.53, 37.84, -122.35)  # south, west, north, east: the city within its county
_SAN_FRANCISCO: Final = City(
    (37.765, -122.44),
    (110_992.0, 88_113.0),
    (
        ("Mission", 2000.0, -500.0, 550.0, 0.22),
        ("Richmond", -2700.0, 1800.0, 600.0, 0.20),
        ("Inner Sunset", -2300.0, 100.0, 500.0, 0.14),
        ("Haight", -300.0, 500.0, 450.0, 0.12),
        ("North Beach", 2850.0, 3700.0, 400.0, 0.18),
        ("Marina", 250.0, 3950.0, 350.0, 0.14),
    ),
    ((3500.0, 3000.0, 350.0, 0.5), (3400.0, 1450.0, 300.0, 0.3), (-1600.0, -200.0, 250.0, 0.2)),
    (
        (1650.0, -100.0, 150.0, 0.30),
        (2750.0, 3850.0, 120.0, 0.20),
        (1350.0, 1250.0, 120.0, 0.15),
        (200.0, 3900.0, 150.0, 0.15),
        (-2600.0, 1800.0, 150.0, 0.10),
        (300.0, 1700.0, 1200.0, 0.10),  # elsewhere
    ),
    _dry,
    "invented people in San Francisco",
)


def synthetic_city(*, seed: int = 7, users: int = 200, days: int = 28) -> Visits:
    """Return the visits of invented people in San Francisco.

    The coast is real, the people are not: each has a home in one of six neighbourhoods, a work place near one of
    three hubs, and goes out to one of five quarters, or elsewhere, in the evening. All are on land. The same seed
    gives the same visits. The first day is a Monday. Visits are in the order of user and time, with the attributes
    ``area`` (of residence) and ``age_group``.
    """
    return city_visits(_SAN_FRANCISCO, seed, users, days)


def city_visits(city: City, seed: int, users: int, days: int) -> Visits:
    """Return the visits of a synthetic city; see `synthetic_city`. Raises `InputError` without users or days."""
    if users < 1 or days < 1:
        raise InputError(f"a city of {users} users over {days} days has no visits.", "use numbers of at least 1.")
    random = random_generator(seed)  # of uniform numbers only: NumPy does not change their stream
    area = _choice(random.random(users), [share for *_, share in city.areas])
    age = _choice(random.random(users), [share for _, share in _AGES])
    work = _choice(random.random(users), [share for *_, share in city.work])
    homes = _scatter(random.random((users, 2)), np.array([row[1:4] for row in city.areas])[area])
    works = _scatter(random.random((users, 2)), np.array([row[:3] for row in city.work])[work])
    homes = np.where(city.on_land(homes)[:, None], homes, np.array([row[1:3] for row in city.areas])[area])
    works = np.where(city.on_land(works)[:, None], works, np.array([row[:2] for row in city.work])[work])

    # One row per user, day and kind of visit; which of them happen is drawn last.
    shape = (users, days, 3)
    evening = _choice(random.random(users * days), [share for *_, share in city.evening])
    outings = _scatter(random.random((users * days, 2)), np.array([row[:3] for row in city.evening])[evening])
    where = np.empty((*shape, 2))
    where[:, :, 0] = works[:, None, :]
    where[:, :, 1] = outings.reshape(users, days, 2)
    where[:, :, 2] = homes[:, None, :]
    dry = city.on_land(where[:, :, 1])
    where += 2 * _ERROR_M * (random.random(where.shape) - 0.5)

    hour = np.array([8.0, 18.0, 21.5]) + np.array([3.0, 3.0, 2.0]) * random.random(shape)
    weekend = np.arange(days) % 7 >= 5
    eager = 0.2 + 0.8 * random.random(users) ** 2
    often = np.where(weekend[:, None], [0.15, 0.8, 0.7], [0.9, 0.4, 0.7])
    happens = random.random(shape) < eager[:, None, None] * often
    happens[:, 0, 2] = True  # everyone is seen at least once
    happens[:, :, 1] &= dry

    person, day, kind = np.nonzero(happens)
    seconds = np.floor(3600 * hour[person, day, kind]).astype(np.int64)
    moment = _MONDAY + (day * 86_400 + seconds) * np.timedelta64(1, "s")
    lat, lon = np.round(city.degrees(where[person, day, kind]), 6).T
    return Visits(
        lat,
        lon,
        user=np.array([f"u{number:03}" for number in range(users)], dtype=object)[person],
        time=moment,
        attributes={
            "area": np.array([row[0] for row in city.areas], dtype=object)[area[person]],
            "age_group": np.array([row[0] for row in _AGES], dtype=object)[age[person]],
        },
        notes=(f"These visits are synthetic: {city.note}, made from the seed {seed}.",),
    )


def _choice(uniform: Floats, shares: list[float]) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.minimum(np.searchsorted(np.cumsum(shares), uniform, side="right"), len(shares) - 1)


def _scatter(uniform: Floats, around: Floats) -> Floats:
    """Return normal points from uniform numbers (n, 2), around centres (n, 3: east, north, spread)."""
    radius = around[:, 2] * np.sqrt(-2 * np.log1p(-uniform[:, 0]))
    angle = 2 * np.pi * uniform[:, 1]
    return np.asarray(around[:, :2] + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))


def spread_evenly(region: Region, shape: tuple[int, int] = (1, 1)) -> Visits:
    """Return about 2,500 points, spread evenly over a region, as many in each cell of a grid of ``shape``."""
    wide, high = (
        size * max(1, round(points / size)) for size, points in zip(shape, region.shape_of(POINTS), strict=True)
    )
    degrees = Grid.covering(region, shape=(wide, high)).latlon
    return Visits(degrees[:, 0], degrees[:, 1], polar=True)


def repeat_by_weight(points: Visits, source: str) -> Visits:
    """Return points repeated in proportion to their weights, the column ``weight`` or ``population``.

    The total weight is divided into at least 20,000 parts, so a share is off by at most about one part. A point of
    positive weight is there at least once. ``source`` names the points in messages. Raises `DataError` if there is
    not exactly one such column, a weight is not a number of at least 0, or all are zero.
    """
    names = [name for name in points.attributes if name.strip().lower() in _NAMES]
    if len(names) != 1:
        columns = ", ".join(map(repr, list(points.attributes)[:10])) or "none"
        raise DataError(
            f"{source} has {len(names)} columns of weights; its other columns: {columns}.",
            f"name one of them {_NAMES[0]!r}.",
        )
    weights = _numbers(points.attributes[names[0]], names[0], source)
    if len(weights) > _MOST:
        raise DataError(f"{source} has {len(weights):,} points, more than {_MOST:,}.", "put neighbours together.")
    parts = max(_SHARES, 2 * len(weights))
    quotas = weights / weights.max()
    quotas *= parts / quotas.sum()
    times = np.maximum(np.floor(quotas), quotas > 0).astype(np.int64)
    missing = max(0, parts - int(times.sum()))
    times[np.argsort(times - quotas, kind="stable")[:missing]] += 1
    where = np.repeat(np.arange(len(weights)), times)
    return Visits(points.lat[where], points.lon[where], polar=True)


def _numbers(column: Any, name: str, source: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        weights = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the column {name!r} of {source} holds no numbers.", "name another 'weight'.") from None
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise DataError(
            f"{int(wrong.sum()):,} of {len(weights):,} weights in the column {name!r} of {source} are missing, "
            "negative or infinite.",
            "use numbers of at least 0; 0 leaves a point out.",
        )
    if not weights.any():
        raise DataError(f"all weights in the column {name!r} of {source} are zero.", "use positive weights.")
    return weights
