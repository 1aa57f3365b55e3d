"""Visits without personal data: a synthetic city, an evenly covered region, and weighted points."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from ..core.arguments import random_generator
from ..core.arrays import Floats
from ..errors import DataError, InputError
from .cells import Grid
from .region import Region
from .visits import Visits

_NAME: Final = "city"  # of its visits, where a file can be named

CENTRE: Final = (40.0, -30.0)
"""Latitude and longitude of the middle: the open Atlantic, where no one lives."""

METRES_PER_DEGREE: Final = (111_035.0, 85_394.0)  # north and east at 40 N
HALF_M: Final = (4000.0, 3000.0)  # half the width and half the height of the city

# Name, metres east and north of the middle, spread in metres, share of the people living there.
AREAS: Final = (
    ("Old Town", -300.0, 200.0, 600.0, 0.30),
    ("Harbour", -2300.0, -1100.0, 500.0, 0.18),
    ("Northfield", 900.0, 1700.0, 650.0, 0.22),
    ("Eastgate", 2700.0, 300.0, 600.0, 0.20),
    ("Mill Hill", -2600.0, 1400.0, 550.0, 0.10),
)
# Metres east and north, spread, share: where people work, and where they go in the evening.
_WORK: Final = ((0.0, 0.0, 350.0, 0.5), (2200.0, -900.0, 300.0, 0.3), (-2400.0, -800.0, 250.0, 0.2))
_EVENING: Final = (
    (-200.0, 400.0, 150.0, 0.30),
    (300.0, -300.0, 120.0, 0.20),
    (-2100.0, -1300.0, 120.0, 0.15),
    (1100.0, 1700.0, 150.0, 0.15),
    (2600.0, 500.0, 120.0, 0.10),
    (0.0, 0.0, 2000.0, 0.10),  # elsewhere
)
_AGES: Final = (("18-29", 0.30), ("30-44", 0.32), ("45-64", 0.26), ("65+", 0.12))
BAY: Final = (1400.0, -3000.0, 1500.0)  # a circle of water: metres east and north, radius
_MONDAY: Final = np.datetime64("2024-01-01T00:00:00", "us")
POINTS: Final = 2_500  # of a region, about: more change the third digit of a loss
_SHARES: Final = 20_000  # the parts that the weight of all is divided into, at least
_MOST: Final = 200_000  # weighted points
_NAMES: Final = ("weight", "weights", "population", "pop", "people", "persons", "inhabitants", "count")


def is_city(visits: Path) -> bool:
    """Return whether a path names the built-in city, and no file has this name."""
    return str(visits) == _NAME and not visits.exists()


def synthetic_city(*, seed: int = 7, users: int = 200, days: int = 28) -> Visits:
    """Return the visits of invented people in an invented city of 8 km x 6 km.

    Each person has a home in one of five areas, a work place near one of three hubs, and goes out to one of five
    quarters, or elsewhere, in the evening. On a grid of 500 m the prior is uneven, and some cells are never
    visited (a bay, the outskirts). The city lies in the open Atlantic (region ``"8 km x 6 km around 40,-30"``), so
    that no picture of it is mistaken for a real place. The same seed gives the same visits. The first day is a
    Monday. Visits are in the order of user and time, with the attributes ``area`` (of residence) and
    ``age_group``.
    """
    if users < 1 or days < 1:
        raise InputError(f"a city of {users} users over {days} days has no visits.", "use numbers of at least 1.")
    random = random_generator(seed)  # of uniform numbers only: NumPy does not change their stream
    area = _choice(random.random(users), [share for *_, share in AREAS])
    age = _choice(random.random(users), [share for _, share in _AGES])
    work = _choice(random.random(users), [share for *_, share in _WORK])
    homes = _scattered(random.random((users, 2)), np.array([row[1:4] for row in AREAS])[area])
    works = _scattered(random.random((users, 2)), np.array([row[:3] for row in _WORK])[work])
    homes = np.where(_on_land(homes)[:, None], homes, np.array([row[1:3] for row in AREAS])[area])
    works = np.where(_on_land(works)[:, None], works, np.array([row[:2] for row in _WORK])[work])

    # One row per user, day and kind of visit; which of them happen is drawn last.
    shape = (users, days, 3)
    evening = _choice(random.random(users * days), [share for *_, share in _EVENING])
    outings = _scattered(random.random((users * days, 2)), np.array([row[:3] for row in _EVENING])[evening])
    where = np.empty((*shape, 2))
    where[:, :, 0] = works[:, None, :]
    where[:, :, 1] = outings.reshape(users, days, 2)
    where[:, :, 2] = homes[:, None, :]
    reached = _on_land(where)
    where += 60.0 * (random.random(where.shape) - 0.5)  # the phone's error

    hour = np.array([8.0, 18.0, 21.5]) + np.array([3.0, 3.0, 2.0]) * random.random(shape)
    weekend = np.arange(days) % 7 >= 5
    eager = 0.2 + 0.8 * random.random(users) ** 2
    often = np.where(weekend[:, None], [0.15, 0.8, 0.7], [0.9, 0.4, 0.7])
    happens = random.random(shape) < eager[:, None, None] * often
    happens[:, 0, 2] = True  # everyone is seen at least once
    happens &= reached

    person, day, kind = np.nonzero(happens)
    x, y = where[person, day, kind].T
    seconds = np.floor(3600 * hour[person, day, kind]).astype(np.int64)
    moment = _MONDAY + (day * 86_400 + seconds) * np.timedelta64(1, "s")
    return Visits(
        np.round(CENTRE[0] + y / METRES_PER_DEGREE[0], 6),
        np.round(CENTRE[1] + x / METRES_PER_DEGREE[1], 6),
        user=np.array([f"u{number:03}" for number in range(users)], dtype=object)[person],
        time=moment,
        attributes={
            "area": np.array([row[0] for row in AREAS], dtype=object)[area[person]],
            "age_group": np.array([row[0] for row in _AGES], dtype=object)[age[person]],
        },
        notes=(f"These visits are synthetic: an invented city, made from the seed {seed}.",),
    )


def _choice(uniform: Floats, shares: list[float]) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.minimum(np.searchsorted(np.cumsum(shares), uniform, side="right"), len(shares) - 1)


def _scattered(uniform: Floats, around: Floats) -> Floats:
    """Return normal points from uniform numbers (n, 2), around centres (n, 3: east, north, spread)."""
    radius = around[:, 2] * np.sqrt(-2 * np.log1p(-uniform[:, 0]))
    angle = 2 * np.pi * uniform[:, 1]
    return np.asarray(around[:, :2] + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))


def _on_land(where: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    inside = (np.abs(where) < HALF_M).all(axis=-1)
    bay = np.hypot(where[..., 0] - BAY[0], where[..., 1] - BAY[1]) < BAY[2]
    return inside & ~bay


def spread_evenly(region: Region, shape: tuple[int, int] = (1, 1)) -> Visits:
    """Return about 2,500 points, spread evenly over a region.

    They are the centres of a fine grid, with the same number of points in each cell of a coarser one of ``shape``:
    columns and rows.
    """
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
        seen = ", ".join(map(repr, list(points.attributes)[:10])) or "none"
        raise DataError(
            f"{source} has {len(names)} columns of weights; its other columns: {seen}.",
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
