"""Times of day in their own column, joined with the days of another column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .._system import pa, pc
from ..core.immutable import CompactRepr
from .iso_times import CLOCK, OFFSET, hours, iso_texts, shorten_zones, trim_blanks
from .moments import MOST_BAD, TimeColumn, microseconds_of_days, times
from .values import decoded, is_text

_OF_SPREADSHEETS: Final = ("1899-12-30", "1899-12-31", "1900-01-01", "1904-01-01")
_OF_PROGRAMS: Final = ("0001-01-01", "1970-01-01", "2000-01-01")
"""Days that programs write in front of times that have none."""
_DAY_ZERO: Final = r"^(?:1900-0?1-0?0|0?1[/.-]0?0[/.-]1900|0?0[/.-]0?1[/.-]1900)\b"  # of January 1900, in Excel
_DATED: Final = (
    r"^(?P<day>\d{4}-\d\d-\d\d)(?:[T ](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d*)?)?)(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?$"
)
_MIDNIGHT: Final = rf"^(?P<day>\d{{4}}-\d\d-\d\d)(?:[T ]00:00(?::00(?:\.0*)?)?)?(?P<zone>Z|{OFFSET})?$"
_NO_TIME: Final = "-"
_DAY_US: Final = 86_400_000_000
_NEAR: Final = np.timedelta64(366, "D")
"""Days this near a day zero may contradict it: 2000-01-01 13:05 next to 1999-12-31 is no time of day alone."""
_DOTTED: Final = r"^(?:[01]?\d|2[0-3])[.,][0-5]\d$"


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
        column = decoded(column)
        kind = column.type
        if pa.types.is_time(kind):
            return cls._without_zones(pc.cast(column, pa.string()))
        if pa.types.is_duration(kind):
            return cls._of_microseconds(pc.cast(pc.cast(column, pa.duration("us"), safe=False), pa.int64()))
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return cls._of_fractions(column)
        if not (is_text(column) or pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
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
        others = pc.and_(pc.not_equal(day, ""), pc.not_equal(day, zero or ""))
        if zero in _OF_PROGRAMS and pc.any(others).as_py():
            return None
        if pc.sum(pc.or_(plain, on_zero)).as_py() < MOST_BAD * known:
            return None
        texts = pc.if_else(plain, texts, pc.if_else(on_zero, clock, ""))
        zones = pc.if_else(plain, zone, pc.if_else(on_zero, its_zone, ""))
        return cls(*(pc.if_else(present, each, None) for each in (texts, zones, pc.if_else(on_zero, day, ""))))

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
        days = decoded(days)
        kind = days.type
        if not (
            is_text(days) or any(each(kind) for each in (types.is_date, types.is_timestamp, types.is_integer))
        ):
            return None
        days = pc.replace_substring_regex(trim_blanks(days), r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3")
        days = iso_texts(days)
        parts = pc.extract_regex(days, _MIDNIGHT)
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
        both = [times(pc.if_else(pc.equal(each, ""), None, each), most_bad=1) for each in (days, self.days)]
        if both[0] is None or both[1] is None:
            return np.zeros(len(days), dtype=bool)
        apart = np.abs(both[0].values - both[1].values)
        return (apart > np.timedelta64(0, "D")) & (apart <= _NEAR)


def are_dotted_clocks(column: Any) -> bool:
    """Return whether all numbers of a column can be hours and minutes, such as 0.30, some below 1."""
    column = decoded(column)
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
