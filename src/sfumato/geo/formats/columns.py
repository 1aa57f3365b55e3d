"""Roles of columns, recognised by names in common use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...errors import DataError, argument, python, shell
from ...tables import column_list, no_column
from ..visits import LAT_LON

# Names are compared without case, blanks and signs; the first that occurs wins.
_LAT = (
    *("lat", "latitude", "latdeg", "latitudedeg", "gpslat", "gpslatitude", "decimallatitude", "latwgs84"),
    *("locationlat", "latnum", "latitud", "breitengrad"),
)
_LON = (
    *("lon", "lng", "long", "longitude", "londeg", "longitudedeg", "gpslon", "gpslong", "gpslongitude"),
    *("decimallongitude", "lonwgs84", "locationlong", "longnum", "longitud", "längengrad"),
)
_LAT_END = re.compile(r"(.*?)(?:latitude|lat)")
_LON_END = re.compile(r"(.*?)(?:longitude|long|lon|lng)")
_STARTS = ("start", "startstation", "begin", "origin", "from", "pickup")
_ENDS = ("end", "endstation", "finish", "destination", "to", "dropoff")
_GEOMETRY = ("geometry", "geom", "thegeom", "wkbgeometry", "wkt", "point", "geo")
_USER = (
    *("user", "userid", "uid", "username", "person", "personid", "deviceid", "individual", "individualid"),
    *("subscriberid", "agentid", "individuallocalidentifier", "taglocalidentifier", "dhsid", "dhsclust"),
)
_DATE = ("date", "day", "localdate", "utcdate", "dateutc", "gpsdate")
_CLOCK = ("time", "clock", "timeofday", "localtime", "utctime", "timeutc", "gpstime")
_TIME = (
    *("time", "timestamp", "datetime", "checkintime", "utc", "utctime", "utctimestamp", "timeutc", "datetimeutc"),
    *("timestamputc", "createdat", "recordedat", "startedat", "starttime", "submissiontime", "submissiondate"),
    *("ts", "date"),
)
_DATUM = ("geodeticdatum", "horizontaldatum")
_SYSTEM = ("srid", "epsg", "epsgcode", "crs", "srs", "coordinatereferencesystem")
_NO_PLACE = "if it holds no places but ages, answers or the like, "
_NO_PLACE_HINTS = (
    shell(
        f"{_NO_PLACE}design a mechanism for them: sfumato design-column --column NAME --labels a,b,c (or "
        "--numbers 18..99)"
    ),
    python(
        f"{_NO_PLACE}design a mechanism for them with sfumato.design, on a sfumato.Space or sfumato.NumberBins, "
        "and release with column='name'"
    ),
)


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a table by role: ``lat`` with ``lon``, or ``geometry`` (WKB or WKT); users and times.

    ``date`` has the days where ``time`` may hold clocks alone. ``also`` is another pair of columns with positions,
    such as the end of a trip. ``datum`` states the coordinate system of each row.
    """

    lat: str | None
    lon: str | None
    geometry: str | None
    user: str | None
    time: str | None
    time_named: bool
    date: str | None = None
    also: tuple[str, str] | None = None
    datum: str | None = None

    def notes(self, source: str) -> tuple[str, ...]:
        """Return the note on positions that are not read, if there are some."""
        if self.also is None:
            return ()
        return (
            f"The positions of {source} are {self.lat} and {self.lon}; {' and '.join(self.also)} hold others.",
        )

    @property
    def columns(self) -> list[str]:
        """The columns that have a role."""
        every = (self.lat, self.lon, self.geometry, self.user, self.time, self.date, self.datum)
        return [name for name in every if name is not None]


def find_roles(
    columns: Sequence[str], source: str, by_role: Mapping[str, str | None], *, geometry: str | None = None
) -> Roles:
    """Return the roles of the columns of a table; ``source`` names it in errors.

    ``by_role`` is the column that the caller named for each of ``lat``, ``lon``, ``user`` and ``time``, or None,
    and ``geometry`` the column that the file itself declares to hold points. Raises `DataError` if a named column
    is missing, no column holds places, or two columns could have the same role.
    """
    exact = {role: _exact(columns, name, role, source) for role, name in by_role.items() if name is not None}
    if "lat" in exact and exact["lat"] == exact.get("lon"):
        raise DataError(f"the column {exact['lat']!r} was named for latitudes and longitudes.", f"name {LAT_LON}.")
    rest = [column for column in columns if column not in exact.values()]
    found_user = exact.get("user") or _first(rest, _USER, "user", source)
    found_time = exact.get("time") or _first(rest, _TIME, "time", source)
    found_lat = exact.get("lat") or _first(rest, _LAT, "lat", source)
    found_lon = exact.get("lon") or _first(rest, _LON, "lon", source)
    if geometry is not None:
        geometry = _exact(columns, geometry, "geometry", source)
    found_geometry, also = None, None
    if found_lat is None and found_lon is None and not (geometry or _first(rest, _GEOMETRY, "geometry", source)):
        found_lat, found_lon, also = _pair(rest, source)
    if found_lat is None and found_lon is None:
        found_geometry = geometry or _first(rest, _GEOMETRY, "geometry", source)
    if found_geometry is None:
        # Bare x and y come last: next to a geometry they are often metres.
        found_lat = found_lat or _first(rest, ("y",), "lat", source)
        found_lon = found_lon or _first(rest, ("x",), "lon", source)
        if found_lat is None or found_lon is None:
            missing = " and no ".join(
                word for word, name in (("latitude", found_lat), ("longitude", found_lon)) if name is None
            )
            hints = [f"name them with {LAT_LON}", "rename them to lat and lon"]
            if found_lat is None and found_lon is None:
                hints.extend(_NO_PLACE_HINTS)
            raise DataError(f"{source} has no {missing} column with a known name. {column_list(columns)}", *hints)
    found_time = found_time or _first(rest, _CLOCK, "time", source)
    found_date = None
    if found_time is not None and _bare(found_time) in (*_CLOCK, *_DATE):
        found_date = _first(rest, _DATE, "the day", source)
        clock = _first(rest, _CLOCK, "the time", source)
        if found_date == found_time and by_role.get("time") is None and clock is not None:
            found_time = clock
        found_date = _day_of(found_time, found_date, rest, source)
    return Roles(
        found_lat,
        found_lon,
        found_geometry,
        found_user,
        found_time,
        by_role.get("time") is not None,
        None if found_date == found_time else found_date,
        also,
        _first(rest, (*_DATUM, *_SYSTEM), "the coordinate system", source),
    )


def _day_of(clock: str, day: str | None, columns: Sequence[str], source: str) -> str | None:
    """Return the column of days for local, UTC or device clocks; `DataError` if there is only another kind."""

    def kind(name: str) -> str:
        return re.sub("timeofday|date|time|clock|day", "", _bare(name))

    days = [name for name in columns if _bare(name) in _DATE and kind(name) == kind(clock)]
    if days or day is None or kind(clock) == "" or kind(day) == "":
        return days[0] if days else day
    raise DataError(
        f"{source} has the days of {day!r} and the times of {clock!r}, which are of different kinds.",
        f"write both into one column, and name it: {argument('time', 'column')}.",
    )


def _pair(columns: Sequence[str], source: str) -> tuple[str | None, str | None, tuple[str, str] | None]:
    """Return columns of latitude and longitude whose names end alike; of a trip its start, with its end third."""
    ends = {
        role: {match[1]: name for name in columns if (match := pattern.fullmatch(_bare(name)))}
        for role, pattern in (("lat", _LAT_END), ("lon", _LON_END))
    }
    pairs = {stem: (name, ends["lon"][stem]) for stem, name in ends["lat"].items() if stem in ends["lon"]}
    if not pairs:
        return None, None, None
    start = next((stem for stem in _STARTS if stem in pairs), None)
    if len(pairs) == 2 and start is not None and _ENDS[_STARTS.index(start)] in pairs:
        return *pairs[start], pairs[_ENDS[_STARTS.index(start)]]
    if len(pairs) > 1:
        raise DataError(
            f"{source} has {len(pairs)} pairs of columns that could be positions: "
            f"{'; '.join(' and '.join(pair) for pair in pairs.values())}.",
            f"name one pair with {LAT_LON}.",
        )
    return *next(iter(pairs.values())), None


def _exact(columns: Sequence[str], name: str, role: str, source: str) -> str:
    if name in columns:
        return name
    alike = [column for column in columns if _bare(column) == _bare(name)]
    if len(alike) == 1:
        return alike[0]
    if role != "geometry":
        raise no_column(columns, name, f"read_visits.{role}", source)
    raise DataError(
        f"{source} has no column {name!r}. {column_list(columns)}", f"name one of them with {LAT_LON}."
    )


def _first(columns: Sequence[str], names: Sequence[str], role: str, source: str) -> str | None:
    for name in names:
        alike = [column for column in columns if _bare(column) == name]
        if len(alike) > 1:
            raise DataError(
                f"{source} has {len(alike)} columns that could be {role}: {', '.join(alike)}.",
                f"name one with {LAT_LON if role == 'geometry' else argument(f'read_visits.{role}', 'column')}.",
            )
        if alike:
            return alike[0]
    return None


def _bare(name: str) -> str:
    return re.sub(r"[\s_.\-:/]", "", name).lower()
