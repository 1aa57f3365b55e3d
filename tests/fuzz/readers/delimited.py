"""Tables of text, tracks of receivers, and lists of labels."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
from pathlib import Path
from random import Random

import sfumato as sf
from sfumato.cli.column_options import column_of
from sfumato.escaping import from_csv_cell
from sfumato.geo import read_visits
from sfumato.tables import Source, read_columns, read_rows, text_stream

from ..mutations import changed_bytes, changed_table
from ..reader import Case, Reader
from .arrow import ANSWERS, BLUR, GRID, check_visits, every

_CSV = "lat,lon,user,time,answer,age\n" + "".join(
    f"{lat:.5f},{lon:.5f},u{k % 3},2024-03-01T18:0{k}:00Z,{'abc'[k % 3]},{k}\n"
    for k, (lat, lon) in enumerate(GRID.latlon)
)
_TSV = _CSV.replace(",", "\t")
_COMMAS = "breite;lat;lon;name\n" + "".join(f"{k};48,85{k};2,35{k};n{k}\n" for k in range(5))
_QUOTED = 'lat,lon,user,"answer"\n48.85,2.35,"a, ""b""",a\n48.851,2.351,"line\nbreak",b\n'
_WKT = "geometry,user\nPOINT (2.35 48.85),a\nPOINT (2.351 48.851),b\n"
_WKB = "geom\n0101000000cdcccccccccc0240cdcccccccc6c4840\n"
_HEADLESS = "17,48.85,2.35\n18,48.86,2.36\n"
_SNAP = "0\t2010-10-19T23:55:27Z\t48.85\t2.35\t22847\n0\t2010-10-18T22:17:43Z\t48.86\t2.36\t420315\n"
_FOURSQUARE = "470\t49bbd6\t4bf58d\tArts\t48.85\t2.35\t-240\tTue Apr 03 18:00:09 +0000 2012\n" * 2
_BLANKS = "lat lon   user\n48.85  2.35 a\n 48.851 2.351 b\n"
_EXCEL = "sep=;\nlat;lon;date;time\n48,85;2,35;2024-03-01;18:30:00\n48,86;2,36;2024-03-01;18:31:00\n"
_TRIPS = "started_at,start_lat,start_lng,end_lat,end_lng,,\n2024-03-01 18:30:00.1234567,48.85,2.35,48.86,2.36,,\n"
_HISTORY = (
    '{"semanticSegments":[{"startTime":"2024-03-01T18:30:00Z","timelinePath":[{"point":"48.85, 2.35"},{"point":'
    '"geo:48.86,2.36","durationMinutesOffsetFromStartTime":"3"}]}],"locations":[{"latitudeE7":488500000,'
    '"longitudeE7":23500000,"timestampMs":"1709317800000"}],"rawSignals":[{"position":{"LatLng":"48, 2"}}]}'
)
_LABELS = ("a\nb\nc\n", "flu\ncold\n\nnone\n", "1\n2\n3\n")
_GPX = (
    '<?xml version="1.0"?><gpx version="1.1"><trk><trkseg><trkpt lat="48.85" lon="2.35"><time>2024-03-01T18:30:00Z'
    '</time></trkpt><trkpt lat="48.86" lon="2.36"/></trkseg></trk><wpt lat="1" lon="2"/></gpx>'
)
_PLT = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n" + (
    "48.85,2.35,0,492,39744.1,2008-10-23,02:53:04\n48.86,2.36,0,492,39744.2,2008-10-23,02:53:10\n"
)
_GEOJSON = (
    '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[2,48]}}]}'
)


class TextTables(Reader):
    """CSV, TSV and the like, and published collections of check-ins; also compressed; and lists of labels."""

    seeds = (
        *(_CSV, _TSV, _COMMAS, _QUOTED, _WKT, _WKB, _HEADLESS, _SNAP, _FOURSQUARE, _GEOJSON),
        *(_BLANKS, _EXCEL, _TRIPS, _HISTORY),
    )

    def case(self, rng: Random) -> Case:
        text = rng.choice(self.seeds)
        data = (changed_table(rng, text) if rng.randrange(3) else text).encode("utf-8", "surrogatepass")
        if rng.randrange(3) == 0:
            data = changed_bytes(rng, data, [seed.encode() for seed in self.seeds])
        if rng.randrange(8) == 0:
            data = data.decode("utf-8", "replace").encode(
                rng.choice(("latin-1", "utf-16", "utf-8-sig")), "replace"
            )
        if rng.randrange(8) == 0:
            data = gzip.compress(data)
            data = changed_bytes(rng, data) if rng.randrange(2) else data
        name = rng.choice(("t.csv", "t.csv", "t.txt", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow"))
        listed = changed_table(rng, rng.choice(_LABELS)).encode("utf-8", "surrogatepass")
        return {name: data, "labels": changed_bytes(rng, listed) if rng.randrange(2) else listed}

    def read(self, folder: Path) -> None:
        path = next(folder.glob("t.*"))
        every(
            lambda: check_visits(read_visits(path)),
            lambda: _same_cells(path),
            lambda: _released(folder, path),
            lambda: read_rows(path),
            lambda: read_columns(path, ()),
            lambda: _listed(folder / "labels"),
            lambda: _column(path),
        )


class Tracks(Reader):
    """GPX and GeoLife."""

    def case(self, rng: Random) -> Case:
        name, text = rng.choice((("t.gpx", _GPX), ("t.plt", _PLT)))
        if rng.randrange(3):
            pieces = text.split("<") if name == "t.gpx" else text.splitlines()
            place = rng.randrange(len(pieces))
            kind = rng.randrange(4)
            if kind == 0:
                pieces *= rng.choice((2, 30))
            elif kind == 1:
                pieces.insert(place, rng.choice(pieces))
            elif kind == 2:
                pieces[place] = rng.choice(
                    (
                        '!DOCTYPE a [<!ENTITY b "c">]>',
                        "time>9999-99-99",
                        "time>2016-12-31T23:59:60Z",
                        "trkpt>",
                        "x:gpx>",
                        "0,0",
                        "gpx/>",
                    )
                )
            else:
                del pieces[place]
            text = ("<" if name == "t.gpx" else "\n").join(pieces)
        data = text.encode(rng.choice(("utf-8", "utf-8", "utf-16")))
        name = name if rng.randrange(4) else name.upper()
        return {name: changed_bytes(rng, data) if rng.randrange(2) else data}

    def read(self, folder: Path) -> None:
        path = next(folder.glob("[tT].*"))
        every(
            lambda: check_visits(read_visits(path)),
            lambda: check_visits(read_visits(folder)),
            lambda: sf.release(BLUR, path, folder / "out.csv", outside="drop", again=True),
        )


def _listed(path: Path) -> None:
    space = column_of(None, "x", str(path), None).space
    lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    assert list(space.labels) == [line for line in lines if line]
    assert len(set(space.labels)) == len(space.labels) >= 2


def _column(path: Path) -> None:
    with contextlib.redirect_stderr(io.StringIO()):  # a warning that labels are read from the data
        space = column_of(path, "answer", None, None).space
    assert len(set(space.labels)) == len(space.labels) >= 2
    assert all(isinstance(label, str) for label in space.labels)


def _released(folder: Path, path: Path) -> None:
    every(
        lambda: sf.release(BLUR, path, folder / "out.csv", keep=["user"], outside="drop", again=True),
        lambda: sf.release(ANSWERS, path, folder / "a.csv", column="answer", outside="drop", again=True),
    )


def _same_cells(path: Path) -> None:
    """Python's own reader of such tables finds the same cells, where it is one of commas in UTF-8."""
    source = Source.of(path)
    if source.suffix in (".parquet", ".arrow"):
        return
    stream = text_stream(source)
    rows = [
        row
        for batch in stream.batches(stream.schema.names)
        for row in zip(*batch.to_pydict().values(), strict=True)
    ]
    try:
        text = source.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        return
    strange = any(letter in text for letter in "\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029")
    if stream.headless or stream.comma or strange:
        return
    plain = text.replace('""', "").count('"') == 0
    one = len(stream.schema.names) == 1 and not text.startswith("\n")  # then a blank line is an empty value
    read = csv.reader(io.StringIO(text.lstrip("\n"), newline=""))
    found = [tuple(row) or ("",) for row in read if row or one]
    if plain:
        assert [list(map(str, row)) for row in found[1:]] == [list(row) for row in rows]
        assert [from_csv_cell(name) for name in found[0]] == stream.schema.names
