"""Published collections of check-ins, as lines without a header: SNAP's and Foursquare's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from ...tables import Layout, Source, TextTable
from .columns import Roles
from .format import Format, Wanted
from .rows import RawVisits
from .table import visits_of

_SNAP_COLUMNS: Final = ("user", "time", "lat", "lon", "location")
_SNAP_LINE: Final = re.compile(r"[^\t]+\t(\d{4}-\d\d-\d\dT[\d:]+Z)?\t[-+\d.]*\t[-+\d.]*\t[^\t]*")
_FOURSQUARE_COLUMNS: Final = (
    *("user", "venue_id", "category_id", "category", "lat", "lon", "utc_offset_min", "time"),
)
_FOURSQUARE_LINE: Final = re.compile(
    r"[^\t]+\t[^\t]*\t[^\t]*\t[^\t]*\t[-+\d.]+\t[-+\d.]+\t-?\d+\t[A-Z][a-z]{2} [A-Z][a-z]{2} .*"
)


def read_snap(source: Source, _: Wanted) -> RawVisits:
    """Read lines of user, UTC time, latitude, longitude and location, between tabs.

    Source:
        Cho, Myers, Leskovec, KDD 2011; https://snap.stanford.edu/data/loc-gowalla.html.
    """
    return _read(source, _SNAP_COLUMNS, ("location",))


def read_foursquare(source: Source, _: Wanted) -> RawVisits:
    """Read lines of user, venue, category (id and name), latitude, longitude, offset in minutes, UTC time.

    Source:
        Yang, Zhang, Zheng, Yu, IEEE Transactions on Systems, Man, and Cybernetics 45(1), 2015.
    """
    return _read(source, _FOURSQUARE_COLUMNS, ("venue_id", "category_id"))


def _read(source: Source, columns: Sequence[str], as_text: Sequence[str]) -> RawVisits:
    table = TextTable(source, Layout("\t"), columns, headless=True, quotes=False)
    roles = Roles("lat", "lon", None, "user", "time", time_named=True)
    return visits_of(table.load(columns, as_text=as_text), roles, str(source))


def _begins_with(line: re.Pattern[str]) -> Callable[[Source], bool]:
    return lambda source: any(line.fullmatch(first) for first in source.first_lines[:1])


SNAP: Final = Format("snap", "the text files of SNAP (Gowalla, Brightkite)", read_snap, _begins_with(_SNAP_LINE))
FOURSQUARE: Final = Format(
    "foursquare", "the text files of Foursquare TSMC2014", read_foursquare, _begins_with(_FOURSQUARE_LINE)
)
