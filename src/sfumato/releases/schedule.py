"""Schedules of releases: one row for each user and tick, with the last position before it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final

import numpy as np

from .._system import pa
from ..core.immutable import CompactRepr, assign
from ..errors import DataError, InputError, argument
from ..geo import IN_DEGREES, Visits
from ..ledgers import Blur, Day
from ..rounding import plural
from ..tables import TableStream, frame_stream, name_text

COLUMNS: Final = {"lat": "lat", "lon": "lon", "user": "user", "time": "time", "keep": ("user", "time")}
"""The options of a release that name the columns of a schedule's rows."""

_ROWS: Final = 1 << 20  # of a batch
_MOST_DAYS: Final = 3660


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Schedule(CompactRepr):
    """The ticks of a release of tracks: every user has a row for every tick, with or without fixes.

    The position of a tick is that of the user's last fix at or before it, also of an earlier day; before the first
    one it is ``start``. Of fixes with one time the last row counts. No other fact about the fixes reaches the
    table. Raises `InputError` if the dates are none, the point is not on the Earth, or a user is named twice.

    Args:
        day: The ticks of each day and their epsilon.
        dates: The first and the last date, such as ``("2026-01-01", "2026-01-31")``; or one date.
        start: A fixed public point, latitude and longitude in degrees.
        users: The users who have rows. By default those of the source, so the table shows who they are.
    """

    day: Day
    first: date
    last: date
    start: tuple[float, float]
    users: tuple[str, ...] | None

    def __init__(
        self,
        day: Day,
        dates: str | Sequence[str],
        start: tuple[float, float],
        users: Sequence[str] | None = None,
    ) -> None:
        ends = [dates] if isinstance(dates, str) else list(dates)
        try:
            days = [date.fromisoformat(text) for text in ends]
        except (TypeError, ValueError):
            days = []
        if len(days) not in (1, 2) or not 0 <= (days[-1] - days[0]).days < _MOST_DAYS:
            raise InputError(
                f"{argument('dates', dates)} are not a first and a last date.",
                "write ('2026-01-01', '2026-01-31'), at most ten years.",
            )
        if day.adapt is not None:
            raise InputError(
                f"{argument('adapt')} chooses mechanisms in an app, but a release of a table has one.",
                "use a Day without it.",
            )
        lat, lon = start
        if not (abs(lat) <= 90 and abs(lon) <= 360):
            raise InputError(f"{argument('start', start)} is no position.", "pass a public point: (48.86, 2.35).")
        names = None if users is None else tuple(name_text(user) or "" for user in users)
        if names is not None and ("" in names or len(set(names)) < len(names) or not names):
            raise InputError(f"{argument('Schedule.users')} names no user, or one twice.", "name each user once.")
        assign(self, day=day, first=days[0], last=days[-1], start=(float(lat), float(lon)), users=names)

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1

    @property
    def mark(self) -> str:
        """A hash of the ticks, the starting point and the users."""
        lines = [*(tick.key for tick in self._ticks()), repr(self.start), *(self.users or ("all",))]
        return hashlib.blake2b("\x1f".join(lines).encode(), digest_size=20).hexdigest()

    def sentences(self, mechanism: Any) -> tuple[str, ...]:
        """Return the guarantee of a day and of all days, proved; `InputError` if they spend too much."""
        if isinstance(mechanism, Blur):
            privacy = self.day.check(mechanism.mechanism, mechanism.promise)
        else:
            privacy = self.day.check(mechanism)
        dates = str(self.first) if self.days == 1 else f"{self.first} to {self.last}"
        total = privacy.for_days(self.days)
        several = [f"All {self.days:,} days together are at most {total}."] if self.days > 1 else []
        return (f"Schedule: {self.day!r}, {dates}. {privacy.sentence}", *several)

    def stream(self, visits: Visits, name: str) -> TableStream:
        """Return the rows of all users and ticks, by user and time: columns ``user, time, lat, lon``."""
        users, of_user, left_out = self._people(visits, name)
        if visits.time is None or np.isnat(visits.time).any():
            missing = len(visits) if visits.time is None else int(np.isnat(visits.time).sum())
            raise DataError(
                f"{plural(missing, 'fix', 'fixes')} of {name} {'has' if missing == 1 else 'have'} no time.",
                f"name the column of times with {argument('release.time', 'column')}",
                "leave out rows without a time.",
            )
        times = visits.time.astype("datetime64[us]")
        ticks = np.array([tick.time.replace(tzinfo=None) for tick in self._ticks()], "datetime64[us]")
        slots = np.searchsorted(ticks, times)  # the first tick at or after each fix
        order = np.lexsort([times.astype(np.int64), of_user])
        order = order[(of_user[order] >= 0) & (slots[order] < len(ticks))]
        of_user, slots = of_user[order], slots[order]
        last = np.flatnonzero(np.append((np.diff(of_user) != 0) | (np.diff(slots) != 0), [True])[: len(order)])
        of_user, slots, order = of_user[last], slots[last], order[last]
        lat = np.append(visits.lat[order], self.start[0])
        lon = np.append(visits.lon[order], self.start[1])
        names, clocks = pa.array(users, pa.string()), pa.array(ticks, pa.timestamp("us", "UTC"))
        block = max(1, _ROWS // len(ticks))

        def read(columns: Sequence[str]) -> Iterator[Any]:
            for begin in range(0, len(users), block):
                end = min(begin + block, len(users))
                rows = slice(*np.searchsorted(of_user, [begin, end]))
                fixes = np.full((end - begin, len(ticks)), -1, dtype=np.intp)
                fixes[of_user[rows] - begin, slots[rows]] = np.arange(rows.start, rows.stop)
                rank = np.maximum.accumulate(fixes, axis=1).reshape(-1)  # -1 is the starting point
                numbers = np.repeat(np.arange(begin, end), len(ticks))
                batch = {
                    "user": names.take(pa.array(numbers)),
                    "time": clocks.take(pa.array(np.tile(np.arange(len(ticks)), end - begin))),
                    "lat": pa.array(lat[rank]),
                    "lon": pa.array(lon[rank]),
                }
                yield pa.RecordBatch.from_pydict({column: batch[column] for column in columns})

        kinds = {"user": pa.string(), "time": clocks.type, "lat": pa.float64(), "lon": pa.float64()}
        empty = pa.table({key: pa.array([], kind) for key, kind in kinds.items()}, metadata=IN_DEGREES)
        has = "has" if len(users) == 1 else "have"
        notes = [f"{plural(len(users), 'user')} {has} a row for each of {plural(len(ticks), 'tick')}"]
        if self.users is None:
            notes.append("the table shows which users the source has: name them to hide who has fixes")
        if left_out:
            notes.append(f"{plural(left_out, 'fix', 'fixes')} of users who are not named were left out")
        rows, remarks = len(users) * len(ticks), (*visits.notes, *notes)
        return replace(frame_stream(empty, name), rows=rows, read=read, notes=remarks)

    def _ticks(self) -> list[Any]:
        dates = [self.first + timedelta(days=number) for number in range(self.days)]
        return [tick for on in dates for tick in self.day.ticks(on)]

    def _people(self, visits: Visits, name: str) -> tuple[list[str], Any, int]:
        """Return the users who have rows, the number of each fix's user (-1 for none), and fixes of others."""
        if visits.user is None:
            if self.users is None or len(self.users) != 1:
                raise DataError(
                    f"{name} has no column of users.",
                    f"name it with {argument('release.user', 'column')}",
                    f"if all fixes are one person's, name that person alone with {argument('Schedule.users')}.",
                )
            return list(self.users), np.zeros(len(visits), dtype=np.intp), 0
        names = [None if user is None else str(user) for user in visits.user.tolist()]
        encoded = pa.array(names, pa.string()).dictionary_encode()
        if encoded.null_count:
            raise DataError(
                f"{plural(encoded.null_count, 'fix', 'fixes')} of {name} name no user.", "leave such rows out."
            )
        known = [name_text(user) or "" for user in encoded.dictionary.to_pylist()]
        users = sorted(set(known)) if self.users is None else list(self.users)
        number = {user: position for position, user in enumerate(users)}
        numbers = np.array([number.get(user, -1) for user in known], dtype=np.intp)[encoded.indices.to_numpy()]
        return users, numbers, int((numbers < 0).sum())
