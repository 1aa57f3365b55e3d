"""The extra fit: a ride of a watch becomes a GPX track without its surroundings of home."""

import struct
from pathlib import Path

import sfumato as sf


def checksum(data: bytes) -> bytes:
    """Return the CRC-16 of FIT."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return struct.pack("<H", crc)


body = bytes.fromhex(
    "4000000000010001000004410000140003fd0486000485010485"
)  # a file, and records of time and place
for k in range(800):  # 8 km to the east, one point in 10 m
    degrees = 48.86, 2.35 + k * 10 / 73_150
    body += b"\x01" + struct.pack("<Iii", 1_146_550_360 + k, *(round(value * 2**31 / 180) for value in degrees))
header = struct.pack("<BBHI4s", 14, 0x20, 2132, len(body), b".FIT")
content = header + checksum(header) + body
Path("ride.fit").write_bytes(content + checksum(content))
zones = sf.tracks.Zones(sf.Ledger.create("zones.db", 1))
zones.add("home", 48.86, 2.35)
cut = sf.tracks.release_tracks("ride.fit", "safe.gpx", zones).cut
if cut < 50 or "<trkpt" not in Path("safe.gpx").read_text(encoding="utf-8"):
    raise SystemExit("the track was not cut, or not written")
