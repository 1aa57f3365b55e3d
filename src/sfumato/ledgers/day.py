"""Days: public times at which a device reports, and the guarantee of all their reports together."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from ..core import CoordinatePrivacy, MetricPrivacy, Randomizer, units
from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr, Immutable, assign
from ..errors import InputError, UnitError, argument, python
from ..escaping import plain
from ..proofs import Stated, VertexPrivacy, prove
from ..rounding import amount_at_most, factor_at_most, float_above, plural
from .accounts import amount, decimal, encode, less, show, times
from .charges import ReportPrivacy, proved_charge

_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_UNIT: Final = re.compile(r"(?:/|per\s)\s*([A-Za-z]+)\s*$")
_MINUTES: Final = 24 * 60
_DIGITS: Final = 12  # of the epsilon of one report
_TIMES: Final = re.compile(r"\s*(.+?)\s+(?:every\s+(?P<every>.+?)|at\s+(?P<at>[\d:,\s]+))\s*", re.IGNORECASE)


class Tick(NamedTuple):
    """A time of a day at which a report is due, in UTC; ``key`` distinguishes it from all others, of any day."""

    time: datetime
    key: str


class TickReport(NamedTuple):
    """The report of one tick, degrees; ``epsilon`` is its charge, 0 where an earlier report is repeated."""

    time: datetime
    lat: float
    lon: float
    epsilon: Decimal


Adapt = Callable[[Sequence[TickReport]], Randomizer | None]
"""From the reports of a day so far to the mechanism of the next tick; None repeats the last report."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DayPrivacy(CompactRepr):
    """The proved guarantee of all reports of a day, or of several days, per ``unit`` of the distance.

    For any two days on which the positions that the device held at the ticks are at most r apart, all reports
    together are at most `factor` (r) times as likely on one day as on the other. Every sum is exact.

    Attributes:
        epsilon: The sum of the epsilons of all ticks, of all ``days``.
        largest: The largest epsilon of one tick.
        ticks: The number of ticks of a day.
        slack_m: Metres that are added to every distance.
        points: Whether positions are points; otherwise they are the mechanism's secrets, such as cells.

    Source:
        Chatzikokolakis, Andres, Bordenabe and Palamidessi, PETS 2013 (composition); adaptive composition of
        metric privacy, path by path.
    """

    epsilon: Decimal
    largest: Decimal
    ticks: int
    unit: str
    slack_m: float = 0.0
    days: int = 1
    points: bool = True

    @check_arguments
    def factor(self, distance: float | str) -> float:
        """Return the bound for days whose positions are at most this far apart at every tick, rounded up."""
        return self._factor(self.epsilon, distance)

    @check_arguments
    def tick_factor(self, distance: float | str) -> float:
        """Return the bound for days whose positions differ at one tick only, rounded up."""
        return self.stay_factor(1, distance)

    @check_arguments
    def stay_factor(self, ticks: int, distance: float | str) -> float:
        """Return the bound for a stay of so many ticks at one place or another, rounded up."""
        if not 1 <= ticks <= self.ticks * self.days:
            raise InputError(
                f"a stay of {plural(ticks, 'tick')} was given, but there are {self.ticks * self.days}.",
                f"use a number from 1 to {self.ticks * self.days}.",
            )
        return self._factor(min(self.epsilon, times(self.largest, ticks)), distance)

    @check_arguments
    def for_days(self, days: int) -> DayPrivacy:
        """Return the guarantee of so many days, whose epsilons add up."""
        if days < 1:
            raise InputError(f"{days} days were given.", "use at least 1.")
        return replace(self, epsilon=times(self.epsilon, days), days=self.days * days)

    def _factor(self, epsilon: Decimal, distance: float | str) -> float:
        exponent = self._exponent(epsilon, units.parse_exactly(distance, unit=self.unit, subject="the distance"))
        try:
            return math.nextafter(math.exp(exponent), math.inf) if exponent else 1.0
        except OverflowError:
            return math.inf

    def _exponent(self, epsilon: Decimal, distance: Fraction) -> float:
        if distance < 0:
            raise InputError(f"the distance {float(distance):g} is negative.", "use a length such as '1 km'.")
        slack = Fraction(self.slack_m) * Fraction(repr(units.factor("m", self.unit))) if self.slack_m else 0
        return float_above(Fraction(epsilon) * (distance + slack)) if distance else 0.0

    @property
    def sentence(self) -> str:
        """The guarantee in sentences, and what it does not say."""
        unit, total = plain(self.unit), show(self.epsilon, self.unit)
        one = f"1 {unit}" if unit else "1"
        slack = f"(r + {amount_at_most(self.slack_m, 'm')})" if self.slack_m else "r"
        reports = plural(self.ticks * self.days, "report")
        positions = "positions that the device held at these times"
        if not self.points:
            positions = f"mechanism's values for the {positions}"
        period = "any two days" if self.days == 1 else f"any two periods of {self.days:,} days"
        more = "" if self.days > 1 else " n such days count n times."
        return (
            f"For {period} on which the {positions} are at most r apart, all {reports} together are at most "
            f"e^({total} x {slack}) times as likely from one as from the other: "
            f"{factor_at_most(self._exponent(self.epsilon, Fraction(1)))} times for r = {one}. Without a fix the "
            "position is the last one before, which can be far from the person. The times are public."
            f"{more} This says nothing of one moment alone, nor of a fact, such as where someone lives, that "
            "would change other positions by more than r."
        )

    def __str__(self) -> str:
        return f"{show(self.epsilon, self.unit)} for {plural(self.ticks * self.days, 'report')}"


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Day(Immutable):
    """A public schedule: the times of a day at which a device reports, and the epsilon of all these reports.

    Nothing about the person decides whether or when a report is made. The times (ticks) are clock times of a
    stated zone. A day has the same number of ticks where clocks are changed: a time that is skipped moves to the
    end of the gap, and of a time that occurs twice the first counts.

    With ``adapt`` each tick has a mechanism of its own, chosen from the day's earlier reports alone. It must
    return the same mechanism for the same reports. Where the epsilons would exceed the day's, it is refused.
    Raises `InputError` if the epsilon is not positive, the times are none, unclear or repeated, or the zone is
    unknown.

    Args:
        epsilon: The most that all reports of a day may spend, such as ``"6/km"``.
        at: Clock times, such as ``["09:00", "12:00"]``.
        every: Or the time between two ticks, such as ``"3 h"``, which must divide 24 hours; the first is at
            ``reset``.
        zone: The time zone of these clock times, such as ``"Europe/Paris"``; never that of the person's place.
        reset: The clock time at which a day begins.
        adapt: A function from the reports of the day so far to the mechanism of the next tick, or None for no
            fresh report.

    Example:
        >>> from datetime import date
        >>> import sfumato as sf
        >>> day = sf.Day("6/km", at=["09:00", "12:00", "18:00"], zone="Europe/Paris")
        >>> day.report_epsilon, [f"{tick.time:%H:%M}" for tick in day.ticks(date(2026, 7, 1))]
        ('2/km', ['07:00', '10:00', '16:00'])
    """

    epsilon: Decimal
    unit: str
    at: tuple[time, ...]
    zone: str
    reset: time
    adapt: Adapt | None

    def __init__(
        self,
        epsilon: float | str | Decimal,
        at: Sequence[str | time] | None = None,
        *,
        every: str | None = None,
        zone: str = "UTC",
        reset: str | time = "00:00",
        adapt: Adapt | None = None,
        unit: str | None = None,
    ) -> None:
        start = _clock(reset, "reset")
        if (at is None) == (every is None):
            raise InputError(
                f"{argument('at')} and {argument('every')} were both given, or neither.",
                f"use {argument('at', ['09:00', '18:00'])} or {argument('every', '3 h')}.",
            )
        clocks = _clocks_every(every, start) if every is not None else _clocks_at(at or ())
        if unit is None:
            suffix = _UNIT.search(str(epsilon))
            unit = units.canonical(suffix[1]) if suffix else ""
        total = amount(epsilon, unit, "epsilon", at_most=True)
        units.time_zone(zone)
        ordered = sorted(clocks, key=lambda clock: (clock < start, clock))
        assign(self, epsilon=total, unit=unit, at=tuple(ordered), zone=zone, reset=start, adapt=adapt)

    @classmethod
    def parse(cls, text: str, *, zone: str = "UTC") -> Day:
        """Return the day of a text: ``"6/km every 3 h"`` or ``"6/km at 09:00, 12:00"``."""
        match = _TIMES.fullmatch(text)
        if match is None:
            raise InputError(
                f"{text!r} is no schedule.", "write '6/km every 3 h', or '6/km at 09:00, 12:00, 18:00'."
            )
        at = None if match["at"] is None else [part for part in re.split(r"[,\s]+", match["at"]) if part]
        return cls(match[1], at, every=match["every"], zone=zone)

    def __len__(self) -> int:
        return len(self.at)

    @property
    def report_epsilon(self) -> str:
        """The epsilon of each report where all are equal, rounded down, for the design of the mechanism."""
        share = Fraction(self.epsilon) / len(self)
        places = _DIGITS - (self.epsilon / len(self)).adjusted() - 1
        return show(decimal(Fraction(math.floor(share * 10**places), 10**places)), self.unit)

    @property
    def slots(self) -> tuple[int, ...]:
        """The ticks as minutes of the day's first date, for movement models; from 1440 on of the next date."""
        minutes = [clock.hour * 60 + clock.minute for clock in self.at]
        return tuple(minute + _MINUTES * (minute < minutes[0]) for minute in minutes)

    @check_arguments
    def ticks(self, on: date) -> tuple[Tick, ...]:
        """Return the ticks of the day that begins on a date, in order; as many on every day."""
        moments = [self._moment(on + timedelta(days=clock < self.reset), clock) for clock in self.at]
        ticks = []
        for moment, group in groupby(moments):
            # Times in a gap of the clock are one moment, but as many ticks.
            for number, _ in enumerate(group):
                ticks.append(Tick(moment, f"tick {moment:%Y-%m-%dT%H:%MZ}{f' {number + 1}' if number else ''}"))
        return tuple(ticks)

    @check_arguments
    def due(self, now: datetime) -> tuple[Tick, ...]:
        """Return the ticks of the present day that are due, in order; no position decides about them.

        ``now`` is a time with a zone; `InputError` otherwise.
        """
        ticks = self.ticks(self.begin(now))
        return ticks[: bisect_right([tick.time for tick in ticks], now)]

    @check_arguments
    def begin(self, now: datetime) -> date:
        """Return the date on which the day of a time begins; `InputError` for a time without a zone."""
        if now.tzinfo is None:
            raise InputError(
                f"the time {now.isoformat()} has no zone.",
                python("pass datetime.now(UTC), or a time with a zone."),
            )
        local = now.astimezone(ZoneInfo(self.zone)).date()
        return next(
            day
            for day in (local + timedelta(days=1), local, local - timedelta(days=1))
            if self._moment(day, self.reset) <= now
        )

    def mechanism(self, reports: Sequence[TickReport], usual: Randomizer) -> Randomizer | None:
        """Return the mechanism of the next tick after these reports; None for no fresh report."""
        return usual if self.adapt is None else self.adapt(tuple(reports))

    def check_left(self, charge: Decimal, reports: Sequence[TickReport]) -> None:
        """Refuse a charge for the next report that exceeds what these reports leave of the day (`InputError`)."""
        left = self.epsilon
        for report in reports:
            left = less(left, report.epsilon)
        if charge > left:
            raise InputError(
                f"the next report is of {show(charge, self.unit)}, but {show(left, self.unit)} is left of the "
                f"day's {show(self.epsilon, self.unit)}.",
                f"let {argument('adapt')} return a mechanism of at most what is left, or None.",
            )

    @check_arguments
    def check(self, mechanism: Randomizer, promise: ReportPrivacy | None = None) -> DayPrivacy:
        """Return the guarantee of a day whose reports are all of one mechanism, after a proof of it.

        With `adapt` it is that of any choice: all of the day's epsilon, and the slack of this mechanism, which is
        the largest if all others have at most as much. ``promise`` is the guarantee of one report, by default the
        one that the mechanism states. Raises `InputError` if it does not hold, or all reports would spend more
        than the day's epsilon.
        """
        promise = promise or stated_promise(mechanism)
        unit = promise.unit if isinstance(promise, CoordinatePrivacy) else promise.metric.unit
        if unit != self.unit:
            raise UnitError(
                f"the day counts epsilon {_per(self.unit)}, but the mechanism's guarantee is {_per(unit)}.",
                f"state the day's epsilon as '{encode(self.epsilon)}{units.per_unit(unit)}'.",
            )
        charge = proved_charge(mechanism, promise)
        self.check_left(charge, ())
        total = times(charge, len(self))
        if self.adapt is None and total > self.epsilon:
            raise InputError(
                f"{plural(len(self), 'report')} of {show(charge, self.unit)} spend {show(total, self.unit)}, more "
                f"than the day's {show(self.epsilon, self.unit)}.",
                f"use a mechanism of at most {self.report_epsilon}",
                f"give the day {show(total, self.unit)}.",
            )
        epsilon, largest = (total, charge) if self.adapt is None else (self.epsilon, self.epsilon)
        proof = prove(mechanism, promise)
        slack_m = 0.0 if isinstance(proof, Stated) else proof.bound.slack_m
        points = isinstance(promise, CoordinatePrivacy)
        return DayPrivacy(epsilon, largest, len(self), self.unit, slack_m, points=points)

    def _moment(self, on: date, clock: time) -> datetime:
        """Return a clock time as a time in UTC: at the end of a gap of the clock, or its first occurrence."""
        zone = ZoneInfo(self.zone)
        before = datetime.combine(on, clock, zone).astimezone(UTC)
        if before.astimezone(zone).replace(tzinfo=None) == datetime.combine(on, clock):
            return before
        gap = before.astimezone(zone).utcoffset() or timedelta()
        early = datetime.combine(on, clock, UTC) - gap  # before the gap, by the clock after it
        return _first_after(early, before, zone)

    def __repr__(self) -> str:
        clocks = ", ".join(f"{clock:%H:%M}" for clock in self.at[:8]) + (", ..." if len(self) > 8 else "")
        return f"Day of {show(self.epsilon, self.unit)}, {plural(len(self), 'tick')} at {clocks} {self.zone}"


def stated_promise(mechanism: Randomizer) -> ReportPrivacy:
    """Return the guarantee that is charged for a report of a mechanism: the first that it states."""
    for guarantee in mechanism.stated_guarantees:
        promise = guarantee.promise if isinstance(guarantee, VertexPrivacy) else guarantee
        if isinstance(promise, MetricPrivacy | CoordinatePrivacy):
            return promise
    raise InputError(
        f"{mechanism!r} has no guarantee that could be charged.",
        python("pass promise=, such as sf.CoordinatePrivacy('1/km')."),
    )


def _first_after(early: datetime, late: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment between two times, to a minute, at which the clock of a zone is set forward."""
    offset = early.astimezone(zone).utcoffset()
    while late - early > timedelta(minutes=1):
        middle = early + timedelta(minutes=(late - early) // timedelta(minutes=2))
        if middle.astimezone(zone).utcoffset() == offset:
            early = middle
        else:
            late = middle
    return late


def _per(unit: str) -> str:
    return f"per {plain(unit)}" if unit else "a pure number"


def _clock(value: str | time, name: str) -> time:
    if isinstance(value, time) and value.tzinfo is None and not (value.second or value.microsecond):
        return value
    match = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise InputError(f"{argument(name)} {value!r} is no time of day.", "write hours and minutes: '09:00'.")
    return time(int(match[1]), int(match[2]))


def _clocks_at(at: Sequence[str | time]) -> list[time]:
    if isinstance(at, str) or not at:
        raise InputError(f"{argument('at', at)} is no list of times.", "write ['09:00', '18:00'].")
    clocks = [_clock(value, "at") for value in at]
    twice = next((clock for clock in clocks if clocks.count(clock) > 1), None)
    if twice is not None:
        raise InputError(f"the time {twice:%H:%M} was given twice.", "name each time of the day once.")
    return clocks


def _clocks_every(every: str, start: time) -> list[time]:
    minutes = units.parse_exactly(every, unit="min", subject=argument("every"))
    if minutes < 1 or minutes.denominator != 1 or _MINUTES % minutes.numerator:
        raise InputError(
            f"{argument('every', every)} does not divide 24 hours into whole minutes.",
            "use a time such as '3 h', '90 min' or '1 h'.",
        )
    first = start.hour * 60 + start.minute
    return [time(*divmod((first + minute) % _MINUTES, 60)) for minute in range(0, _MINUTES, minutes.numerator)]
