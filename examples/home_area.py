r"""Derive where people live from public files of check-ins: the column home_area that studies of groups compare.

    python examples/home_area.py foursquare dataset_TSMC2014_NYC.txt --areas nyc_boroughs.geojson \
        --outside "outside NYC" --out foursquare_nyc.parquet
    python examples/home_area.py foursquare dataset_TIST2015_Checkins.txt --venues dataset_TIST2015_POIs.txt \
        --areas london.geojson --out foursquare_london.parquet
    python examples/home_area.py gowalla loc-gowalla_totalCheckins.txt.gz --areas nyc_boroughs.geojson \
        --out gowalla_nyc.parquet
    python examples/home_area.py visits visits.parquet --areas nyc_boroughs.geojson --out with_homes.parquet

What it needs: the raw files as they are published (Foursquare: Yang and others, 2014 and 2016; Gowalla: SNAP),
and a GeoJSON of areas whose features have a property ``name``.

What it does: a user's home area is the area that holds most of their check-ins of the category "Home (private)";
``--outside`` names homes in no area; a user without such check-ins has none. Rows at private homes are removed,
and so are rows more than ``--margin`` km outside the box around the areas.
Gowalla and other visits have no categories. There the area that holds most of a user's check-ins between 20 and 8
hours by the sun is taken, of users with at least ``--least`` such check-ins: an estimate, and often wrong.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.errors import DataError, SfumatoError
from sfumato_papers.distribution_privacy import by_day

HOME = "Home (private)"
CHECKINS_2014 = ("user", "venue", "category_id", "category", "lat", "lon", "offset", "time")
CHECKINS_2015 = ("user", "venue", "time", "offset")
VENUES_2015 = ("venue", "lat", "lon", "category", "country")
GOWALLA = ("user", "time", "lat", "lon", "venue")
FOURSQUARE_TIME = "%a %b %d %H:%M:%S +0000 %Y"
GOWALLA_TIME = "%Y-%m-%dT%H:%M:%SZ"
KM_PER_DEGREE = 111.2
TYPES = dict.fromkeys(("user", "venue", "category", "time"), pa.string()) | dict.fromkeys(
    ("lat", "lon"), pa.float64()
)

Areas = dict[str, list[Any]]


def areas_of(path: Path) -> Areas:
    """Return the rings of each area of a GeoJSON, arrays (n, 2) of longitude and latitude."""
    try:
        found: Areas = {}
        for feature in json.loads(path.read_text(encoding="utf-8"))["features"]:
            shape = feature["geometry"]
            polygons = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
            rings = [np.array(ring, dtype=float)[:, :2] for polygon in polygons for ring in polygon]
            found.setdefault(str(feature["properties"]["name"]), []).extend(rings)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(
            f"{path.name} is no GeoJSON of named polygons: {error}.",
            "give features of type Polygon or MultiPolygon, each with a property 'name'.",
        ) from error
    return found


def inside(rings: Sequence[Any], lat: Any, lon: Any) -> Any:
    """Return which points are inside an area, array (n,): within an odd number of its rings, so holes count."""
    found = np.zeros(len(lat), dtype=bool)
    for ring in rings:
        for (west, south), (east, north) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            if south != north:
                at = np.flatnonzero((south > lat) != (north > lat))
                found[at] ^= lon[at] < west + (lat[at] - south) / (north - south) * (east - west)
    return found


def area_at(areas: Areas, lat: Any, lon: Any, outside: str) -> Any:
    """Return the name of the area of each point, array (n,)."""
    found = np.full(len(lat), outside, dtype=object)
    for name, rings in areas.items():
        found[inside(rings, lat, lon)] = name
    return found


def homes(user: Any, area: Any) -> dict[Any, str]:
    """Return the area in which most of each user's rows are; of equals the first by name."""
    counts: dict[Any, Counter[str]] = {}
    for who, where in zip(user.tolist(), area.tolist(), strict=True):
        counts.setdefault(who, Counter())[where] += 1
    return {who: min(own, key=lambda name: (-own[name], name)) for who, own in counts.items()}


def read_lines(path: Path, columns: Sequence[str]) -> pa.Table:
    """Return a file of tab-separated lines without a header, packed or not, as a table."""
    for encoding in ("utf8", "latin1"):
        try:
            return pa.csv.read_csv(
                path,
                read_options=pa.csv.ReadOptions(column_names=list(columns), encoding=encoding),
                parse_options=pa.csv.ParseOptions(delimiter="\t", quote_char=False),
                convert_options=pa.csv.ConvertOptions(
                    column_types=TYPES,
                    strings_can_be_null=False,
                ),
            )
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            problem = error
    raise DataError(
        f"{path.name} cannot be read: {problem}.", f"it needs the columns {', '.join(columns)}, parted by tabs."
    )


def timed(table: pa.Table, layout: str) -> pa.Table:
    """Return a table with its texts of times as times in UTC."""
    times = pc.strptime(table["time"], format=layout, unit="s")
    return table.set_column(table.column_names.index("time"), "time", times.cast(pa.timestamp("s", tz="UTC")))


def foursquare(path: Path, venues: Path | None) -> pa.Table:
    """Return check-ins of Foursquare: of one file, or of a file of check-ins and one of venues."""
    if venues is None:
        found = read_lines(path, CHECKINS_2014)
    else:
        places = read_lines(venues, VENUES_2015)
        found = read_lines(path, CHECKINS_2015).join(places, "venue", join_type="inner")
    return timed(found.select(["user", "time", "lat", "lon", "category"]), FOURSQUARE_TIME)


def gowalla(path: Path) -> pa.Table:
    """Return check-ins of Gowalla."""
    return timed(read_lines(path, GOWALLA).select(["user", "time", "lat", "lon"]), GOWALLA_TIME)


def visited(path: Path) -> pa.Table:
    """Return visits of any file with users and times."""
    visits = sf.read_visits(path)
    if visits.user is None or visits.time is None:
        raise DataError(
            f"{path.name} has no users or no times.", "both are needed to find where people are at night."
        )
    columns = {"user": visits.user.tolist(), "time": visits.time, "lat": visits.lat, "lon": visits.lon}
    others = {name: column for name, column in visits.attributes.items() if name != "home_area"}
    return pa.table(columns | {name: pa.array(column.tolist()) for name, column in others.items()})


def at_home(table: pa.Table, least: int) -> Any:
    """Return which rows say where their user lives, array (n,): at a private home, or at night."""
    if "category" in table.column_names and pc.any(pc.equal(table["category"], HOME)).as_py():
        return np.asarray(pc.equal(table["category"], HOME))
    lat, lon = (table[name].to_numpy() for name in ("lat", "lon"))
    times = table["time"].cast(pa.timestamp("s", tz="UTC")).to_numpy().astype("datetime64[s]")
    night = ~by_day(sf.Visits(lat, lon, time=times))
    user = np.asarray(table["user"].to_pylist(), dtype=object)
    often = Counter(user[night].tolist())
    return night & np.array([often[who] >= least for who in user.tolist()])


def near(areas: Areas, lat: Any, lon: Any, margin: float) -> Any:
    """Return which points are within the box around the areas, widened by a margin in km."""
    corners = np.concatenate([ring for rings in areas.values() for ring in rings])
    (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
    high = margin / KM_PER_DEGREE
    wide = high / np.cos(np.deg2rad((south + north) / 2))
    return (lat >= south - high) & (lat <= north + high) & (lon >= west - wide) & (lon <= east + wide)


def with_home_area(table: pa.Table, areas: Areas, *, outside: str, margin: float, least: int) -> pa.Table:
    """Return the rows near the areas that are at no private home, with the column home_area.

    Args:
        table: All check-ins, with user, time, lat, lon and, where known, category.
        areas: The rings of each area.
        outside: What homes in no area are called.
        margin: How far from the areas rows are kept, km.
        least: How many check-ins at night a user has at least, where there are no categories.
    """
    lat, lon = (table[name].to_numpy() for name in ("lat", "lon"))
    telling = at_home(table, least)
    user = np.asarray(table["user"].to_pylist(), dtype=object)
    known = homes(user[telling], area_at(areas, lat[telling], lon[telling], outside))
    private = (
        np.asarray(pc.equal(table["category"], HOME))
        if "category" in table.column_names
        else np.zeros(len(lat), bool)
    )
    kept = near(areas, lat, lon, margin) & ~private
    if not kept.any():
        raise DataError("no check-in is near the areas.", "give areas of the city that the check-ins are from.")
    column = pa.array([known.get(who) for who in user[kept].tolist()], pa.string())
    return table.filter(pa.array(kept)).append_column("home_area", column)


def main(arguments: Sequence[str] | None = None) -> None:
    """Derive home areas as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", choices=("foursquare", "gowalla", "visits"), help="what the file is")
    parser.add_argument("file", type=Path, help="the raw check-ins")
    parser.add_argument("--venues", type=Path, help="the venues, where check-ins only name them")
    parser.add_argument("--areas", type=Path, required=True, help="a GeoJSON of areas with names")
    parser.add_argument("--outside", default="outside", help="what homes in no area are called [default: outside]")
    parser.add_argument("--margin", type=float, default=5.0, help="km around the areas that are kept [default: 5]")
    parser.add_argument("--least", type=int, default=10, help="check-ins at night that a user needs [default: 10]")
    parser.add_argument("--out", type=Path, required=True, help="the Parquet file to write")
    given = parser.parse_args(arguments)
    readers = {"foursquare": lambda: foursquare(given.file, given.venues), "gowalla": lambda: gowalla(given.file)}
    try:
        table = readers.get(given.source, lambda: visited(given.file))()
        found = with_home_area(
            table, areas_of(given.areas), outside=given.outside, margin=given.margin, least=given.least
        )
    except (SfumatoError, OSError) as error:
        parser.error(str(error))
    pq.write_table(found, given.out)
    people = {row["user"]: row["home_area"] for row in found.select(["user", "home_area"]).to_pylist()}
    counts = Counter(area or "not known" for area in people.values())
    listed = ", ".join(f"{area}: {count}" for area, count in sorted(counts.items()))
    sys.stdout.write(f"Written: {given.out}, {found.num_rows:,} rows of {len(people):,} users ({listed})\n")


if __name__ == "__main__":
    main()
