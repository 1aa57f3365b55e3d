"""Time texts of many spellings as texts of ISO 8601."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .._system import pa, pc
from .values import decode_dictionary, is_text

OFFSET: Final = r"[+-](?:(?:0\d|1[0-3])(?::?[0-5]\d)?|14(?::?00)?)"
"""An offset from UTC; none is larger than 14 hours."""
CLOCK: Final = (
    r"(?P<hour>\d{1,2})(?P<rest>:\d\d(?::\d\d(?:[.,]\d+)?)?)?\s*(?P<half>[AaPp]\.? ?[Mm]\.?)?\s*"
    rf"(?P<zone>Z|{OFFSET})?"
)
"""A time of day, with or without AM, PM and a zone."""
_DAYS: Final = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])  # at most, of each month; none of 0
_NO_HOUR: Final = 99
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
    *("november", "december"),
)
_BY_NAME: Final = {
    name: f"{number:02d}"
    for number, month in enumerate(_MONTHS, start=1)
    for name in (month, month[:3], month[:4] if month == "september" else month)
}
_WEEKDAY: Final = r"^(?:(?i:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? +)?"
_MONTH: Final = r"(?P<month>[A-Za-z]{3,9})\.?"
_MONTH_DATE: Final = (
    rf"{_WEEKDAY}(?P<day>\d{{1,2}})[ -]{_MONTH},?[ -](?P<year>\d{{4}})(?:,? at|,)?(?P<time> .*)?$",
    rf"{_WEEKDAY}{_MONTH} +(?P<day>\d{{1,2}}),? (?P<year>\d{{4}})(?:,? at|,)?(?P<time> .*)?$",
    rf"{_WEEKDAY}{_MONTH} +(?P<day>\d{{1,2}})(?P<time> \d\d:\d\d:\d\d(?: ?(?:Z|[+-]\d{{4}}))?) (?P<year>\d{{4}})$",
)
"""Dates with the English name of the month, as in mails, in spreadsheets and in the records of Twitter."""
_DATE: Final = r"^(?P<first>\d{1,2})(?P<sign>[/.-])(?P<second>\d{1,2})[/.-](?P<year>\d{4})(?P<time>[T,\s].*)?$"
"""A date that begins with the month or the day, with or without a time of day."""
_TIMED: Final = rf"^(?P<date>\d{{4}}-\d\d-\d\d)[Tt,\s]\s*{CLOCK}$"
_PLAIN: Final = rf"^\d{{4}}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|{OFFSET})?)?$"
_UNCLEAR: Final = r"[T ]\d\d[+-]|:\d\d(?:[.,]\d+)?[+-](?:1[5-9]|[2-9]\d|14:?(?:0[1-9]|[1-5]\d))"
_WORDS: Final = r"[A-LN-OQ-SU-Yb-ln-oq-su-z]|[A-Za-z]{3}"
"""Letters of words, as opposed to those of clocks and zones."""
_SPELLINGS: Final = (
    (r"(?i)\s*\bUhr$", ""),
    (r"(GMT[+-]\d{4}) \([^()]*\)$", r"\1"),  # the name of a zone, as in JavaScript
    (r"(Z|[+-]\d\d:\d\d)\[[\w/+-]+\]$", r"\1"),  # likewise, as in Java
    (r"(?i)\s*\b(?:UTC|GMT)([+-])(\d)$", r"\10\2:00"),
    (r"(?i)\s*\b(?:UTC|GMT)\s*([+-]\d\d(?::?\d\d)?)$", r"\1"),
    (r"(?i)(\d|[AP]\.?M\.?)\s*(?:UTC|GMT|Z)$", r"\1Z"),
    (r"\s(?:UTC|GMT) (\d{4})$", r" Z \1"),
)
_PADDED: Final = (
    (r"^(\d{4}[-/.:])(\d[-/.:])", r"\10\2"),
    (r"^(\d{4}[-/.:]\d\d[-/.:])(\d)($|\D)", r"\10\2\3"),
    (r"^(\d{4})[-/.:](\d\d)[-/.:](\d\d)", r"\1-\2-\3"),
)
"""Dates that begin with the year: ``2024/1/3``, and ``2024:01:03`` of photographs."""


def has_unclear_offsets(column: Any) -> bool:
    """Return whether Arrow would read an unclear offset in a text: 13-05 can be five past one."""
    return bool(pc.any(pc.match_substring_regex(column, _UNCLEAR)).as_py())


def trim_blanks(column: Any) -> Any:
    """Return an Arrow column of texts trimmed, with one kind of blank and minus; empty ones are missing."""
    column = pc.replace_substring_regex(pc.cast(column, pa.string()), r"\p{Zs}+", " ")
    column = pc.utf8_trim_whitespace(pc.replace_substring(column, "\u2212", "-"))
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)


def iso_texts(column: Any) -> Any:
    """Return trimmed times as texts such as ``2024-01-13 13:05:09+02:00``; others stay as they are."""
    column = pc.cast(column, pa.string())
    if pc.any(pc.match_substring_regex(column, _WORDS)).as_py():
        column = shorten_zones(column)
        for spelling in _MONTH_DATE:
            column = _month_as_number(column, spelling)
    column = _year_first(column)
    if not pc.all(pc.match_substring_regex(column, _PLAIN)).as_py():
        for spelling, text in _PADDED:
            column = pc.replace_substring_regex(column, spelling, text)
        parts = pc.extract_regex(column, _TIMED)
        date, rest, zone = (pc.struct_field(parts, name) for name in ("date", "rest", "zone"))
        half = pc.struct_field(parts, "half")
        hour = hours(pc.struct_field(parts, "hour"), half)
        alone = pc.and_(pc.equal(rest, ""), pc.equal(half, ""))
        dashed = pc.and_(alone, pc.match_substring_regex(zone, r"^[+-]"))  # 13-05: minutes, or an offset
        hour = pc.if_else(dashed, str(_NO_HOUR), hour)
        clock = pc.binary_join_element_wise(hour, pc.if_else(pc.equal(rest, ""), ":00", rest), zone, "")
        column = pc.if_else(pc.is_valid(parts), pc.binary_join_element_wise(date, clock, " "), column)
    return pc.replace_substring_regex(column, r"(:\d\d)[.,](\d{1,6})\d*", r"\1.\2")


def shorten_zones(column: Any) -> Any:
    """Return texts without blanks at their ends with zones that are ``Z`` or numbers, such as ``+02:00``."""
    for spelling, text in _SPELLINGS:
        column = pc.replace_substring_regex(column, spelling, text)
    return column


def hours(hour: Any, half: Any) -> Any:
    """Return digits of hours as texts from 00 to 24, or invalid ones; ``half`` is AM, PM or "" for 24 hours."""
    number = pc.cast(hour, pa.int64())
    late = pc.match_substring(half, "p", ignore_case=True)
    of_day = pc.add(pc.if_else(pc.equal(number, 12), 0, number), pc.if_else(late, 12, 0))
    fits = pc.and_(pc.greater(number, 0), pc.less_equal(number, 12))
    number = pc.if_else(pc.equal(half, ""), number, pc.if_else(fits, of_day, _NO_HOUR))
    return pc.utf8_lpad(pc.cast(number, pa.string()), 2, "0")


def ambiguous_dates(column: Any) -> bool:
    """Return whether an Arrow column has dates that can begin with the month or the day, such as 01/02/2024."""
    column = decode_dictionary(column)
    if not is_text(column):
        return False
    parts = pc.extract_regex(trim_blanks(column), _DATE)
    first, second = (_numbers(parts, name) for name in ("first", "second"))
    possible = _possible(first, second) | _possible(second, first)
    return bool(possible.any()) and _order_of(parts) is None


def can_be_day(text: str, day: date) -> bool:
    """Return whether the numbers in a date such as 23-Oct-08 can be a day, in any order; without numbers, True."""
    words = re.findall(r"\d+|[A-Za-z]+", text)
    numbers = Counter(
        int(_BY_NAME.get(word.lower(), word)) for word in words if word.isdigit() or word.lower() in _BY_NAME
    )
    return any(numbers <= Counter([year, day.month, day.day]) for year in (day.year, day.year % 100))


def _month_as_number(column: Any, spelling: str) -> Any:
    """Return texts in which dates with the name of a month begin with the year, and the month is a number."""
    parts = pc.extract_regex(column, spelling)
    if parts.null_count == len(parts):
        return column
    year, day, time, name = (pc.struct_field(parts, field) for field in ("year", "day", "time", "month"))
    place = pc.index_in(pc.utf8_lower(name), value_set=pa.array(list(_BY_NAME)))
    month = pc.take(pa.array(list(_BY_NAME.values())), place)
    date = pc.binary_join_element_wise(year, month, pc.utf8_lpad(day, 2, "0"), "-")
    whole = pc.binary_join_element_wise(date, time, "")
    return pc.coalesce(whole, column)


def _year_first(column: Any) -> Any:
    """Return dates that begin with the month or day as dates that begin with the year, if the order is known."""
    parts = pc.extract_regex(column, _DATE)
    order = _order_of(parts)
    if order is None:
        return column
    year, time = (pc.struct_field(parts, name) for name in ("year", "time"))
    date = pc.binary_join_element_wise(
        year, *(pc.utf8_lpad(pc.struct_field(parts, name), 2, "0") for name in order), "-"
    )
    return pc.if_else(pc.is_valid(parts), pc.binary_join_element_wise(date, time, ""), column)


def _order_of(parts: Any) -> tuple[str, str] | None:
    """Return the fields of month and day in the order of the column's valid dates; None if unknown."""
    first, second = (_numbers(parts, name) for name in ("first", "second"))
    month_first, day_first = _possible(first, second), _possible(second, first)
    by_month, by_day = bool((month_first & ~day_first).any()), bool((day_first & ~month_first).any())
    if by_month:
        return None if by_day else ("first", "second")
    possible = month_first | day_first
    if not possible.any():
        return None
    dots = pc.all(pc.equal(pc.struct_field(parts, "sign"), ".")).as_py()
    return ("second", "first") if by_day or dots or (first == second)[possible].all() else None


def _numbers(parts: Any, name: str) -> NDArray[np.int64]:
    """Return a field of dates as numbers, 0 where there is no date."""
    return np.asarray(pc.fill_null(pc.cast(pc.struct_field(parts, name), pa.int64()), 0), dtype=np.int64)


def _possible(month: NDArray[np.int64], day: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which dates there are, in some year."""
    longest = _DAYS[np.where(month <= 12, month, 0)]
    return (day >= 1) & (day <= longest)
