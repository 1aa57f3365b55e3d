"""Positions in parts of columns to keep, and in encodings: bytes, base64, digits, JSON, structures and maps."""

import base64
import datetime as dt
import json
import struct
import uuid
import zlib

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases.kept_columns.positions import refuse_locating_columns
from sfumato.tables import python_values
from tests.thinned import thinned

DEGREE_M = 111_200
SHARP = CoordinateNoise("20/km", "2 m", Projection(-33.9, 151.2), "300 km")  # loses 100 m


def packed(form, *columns):
    return [struct.pack(form, *row) for row in zip(*columns, strict=True)]


def wkb(lat, lon, kind=1, *more):
    return packed(f"<BI{'I' * (kind > 2**29)}dd", [1] * len(lat), [kind] * len(lat), *more, lon, lat)


def plain64(values):
    return [base64.b64encode(value).decode() for value in values]


def url64(values):
    return [base64.urlsafe_b64encode(value).decode().rstrip("=") for value in values]


def hexed(values, before=""):
    return [before + value.hex() for value in values]


def as_json(lat, lon):
    return [json.dumps({"lat": y, "lng": x}) for y, x in zip(lat, lon, strict=True)]


def encoded(texts):
    return [text.encode() for text in texts]


def e7(values):
    return np.round(values * 1e7).astype(int)


def srid(rows):
    return [4326] * rows


BYTES = {
    "doubles": lambda lat, lon: packed("<dd", lat, lon),
    "doubles of the other order": lambda lat, lon: packed(">dd", lon, lat),
    "floats": lambda lat, lon: packed("<ff", lat, lon),
    "one float": lambda lat, lon: packed(">f", lat),
    "E7": lambda lat, lon: packed("<ii", e7(lat), e7(lon)),
    "E7 in long numbers": lambda lat, lon: packed(">qq", e7(lat), e7(lon)),
    "behind a byte": lambda lat, lon: packed("<Bdd", [7] * len(lat), lat, lon),
    "behind numbers": lambda lat, lon: packed(">Iff", np.arange(len(lat)) * 7919 % 10_007, lat, lon),
    "behind names": lambda lat, lon: [b"\x80" * (k % 3) + each for k, each in enumerate(packed("<dd", lat, lon))],
    "WKB": wkb,
    "EWKB": lambda lat, lon: wkb(lat, lon, 0x20000001, srid(len(lat))),
    "text": lambda lat, lon: encoded(f"{y:.6f},{x:.6f}" for y, x in zip(lat, lon, strict=True)),
    "JSON": lambda lat, lon: encoded(as_json(lat, lon)),
}
ENCODINGS = {
    "bytes": list,
    "base64": plain64,
    "base64 of addresses": url64,
    "digits": hexed,
    "digits of PostgreSQL": lambda values: hexed(values, "\\x"),
    "digits of SQL Server": lambda values: [f"0x{value.hex().upper()}" for value in values],
    "base64 twice": lambda values: plain64(encoded(plain64(values))),
    "base64 behind a word": lambda values: [f"place:{each}" for each in url64(values)],
    "an address of data": lambda values: [
        f"data:application/octet-stream;base64,{each}" for each in plain64(values)
    ],
    "a list": lambda values: [[each] for each in plain64(values)],
    "a structure": lambda values: [{"n": 1, "of": each} for each in values],
    "a JSON": lambda values: [json.dumps({"n": k, "of": each}) for k, each in enumerate(plain64(values))],
    "a map": lambda values: pa.array([[("of", each)] for each in values], pa.map_(pa.string(), pa.binary())),
}


def people(rows, seed=1):
    """Return a generator, positions near Sydney, and the ends of their trips."""
    rng = np.random.default_rng(seed)
    starts = np.array([[-33.9], [151.2]]) + rng.normal(size=(2, rows)) * [[0.05], [0.06]]
    return rng, *starts, *(starts + rng.normal(size=(2, rows)) / 40)


def refused(lat, lon, noise=SHARP, **kept):
    with pytest.raises(InputError) as error:
        sf.release(noise, pa.table({"lat": lat, "lon": lon, **kept}), keep=list(kept))
    return error.value.problem


@pytest.mark.parametrize(
    ("form", "rows"), [*((form, 5) for form in BYTES), *thinned([(form, 40) for form in BYTES], 4)]
)
def test_positions_in_bytes_are_not_kept(form, rows):
    _, lat, lon, *_ = people(rows)
    values = BYTES[form](lat, lon)
    for encoding in ENCODINGS if form == "doubles" else ("bytes", "base64 of addresses", "digits"):
        assert "holds positions in another form" in refused(lat, lon, of=ENCODINGS[encoding](values)), encoding


@pytest.mark.thinned(4)
@pytest.mark.parametrize("form", sorted(set(BYTES) - {"one float", "behind names"}))
def test_the_other_end_in_bytes_is_not_kept(form):
    _, lat, lon, *end = people(40)
    for encoding in ("bytes", "base64", "digits"):
        assert "never kept" in refused(lat, lon, to=ENCODINGS[encoding](BYTES[form](*end))), encoding


@pytest.mark.parametrize("form", ["WKB", "EWKB"])
@pytest.mark.parametrize("encoding", ["bytes", "digits", "digits of PostgreSQL", "base64"])
def test_geometries_anywhere_are_not_kept(form, encoding):
    _, lat, lon, *_ = people(5)
    assert "never kept" in refused(lat, lon, to=ENCODINGS[encoding](BYTES[form](lat + 60, lon - 140)))


NAMED = {
    "JSON": lambda lat, lon: as_json(lat, lon),
    "JSON in JSON": lambda lat, lon: [json.dumps({"end": json.loads(each)}) for each in as_json(lat, lon)],
    "JSON in any order": lambda lat, lon: [
        json.dumps({"n": k, "lat": y, "lng": x} if k % 2 else {"lng": x, "lat": y})
        for k, (y, x) in enumerate(zip(lat, lon, strict=True))
    ],
    "JSON in one row": lambda lat, lon: [*as_json(lat, lon)[:1], *["{}"] * (len(lat) - 1)],
    "JSON in base64": lambda lat, lon: plain64(encoded(as_json(lat, lon))),
    "structures": lambda lat, lon: [{"latitude": y, "longitude": x} for y, x in zip(lat, lon, strict=True)],
    "one coordinate": lambda lat, lon: [{"lat": round(y, 1)} for y in lat],
    "structures in structures": lambda lat, lon: [
        {"p": {"endLat": y, "endLon": x}} for y, x in zip(lat, lon, strict=True)
    ],
    "lists": lambda lat, lon: [[{"lat": y, "lng": x}] for y, x in zip(lat, lon, strict=True)],
    "maps": lambda lat, lon: pa.array(
        [[("lat", y), ("lng", x)] for y, x in zip(lat, lon, strict=True)], pa.map_(pa.string(), pa.float64())
    ),
    "address": lambda lat, lon: [
        f"https://a.example/go?lat={y:.4f}&lng={x:.4f}" for y, x in zip(lat, lon, strict=True)
    ],
    "words": lambda lat, lon: [f"lat: {y:.4f}; lng: {x:.4f}" for y, x in zip(lat, lon, strict=True)],
    "XML": lambda lat, lon: [f'<wpt lat="{y:.4f}" lon="{x:.4f}"/>' for y, x in zip(lat, lon, strict=True)],
    "coordinates": lambda lat, lon: [{"coordinates": [x, y]} for y, x in zip(lat, lon, strict=True)],
}


@pytest.mark.parametrize(
    ("form", "rows"), [*((form, 4) for form in NAMED), *thinned([(form, 100) for form in NAMED], 4)]
)
def test_parts_that_are_called_coordinates_are_not_kept_wherever_they_are(form, rows):
    _, lat, lon, *end = people(rows)
    far = [each + way for each, way in zip(end, (60, -140), strict=True)]
    assert "holds positions of other places" in refused(lat, lon, to=NAMED[form](*far))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rows", [1, 2, 6, 40])
@pytest.mark.parametrize(
    "form",
    [
        "https://maps.example/@{:.6f},{:.6f},15z",
        "LatLng({:.6f}, {:.6f})",
        "Location[gps {:.6f},{:.6f} hAcc=12]",
        '"lat"=>"{:.6f}", "lng"=>"{:.6f}"',
    ],
)
def test_numbers_with_many_decimals_are_no_names(form, rows):
    _, lat, lon, *_ = people(rows)
    assert "holds positions" in refused(lat, lon, of=[form.format(*each) for each in zip(lat, lon, strict=True)])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([json.dumps({"event": "review", "text": "nice \ud83d"})] * 6),
        pa.array([[({"a": k}, 1)] for k in range(6)], pa.map_(pa.struct([("a", pa.int64())]), pa.int64())),
        pa.array([[([k], 1)] for k in range(6)], pa.map_(pa.list_(pa.int64()), pa.int64())),
    ],
    ids=["half of a character", "keys of structs", "keys of lists"],
)
def test_odd_parts_are_kept(column):
    _, lat, lon, *_ = people(6)
    refuse_locating_columns({"kept": column}, lat, lon, 700.0)


def metres(lat, lon):
    return (lon - 151.2) * DEGREE_M * np.cos(np.radians(33.9)), (lat + 33.9) * DEGREE_M


COPIES = {
    "east": lambda x, y: x + 4e7,
    "north": lambda x, y: y - 3e6,
    "near nothing": lambda x, y: x,
    "feet": lambda x, y: y / 0.3048 + 9e5,
    "west": lambda x, y: 7_000 - x,
    "turned": lambda x, y: 0.6 * x - 0.8 * y + 12_345,
}


@pytest.mark.parametrize("rows", [3, 4, 5, 9, 50])
@pytest.mark.parametrize("copy", COPIES)
def test_whole_metres_from_anywhere_are_not_kept(copy, rows):
    _, lat, lon, *_ = people(rows)
    values = np.round(COPIES[copy](*metres(lat, lon))).astype(int)
    if copy == "turned" and rows < 5:  # a plane fits three numbers, and nearly four
        return
    assert "holds positions in another form" in refused(lat, lon, of=values)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("rows", [16, 200])
@pytest.mark.parametrize("unit", ["m", "km", "ft"])
@pytest.mark.parametrize("turned", [False, True])
def test_other_ends_in_metres_from_anywhere_are_not_kept(unit, turned, rows):
    _, lat, lon, *end = people(rows)
    x, y = metres(*end)
    x, y = (0.6 * x + 0.8 * y, 0.6 * y - 0.8 * x) if turned else (x, y)
    x, y = {
        "m": (np.round(x + 4e7), np.round(y - 3e6)),
        "km": (np.round(x / 1000, 2) + 70, np.round(y / 1000, 2) + 10),
        "ft": (np.round(y / 0.3048), np.round(x / 0.3048 + 5e6)),
    }[unit]
    assert "never kept" in refused(lat, lon, p=x, q=y)
    assert "never kept" in refused(lat, lon, both=[{"p": a, "q": b} for a, b in zip(x, y, strict=True)])


def test_codes_of_cells_in_bytes_and_large_numbers_are_not_kept():
    _, lat, lon, *_ = people(3_000)
    east, north = ((each + 40_000) / 80_000 for each in metres(lat, lon))
    codes = [
        sum((int(a * 2**31) >> k & 1) << 2 * k | (int(b * 2**31) >> k & 1) << 2 * k + 1 for k in range(31))
        for a, b in zip(east, north, strict=True)
    ]
    for kept in (codes, packed(">q", codes)):
        assert "reveals positions" in refused(lat, lon, cell=kept)


def texts(lat, lon):
    return [f"{y:.6f},{x:.6f}" for y, x in zip(lat, lon, strict=True)]


def signed(lat, lon):
    """Return JSON web tokens, with numbers and signatures of their own."""
    heads = plain64([b'{"alg":"HS256","typ":"JWT"}'] * len(lat))
    bodies = [json.dumps({"sub": k * 7919, "at": each}).encode() for k, each in enumerate(texts(lat, lon))]
    ends = [uuid.uuid5(uuid.NAMESPACE_DNS, str(k)).bytes * 2 for k in range(len(lat))]
    return [".".join(each) for each in zip(heads, url64(bodies), url64(ends), strict=True)]


def protobuf(lat, lon):
    """Return messages with a name of any length, a latitude, a time and a longitude."""
    return [
        bytes([10, 3 + k % 4]) + b"abcdef"[: 3 + k % 4] + b"\x11" + struct.pack("<d", y)
        + b"\x18\x80\xe2\xcf\xaa\x06\x29" + struct.pack("<d", x)
        for k, (y, x) in enumerate(zip(lat, lon, strict=True))
    ]  # fmt: skip


def messagepack(lat, lon):
    return [
        b"\x83\xa3lat\xcb" + struct.pack(">d", y) + b"\xa4name\xa3abc\xa3lng\xcb" + struct.pack(">d", x)
        for y, x in zip(lat, lon, strict=True)
    ]


def bson(lat, lon):
    return [
        b"\x01lat\0" + struct.pack("<d", y) + b"\x10n\0\x07\0\0\0\x01lon\0" + struct.pack("<d", x)
        for y, x in zip(lat, lon, strict=True)
    ]


def php(lat, lon):
    return [f'a:2:{{s:3:"lat";d:{y:.8f};s:3:"lng";d:{x:.8f};}}' for y, x in zip(lat, lon, strict=True)]


def entries(lat, lon):
    return [
        json.dumps([{"key": "lat", "value": y}, {"key": "lng", "value": x}]) for y, x in zip(lat, lon, strict=True)
    ]


INSIDE = {
    "base64 behind a name": lambda lat, lon: [f"loc={each}" for each in plain64(encoded(texts(lat, lon)))],
    "base64 in quotes": lambda lat, lon: [
        f'id={k}; p="{each}"' for k, each in enumerate(plain64(packed("<dd", lat, lon)))
    ],
    "one of several tokens": lambda lat, lon: [
        f"{'0123456789abcdef'[k % 16] * 8}.{each}.end" for k, each in enumerate(plain64(encoded(texts(lat, lon))))
    ],
    "digits between words": lambda lat, lon: [f"v1 {each} end" for each in hexed(encoded(texts(lat, lon)))],
    "digits between colons": lambda lat, lon: [each.hex(":") for each in packed("<dd", lat, lon)],
    "a token of the web": signed,
    "base32": lambda lat, lon: [base64.b32encode(each).decode() for each in packed("<ff", lat, lon)],
    "base85": lambda lat, lon: [base64.b85encode(each).decode() for each in packed("<dd", lat, lon)],
    "compressed": lambda lat, lon: plain64([zlib.compress(each) for each in encoded(texts(lat, lon))]),
    "UTF-16": lambda lat, lon: [each.encode("utf-16") for each in texts(lat, lon)],
    "Latin-1": lambda lat, lon: [f"près de {each}".encode("latin-1") for each in texts(lat, lon)],
    "far behind": lambda lat, lon: [
        (f"{k:04d}" * 30).encode() + b"\xff" + each for k, each in enumerate(packed("<dd", lat, lon))
    ],
    "behind many numbers": lambda lat, lon: [
        ",".join(str(round(17.31 * (k + place) % 90, 2)) for place in range(14)) + f",{each}"
        for k, each in enumerate(texts(lat, lon))
    ],
    "protocol buffers": protobuf,
    "MessagePack": messagepack,
    "BSON": bson,
    "PHP": php,
    "entries": entries,
}


@pytest.mark.parametrize(
    ("form", "rows"), [*((form, 3) for form in INSIDE), *thinned([(form, 30) for form in INSIDE], 4)]
)
def test_positions_inside_other_values_are_not_kept(form, rows):
    _, lat, lon, *_ = people(rows)
    assert "holds positions" in refused(lat, lon, of=INSIDE[form](lat, lon))


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "form", ["protocol buffers", "MessagePack", "BSON", "PHP", "entries", "UTF-16", "a token of the web"]
)
def test_the_other_end_inside_other_values_is_not_kept(form):
    _, lat, lon, *end = people(40)
    assert "never kept" in refused(lat, lon, to=INSIDE[form](*end))
    if form in ("MessagePack", "BSON", "PHP", "entries"):
        assert "of other places" in refused(lat, lon, to=INSIDE[form](end[0] + 60, end[1] - 140))


@pytest.mark.parametrize(
    "empty",
    [
        "POINT EMPTY",
        '{"type": "Point", "coordinates": []}',
        b"\x01\x01\x00\x00\x00" + struct.pack("<dd", np.nan, np.nan),
        b"\x00\x00\x00\x00\x01" + struct.pack(">dd", np.nan, np.nan),
    ],
)
def test_geometries_without_points_are_kept_unless_others_have_some(empty):
    _, lat, lon, *_ = people(5)
    refuse_locating_columns({"kept": pa.array([empty] * 5)}, lat, lon, 700.0)
    point = "POINT (7 8)" if isinstance(empty, str) else wkb(lat[:1], lon[:1])[0]
    with pytest.raises(InputError, match="never kept"):
        refuse_locating_columns({"kept": pa.array([empty] * 4 + [point])}, lat, lon, 700.0)


def harmless(rng, rows):
    """Return columns that have nothing to do with positions, each also in bytes, base64 and digits."""
    numbers = {
        "row": np.arange(rows),
        "key": rng.integers(0, 2**31, rows),
        "age": rng.integers(18, 90, rows),
        "cents": rng.lognormal(8, 1, rows).astype(int),
        "seconds": (1.7e9 + np.cumsum(rng.exponential(60, rows))).astype(int),
        "income": rng.normal(45_000, 9_000, rows).astype(int),
        "large": rng.integers(0, 2**62, rows),
        "price": np.round(rng.normal(1_500, 400, rows), 2),
        "share": rng.random(rows),
    }
    found = {
        "uuid": [uuid.UUID(bytes=rng.bytes(16), version=4).bytes for _ in range(rows)],
        "hash": [rng.bytes(20) for _ in range(rows)],
        "token": [rng.bytes(int(rng.integers(8, 40))) for _ in range(rows)],
        "record": packed(">qdfH", *(numbers[name] for name in ("seconds", "price", "share", "age"))),
        "words": encoded(
            f"{age} years, {price:.2f} EUR" for age, price in zip(numbers["age"], numbers["price"], strict=True)
        ),
        "JSON": encoded(json.dumps({"age": int(age), "late": int(age) % 7}) for age in numbers["age"]),
    }
    for name, values in numbers.items():
        for form in ("<", ">"):
            found[f"{name} {form}"] = packed(f"{form}{'d' if values.dtype.kind == 'f' else 'q'}", values)
    arrays = {f"{name}: bytes": pa.array(values, pa.binary()) for name, values in found.items()}
    for encoding in (plain64, url64, hexed):
        arrays |= {f"{name}: {encoding.__name__}": pa.array(encoding(values)) for name, values in found.items()}
    return arrays | {name: pa.array(values) for name, values in numbers.items()}


@pytest.mark.slow
def test_few_false_alarms_over_encodings():
    alarms, columns = [], 0
    for seed in range(10):
        rows = (6, 40, 200)[seed % 3]
        rng, lat, lon, *_ = people(rows, seed)
        for name, values in harmless(rng, rows).items():
            columns += 1
            try:
                refuse_locating_columns({name: values}, lat, lon, 700.0)
            except InputError as error:
                alarms.append((seed, name, error.problem))
    assert columns > 1_000
    assert len(alarms) <= 1, alarms  # all seeded


@pytest.mark.thinned(3)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("shape", ["plain", "list", "struct", "map", "fixed", "deep"])
@pytest.mark.parametrize("output", ["r.csv", "r.arrow", None])
def test_times_that_python_does_not_have(tmp_path, unit, shape, output):
    """They are kept as they are, or an error says that they cannot be: after the year 9999, or nanoseconds."""
    scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    number = 1_705_151_100 * scale + 1 if unit == "ns" else 253_402_300_805 * scale
    values = pa.array([number, number], pa.int64()).cast(pa.timestamp(unit, "UTC"))
    offsets = pa.array([0, 1, 2], pa.int32())
    structs = pa.StructArray.from_arrays([values], ["a"])
    columns = {
        "plain": values,
        "list": pa.ListArray.from_arrays(offsets, values),
        "struct": structs,
        "map": pa.MapArray.from_arrays(offsets, pa.array(["a", "b"]), values),
        "fixed": pa.FixedSizeListArray.from_arrays(values, 1),
        "deep": pa.ListArray.from_arrays(offsets, structs),
    }
    table = pa.table({"lat": [-33.9, -33.91], "lon": [151.2, 151.21], "seen": columns[shape]})
    target = None if output is None else tmp_path / output
    if output == "r.csv" and shape != "plain":
        with pytest.raises(InputError, match="cannot be kept in a table of text"):
            sf.release(SHARP, table, target, keep=["seen"])
        return
    done = sf.release(SHARP, table, target, keep=["seen"])
    if output is None:
        kept = pa.table(done)["seen"]  # lists of a fixed size become lists
        assert kept.equals(pa.chunked_array([columns[shape]]).cast(kept.type))


def test_texts_of_such_times_are_numbers():
    values = pa.array([253_402_300_805, None], pa.int64()).cast(pa.timestamp("s"))
    assert python_values(values) == [253_402_300_805, None]
    assert python_values(values.cast(pa.timestamp("ms")).dictionary_encode()) == [253_402_300_805_000, None]
    assert python_values(pa.array([1], pa.timestamp("s"))) == [dt.datetime(1970, 1, 1, 0, 0, 1)]
