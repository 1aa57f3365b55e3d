"""Arrow columns as times: dates, clocks, texts in many spellings, numbers since 1970, days joined with clocks."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._system import pa, pc
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from .iso_times import CLOCK, OFFSET, has_unclear_offsets, hours, iso_texts, shorten_zones, trim_blanks
from .values import decode_dictionary, is_text, microseconds

Times = NDArray[np.datetime64]

# An integer time counts from 1970; its size shows the unit (1973 to 2286 in each).
_EPOCHS = ((1e8, 1e10, "s"), (1e11, 1e13, "ms"), (1e14, 1e16, "us"), (1e17, 1e19, "ns"))
_MINUTE: Final = ((0, 59), (0, 23), (1, 31), (1, 12))
_DIGITS: Final = {
    "s": ((*_MINUTE[1:], (1900, 2099)), (*_MINUTE, (20, 99))),
    "ms": ((*_MINUTE, (1900, 2099)), ((0, 59), *_MINUTE, (0, 99))),
}
"""Limits of pairs of digits, from the last on, of 2024011313, 2401131305, 202401131305 and 240113130559."""
_TICKS: Final = ((1.22e17, 1.58e17), (6.27e17, 6.63e17))
"""Numbers of 100 ns of the years 1990 to 2100 that Windows counts from 1601, and .NET from the year 1."""
_MIDNIGHT: Final = r"^(\d{4}-\d\d-\d\d)[T ]24(:00(?::00(?:\.0*)?)?(?:Z|[+-]\d\d:?\d\d)?)$"
_DAYS_ZERO: Final = np.array(["1899-12-30", "1899-12-31"], "datetime64[D]")
_DAY_US: Final = 86_400_000_000
_FIRST_DAY: Final = 25_569  # 1970-01-01, from 1899-12-30
_LAST_DAY: Final = 73_051  # 2100-01-01
_YEAR_1: Final = np.datetime64("0001-01-01", "us")
_YEAR_10000: Final = np.datetime64("10000-01-01", "us")
_MOST_S: Final = 1e12  # more are no days of a calendar
_BLOCK_ROWS: Final = 4096  # of times that are read one after the other where one of them is none
MOST_BAD: Final = 0.5  # of the values of a column of times may be no times
_ISO: Final = re.compile(
    r"(?:\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d-?\d)"
    rf"(?:[^\d+-] ?\d\d(?:Z|:?\d\d(?::?\d\d(?:\.\d+)?)?(?:Z|{OFFSET})?)?)?"
)
"""A date, or a time without a sign between date and clock, which may also be that of a zone.

A fraction needs seconds and an offset minutes before it: 13.05 and 13-05 can be clocks without seconds.
"""

_OF_SPREADSHEETS: Final = ("1899-12-30", "1899-12-31", "1900-01-01", "1904-01-01")
_OF_PROGRAMS: Final = ("0001-01-01", "1970-01-01", "2000-01-01")  # in front of times without a day
_DAY_ZERO: Final = r"^(?:1900-0?1-0?0|0?1[/.-]0?0[/.-]1900|0?0[/.-]0?1[/.-]1900)\b"  # of January 1900, in Excel
_DATED: Final = (
    r"^(?P<day>\d{4}-\d\d-\d\d)(?:[T ](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d*)?)?)(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?$"
)
_AT_MIDNIGHT: Final = rf"^(?P<day>\d{{4}}-\d\d-\d\d)(?:[T ]00:00(?::00(?:\.0*)?)?)?(?P<zone>Z|{OFFSET})?$"
_AFTER_ZEROS_US: Final = 946_857_600_000_000  # 2000-01-03, after all of these days in every zone
_NO_TIME: Final = "-"
# Days this near a day zero may contradict it: 2000-01-01 13:05 next to 1999-12-31 is no time of day alone.
_NEAR: Final = np.timedelta64(366, "D")
_DOTTED: Final = r"^(?:[01]?\d|2[0-3])[.,][0-5]\d$"


class TimeColumn(NamedTuple):
    """Times of a column in UTC, NaT where missing; ``bad`` counts values that are no times."""

    values: Times
    bad: int = 0
    fractions: bool = False

    def notes(self, subject: str) -> tuple[str, ...]:
        """Return notes on values of ``subject`` that are no times, and on numbers that are times of day."""
        numbers = (f"The numbers in {subject} are read as fractions of a day.",) if self.fractions else ()
        if not self.bad:
            return numbers
        known = self.bad + int(np.count_nonzero(~np.isnat(self.values)))
        return (*numbers, f"{self.bad:,} of {known:,} times in {subject} could not be read and are missing.")

    def without_days_zero(self) -> Self:
        """Return the times without clocks that a spreadsheet wrote without a day, such as 1899-12-30 13:05."""
        days = self.values.astype("datetime64[D]")
        clocks = np.isin(days, _DAYS_ZERO) & (self.values != days)
        values = np.where(clocks, np.datetime64("NaT", "us"), self.values)
        return self._replace(values=values, bad=self.bad + int(np.count_nonzero(clocks)))


def times(column: Any, *, most_bad: float = MOST_BAD) -> TimeColumn | None:
    """Return an Arrow column as UTC times (microseconds), or None if more than ``most_bad`` of it are no times."""
    column = decode_dictionary(column)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        known = pc.fill_null(pc.cast(column, pa.float64(), safe=False), float("nan"))  # nanoseconds lose digits
        moments = _since_1970(np.array(known.to_numpy(), dtype=np.float64))
        return None if moments is None else TimeColumn(moments)
    if is_text(column):
        return _parse_times(column, most_bad)
    if pa.types.is_date(column.type):
        column = pc.cast(column, pa.timestamp("us"))
    if not pa.types.is_timestamp(column.type):
        return None
    return _within_calendar(microseconds(column), column.null_count, most_bad)


def day_numbers(column: Any) -> TimeColumn:
    """Return days since 1899-12-30, in texts, as UTC times from 1970 to 2099; 0 stands for no time."""
    column = trim_blanks(column)
    known = pc.match_substring_regex(column, r"^\d{1,9}(\.\d*)?$")
    since = microseconds_of_days(pc.if_else(known, column, None))
    days = since // _DAY_US
    sound = (since >= 0) & (days >= _FIRST_DAY) & (days < _LAST_DAY)
    moments = np.datetime64("1899-12-30", "us") + since.astype("timedelta64[us]")
    moments[~sound] = np.datetime64("NaT", "us")
    absent = np.asarray(pc.fill_null(pc.match_substring_regex(column, r"^0*(\.0*)?$"), True))
    return TimeColumn(moments, int(np.count_nonzero(~sound & ~absent)))


def microseconds_of_days(column: Any) -> NDArray[np.int64]:
    """Return numbers of days, also as texts with a decimal point, as microseconds, array (n,); -1 where missing.

    Their digits are truncated, so they are rounded to a second within their last digit, and else to a millisecond.
    """
    texts = pc.cast(column, pa.string())
    seconds = np.asarray(pc.fill_null(pc.cast(texts, pa.float64()), -1.0), dtype=np.float64) * 86_400
    seconds = np.where(np.abs(seconds) < _MOST_S, seconds, -1.0)
    exponents = np.asarray(pc.fill_null(pc.match_substring(texts, "e", ignore_case=True), False))
    decimals = pc.utf8_length(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""))
    digits = np.where(exponents, 16, np.asarray(pc.fill_null(decimals, 0)))
    whole = np.round(seconds)
    near = np.abs(seconds - whole) <= 43_200 * 10.0**-digits
    micro = np.where(near, whole * 1e6, np.round(seconds * 1e3) * 1e3)
    return np.where(seconds < 0, -1, micro).astype(np.int64)


def _parse_times(column: Any, most_bad: float) -> TimeColumn | None:
    """Return times of texts, or None."""
    column = trim_blanks(column)
    if column.null_count == len(column):
        return None
    moments = _cast(column)
    if moments is not None:
        return _within_calendar(moments, column.null_count, most_bad)
    column = iso_texts(column)
    leap = pc.match_substring_regex(column, r":\d\d:60")
    seconds = np.asarray(pc.fill_null(leap, False)).astype(np.int64)
    if seconds.any():
        column = pc.replace_substring_regex(column, r"(:\d\d):60(\.\d*)?", r"\1:59")
    midnight = np.asarray(pc.fill_null(pc.match_substring_regex(column, _MIDNIGHT), False))
    if midnight.any():  # at the end of a day
        column = pc.replace_substring_regex(column, _MIDNIGHT, r"\1 00\2")
        seconds = seconds + 86_400 * midnight
    moments = _cast(column)
    if moments is None:
        moments = np.concatenate(
            [_singly(column.slice(start, _BLOCK_ROWS)) for start in range(0, len(column), _BLOCK_ROWS)]
        )
    return _within_calendar(moments + seconds.astype("timedelta64[s]"), column.null_count, most_bad)


def _within_calendar(moments: Times, missing: int, most_bad: float) -> TimeColumn | None:
    """Return times with NaT outside the years 1 to 9999; None if more than the share ``most_bad`` are no times."""
    moments = np.where((moments < _YEAR_1) | (moments >= _YEAR_10000), np.datetime64("NaT", "us"), moments)
    known = len(moments) - missing
    bad = int(np.count_nonzero(np.isnat(moments))) - missing
    return None if bad and (bad > most_bad * known or bad == known) else TimeColumn(moments, bad)


def _cast(column: Any) -> Times | None:
    """Return texts as times; None where one is none or unclear, or some have a zone and some have none."""
    if has_unclear_offsets(column):
        return None
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        try:
            return microseconds(pc.cast(column, kind))
        except pa.ArrowInvalid:
            continue
    return None


def _singly(column: Any) -> Times:
    """Return texts as times one after the other, NaT for those that are none."""
    moments = _cast(column)
    return (
        np.array([_moment(text) for text in column.to_pylist()], "datetime64[us]") if moments is None else moments
    )


def _moment(text: str | None) -> np.datetime64:
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text if text and _ISO.fullmatch(text) else "")
        return np.datetime64(
            moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None), "us"
        )
    return np.datetime64("NaT", "us")


def _counts_otherwise(values: Floats, unit: str) -> bool:
    """Return whether numbers can be digits of dates, or Windows or .NET times: few are times since 1970."""
    if unit == "ns":
        return any(((values >= least) & (values < most)).all() for least, most in _TICKS)
    for limits in _DIGITS.get(unit, ()):
        rest, fits = values, values == np.floor(values)
        for least, most in limits[:-1]:
            rest, digits = np.floor(rest / 100), rest % 100
            fits &= (digits >= least) & (digits <= most)
        least, most = limits[-1]
        if (fits & (rest >= least) & (rest <= most)).all():
            return True
    return False


def _since_1970(values: Floats) -> Times | None:
    known = values[~np.isnan(values)]
    for least, most, unit in _EPOCHS:
        if known.size and (known >= least).all() and (known < most).all():
            if _counts_otherwise(known, unit):
                return None
            scale = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[unit]
            micro = np.where(np.isnan(values), 0, np.round(values * scale)).astype(np.int64)
            moments = micro.astype("datetime64[us]")
            moments[np.isnan(values)] = np.datetime64("NaT", "us")
            return moments
    return None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clocks(CompactRepr):
    """Times of day, ``zones`` and program's day zero, ``days``, as Arrow columns of texts, "" for none."""

    texts: Any
    zones: Any
    days: Any
    fractions: bool = False

    @classmethod
    def of(cls, column: Any, *, days: bool = True) -> Clocks | None:
        """Return the times of day of an Arrow column; None if most of its values are something else.

        Texts, times, spans below a day, fractions of a day, and times on a program's day zero (``1899-12-30
        13:05:00``) count. Numbers that can all be hours and minutes, such as 0.30, are no fractions. Unless
        ``days`` are in another column, times on a day zero count only if it is a spreadsheet's.
        """
        column = decode_dictionary(column)
        kind = column.type
        if pa.types.is_time(kind):
            return cls._without_zones(pc.cast(column, pa.string()))
        if pa.types.is_duration(kind):
            return cls._of_microseconds(pc.cast(pc.cast(column, pa.duration("us"), safe=False), pa.int64()))
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return cls._of_fractions(column)
        if not (is_text(column) or pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
            return None
        if not is_text(column):
            moments = pc.cast(pc.cast(column, pa.timestamp("us"), safe=False), pa.int64())
            if pc.greater(pc.min(moments), _AFTER_ZEROS_US).as_py():
                return None
        column = trim_blanks(column)
        known = len(column) - column.null_count
        if not known:
            return None
        if (numbers := _numbers(column)) is not None:
            return None if are_dotted_clocks(column) else cls._of_fractions(numbers)
        parts = pc.extract_regex(shorten_zones(column), f"^{CLOCK}$")
        hour, rest, half, zone = (pc.struct_field(parts, name) for name in ("hour", "rest", "half", "zone"))
        plain = pc.fill_null(pc.or_(pc.not_equal(rest, ""), pc.not_equal(half, "")), False)
        texts = pc.binary_join_element_wise(hours(hour, half), pc.if_else(pc.equal(rest, ""), ":00", rest), "")
        present = pc.is_valid(column)
        if pc.sum(plain).as_py() == known:
            return cls(texts, zone, pc.if_else(present, "", None))
        dates = pc.extract_regex(iso_texts(pc.replace_substring_regex(column, _DAY_ZERO, "1899-12-31")), _DATED)
        day, clock, its_zone = (pc.struct_field(dates, name) for name in ("day", "clock", "zone"))
        zeros = pa.array((*_OF_SPREADSHEETS, *(_OF_PROGRAMS if days else ())))
        zero = pc.min(pc.filter(day, pc.is_in(day, value_set=zeros))).as_py()
        on_zero = pc.equal(day, zero or "")
        if not days or zero in _OF_PROGRAMS:  # dates of 1900, and times that a program did not set, are no clocks
            on_zero = pc.and_(on_zero, pc.invert(pc.match_substring_regex(clock, r"^[0:.]*$")))
        on_zero = pc.fill_null(on_zero, False)
        other_days = pc.and_(pc.not_equal(day, ""), pc.not_equal(day, zero or ""))
        if zero in _OF_PROGRAMS and pc.any(other_days).as_py():
            return None
        if pc.sum(pc.or_(plain, on_zero)).as_py() < MOST_BAD * known:
            return None
        texts = pc.if_else(plain, texts, pc.if_else(on_zero, clock, ""))
        zones = pc.if_else(plain, zone, pc.if_else(on_zero, its_zone, ""))
        return cls(*(pc.if_else(present, part, None) for part in (texts, zones, pc.if_else(on_zero, day, ""))))

    @classmethod
    def _without_zones(cls, texts: Any, *, fractions: bool = False) -> Clocks:
        none = pc.if_else(pc.is_valid(texts), "", None)
        return cls(texts, none, none, fractions)

    @classmethod
    def _of_fractions(cls, column: Any) -> Clocks | None:
        """Return numbers from 0 to 1 as times of day; None if none or few of them are."""
        values = np.asarray(
            pc.fill_null(pc.cast(column, pa.float64(), safe=False), float("nan")), dtype=np.float64
        )
        if not ((values > 0) & (values < 1)).any() or are_dotted_clocks(column):
            return None
        since = microseconds_of_days(column)
        return cls._of_microseconds(pa.array(since, mask=np.isnan(values)), fractions=True)

    @classmethod
    def _of_microseconds(cls, column: Any, *, fractions: bool = False) -> Clocks | None:
        within = pc.and_(pc.greater_equal(column, 0), pc.less(column, _DAY_US))
        if (pc.sum(within).as_py() or 0) < MOST_BAD * (len(column) - column.null_count):
            return None
        texts = pc.cast(pc.cast(pc.if_else(within, column, 0), pa.time64("us")), pa.string())
        return cls._without_zones(pc.if_else(within, texts, ""), fractions=fractions)

    def on(self, days: Any) -> TimeColumn | None:
        """Return the times joined with days, one for each time; None if most results are no times.

        A day may be a time at midnight, or a number such as 20240113; its zone holds too. Times whose zones
        differ, or whose day zero contradicts the day, are none.
        """
        types = pa.types
        days = decode_dictionary(days)
        kind = days.type
        if not (
            is_text(days) or any(test(kind) for test in (types.is_date, types.is_timestamp, types.is_integer))
        ):
            return None
        days = pc.replace_substring_regex(trim_blanks(days), r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3")
        days = iso_texts(days)
        parts = pc.extract_regex(days, _AT_MIDNIGHT)
        day, of_day = (pc.struct_field(parts, name) for name in ("day", "zone"))
        zone, of_clock = _offset(of_day), _offset(self.zones)
        fits = pc.or_(pc.equal(zone, of_clock), pc.or_(pc.equal(zone, ""), pc.equal(of_clock, "")))
        old = pc.and_(pc.not_equal(self.days, ""), pc.is_in(of_clock, value_set=pa.array(["", "+00:00"])))
        sure = pc.or_(pc.equal(self.days, ""), pc.or_(old, pc.equal(zone, of_clock)))
        sure = pc.and_(sure, pa.array(~self._contradict(day)))
        whole = pc.binary_join_element_wise(day, self.texts, " ")
        whole = pc.binary_join_element_wise(whole, pc.if_else(pc.equal(zone, ""), of_clock, zone), "")
        sound = pc.and_(pc.and_(fits, sure), pc.not_equal(self.texts, ""))
        whole = pc.if_else(pc.fill_null(sound, False), whole, _NO_TIME)
        moments = times(pc.if_else(pc.is_valid(self.texts), whole, None))
        return None if moments is None else moments._replace(fractions=self.fractions)

    def _contradict(self, days: Any) -> NDArray[np.bool_]:
        """Return which days, as ISO texts, are near the day zero of their time, but another one."""
        both = [times(pc.if_else(pc.equal(texts, ""), None, texts), most_bad=1) for texts in (days, self.days)]
        if both[0] is None or both[1] is None:
            return np.zeros(len(days), dtype=bool)
        apart = np.abs(both[0].values - both[1].values)
        return (apart > np.timedelta64(0, "D")) & (apart <= _NEAR)


def are_dotted_clocks(column: Any) -> bool:
    """Return whether all numbers of a column can be hours and minutes, such as 0.30, some below 1."""
    column = decode_dictionary(column)
    if pa.types.is_floating(column.type):
        hundredths = np.asarray(pc.fill_null(pc.cast(column, pa.float64()), float("nan"))) * 100
        hundredths = hundredths[np.isfinite(hundredths)]
        fits = (np.abs(hundredths - np.round(hundredths)) < 1e-6) & (np.round(hundredths) % 100 < 60)
        return bool((fits & (hundredths >= 0) & (hundredths < 2400)).all() and (hundredths < 100).any())
    numbers = _numbers(trim_blanks(column)) if is_text(column) else None
    if numbers is None:
        return False
    numbers = pc.filter(numbers, pc.not_equal(numbers, "-1"))
    dotted = pc.all(pc.match_substring_regex(numbers, _DOTTED)).as_py()
    return bool(dotted and pc.any(pc.match_substring_regex(numbers, r"^0?0[.]")).as_py())


def _numbers(column: Any) -> Any:
    """Return texts of numbers with a decimal point, -1 for other texts; None if most of them are no numbers."""
    numbers = pc.match_substring_regex(column, r"^\d*[.,]?\d+(?:[eE][+-]?\d{1,3})?$")
    known = len(column) - column.null_count
    if not known or pc.sum(numbers).as_py() < MOST_BAD * known:
        return None
    return pc.if_else(numbers, pc.replace_substring(column, ",", "."), "-1")


def _offset(zones: Any) -> Any:
    """Return zones as texts such as ``+02:00``."""
    zones = pc.replace_substring_regex(zones, r"^(?:Z|[+-]00(?::?00)?)$", "+00:00")
    zones = pc.replace_substring_regex(zones, r"^([+-]\d\d)$", r"\1:00")
    return pc.replace_substring_regex(zones, r"^([+-]\d\d)(\d\d)$", r"\1:\2")
