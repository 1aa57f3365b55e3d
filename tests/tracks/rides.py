"""Rides on streets around an invented home, and their files as ten programs write them."""

import math
import re
import struct
from itertools import pairwise
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import numpy as np

HOME: Final = (48.8601, 2.3502)
M: Final = 111_195.0
OUT: Final = ((0, 0), (0, 300), (400, 300), (400, 900), (1500, 900), (1500, 3000), (3000, 3000))
LOLLIPOP: Final = (*OUT, (3000, 900), (1500, 900), *OUT[3::-1])
"""Corners in metres east and north of home: out, around a loop, and back by the same streets."""

RING: Final = (*OUT, (3000, -2000), (0, -2000), (0, 0))


def walk(corners, step: float = 8.0) -> np.ndarray:
    """Return latitudes and longitudes of points along streets, one every so many metres."""
    points = [corners[0]]
    for first, last in pairwise(np.array(corners, dtype=float)):
        count = max(1, round(float(np.hypot(*(last - first))) / step))
        points += [first + (last - first) * k / count for k in range(1, count + 1)]
    east, north = np.array(points, dtype=float).T
    return np.column_stack([HOME[0] + north / M, HOME[1] + east / M / math.cos(math.radians(HOME[0]))])


def moments(count: int, step_s: int = 2) -> np.ndarray:
    return np.datetime64("2026-05-01T06:12:40", "us") + np.arange(count) * np.timedelta64(step_s, "s")


SECRETS: Final = (
    *(
        "Ada",
        "Home",
        "Evening",
        "heart",
        "ns3",
        "gpxtpx",
        "hr>",
        "speed",
        "link",
        "desc",
        "cmt",
        "author",
        "keywords",
    ),
    *("StravaGPX", "OsmAnd", "Garmin", "komoot", "number", "extensions", "xsi", "http://www.garmin", "12345"),
)
"""What no output may contain."""

_11: Final = 'xmlns="http://www.topografix.com/GPX/1/1"'
_TPX: Final = 'xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1"'
_XSI: Final = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
_HEAD: Final = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n"

# Before the points, one point, and after them.
DIALECTS: Final = {
    "osmand": (
        f'{_HEAD}<gpx version="1.1" creator="OsmAnd 4.7.10" {_11} xmlns:osmand="https://osmand.net" {_XSI}>\n'
        "<metadata><name>2026-05-01_06-12_Fri</name><time>2026-05-01T06:12:40Z</time></metadata>\n"
        '<wpt lat="48.8601" lon="2.3502"><name>Home</name></wpt><trk><trkseg>',
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}Z</time><hdop>3.8</hdop>'
        "<extensions><osmand:speed>4.2</osmand:speed></extensions></trkpt>",
        "</trkseg></trk><extensions><osmand:show_arrows>false</osmand:show_arrows></extensions></gpx>",
    ),
    "strava": (
        f'{_HEAD}<gpx creator="StravaGPX Android" {_XSI} version="1.1" {_11} {_TPX}>\n'
        "<metadata><time>2026-05-01T06:12:40Z</time></metadata>"
        "<trk><name>Evening Ride</name><type>cycling</type><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}Z</time><extensions><power>12345</power>'
        "<gpxtpx:TrackPointExtension><gpxtpx:hr>121</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>",
        "</trkseg></trk></gpx>",
    ),
    "garmin": (
        f'{_HEAD}<gpx creator="Garmin Connect" version="1.1" {_11} {_XSI}\n'
        ' xmlns:ns3="http://www.garmin.com/xmlschemas/TrackPointExtension/v1"'
        ' xmlns:ns2="http://www.garmin.com/xmlschemas/GpxExtensions/v3">'
        '<metadata><link href="connect.garmin.com"><text>Garmin Connect</text></link>'
        "<time>2026-05-01T06:12:40.000Z</time></metadata>"
        "<trk><name>Home Cycling</name><type>cycling</type><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}.000Z</time><extensions>'
        "<ns3:TrackPointExtension><ns3:atemp>24.0</ns3:atemp><ns3:hr>98</ns3:hr></ns3:TrackPointExtension>"
        "</extensions></trkpt>",
        "</trkseg></trk></gpx>",
    ),
    "opentracks": (
        f'{_HEAD}<gpx version="1.1" creator="OpenTracks" {_11} {_TPX} {_XSI}'
        ' xmlns:opentracks="http://opentracksapp.com/xmlschemas/v1">\n'
        "<trk><name><![CDATA[Ada]]></name><desc><![CDATA[]]></desc><type><![CDATA[biking]]></type>"
        "<extensions><opentracks:trackid>12345</opentracks:trackid></extensions><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}.250Z</time><extensions>'
        "<gpxtpx:TrackPointExtension><gpxtpx:speed>4.1</gpxtpx:speed></gpxtpx:TrackPointExtension>"
        "</extensions></trkpt>",
        "</trkseg></trk></gpx>",
    ),
    "komoot": (
        f'{_HEAD}<gpx version="1.1" creator="https://www.komoot.de" {_11}><metadata><name>Evening at Home</name>'
        '<author><link href="https://www.komoot.de"><text>komoot</text><type>text/html</type></link></author>'
        "</metadata><trk><name>Evening at Home</name><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}.014Z</time></trkpt>',
        "</trkseg></trk></gpx>",
    ),
    "locus": (
        f'{_HEAD}<gpx version="1.1" creator="Locus Map, Android" {_XSI} {_11}'
        ' xmlns:locus="http://www.locusmap.eu"><metadata><desc>File with points/tracks from Locus Map</desc>'
        "<time>2026-05-01T06:12:40.000Z</time></metadata><trk><name>Ada</name><extensions>"
        "<locus:activity>cycling</locus:activity></extensions><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}">\n<ele>{ele}</ele>\n<time>{time}.000Z</time>\n</trkpt>',
        "</trkseg></trk></gpx>",
    ),
    "runkeeper": (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="Runkeeper" {_XSI} {_11} {_TPX}>'
        "<trk><name><![CDATA[Cycling 5/1/26]]></name><time>2026-05-01T06:12:40Z</time><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}Z</time></trkpt>',
        "</trkseg></trk></gpx>",
    ),
    "etrex": (
        f'<?xml version="1.0" encoding="UTF-8" standalone="no" ?><gpx {_11} creator="eTrex"'
        f' version="1.1" {_XSI}'
        ' xmlns:gpxx="http://www.garmin.com/xmlschemas/GpxExtensions/v3"><metadata>'
        '<link href="http://www.garmin.com"><text>Garmin International</text></link>'
        '<bounds maxlat="48.9" maxlon="2.4" minlat="48.8601" minlon="2.3502"/></metadata>'
        '<rte><name>Home</name><rtept lat="48.8601" lon="2.3502"/></rte>'
        "<trk><name>ACTIVE LOG</name><number>7</number>"
        "<extensions><gpxx:TrackExtension><gpxx:DisplayColor>Cyan</gpxx:DisplayColor></gpxx:TrackExtension>"
        "</extensions><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}Z</time></trkpt>',
        "</trkseg></trk></gpx>",
    ),
    "gpslogger": (
        '<?xml version="1.0" encoding="UTF-8" ?><gpx version="1.0" creator="GPSLogger 132" '
        f'{_XSI} xmlns="http://www.topografix.com/GPX/1/0"><time>2026-05-01T06:12:40.000Z</time>'
        '<keywords>Home</keywords><bounds minlat="48.8601" minlon="2.3502" maxlat="48.9" maxlon="2.4"/>'
        "<trk><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}.000Z</time><course>12.5</course>'
        "<speed>4.5</speed><src>gps</src><sat>12</sat></trkpt>",
        "</trkseg></trk></gpx>",
    ),
    "ridewithgps": (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<gpx {_11} {_XSI} version="1.1" creator="http://ridewithgps.com/">'
        '<metadata><name>Home</name><link href="https://ridewithgps.com/trips/12345"><text>Home</text></link>'
        "<time>2026-05-01T06:12:40Z</time></metadata><trk><name>Home</name><trkseg>",
        '<trkpt lat="{lat}" lon="{lon}"><ele>{ele}</ele><time>{time}+00:00</time></trkpt>',
        "</trkseg></trk></gpx>",
    ),
}


FORMS: Final = {"ele": r"-?\d+(\.\d+)?", "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"}


def write_gpx(path: Path, latlon: np.ndarray, dialect: str = "strava") -> Path:
    """Write a ride as a program does, two seconds from point to point."""
    before, point, after = DIALECTS[dialect]
    times = moments(len(latlon))
    lines = [
        point.format(lat=f"{lat:.7f}", lon=f"{lon:.7f}", ele=30 + k % 7, time=str(times[k])[:19])
        for k, (lat, lon) in enumerate(latlon)
    ]
    path.write_text("\n".join([before, *lines, after]), encoding="utf-8")
    return path


def read_back(path: Path) -> list[np.ndarray]:
    """Return the segments of a GPX 1.1 file, after a check of all its elements in their order."""
    root = ElementTree.fromstring(path.read_bytes())
    ns = "{http://www.topografix.com/GPX/1/1}"
    assert (root.tag, root.attrib) == (f"{ns}gpx", {"version": "1.1", "creator": "sfumato"})
    metadata, *tracks = root
    assert [child.tag for child in metadata] == [f"{ns}bounds"]
    assert metadata.tag == f"{ns}metadata"
    segments = []
    for track in tracks:
        assert (track.tag, track.attrib) == (f"{ns}trk", {})
        for segment in track:
            assert (segment.tag, segment.attrib) == (f"{ns}trkseg", {})
            for point in segment:
                assert (point.tag, set(point.attrib)) == (f"{ns}trkpt", {"lat", "lon"})
                tags = [child.tag.removeprefix(ns) for child in point]
                assert tags in (["ele", "time"], ["ele"], ["time"], [])
                for child in point:
                    pattern = (
                        r"-?\d+(\.\d+)?" if "ele" in child.tag else r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
                    )
                    assert re.fullmatch(pattern, child.text or "")
            segments.append(
                np.array([[float(point.attrib["lat"]), float(point.attrib["lon"])] for point in segment])
            )
    corners = {name: float(value) for name, value in metadata[0].attrib.items()}
    every = np.concatenate(segments)
    assert [corners["minlat"], corners["minlon"]] == every.min(axis=0).tolist()
    assert [corners["maxlat"], corners["maxlon"]] == every.max(axis=0).tolist()
    return segments


def write_fit(path: Path, latlon: np.ndarray) -> Path:
    """Write a ride as a FIT file: a file_id, and records of time, position and altitude."""
    definition = b"\x40\x00\x00\x00\x00\x01\x00\x01\x00" + b"\x00\x04"
    definition += b"\x41\x00\x00" + struct.pack("<HB", 20, 4)
    definition += bytes([253, 4, 0x86, 0, 4, 0x85, 1, 4, 0x85, 2, 2, 0x84])
    data = b""
    for k, (lat, lon) in enumerate(latlon):
        place = (round(float(degrees) * 2**31 / 180) for degrees in (lat, lon))
        data += b"\x01" + struct.pack("<IiiH", 1_146_550_360 + 2 * k, *place, (30 + 500) * 5)
    body = definition + data
    header = struct.pack("<BBHI4s", 14, 0x20, 2132, len(body), b".FIT")
    content = header + struct.pack("<H", _crc(header)) + body
    path.write_bytes(content + struct.pack("<H", _crc(content)))
    return path


def _crc(data: bytes) -> int:
    """Return the checksum of FIT: CRC-16 with the reversed polynomial 0xA001."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc
