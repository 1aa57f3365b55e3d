"""Arrow columns as times: dates, clocks, texts in many spellings, and numbers since 1970."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from .values import decoded, is_text, microseconds

Times = NDArray[np.datetime64]

# An integer time counts from 1970; its size shows the unit (1973 to 2286 in each).
_EPOCHS = ((1e8, 1e10, "s"), (1e11, 1e13, "ms"), (1e14, 1e16, "us"), (1e17, 1e19, "ns"))
_DAYS: Final = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])  # at most, of each month; none of 0
_NO_HOUR: Final = 99
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK: Final = (
    r"^(?P<hour>\d{1,2})(?P<rest>:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*(?P<half>[AaPp]\.?[Mm]\.?)?(?P<zone>Z)?$"
)
_MIDNIGHT: Final = r"^(\d{4}-\d\d-\d\d)[T ]24(:00(?::00(?:\.0*)?)?(?:Z|[+-]\d\d:?\d\d)?)$"
_DATE: Final = (
    r"^(?P<first>\d{1,2})(?P<sign>[/.-])(?P<second>\d{1,2})[/.-](?P<year>\d{4})"
    r"(?:[T,\s]\s*(?P<hour>\d{1,2})(?P<rest>:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?)?$"
)
"""A date that begins with the month or the day, with or without a time of day."""
_OF_DAY: Final = ("hour", "rest", "half", "zone")
_BLOCK_ROWS: Final = 4096  # of times that are read one after the other where one of them is none
_MOST_BAD: Final = 0.5  # of the values of a column of times may be no times
_TWITTER = r"^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d [+-]\d{4} \d{4}$"


class TimeColumn(NamedTuple):
    """Times of a column.

    Attributes:
        values: UTC times, NaT where missing.
        bad: How many values are no times; they are missing, too.
    """

    values: Times
    bad: int = 0

    def notes(self, what: str) -> tuple[str, ...]:
        """Return the note of values that are no times, if there are some.

        Args:
            what: The column and the file, such as ``"the column 'time' of 'v.csv'"``.
        """
        if not self.bad:
            return ()
        known = self.bad + int(np.count_nonzero(~np.isnat(self.values)))
        return (f"{self.bad:,} of {known:,} times in {what} could not be read and are missing.",)


def times(column: Any, *, most_bad: float = _MOST_BAD) -> TimeColumn | None:
    """Return a column as UTC times, or None if it holds no times.

    Fractions of a second are cut after six digits. A leap second is the first second of the next day.

    Args:
        column: An Arrow array or chunked array.
        most_bad: The largest share of values that may be no times.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

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
    return TimeColumn(microseconds(column))


def clocks(column: Any) -> Any:
    """Return times of day as texts such as ``02:53:04``, an Arrow column; None if it holds something else.

    Args:
        column: An Arrow array or chunked array.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = decoded(column)
    if pa.types.is_time(column.type):
        return pc.cast(column, pa.string())
    if not is_text(column):
        return None
    column = _trimmed(column)
    parts = pc.extract_regex(column, _CLOCK)
    if parts.null_count > column.null_count:
        return None
    hour, rest, half, zone = (pc.struct_field(parts, name) for name in _OF_DAY)
    return pc.binary_join_element_wise(_hour(hour, half), rest, zone, "")


def _trimmed(column: Any) -> Any:
    """Return texts without blanks at their ends; empty ones are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)


def _parsed(column: Any, most_bad: float) -> TimeColumn | None:
    """Return times of texts, or None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _trimmed(column)
    if column.null_count == len(column):
        return None
    if pc.all(pc.match_substring_regex(column, _TWITTER)).as_py():
        part = {
            "month": pc.utf8_slice_codeunits(column, 4, 7),
            "day": pc.utf8_slice_codeunits(column, 8, 10),
            "clock": pc.utf8_slice_codeunits(column, 11, 19),
            "zone": pc.utf8_slice_codeunits(column, 20, 25),
            "year": pc.utf8_slice_codeunits(column, 26, 30),
        }
        number = pc.index_in(part["month"], value_set=pa.array(_MONTHS, part["month"].type))
        month = pc.utf8_lpad(pc.cast(pc.add(number, 1), pa.string()), 2, "0")
        month = pc.cast(month, part["day"].type)
        date = pc.binary_join_element_wise(part["year"], month, part["day"], "-")
        column = pc.binary_join_element_wise(date, "T", part["clock"], part["zone"], "")
    else:
        column = _year_first(column)
        column = pc.replace_substring_regex(column, r"^(\d{4})[/.](\d\d)[/.](\d\d)", r"\1-\2-\3")
        column = pc.replace_substring_regex(column, r"\s*UTC$", "Z")
        column = pc.replace_substring_regex(column, r"(:\d\d)[.,](\d{1,6})\d*", r"\1.\2")
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
    bad = int(np.count_nonzero(np.isnat(moments))) - column.null_count
    if bad > most_bad * (len(column) - column.null_count) or bad == len(column) - column.null_count:
        return None
    return TimeColumn(moments + seconds.astype("timedelta64[s]"), bad)


def _year_first(column: Any) -> Any:
    """Return texts whose dates begin with the month or the day as texts that begin with the year.

    Which of the two comes first is known where a number above 12 says so in the column, and of dates with dots,
    which begin with the day. Other columns stay as they are.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.extract_regex(column, _DATE)
    dates = pc.is_valid(parts)
    order = _order_of(parts)
    if order is None:
        return column
    texts = {name: pc.cast(pc.struct_field(parts, name), pa.string()) for name in ("year", *order, *_OF_DAY)}
    date = pc.binary_join_element_wise(texts["year"], *(pc.utf8_lpad(texts[each], 2, "0") for each in order), "-")
    timed = pc.not_equal(texts["hour"], "")
    hour = _hour(pc.if_else(timed, texts["hour"], "0"), texts["half"])
    clock = pc.binary_join_element_wise(" ", hour, texts["rest"], texts["zone"], "")
    known = pc.binary_join_element_wise(date, pc.if_else(timed, clock, ""), "")
    return pc.if_else(dates, known, pc.cast(column, pa.string()))


def _hour(hour: Any, half: Any) -> Any:
    """Return hours as texts from 00 to 24, of those on a clock of 24 hours, and of 12 with AM or PM.

    Hours that AM or PM contradicts, such as 13 AM and 0 PM, become one that no clock has.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    number = pc.cast(hour, pa.int64())
    late = pc.match_substring(half, "p", ignore_case=True)
    turned = pc.subtract(number, pc.multiply(pc.divide(number, 12), 12))
    fits = pc.if_else(late, pc.and_(pc.greater(number, 0), pc.less(number, 24)), pc.less_equal(number, 12))
    turned = pc.if_else(fits, pc.add(turned, pc.if_else(late, 12, 0)), _NO_HOUR)
    number = pc.if_else(pc.equal(half, ""), number, turned)
    return pc.utf8_lpad(pc.cast(number, pa.string()), 2, "0")


def _order_of(parts: Any) -> tuple[str, str] | None:
    """Return the fields of month and day of dates, in this order; None where they are unknown.

    Dates that are none in either order do not count.
    """
    import pyarrow.compute as pc

    first, second = (_numbers(parts, name) for name in ("first", "second"))
    month_first, day_first = _possible(first, second), _possible(second, first)
    by_month, by_day = bool((month_first & ~day_first).any()), bool((day_first & ~month_first).any())
    if by_month:
        return None if by_day else ("first", "second")
    possible = (month_first | day_first).any()
    dots = possible and pc.all(pc.equal(pc.struct_field(parts, "sign"), ".")).as_py()
    return ("second", "first") if by_day or dots else None


def _numbers(parts: Any, name: str) -> NDArray[np.int64]:
    """Return a field of dates as numbers, 0 where there is no date."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(pc.cast(pc.struct_field(parts, name), pa.int64()), 0), dtype=np.int64)


def _possible(month: NDArray[np.int64], day: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which dates there are, in some year."""
    longest = _DAYS[np.where(month <= 12, month, 0)]
    return (day >= 1) & (day <= longest)


def ambiguous_dates(column: Any) -> bool:
    """Return whether texts have dates that can begin with the month or with the day, such as 01/02/2024.

    Args:
        column: An Arrow array or chunked array.
    """
    import pyarrow.compute as pc

    column = decoded(column)
    if not is_text(column):
        return False
    parts = pc.extract_regex(_trimmed(column), _DATE)
    first, second = (_numbers(parts, name) for name in ("first", "second"))
    possible = _possible(first, second) | _possible(second, first)
    return bool(possible.any()) and _order_of(parts) is None


def _cast(column: Any) -> Times | None:
    """Return texts as times; None where Arrow finds one that is none, or some have a zone and some have none."""
    import pyarrow as pa
    import pyarrow.compute as pc

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
        moment = datetime.fromisoformat(text or "")
        return np.datetime64(
            moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None), "us"
        )
    return np.datetime64("NaT", "us")


def _since_1970(values: Floats) -> Times | None:
    known = values[~np.isnan(values)]
    for least, most, unit in _EPOCHS:
        if known.size and (known >= least).all() and (known < most).all():
            scale = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[unit]
            micro = np.where(np.isnan(values), 0, np.round(values * scale)).astype(np.int64)
            moments = micro.astype("datetime64[us]")
            moments[np.isnan(values)] = np.datetime64("NaT", "us")
            return moments
    return None
