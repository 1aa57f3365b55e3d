"""Arrow columns as times: dates, clocks, texts in many spellings, and numbers since 1970."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._system import pa, pc
from ..core.arrays import Floats
from .iso_times import OFFSET, has_unclear_offsets, iso_texts, trim_blanks
from .values import decoded, is_text, microseconds

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


class TimeColumn(NamedTuple):
    """Times of a column in UTC, NaT where missing; ``bad`` counts values that are no times."""

    values: Times
    bad: int = 0
    fractions: bool = False

    def notes(self, what: str) -> tuple[str, ...]:
        """Return notes on values of ``what`` that are no times, and on numbers that are times of day."""
        numbers = (f"The numbers in {what} are read as fractions of a day.",) if self.fractions else ()
        if not self.bad:
            return numbers
        known = self.bad + int(np.count_nonzero(~np.isnat(self.values)))
        return (*numbers, f"{self.bad:,} of {known:,} times in {what} could not be read and are missing.")

    def without_days_zero(self) -> Self:
        """Return the times without clocks that a spreadsheet wrote without a day, such as 1899-12-30 13:05."""
        days = self.values.astype("datetime64[D]")
        clocks = np.isin(days, _DAYS_ZERO) & (self.values != days)
        values = np.where(clocks, np.datetime64("NaT", "us"), self.values)
        return self._replace(values=values, bad=self.bad + int(np.count_nonzero(clocks)))


def times(column: Any, *, most_bad: float = MOST_BAD) -> TimeColumn | None:
    """Return an Arrow column as UTC times (microseconds), or None if more than ``most_bad`` of it are no times."""
    column = decoded(column)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        known = pc.fill_null(pc.cast(column, pa.float64(), safe=False), float("nan"))  # nanoseconds lose digits
        moments = _since_1970(np.array(known.to_numpy(), dtype=np.float64))
        return None if moments is None else TimeColumn(moments)
    if is_text(column):
        return _parsed(column, most_bad)
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


def _parsed(column: Any, most_bad: float) -> TimeColumn | None:
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
