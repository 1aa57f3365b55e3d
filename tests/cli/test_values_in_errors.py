"""Errors show where a file is damaged, and no data of its rows unless the caller asks for values."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

MARK = "Kowalski"
NUMBER = "40.1234567"
HEAD = "user,time,lat,lon\n"
GOOD = "u,2026-01-01T10:00:00Z,48.85,2.35\n"
GPX = '<gpx version="1.1"><trk><trkseg><trkpt lat="{}" lon="{}"><time>{}</time></trkpt></trkseg></trk></gpx>'
PLT = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n"


def _parquet(**columns: list[object]) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


def _arrow(**columns: list[object]) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.table(columns)
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _geojson(geometry: object, **properties: object) -> bytes:
    feature = {"type": "Feature", "geometry": geometry, "properties": properties}
    return json.dumps({"type": "FeatureCollection", "features": [feature]}).encode()


TEXTS = {
    "more_values.csv": HEAD + GOOD + f"{MARK},2026,{NUMBER},2.35,5\n",
    "fewer_values.csv": HEAD + GOOD + f"{MARK},{NUMBER}\n",
    "word_as_latitude.csv": HEAD + GOOD + f"u,2026-01-01,{MARK},2.35\n",
    "word_as_longitude.csv": HEAD + GOOD * 3 + f"u,2026-01-01,48.85,{NUMBER}{MARK}\n",
    "beyond_the_pole.csv": HEAD + GOOD + f"{MARK},2026-01-01,440.1234567,2.35\n",
    "beyond_the_date_line.csv": HEAD + GOOD + f"{MARK},2026-01-01,48.85,440.1234567\n",
    "metres.csv": HEAD + f"{MARK},2026-01-01,5401234.567,401234.567\n",
    "swapped.csv": HEAD + f"{MARK},2026-01-01,140.1234567,40.1234567\n" * 2,
    "open_quote.csv": HEAD + GOOD + f'"{MARK},2026-01-01,48.85,2.35\n' + GOOD,
    "no_names.csv": f"{MARK}|48.85 N|2.35 E\n{MARK}|48.86 N|2.35 E\n",
    "row_as_names.csv": f"{MARK}1,2026-01-01T10:00:00Z,N{NUMBER},E2.35\n" + GOOD,
    "coordinates_in_degrees.csv": HEAD + f"{MARK},2026-01-01,40°12'34.567\"N,2°E\n",
    "no_rows_at_a_place.csv": HEAD + f"{MARK},2026-01-01,,\n",
    "wkt_line.csv": f"user;geom\n{MARK};LINESTRING(2.35 {NUMBER}, 2.36 48.86)\n",
    "wkt_broken.csv": f"user;geom\nu;POINT(2.35 48.85)\nu;POINT({NUMBER}, {MARK})\n",
    "long_row.tsv": HEAD.replace(",", "\t") + f"{MARK}\t1\t2\t3\t4\n",
    "json.csv": json.dumps({MARK: [NUMBER]}),
    "broken.geojson": '{"type": "FeatureCollection", "features": [{"type": "Feature", "' + MARK,
    "broken_lines.geojson": '{"type": "Feature", "geometry": null, "properties": {}}\n{' + MARK,
    "root.gpx": f"<{MARK}/>",
    "cut.gpx": GPX.format(NUMBER, "2.35", MARK)[:-30],
    "word.gpx": GPX.format(MARK, "2.35", "2026-01-01T10:00:00Z"),
    "pole.gpx": GPX.format("440.1234567", "2.35", MARK),
    "time.gpx": GPX.format("48.85", "2.35", MARK),
    "entity.gpx": f'<!DOCTYPE gpx [<!ENTITY a "{MARK}">]><gpx>&a;</gpx>',
    "word.plt": PLT + f"{MARK},116.31,0,492,39744.12,2008-10-23,02:53:04\n",
    "short.plt": PLT + f"39.98,116.31,0,492\n{MARK}\n",
    "pole.plt": PLT + "440.1234567,116.31,0,492,39744.12,2008-10-23,02:53:04\n",
    "date.plt": PLT + f"39.98,116.31,0,492,39744.12,{MARK},02:53:04\n",
    "one_time.csv": HEAD + f"u,{MARK},48.85,2.35\n" + GOOD * 3,
    "no_clock.csv": f"date,time,lat,lon\n{MARK},10:00:00,48.85,2.35\n",
    "blank_at_the_end.csv": HEAD + f'"{MARK} ",2026-01-01,48.85,2.35\n',
    "turned_writing.csv": HEAD + f"{MARK}\u202e,2026-01-01,48.85,2.35\n",
    "long_name.csv": HEAD + f"{MARK * 200},2026-01-01,48.85,2.35\n",
    "excel.csv": f"sep=;\nlat;lon\n{MARK};2.35;7\n",
    "blanks.txt": f"lat lon user\n48.85 2.35 {MARK}\n48.85 2.35 {MARK} 3\n",
    "zero.csv": HEAD + f"{MARK}\0,1,2,3\n",
    "ewkt.csv": f'id,geom\n0,"SRID=4301;POINT(139.7512345 {MARK})"\n',
    "records.json": json.dumps({"locations": [{"latitudeE7": MARK, "longitudeE7": 23500000}]}),
    "cut.json": '{"locations": [{"latitudeE7": "' + MARK,
    "samples.csv": f"secret,output\n{MARK},1\n{MARK},2\nb,{MARK}\n",
    "matrix.csv": f"secret,a,b\nx,0.5,{MARK}\ny,0.5,0.5\n",
    "weights.csv": f"secret,observable,weight\nx,a,{MARK}\n",
}
FILES = {
    **{name: text.encode() for name, text in TEXTS.items()},
    "cut.csv.gz": gzip.compress((HEAD + (GOOD + f"{MARK},1,{NUMBER},2\n") * 50).encode())[:-20],
    "not_utf8.csv": (HEAD + GOOD).encode() * 20_000 + f"{MARK}\xff,1,{MARK},2\n".encode("latin-1"),
    "packed.csv.gz": b"\x1f\x8b" + MARK.encode(),
    "half_a_letter.csv": (HEAD + MARK).encode("utf-16")[:-1],
    "utf16.csv": (HEAD + f"{MARK},1,2\n").encode("utf-16"),
    "bytes.parquet": _parquet(user=[MARK.encode()], lat=[MARK.encode()], lon=[MARK.encode()]),
    "cut.parquet": _parquet(user=[MARK], lat=[40.1234567], lon=[2.35])[:-20],
    "word.parquet": _parquet(user=[MARK], lat=[f"{MARK} {NUMBER}"], lon=["2.35"]),
    "pole.parquet": _parquet(user=[MARK], lat=[440.1234567], lon=[2.35]),
    "wkt.parquet": _parquet(user=[MARK], geometry=[f"LINESTRING(2.35 {NUMBER}, 2.36 48.86)"]),
    "lists.parquet": _parquet(user=[MARK], lat=[[40.1234567]], lon=[[2.35]]),
    "word.arrow": _arrow(user=[MARK], lat=[f"{MARK} {NUMBER}"], lon=["2.35"]),
    "cut.arrow": _arrow(user=[MARK], lat=[40.1234567], lon=[2.35])[:-40],
    "line.geojson": _geojson({"type": "Polygon", "coordinates": [[[2.35, 40.1234567]]]}, user=MARK),
    "word.geojson": _geojson({"type": "Point", "coordinates": [MARK, 40.1234567]}, user=MARK),
    "pole.geojson": _geojson({"type": "Point", "coordinates": [2.35, 440.1234567]}, user=MARK),
}
COMMANDS = {
    "design": ("design", "FILE", "-o", "new.sfm"),
    "design-column a column": ("design-column", "FILE", "--column", "user", "-o", "new.sfm"),
    "sweep": ("sweep", "FILE", "--epsilons", "1/km", "-o", "sweep.csv"),
    "release": ("release", "m.sfm", "FILE", "out.csv"),
    "release points": ("release", "m.sfm", "FILE", "out.csv", "--outside", "nearest", "--move-within", "1 m"),
    "release labels": ("release", "m.sfm", "FILE", "out.csv", "--column", "user"),
    "estimate": ("estimate", "m.sfm", "FILE", "--unmarked"),
    "estimate labels": ("estimate", "m.sfm", "FILE", "--unmarked", "--column", "user"),
    "audit samples": ("audit-samples", "FILE", "--columns", "user,lat", "--bins", "4"),
    "audit labels": ("audit-samples", "FILE", "--columns", "secret,output"),
    "design numbers": (
        "design",
        "FILE",
        "--column",
        "lat",
        "--numbers",
        "1..99",
        "--prior",
        "data",
        "-o",
        "n.sfm",
    ),
    "release with a ledger": (
        *("release", "m.sfm", "FILE", "charged.csv", "--ledger", "l.db", "--user-column", "user"),
        *("--outside", "nearest", "--move-within", "9000 km"),
    ),
    "learn": ("learn", "FILE", "--sensitive", "user", "-o", "learned.sfm"),
    "audit a matrix": ("audit", "FILE"),
    "attack": ("attack", "m.sfm", "--visits", "FILE"),
    "report": ("report", "m.sfm", "--visits", "FILE", "-o", "r.html"),
    "compare": ("compare", "FILE", "--epsilons", "1/km"),
    "audit with a prior": ("audit", "m.sfm", "--prior", "FILE"),
}


def _holds_data(text: str) -> bool:
    return any(part in text for part in (MARK, "40.12", "1234567", "401234", "440.1"))


@pytest.mark.parametrize("command", COMMANDS)
def test_no_data_of_rows_is_printed(run, designed, tmp_path: Path, command: str) -> None:
    shown = []
    if "--ledger" in COMMANDS[command]:
        assert run("ledger", "create", "l.db", "--budget", "0.1/km").code == 0
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
        done = run(*(name if part == "FILE" else part for part in COMMANDS[command]))
        assert "Traceback" not in done.err
        if done.code and _holds_data(done.out + done.err):
            shown.append((name, done.out + done.err))
    assert not shown


def test_values_are_shown_on_request(run, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(HEAD + GOOD + f"u,2026-01-01,{MARK},2.35\n")
    without = run("design", "v.csv")
    assert "'lat' of 'v.csv' holds a value in row 2, which is not a number" in without.err
    assert "--show-values" in without.err
    for arguments in (("design", "v.csv", "--show-values"), ("--show-values", "design", "v.csv")):
        shown = run(*arguments)
        assert f"'lat' of 'v.csv' holds '{MARK}' in row 2" in shown.err
        assert shown.code == without.code == 1
