"""Codes of places: decoders compared with published codes, and columns of codes that are not kept."""

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import InputError
from sfumato.releases.kept_columns.place_codes import positions_of
from sfumato.releases.kept_columns.positions import refuse_locating_columns


@pytest.mark.parametrize(
    ("code", "lat", "lon", "within"),
    [
        ("ezs42", 42.6, -5.6, 0.03),  # the geohash of https://en.wikipedia.org/wiki/Geohash
        ("8FVC9G8F+6X", 47.365562, 8.524813, 1e-3),  # Open Location Code, its README
        ("JO62qm", 52.52, 13.375, 0.05),  # the locator of Berlin
        ("FN31pr", 41.714, -72.727, 0.05),  # of the ARRL's station
        ("_p~iF~ps|U_ulLnnqC_mqNvxq`@", 38.5, -120.2, 1e-9),  # the example of Google's encoding
        (
            "0313102310",
            53.33087 - 0.105,
            -9.140625 + 180 / 1024,
            0.001,
        ),  # the example of mercantile, from its corner
        ("89c25a31", 40.7045, -73.9918, 0.01),  # a cell of S2 in Manhattan
        ("1000000000000001", 0.0, 0.0, 1e-6),  # the first leaf after the middle of its first face
        ("18/232798/103246.png", 35.65907, 139.70068, 0.001),  # a tile of Shibuya
    ],
)
def test_published_codes_are_decoded(code, lat, lon, within):
    off = [max(abs(y - lat), abs(x - lon)) for y, x in positions_of(f"at {code}")]
    assert min(off) <= within


def squares(lat, lon, bits):
    return int((lon + 180) / 360 * 2**bits), int((lat + 90) / 180 * 2**bits)


def interleaved(pair, bits):
    one, two = pair
    return int("".join(f"{one >> k & 1}{two >> k & 1}" for k in reversed(range(bits))), 2)


def on_hilberts_curve(pair, size):
    """Return the place of a square on the curve, by walking through quarters from the largest to the smallest."""
    (x, y), half = pair, size // 2
    if not half:
        return 0
    if x < half and y < half:
        return on_hilberts_curve((y, x), half)
    if x < half:
        return half**2 + on_hilberts_curve((x, y - half), half)
    if y >= half:
        return 2 * half**2 + on_hilberts_curve((x - half, y - half), half)
    return 3 * half**2 + on_hilberts_curve((half - 1 - y, 2 * half - 1 - x), half)


def web(lat, lon, zoom):
    turn = np.radians(lat)
    return int((lon + 180) / 360 * 2**zoom), int((1 - np.arcsinh(np.tan(turn)) / np.pi) / 2 * 2**zoom)


def path(lat, lon):
    """Return a position in Google's encoding of paths."""
    found = ""
    for value in (round(lat * 1e5), round(lon * 1e5)):
        rest = ~(value << 1) if value < 0 else value << 1
        while rest >= 32:
            found, rest = found + chr((rest & 31 | 32) + 63), rest >> 5
        found += chr(rest + 63)
    return found


def quadkey(lat, lon, zoom=19):
    x, y = web(lat, lon, zoom)
    return "".join(str((x >> k & 1) + 2 * (y >> k & 1)) for k in reversed(range(zoom)))


CODES = {
    "morton": lambda lat, lon: interleaved(squares(lat, lon, 26), 26),
    "morton of other bits": lambda lat, lon: interleaved(squares(lat, lon, 21)[::-1], 21),
    "morton in digits": lambda lat, lon: f"{interleaved(squares(lat, lon, 30), 30):015x}",
    "morton in bytes": lambda lat, lon: interleaved(squares(lat, lon, 31), 31).to_bytes(8, "big"),
    "bits": lambda lat, lon: f"{interleaved(squares(lat, lon, 24), 24):b}",
    "hilbert": lambda lat, lon: on_hilberts_curve(squares(lat, lon, 24), 2**24),
    "quadkey": quadkey,
    "quadkey in an address": lambda lat, lon: f"https://t.example/a{quadkey(lat, lon, 17)}.jpeg?g=1",
    "quadkey as a number": lambda lat, lon: int(quadkey(lat, lon), 4),
    "tile": lambda lat, lon: "https://t.example/17/{}/{}.png".format(*web(lat, lon, 17)),
    "path": path,
    "path in JSON": lambda lat, lon: f'{{"points": "{path(lat, lon)}"}}'.replace("\\", "\\\\"),
    "minutes": lambda lat, lon: f"$GP,{int(lat):02d}{lat % 1 * 60:07.4f},N,{int(lon):03d}{lon % 1 * 60:07.4f},E",
    "seconds": lambda lat, lon: "".join(
        f"{int(v):0{w}d}{int(v * 60 % 60):02d}{v * 3600 % 60:05.2f}{side}"
        for v, w, side in ((lat, 2, "N"), (lon, 3, "E"))
    ),
}


def places(rows, seed=2):
    rng = np.random.default_rng(seed)
    return rng, 48.2 + rng.normal(size=rows) / 25, 16.4 + rng.normal(size=rows) / 18


@pytest.mark.thinned(3)
@pytest.mark.parametrize("rows", [1, 3, 30])
@pytest.mark.parametrize("form", CODES)
def test_codes_of_places_are_not_kept(form, rows):
    _, lat, lon = places(rows)
    column = pa.array([CODES[form](*each) for each in zip(lat.tolist(), lon.tolist(), strict=True)])
    with pytest.raises(InputError, match=r"'code' (holds positions|reveals positions)"):
        refuse_locating_columns({"code": column}, lat, lon, 1_000.0)
    others = pa.array([CODES[form](y + 20, x + 50) for y, x in zip(lat.tolist(), lon.tolist(), strict=True)])
    if rows < 10:  # more codes than these are near each other where their rows are
        refuse_locating_columns({"code": others}, lat, lon, 1_000.0)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("form", ["order", "equal values"])
def test_codes_of_an_unknown_kind_are_not_kept_in_few_rows(form):
    rng, lat, lon = places(60)
    if form == "order":
        letters = str.maketrans("0123456789abcdef", "bdghkmprtvwxyz{|")
        codes = [
            f"{on_hilberts_curve(squares(y + 7.3, x / 2, 28), 2**28):014x}".translate(letters)
            for y, x in zip(lat.tolist(), lon.tolist(), strict=True)
        ]
    else:
        names = rng.permutation(10_000)
        codes = [
            f"ward {names[int(y * 40) * 100 % 9_000 + int(x * 30) % 90]}" for y, x in zip(lat, lon, strict=True)
        ]
        lat, lon, codes = lat[:40], lon[:40], codes[:40]  # fewer than fifty have a value of others
    with pytest.raises(InputError, match="'code' reveals positions"):
        refuse_locating_columns({"code": pa.array(codes)}, lat, lon, 2_500.0)
    shuffled = rng.permutation(len(codes))
    refuse_locating_columns({"code": pa.array([codes[k] for k in shuffled])}, lat, lon, 2_500.0)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3, 30])
def test_harmless_codes_are_kept(rows):
    for seed in range(2):
        rng, lat, lon = places(rows, seed)
        alphabets = ["0123456789", "0123", "01", "0123456789abcdef", "0123456789bcdefghjkmnpqrstuvwxyz"]
        alphabets += ["ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "".join(map(chr, range(63, 127)))]
        kept = {
            f"{size} of {alphabet}": ["".join(rng.choice(list(alphabet), size)) for _ in range(rows)]
            for alphabet in alphabets
            for size in (5, 8, 12, 16, 24)
        }
        kept["ids"] = rng.integers(0, 2**62, rows).tolist()
        kept["milliseconds"] = (1_700_000_000_000 + rng.integers(0, 10**9, rows)).tolist()
        kept["words"] = [" ".join(rng.choice(["Schlossstrasse", "near", "Office", "42"], 4)) for _ in range(rows)]
        kept["prices"] = [f"{a:.2f} of {b:.2f}" for a, b in 60 * rng.random((rows, 2))]
        kept["pairs"] = [f"{a:.4f},{b:.4f}" for a, b in 60 * rng.random((rows, 2))]
        for name, values in kept.items():
            refuse_locating_columns({name: pa.array(values)}, lat, lon, 1_000.0)
