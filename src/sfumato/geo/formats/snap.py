"""Check-ins of Gowalla and Brightkite, as the SNAP collection publishes them."""

from __future__ import annotations

import re
from typing import Final

from .columns import Roles
from .delimited import table
from .rows import Rows
from .source import Source
from .table import rows_of

_COLUMNS: Final = ("user", "time", "lat", "lon", "location")
_LINE: Final = re.compile(r"[^\t]+\t(\d{4}-\d\d-\d\dT[\d:]+Z)?\t[-+\d.]*\t[-+\d.]*\t[^\t]*")


def matches(line: str) -> bool:
    """Tell whether a line is user, time, latitude, longitude, location, between tabs."""
    return _LINE.fullmatch(line) is not None


def read(source: Source) -> Rows:
    """Read lines of user, UTC time, latitude, longitude and location, without a header.

    Source:
        Cho, Myers, Leskovec, KDD 2011; https://snap.stanford.edu/data/loc-gowalla.html.
    """
    content = table(source, delimiter="\t", names=_COLUMNS, columns=_COLUMNS, text=("location",), quotes=False)
    return rows_of(content, Roles("lat", "lon", None, "user", "time", time_named=True), str(source))
