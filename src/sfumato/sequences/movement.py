"""Movement models: where people are at the ticks of a day, and how they move on from there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Randomizer, units
from ..core.arguments import check_arguments
from ..core.arrays import Floats, Positions, floats, numbers, readonly
from ..core.immutable import Immutable, assign
from ..errors import DataError, InputError, argument
from ..geo import Projection, Visits
from ..rounding import plural
from .likelihoods import ReportLikelihoods

DAY: Final = 1440
"""Minutes of a day."""

_PARTS: Final = 4  # of the time from one slot to the next, each with a kernel of its own
_WINDOW: Final = 90  # minutes before and after a slot from which moves are counted,
_GRID: Final = 15  # at so many minutes from each other
_DAYS: Final = 4.0  # weight of the shrinkage target, in days
_UNIFORM: Final = 0.02  # share of the uniform distribution, so that no move is impossible
_ROUNDS: Final = 60  # of expectation maximization
_MEAN: Final = 0.5  # weight of the mean over slots in it, per day
_POPULATION: Final = 3.0  # weight of other people's marginals in it, in days
_BROAD: Final = 0.1  # share of other people's kernels, for habits that change
_SUM: Final = 1e-9  # what a row's sum may differ from one

Minutes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Movement(Immutable):
    """Places, slots, and the probabilities of positions and moves."""

    places: Floats
    slots: Minutes
    marginals: Floats
    kernels: Floats
    zone: str

    def __init__(
        self, places: ArrayLike, slots: ArrayLike, marginals: ArrayLike, kernels: ArrayLike, zone: str
    ) -> None:
        degrees, minutes = _places(places), _slots(slots)
        shape = len(minutes), len(degrees)
        rows = floats(marginals, "the marginals", shape=shape)
        moves = floats(kernels, "the kernels", shape=(shape[0], None, shape[1], shape[1]))
        for name, array in (("marginals", rows), ("kernels", moves)):
            if (array < 0).any() or not array.size or (np.abs(array.sum(axis=-1) - 1) > _SUM).any():
                raise InputError(
                    f"a row of the {name} is negative somewhere, or does not sum to 1.", "pass probabilities."
                )
        units.time_zone(zone)
        assign(self, places=degrees, slots=minutes, marginals=rows, kernels=moves, zone=zone)

    @property
    def ends(self) -> Minutes:
        """The minute at which the next slot follows each slot, array (T,); after the last one, on the next day."""
        return np.append(self.slots[1:], self.slots[0] + DAY)

    @check_arguments
    def move(self, belief: ArrayLike, slot: int, minute: float) -> Floats:
        """Return the belief (n,) at a minute, from the belief at the slot of a number and the reports up to it.

        Whole steps are those of the kernels from slot to slot. Within a step, kernels lead to equal parts of it,
        and between two of these the belief is interpolated linearly. Raises `InputError` if the minute is before
        the slot, or after the first slot of the next day, or there is no such slot.
        """
        ends, parts = self.ends.tolist(), self.kernels.shape[1]
        masses = floats(belief, "the belief", shape=(len(self.places),))
        if not 0 <= slot < len(ends):
            raise InputError(f"there is no slot {slot}.", f"use 0 to {len(ends) - 1}.")
        if not self.slots[slot] <= minute <= ends[-1]:
            raise InputError(
                f"the minute {minute:g} is not between {self.slots[slot]} and {ends[-1]}.",
                "use minutes after the last report, up to the first slot of the next day.",
            )
        while slot < len(ends) and minute >= ends[slot]:
            masses, slot = masses @ self.kernels[slot, -1], slot + 1
        if slot == len(ends) or minute == self.slots[slot]:
            return masses
        share = (minute - self.slots[slot]) / (ends[slot] - self.slots[slot]) * parts
        part = min(int(share), parts - 1)
        before = masses if part == 0 else masses @ self.kernels[slot, part - 1]
        after = masses @ self.kernels[slot, part]
        return np.asarray(before + (share - part) * (after - before))

    @check_arguments
    def minute(self, time: datetime) -> float:
        """Return the minute of the model's day at an aware time, from the first slot to the one of the next day.

        Raises `InputError` if the time has no zone, because it could be several moments.
        """
        if time.tzinfo is None:
            raise InputError(
                f"the time {time.isoformat(sep=' ')} has no time zone.",
                "pass an aware time, such as datetime.now(UTC).",
            )
        local = time.astimezone(units.time_zone(self.zone))
        minutes = local.hour * 60 + local.minute + (local.second + local.microsecond / 1e6) / 60
        first = int(self.slots[0])
        return first + (minutes - first) % DAY

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} of {plural(len(self.places), 'place')} and {plural(len(self.slots), 'slot')}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class MovementModel(_Movement):
    """A public model of movement: it comes from public data, or from reports, never from protected days.

    A follower with such a model is post-processing, so the promise of a day holds unchanged. What is learned from
    a person's true days is a `PrivateMovementModel`, an unrelated type, which nothing that publishes accepts. The
    constructor takes arrays, and the caller states by it that they do not depend on protected days.

    Args:
        places: Public places, latitudes and longitudes in degrees, array (n, 2), such as ``grid.latlon``.
        slots: Ticks of the day, whole minutes of the local day, array (T,), ascending, within 24 hours of the
            first. Minutes from 1440 on are of the next date.
        marginals: Probability of each place at each slot, array (T, n).
        kernels: Probabilities of moves, array (T, L, n, n): for each slot, to each L-th part of the time to the
            next slot. The last slot is followed by the first one of the next day.
        zone: Time zone of the local day, such as ``"Europe/Paris"``.

    Raises:
        InputError: If an array has another shape or a wrong number, a row does not sum to 1, slots are not
            ascending, or the zone is unknown.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.sequences import MovementModel
        >>> visits = sf.synthetic_city(users=20)
        >>> places = sf.Grid.covering(visits, "2 km").latlon
        >>> MovementModel.of_visits(visits, places, [540, 720, 1080], "Europe/Paris")
        MovementModel of 12 places and 3 slots
    """

    @classmethod
    @check_arguments
    def of_visits(cls, visits_of_others: Visits, places: ArrayLike, slots: ArrayLike, zone: str) -> Self:
        """Return the model of other people's public visits, with users and times.

        **By calling this you state that these are not the days of the person whose reports you follow, and that
        the visits need no protection.** For a person's true days use `PrivateMovementModel.of_days`.

        A person is at the nearest place of their last visit. A day counts if it has a visit, with weight 1. The
        kernel from a slot over a lag counts where people are at times within 90 minutes of the slot, and after the
        lag. It is shrunk, with a weight of 4 days, to r I + (1 - r) marginal, where r is the share of those who
        stayed and the marginal is that of the slot plus the lag. Of kernels and marginals 2 % are uniform. Lags
        are quarters of the time to the next slot. Rows may be in any order; of visits at the same time the last
        one counts, and rows without a time or a user are left out.

        Raises:
            DataError: If visits have no times or users, or no day has a position at a slot.
            InputError: If places, slots or zone are not as `MovementModel` describes.
        """
        if visits_of_others.user is None:
            raise DataError(
                "the visits have no user column, so who moved is not known.",
                f"name it with {argument('read_visits.user', 'column')}.",
            )
        return cls(*_estimate(visits_of_others, _places(places), _slots(slots), zone), zone)

    @classmethod
    @check_arguments
    def of_reports(cls, reports: ArrayLike, mechanism: Randomizer, population: MovementModel) -> MovementModel:
        """Return the model of one person from their past reports, as post-processing: it costs no epsilon.

        Expectation maximization finds the marginals from the reports of past days and other people's marginals,
        which count as 3 days; half of the mean over slots is added to each. A kernel is r I + (1 - r) marginal, r
        from other people's kernels, of which 10 % are mixed in. Use recent days, because habits change. Compare
        both models on later days with `sequence_errors`.

        Args:
            reports: Latitudes and longitudes in degrees at the slots of past days, array (days, T, 2); NaN where a
                tick had no report.
            mechanism: What made each report.
            population: A model of other people, for the same ticks, which has the places.

        Raises:
            InputError: If the reports have another shape, all are NaN, or one is impossible.

        Source:
            Dempster, Laird and Rubin, Journal of the Royal Statistical Society B 39, 1977.
        """
        array = numbers(reports, "the reports")
        steps, n = population.marginals.shape
        if array.ndim != 3 or array.shape[1:] != (steps, 2):
            raise InputError(
                f"the reports have shape {' x '.join(map(str, array.shape)) or 'of a number'}, but "
                f"any x {steps} x 2 is needed.",
                "pass a latitude and a longitude for each slot of each day.",
            )
        rows = ReportLikelihoods(mechanism, population.places).rows(array.reshape(-1, 2)).reshape(-1, steps, n)
        reported = np.isfinite(array[..., :1])
        if not reported.any():
            raise InputError("there is no report.", f"pass days with reports, or use {argument('population')}.")
        marginals = population.marginals
        for _ in range(_ROUNDS):
            joint = rows * marginals
            sums = (reported * joint / joint.sum(axis=2, keepdims=True)).sum(axis=0)
            weights = sums + _MEAN * sums.mean(axis=0) + _POPULATION * population.marginals
            marginals = weights / weights.sum(axis=1, keepdims=True)
        return cls(
            population.places, population.slots, marginals, _mixtures(marginals, population), population.zone
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class PrivateMovementModel(_Movement):
    """A model learned from a person's true days: for their own device, and for attackers in studies.

    It is not a `MovementModel`. An estimate that uses it can show the person's own places, which no promise of
    their reports covers. Keep it, and what it shows, on the device or with a receiver trusted with it. Fields and
    errors are those of `MovementModel`.
    """

    @classmethod
    @check_arguments
    def of_days(cls, visits: Visits, places: ArrayLike, slots: ArrayLike, zone: str) -> Self:
        """Return the model of one person's true visits, with times; see `MovementModel.of_visits`.

        Raises `InputError` if the visits are of several users. Raises `DataError` if they have no times, or no day
        has a position at a slot.
        """
        if len(visits.users()) > 1:
            raise InputError(
                f"the days are of {len(visits.users())} users.", "pass those of one person: visits.of_user(name)."
            )
        return cls(*_estimate(visits, _places(places), _slots(slots), zone), zone)


@check_arguments
def day_positions(visits: Visits, slots: ArrayLike, zone: str) -> Floats:
    """Return the last position by each slot of each day with a visit, degrees, array (days, T, 2).

    Positions are held over from earlier days, as a device does; NaN before a user's first visit. Days are those
    of the zone, by user and date. Slots and errors are those of `MovementModel.of_visits`.
    """
    tracks = _Tracks(visits, zone)
    rows = np.column_stack([tracks.rows_at(int(minute)) for minute in _slots(slots)])
    degrees = np.column_stack([visits.lat, visits.lon])[rows]
    degrees[rows < 0] = np.nan
    return readonly(degrees)


class _Tracks:
    """The visits of each user in the order of time, and the days with a visit."""

    def __init__(self, visits: Visits, zone: str) -> None:
        if visits.time is None or np.isnat(visits.time).all():
            raise DataError(
                "the visits have no times.", f"name their column with {argument('read_visits.time', 'column')}."
            )
        known = ~np.isnat(visits.time)
        if visits.user is not None:
            known &= np.array([name is not None for name in visits.user.tolist()])
        rows = np.flatnonzero(known)
        if not rows.size:
            raise DataError("no visit has both a user and a time.", "check the columns of users and times.")
        minutes = _local_minutes(visits.time[rows], zone)
        codes = np.zeros(len(rows), dtype=np.int64)
        if visits.user is not None:
            numbers = {name: code for code, name in enumerate(dict.fromkeys(visits.user[rows].tolist()))}
            codes = np.array([numbers[name] for name in visits.user[rows].tolist()], dtype=np.int64)
        minutes -= DAY * (int(minutes.min()) // DAY)
        self._span = DAY * (int(minutes.max()) // DAY + 5)  # of one user; lags may lead beyond the last day
        keys = codes * self._span + minutes
        order = np.lexsort((visits.time[rows], keys))  # stable: the later row is the later visit
        self._rows, self._keys = rows[order], keys[order]
        self._days = np.unique((codes * self._span + minutes // DAY * DAY).astype(np.int64))

    def rows_at(self, minute: int) -> Positions:
        """Return the row of the last visit by a minute of each day, array (days,); -1 where there is none yet."""
        times = self._days + minute
        last = np.searchsorted(self._keys, times, side="right") - 1
        same = (last >= 0) & (self._keys[last] // self._span == self._days // self._span)
        return np.where(same, self._rows[last], -1)


def _estimate(visits: Visits, places: Floats, slots: Minutes, zone: str) -> tuple[Floats, Minutes, Floats, Floats]:
    """Return places, slots, marginals (T, n) and kernels (T, parts, n, n)."""
    from scipy.spatial import cKDTree

    tracks, n = _Tracks(visits, zone), len(places)
    plane = Projection(*((places.min(axis=0) + places.max(axis=0)) / 2).tolist())
    points = plane.forward(visits.lat, visits.lon)
    nearest = np.asarray(cKDTree(plane.forward(*places.T)).query(points)[1], dtype=np.intp)
    around = np.arange(-_WINDOW, _WINDOW + 1, _GRID)
    cache: dict[int, Positions] = {}

    def places_at(minute: int) -> Positions:
        if minute not in cache:
            rows = tracks.rows_at(minute)
            cache[minute] = np.where(rows < 0, -1, nearest[rows])
        return cache[minute]

    def marginal(minute: int) -> Floats:
        positions = np.concatenate([places_at(minute + shift) for shift in around.tolist()])
        counts = np.bincount(positions[positions >= 0], minlength=n).astype(np.float64)
        if not counts.any():
            raise DataError(
                f"no day has a position near minute {minute} of the day.",
                "use later slots, or data that begin earlier.",
            )
        return np.asarray((1 - _UNIFORM) * counts / counts.sum() + _UNIFORM / n)

    def kernel(slot: int, lag: int) -> Floats:
        counts = np.zeros(n * n)
        for start in (slot + around).tolist():
            before, after = places_at(start), places_at(start + lag)
            pairs = before[before >= 0] * n + after[before >= 0]
            counts += np.bincount(pairs, minlength=n * n) / len(around)
        moves = counts.reshape(n, n)
        stay = float(np.trace(moves) / moves.sum())
        target = stay * np.eye(n) + (1 - stay) * marginal(slot + lag)
        shrunk = (moves + _DAYS * target) / (moves.sum(axis=1, keepdims=True) + _DAYS)
        return np.asarray((1 - _UNIFORM) * shrunk + _UNIFORM / n)

    marginals = np.array([marginal(slot) for slot in slots.tolist()])
    kernels = np.empty((len(slots), _PARTS, n, n))
    for t, (slot, end) in enumerate(pairwise([*slots.tolist(), int(slots[0]) + DAY])):
        for part in range(_PARTS):
            kernels[t, part] = kernel(slot, round((end - slot) * (part + 1) / _PARTS))
    return places, slots, readonly(marginals), readonly(kernels)


def _mixtures(marginals: Floats, population: MovementModel) -> Floats:
    """Return kernels (T, parts, n, n) that mix r I + (1 - r) marginal with other people's.

    r is such that as many stay as among other people.
    """
    n, parts = len(population.places), population.kernels.shape[1]
    kernels = np.empty_like(population.kernels)
    following = np.roll(np.arange(len(marginals)), -1)
    for t, after in enumerate(following.tolist()):
        for part in range(parts):
            share = (part + 1) / parts
            general, personal = (m[t] + share * (m[after] - m[t]) for m in (population.marginals, marginals))
            stays = float(population.marginals[t] @ np.diagonal(population.kernels[t, part]))
            chance = float(population.marginals[t] @ general)
            stay = max(0.0, (stays - chance) / (1 - chance)) if chance < 1 else 0.0
            kernels[t, part] = stay * np.eye(n) + (1 - stay) * personal
    return (1 - _BROAD) * kernels + _BROAD * population.kernels


def _places(places: ArrayLike) -> Floats:
    degrees = floats(places, "the places", shape=(None, 2))
    if not len(degrees) or (np.abs(degrees) > (90, 180)).any():
        raise InputError(
            "the places are not latitudes and longitudes.", "pass degrees, array (n, 2), such as grid.latlon."
        )
    return degrees


def _slots(slots: ArrayLike) -> Minutes:
    minutes = floats(slots, "the slots", shape=(None,))
    first = minutes[0] if minutes.size else -1.0
    if not 0 <= first < DAY or (minutes % 1).any() or (np.diff(minutes) <= 0).any() or minutes[-1] >= first + DAY:
        raise InputError(
            f"the slots {minutes.tolist()} are not ascending whole minutes of a day.",
            "pass minutes of the local day, such as [540, 720, 1080] for 9:00, 12:00 and 18:00.",
        )
    return readonly(minutes.astype(np.int64))


def _local_minutes(times: NDArray[np.datetime64], zone: str) -> Minutes:
    """Return whole minutes of the local clock since 1970 of times in UTC, array (n,)."""
    place, epoch = units.time_zone(zone), datetime(1970, 1, 1, tzinfo=UTC)
    minutes = times.astype("datetime64[m]").astype(np.int64)
    quarters, where = np.unique(minutes // 15, return_inverse=True)  # clocks change at full quarters
    moments = [(epoch + timedelta(minutes=15 * quarter)).astimezone(place) for quarter in quarters.tolist()]
    offsets = [moment.utcoffset() or timedelta() for moment in moments]
    return np.asarray(
        minutes + np.array([round(offset.total_seconds() / 60) for offset in offsets])[where.ravel()]
    )
