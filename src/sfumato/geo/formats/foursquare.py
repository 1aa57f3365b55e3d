"""Check-ins of Foursquare in New York and Tokyo (TSMC2014)."""

from __future__ import annotations

import re
from typing import Final

from .columns import Roles
from .delimited import table
from .rows import Rows
from .source import Source
from .table import rows_of

_COLUMNS: Final = ("user", "venue_id", "category_id", "category", "lat", "lon", "utc_offset_min", "time")
_LINE: Final = re.compile(
    r"[^\t]+\t[^\t]*\t[^\t]*\t[^\t]*\t[-+\d.]+\t[-+\d.]+\t-?\d+\t[A-Z][a-z]{2} [A-Z][a-z]{2} .*"
)


def matches(line: str) -> bool:
    """Tell whether a line has the eight columns of TSMC2014, between tabs."""
    return _LINE.fullmatch(line) is not None


def read(source: Source) -> Rows:
    """Read lines of user, venue, category (id and name), latitude, longitude, offset in minutes, UTC time.

    Source:
        Yang, Zhang, Zheng, Yu, IEEE Transactions on Systems, Man, and Cybernetics 45(1), 2015.
    """
    content = table(
        source, delimiter="\t", names=_COLUMNS, columns=_COLUMNS, text=("venue_id", "category_id"), quotes=False
    )
    return rows_of(content, Roles("lat", "lon", None, "user", "time", time_named=True), str(source))
