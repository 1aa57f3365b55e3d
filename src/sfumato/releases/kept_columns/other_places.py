"""Numbers in kept columns, and detection of other places, such as trip ends, in degrees or on a map."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, permutations, product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._system import pa, pc
from ...core.arrays import Floats
from ...errors import InputError, MissingExtraError, argument, python, shell
from .place_codes import IS_GEOHASH, first_pair, geohash, plus_code
from .text_parts import ends_of, is_binary, is_readable, is_text, parts_of, texts_of

# Rows below which columns without a name of coordinates may be anything, and texts with three decimals from which
# numbers are tested, with any other texts.
_FEW: Final = 10
_ODD: Final = 0.05  # share of the rows, or of the texts, that may be something else
_ROUND: Final = 0.5  # share of the rows that may be round numbers
_PARTS: Final = (1e5, 1e6, 1e7, 2**31 / 180)  # of a degree, in which devices count
_LOCAL: Final = 5.0  # degrees, up to which rows are so near each other that radians differ from shares
_LATITUDE: Final = r"latitude?|latitudine|lat|breitengrad|breedtegraad"
_LONGITUDE: Final = r"longitude?|longitudine|lon|lng|l(?:ae|ä|a)ngengrad|lengtegraad|(?<![a-z])long"
_CALLED: Final = re.compile(
    rf"(?:(?P<lat>{_LATITUDE}|(?<![a-z])breite)|(?P<lon>{_LONGITUDE}|(?<![a-z])l(?:ae|ä)nge))(?![a-z])"
)
_END: Final = r"(?<![a-z])(?:end|dest|destination|to|drop|dropoff|target|stop)"
_SURELY: Final = re.compile(
    rf"(?:(?<![a-z])|{_END}|(?<![a-z])(?:start|from|pickup|origin))"
    rf"(?:lat_?(?:lon|lng|long)|{_LATITUDE}|longitude?|longitudine|lon|lng|l(?:ae|ä|a)ngengrad|lengtegraad|coord(?:inate)?s)(?![a-z])"
)
_PLAIN: Final = re.compile(rf"{_END}[_.]?(?:(?P<lat>y)|(?P<lon>x))(?![a-z])")
_PAIRED: Final = re.compile(rf"(?:(?P<lat>{_LATITUDE})|(?P<lon>{_LONGITUDE}))(?![a-z])")
_ABOUT_THEM: Final = re.compile(
    r"(?<![a-z])(?:err|error|acc|accuracy|precision|std|stddev|sd|sigma|var|variance|uncertainty|count|ms|us|p\d\d)"
    r"(?![a-z])"
)
_ON_MAPS: Final = re.compile(
    r"(?P<sure>easting|northing|utm|mercator|rechtswert|hochwert)(?![a-z])|(?<![a-z])(?:x|y|[xy]coord)(?![a-z])"
)
_ROWS: Final = 200  # that are put on each plane
_FAR_M: Final = 5_000.0  # beyond the extent of the rows, up to which other places are near
_ALIKE: Final = 2.5  # times as wide or as narrow as the rows, up to which columns are other places of them
_STRETCH: Final = 3.0  # of web maps up to 70 degrees north
_FOLLOWS: Final = 0.25  # correlation with the row's own coordinates from which numbers are no amounts
_CHANCE: Final = 2.0  # standard deviations of a correlation, up to which it is chance
_CLOSELY: Final = 1.5  # times as wide or as narrow, where numbers do not follow the rows
_SCALES: Final = (0.5, 2.0)  # spread of few numbers, of that of the rows
_OPEN: Final = 0.25  # of the spread of few rows, up to which numbers are off
_LEAST: Final = 1_000.0  # metres, below which numbers are counts of something rather than coordinates
_MOST: Final = 1e8  # metres, above which they are something else
_SAME_M: Final = 1_000.0  # up to which the datum of a map may shift its coordinates
_LEAST_ROWS: Final = 10  # with a number, of columns without a name of coordinates
_PLANE_SHARE: Final = 0.15  # of their variance that the positions of the rows explain
_PLANE_CHANCE: Final = 6.0  # rows whose share of few rows is chance
_PLANE_SLOPES: Final = (0.3, 1.3)  # by which they rise per unit of length
_PLANE_ALIKE: Final = 1.6  # times that two of them may differ in slope, and in what is left open
_ACROSS: Final = 0.35  # cosine of the angle between their directions, at most
_UNITS: Final = (1.0, 0.001, 1 / 0.3048)  # metre, kilometre and foot, per metre
_SURE: Final = 3  # rows from which a number is compared with maps at all
_LONGEST: Final = 64  # bytes from the front that are looked at
_LAST: Final = 48  # bytes from the end, where values have several lengths
_KINDS: Final = ("<f8", ">f8", "<f4", ">f4", "<i8", ">i8", "<i4", ">i4")
_SMALL: Final = 1e-6  # size of floats below which bytes were probably not meant as one
_LARGE: Final = 1e9  # likewise above
_NARROW: Final = 1 / 8  # share of all integers that nearly all values are within, or they are random
_HIGHEST: Final = 1e12  # integer above which it is no part of a degree or of a metre
_NAMES: Final = 8  # values of numbers that are names next to letters
_NUMBERS: Final = 40  # of one value that are looked at
_SHAPE: Final = re.compile(
    r"\s*(?:SRID=\d+;)?\s*(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)\s*(?:ZM|Z|M)?\s*(?:\(|EMPTY)"
    r"|\s*\{.*\"coordinates\"",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER: Final = re.compile(r"(?:(?<![\d.)])[+-])?(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+)")
_ANGLE: Final = re.compile(r"(\d+)\s*°\s*(\d+(?:\.\d+)?)\s*['′’]\s*(?:(\d+(?:\.\d+)?)\s*(?:\"|″|”|''))?")
_EXACT: Final = re.compile(r"\.\d{4}")
_DECIMALS: Final = re.compile(r"\d[.,]\d{3}")


def is_named_coordinate(columns: Sequence[Numbers], lat: Floats, lon: Floats) -> bool:
    """Return whether numbers have the name of a coordinate; unsure ones (``end_x``) must also be near the rows."""
    return any(_is_named(_lower(name), values, lat, lon) for name, values, _ in columns)


def _is_named(lower: str, values: Floats, lat: Floats, lon: Floats) -> bool:
    if (metres := _ON_MAPS.search(lower)) and are_on_maps(values, lat, lon, sure=bool(metres["sure"])):
        return True
    if _SURELY.search(lower) and not _ABOUT_THEM.search(lower) and _are_numbers(values):
        return True
    if called := _CALLED.search(lower):
        return _are_near(values, lat if called["lat"] else lon, least=1)
    plain = _PLAIN.search(lower)
    there = lat if plain and plain["lat"] else lon
    return bool(plain) and _are_fine(values) and _are_near(values, there, least=1)


def other_places(columns: Mapping[str, Sequence[Numbers]], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return the columns with latitudes and longitudes of other places, by name (in any unit) or by nearness."""
    if names := _named_pair(columns):
        return names
    if len(lat) < _FEW:
        return ()
    plain = [(name, part.values) for name, parts in columns.items() for part in parts if part.packed is None]
    for every in (plain, *_packed_pairs(columns)):
        pair = _pair_near(every, lat, lon) or other_places_on_maps(every, lat, lon)
        if pair := pair or other_places_in_metres(every, lat, lon):
            return pair
    return next((pair for floats in _packed_floats(columns) if (pair := _pair_near(floats, lat, lon))), ())


def _pair_near(columns: Sequence[tuple[str, Floats]], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return two columns with degrees near the rows, if there are any."""
    numbers = [(name, values) for name, values in columns if _are_fine(values)]
    for name, values in numbers:
        pairs = ((name, other) for other, there in numbers if there is not values and _are_near(there, lon))
        if _are_near(values, lat) and (pair := next(pairs, None)):
            return pair
    return ()


def _packed_pairs(columns: Mapping[str, Sequence[Numbers]]) -> Iterator[list[tuple[str, Floats]]]:
    """Yield numbers that follow each other in bytes, and are of one type: others are no pair."""
    for name, parts in columns.items():
        for first, second in product(parts, repeat=2):
            if first.packed is not None and second.packed is not None and first.name == second.name:
                (kind, begin), (other, after) = first.packed, second.packed
                if kind == other and after == begin + int(kind[-1]):
                    yield [(name, first.values), (name, second.values)]


def _packed_floats(columns: Mapping[str, Sequence[Numbers]]) -> Iterator[list[tuple[str, Floats]]]:
    """Yield the floats of one type in the bytes of a column, at any offset; few other bytes look like floats."""
    for name, parts in columns.items():
        for kind in ("<f8", ">f8", "<f4", ">f4"):
            floats = [(name, part.values) for part in parts if part.packed is not None and part.packed[0] == kind]
            if len(floats) > 1:
                yield floats


def _named_pair(columns: Mapping[str, Sequence[Numbers]]) -> tuple[str, ...]:
    """Return two columns with numbers that are called latitude and longitude of one thing, if there are any."""
    latitudes: dict[str, str] = {}
    longitudes: dict[str, str] = {}
    for name, parts in columns.items():
        for path, numbers, _ in parts:
            lower = _lower(path)
            called = _PAIRED.search(lower)
            if called and not _ABOUT_THEM.search(lower) and _are_numbers(numbers):
                thing = f"{lower[: called.start()]}*{lower[called.end() :]}"
                (latitudes if called["lat"] else longitudes)[thing] = name
    return next(((name, longitudes[thing]) for thing, name in latitudes.items() if thing in longitudes), ())


def _lower(name: str) -> str:
    """Return a name in small letters, with a sign between words: ``end_lat_e7`` of ``endLatE7``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def refusal_of_places(name: str, pair: tuple[str, ...]) -> InputError:
    """Return the error of a column with other places of the rows."""
    lat, lon = pair if len(set(pair)) == 2 else ("end_lat", "end_lng")
    split = "write them into two columns, and " if len(set(pair)) == 1 else ""
    return InputError(
        f"the column {name!r} holds positions of other places, such as the ends of trips, so it is never kept.",
        f"leave it out of {argument('keep')}",
        python(f"{split}protect these places in the same release with also=[({lat!r}, {lon!r})]."),
        shell(f"{split}protect these places in the same release with --also {lat},{lon}."),
    )


def _are_near(values: Floats, there: Floats, least: int = _FEW) -> bool:
    """Return whether numbers are near the rows: degrees, parts of them, radians, or minutes (4851.0 is 48°51')."""
    known = values[np.isfinite(values)]
    if known.size >= _FEW:
        known = known[without_sentinel(known)]
    if known.size < min(least, max(1, len(values) // 2)):
        return False
    if (known == np.round(known)).all():
        forms = [known / part for part in _PARTS]
    else:
        size = np.abs(known)
        minutes = np.sign(known) * (size // 100 + size % 100 / 60)
        forms = [known, *([minutes] if (size % 100 < 60).all() else [])]
        forms += [np.degrees(known)] if np.ptp(there) <= _LOCAL else []
    middle, reach = float(np.median(there)), float(np.ptp(there)) + 1
    inside = (
        np.abs(numbers - at) <= reach
        for form in forms
        for numbers, at in ((form, middle), *([(form, abs(middle))] if (form >= 0).all() else []))
    )
    return any(bool(mask.mean() >= 1 - _ODD) for mask in inside)


def _are_numbers(values: Floats) -> bool:
    """Return whether there are numbers at all, other than the answers 0 and 1."""
    known = values[np.isfinite(values)]
    return bool(known.size) and not bool(np.isin(known, (0, 1)).all())


def _are_fine(values: Floats) -> bool:
    """Return whether most numbers have more than two decimals (a kilometre), or more than six digits."""
    known = values[np.isfinite(values)]
    if known.size and (np.abs(known) >= 1e6).mean() > 1 - _ROUND:
        return True
    return bool(known.size) and bool((np.abs(known * 100 - np.round(known * 100)) > 1e-6).mean() > 1 - _ROUND)


def other_places_on_maps(columns: Sequence[tuple[str, Floats]], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return the columns with eastings and northings of other places near the rows, if there are any."""
    wide_m = 111_200 * max(float(np.std(lat)), float(np.std(lon)) * np.cos(np.radians(np.median(lat))))
    known = [(place, name, values[np.isfinite(values)]) for place, (name, values) in enumerate(columns)]
    near = wide_m / _ALIKE, wide_m * _ALIKE * _STRETCH  # maps stretch
    far = [column for column in known if column[2].size >= _LEAST_ROWS and _are_metres(column[2])]
    far = [column for column in far if near[0] <= float(np.std(column[2])) <= near[1]]
    if len(far) < 2:
        return ()
    for east, north in _on_maps(lat, lon, *(values for _, _, values in far)):
        for (first, name, eastings), (second, other, northings) in permutations(far, 2):
            if _are_near_on_map(eastings, east) and _are_near_on_map(northings, north):
                both = ((columns[first][1], east), (columns[second][1], north))
                if _follow(both) or all(_fit(*pair) for pair in both):
                    return name, other
    return ()


def other_places_in_metres(columns: Sequence[tuple[str, Floats]], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return two columns that follow the rows alike as coordinates of a plane of any origin and direction."""
    middle = float(np.median(lat))
    east = (np.mod(lon - np.median(lon) + 180, 360) - 180) * np.cos(np.radians(middle))
    plane = 111_200 * np.column_stack([east, lat - middle])
    followers = []
    for name, values in columns:
        known = np.isfinite(values)
        if known.sum() < _LEAST_ROWS or np.abs(values[known]).max() > _MOST**2:
            continue
        at, offsets = plane[known] - plane[known].mean(axis=0), values[known] - values[known].mean()
        slope = np.linalg.lstsq(at, offsets, rcond=None)[0]
        left, spread = float(np.std(offsets - at @ slope)), float(np.std(offsets))
        size = float(np.hypot(*slope))
        share = max(_PLANE_SHARE, _PLANE_CHANCE / len(offsets))
        if left**2 <= (1 - share) * spread**2:
            units = [unit for unit in _UNITS if unit * _PLANE_SLOPES[0] <= size <= unit * _PLANE_SLOPES[1]]
            followers += [(name, unit, slope / size, size, left) for unit in units]
    for (name, unit, way, *scales), (other, other_unit, other_way, *other_scales) in combinations(followers, 2):
        alike = all(max(pair) <= _PLANE_ALIKE * min(pair) for pair in zip(scales, other_scales, strict=True))
        if unit == other_unit and alike and abs(float(way @ other_way)) <= _ACROSS:
            return name, other
    return ()


def are_on_maps(values: Floats, lat: Floats, lon: Floats, *, sure: bool) -> bool:
    """Return whether numbers are eastings or northings near the rows; unsure ones (``x``) must follow the rows."""
    known = values[np.isfinite(values)]
    if not known.size or not _are_metres(known):
        return False
    planes = (plane for both in _on_maps(lat, lon, known) for plane in both if _are_near_on_map(known, plane))
    return any(sure or _follow(((values, plane),)) or _are_decimal(known) for plane in planes)


def error_on_maps_m(values: Floats, lat: Floats, lon: Floats) -> float:
    """Return how far numbers are from eastings or northings of the rows at most, on the best map, metres."""
    if len(values) < _SURE or not _are_metres(values):
        return np.inf
    low, high = _SCALES
    off = [
        values - plane
        for both in _on_maps(lat, lon, values)
        for plane in both
        if low * np.std(plane) <= np.std(values) <= high * np.std(plane)
        and np.std(values - plane) <= _OPEN * np.std(plane)
    ]
    shifts = [float(np.median(gaps)) for gaps in off]
    errors = [
        float(np.abs(gaps - shift).max()) for gaps, shift in zip(off, shifts, strict=True) if abs(shift) <= _SAME_M
    ]
    return min(errors, default=np.inf)


def _on_maps(lat: Floats, lon: Floats, *columns: Floats) -> list[tuple[Floats, Floats]]:
    """Return eastings and northings of some of the rows, metres, on each map on which a column may hold one."""
    sample = _sample_rows(len(lat))
    middle = round(float(np.median(lat))), round(float(np.median(lon)))
    reach_m = 3 * 111_200 * (1 + float(np.ptp(lat)) + float(np.ptp(lon)))  # maps stretch
    middles = [float(np.median(column)) for column in columns]
    planes = []
    for code, *origin in _maps(*middle):
        if any(abs(centre - there) <= reach_m for centre in middles for there in origin):
            east, north = _plane(code)(lon[sample], lat[sample])
            if np.isfinite(east).all() and np.isfinite(north).all():
                planes.append((np.asarray(east), np.asarray(north)))
    return planes


def _sample_rows(rows: int) -> NDArray[np.intp]:
    return np.linspace(0, rows - 1, min(rows, _ROWS)).astype(np.intp)


@lru_cache(maxsize=64)
def _maps(lat: int, lon: int) -> tuple[tuple[str, float, float], ...]:
    """Return the maps of the world and of a region, each with easting and northing of the region's middle."""
    try:
        import pyproj
        from pyproj.aoi import AreaOfInterest
        from pyproj.database import query_crs_info
        from pyproj.enums import PJType
    except ImportError:
        raise MissingExtraError("keeping numbers that may be eastings and northings of a map", "geo") from None

    zone = (lon + 180) // 6
    south = " +south" if lat < 0 else ""
    codes = ["EPSG:3857", *(f"+proj=utm +zone={1 + (zone + step) % 60}{south}" for step in (-1, 0, 1))]
    maps = query_crs_info("EPSG", PJType.PROJECTED_CRS, area_of_interest=AreaOfInterest(lon, lat, lon, lat))
    codes += [f"EPSG:{crs.code}" for crs in maps if "UTM" not in crs.name]
    maps_by_middle: dict[tuple[int, int], tuple[str, float, float]] = {}
    for code in codes:
        try:
            east, north = _plane(code)(lon, lat)
        except pyproj.exceptions.ProjError:  # a plane of an engineer, without degrees
            continue
        if np.isfinite(east + north):
            maps_by_middle.setdefault((round(east / _SAME_M), round(north / _SAME_M)), (code, east, north))
    return tuple(maps_by_middle.values())


def _plane(code: str) -> Any:
    """Return the projection of a map, without the shift of its datum, which takes long to look up."""
    import pyproj

    return pyproj.Proj(code)


def _are_metres(values: Floats) -> bool:
    """Return whether numbers are as large as metres from the origin of a map."""
    return bool(np.median(np.abs(values)) >= _LEAST and np.abs(values).max() <= _MOST)


def _are_near_on_map(values: Floats, there: Floats) -> bool:
    """Return whether numbers are coordinates in the region of the rows."""
    spread, wide = float(np.std(values)), float(np.std(there))
    inside = np.abs(values - np.median(there)) <= np.ptp(there) + _FAR_M
    return bool(inside.mean() >= 1 - _ODD and wide / _ALIKE <= spread <= wide * _ALIKE)


def _follow(pairs: Sequence[tuple[Floats, Floats]]) -> bool:
    """Return whether numbers (n,) rise with the coordinates of their rows on a map, on average over the pairs."""
    total, fewest = 0.0, len(pairs[0][1])
    for values, there in pairs:
        sample = values[_sample_rows(len(values))]
        known = np.isfinite(sample)
        fewest = min(fewest, int(known.sum()))
        if fewest < _SURE or not (np.std(sample[known]) > 0 and np.std(there[known]) > 0):
            return False
        total += float(np.corrcoef(sample[known], there[known])[0, 1])
    return bool(total / len(pairs) >= max(_FOLLOWS, _CHANCE / np.sqrt(fewest)))


def _fit(values: Floats, there: Floats) -> bool:
    """Return whether numbers with decimals are about where the rows are, and as wide."""
    known = values[np.isfinite(values)]
    wide = float(np.std(there))
    middle = abs(float(np.median(known) - np.median(there))) <= wide
    return middle and _are_decimal(known) and wide / _CLOSELY <= float(np.std(known)) <= wide * _CLOSELY


def _are_decimal(values: Floats) -> bool:
    """Return whether most numbers are not whole."""
    return bool(np.mean(values != np.round(values)) > 0.5)


def packed_numbers(values: Sequence[bytes | None]) -> Iterator[tuple[tuple[str, int], Floats]]:
    """Yield plausible numbers in bytes, array (n,), with type and first byte (negative: from the end)."""
    lengths = np.array([len(value or b"") for value in values])
    if not lengths.any():
        return
    width = int(np.quantile(lengths[lengths > 0], _ODD, method="lower"))
    rows = np.flatnonzero(lengths >= max(width, 1))
    filled = [values[row] or b"" for row in rows.tolist()]
    yield from _unpack_numbers([value[: min(width, _LONGEST)] for value in filled], rows, len(values))
    if len(set(lengths[rows].tolist())) > 1:
        last = min(width, _LAST)
        yield from _unpack_numbers([value[-last:] for value in filled], rows, len(values), -last)


def _unpack_numbers(
    values: Sequence[bytes], rows: NDArray[np.intp], count: int, start: int = 0
) -> Iterator[tuple[tuple[str, int], Floats]]:
    table = np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)
    for kind in map(np.dtype, _KINDS):
        for begin in range(table.shape[1] - kind.itemsize + 1):
            numbers = np.ascontiguousarray(table[:, begin : begin + kind.itemsize]).view(kind).reshape(-1)
            if _are_meant(numbers):
                column = np.full(count, np.nan)
                column[rows] = numbers
                yield (kind.str, start + begin), column


def _are_meant(numbers: NDArray[Any]) -> bool:
    """Return whether bytes were probably meant as these numbers, which are not all alike."""
    if numbers.dtype.kind == "f":
        size = np.abs(numbers)
        usual = (size == 0) | ((size >= _SMALL) & (size <= _LARGE))
        return bool(usual.mean() >= 1 - _ODD and size.any() and (len(numbers) == 1 or np.ptp(numbers[usual]) > 0))
    low, high = np.quantile(numbers.astype(np.float64), (_ODD / 2, 1 - _ODD / 2))
    narrow = high - low <= _NARROW * 256.0**numbers.dtype.itemsize and max(abs(low), abs(high)) <= _HIGHEST
    return bool(narrow and (len(numbers) == 1 or high > low))


def are_shapes(column: Any) -> bool:
    """Return whether all texts or bytes of a plain column are geometries, of which some have points."""
    if is_binary(column.type):
        pairs = [first_pair(value) for value in column.to_pylist() if value]
        return all(pairs) and any(pair and np.isfinite(pair).all() for pair in pairs)
    texts = [text for text in texts_of(column) if text] if is_text(column.type) else []
    shapes = [_SHAPE.match(text) for text in texts]
    return all(shapes) and any(re.search(r"[(\[]\s*[-+\d.]", text) for text in texts)


class Numbers(NamedTuple):
    """Numbers in a column or a part of it (``end.lat``), array (n,); ``packed``: their type and first byte."""

    name: str
    values: Floats
    packed: tuple[str, int] | None = None


def numbers_in(parts: Sequence[tuple[str, Any]]) -> Iterator[Numbers]:
    """Yield the numbers in the parts of a column (plain Arrow arrays by name), without times and truth values."""
    for path, part in parts:
        yield from (Numbers(path, values) for values in _numbers_in(part))
        if is_binary(part.type) and not is_readable(values := part.to_pylist()):
            yield from (Numbers(path, numbers, at) for at, numbers in packed_numbers(values))


def _numbers_in(column: Any) -> Iterator[Floats]:
    """Yield the numbers in a plain column as arrays (n,)."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        yield pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    elif is_text(kind) or is_binary(kind):
        texts = texts_of(column)
        yield from _text_numbers(texts)
        if any(re.search(r"\d,\d", text) for text in texts):
            yield from _text_numbers([re.sub(r"(?<=\d),(?=\d)", ".", text) for text in texts])
        yield from _angles(texts)
        for parts in (texts, *parts_of(texts)):
            for decode in (geohash, plus_code):
                yield from _pairs([decode(text) for text in parts])
        for ends in ends_of(texts, IS_GEOHASH):
            yield from _pairs([geohash(text) for text in ends])
    if is_binary(kind) and not is_readable(values := column.to_pylist()):
        yield from _pairs([first_pair(value) if value else None for value in values])


def _text_numbers(texts: Sequence[str]) -> Iterator[Floats]:
    """Yield the first, second, ... numbers in texts, arrays (n,), but no names such as "Shop 3"."""
    rows = [_NUMBER.findall(text)[:_NUMBERS] for text in texts]
    worded = any(map(str.isalpha, "".join(texts)))
    least = (1 - _ODD) * sum(map(bool, texts))
    if sum(bool(_DECIMALS.search(text)) for text in texts) >= _FEW:
        least = min(least, _FEW)
    for place in range(max(map(len, rows), default=0)):
        if sum(len(row) > place for row in rows) < least:
            return
        numbers = [row[place] if len(row) > place else "nan" for row in rows]
        values = np.array([float(number) for number in numbers])
        exact = any(_EXACT.search(number) for number in numbers)
        if not worded or exact or len(np.unique(values)) > _NAMES:
            yield values


def _angles(texts: Sequence[str]) -> Iterator[Floats]:
    """Yield the first and second angle in degrees, minutes and seconds in texts."""
    rows = [_ANGLE.findall(text)[:2] for text in texts]
    for place in range(max(map(len, rows), default=0)):
        parts = [[float(part or 0) for part in row[place]] if len(row) > place else [np.nan] * 3 for row in rows]
        yield np.array([degrees + minutes / 60 + seconds / 3600 for degrees, minutes, seconds in parts])


def _pairs(pairs: Sequence[tuple[float, float] | None]) -> Iterator[Floats]:
    """Yield first and second coordinates; none where no value has any."""
    if any(pairs):
        for place in range(2):
            yield np.array([np.nan if pair is None else pair[place] for pair in pairs])


def without_sentinel(values: Floats) -> NDArray[np.bool_]:
    """Return which numbers are not the most frequent one, where that is so frequent that it may mean nothing."""
    distinct, counts = np.unique(values, return_counts=True)
    most = int(np.argmax(counts))
    frequent = counts[most] > max(1, _ODD * len(values))
    return np.asarray(values != distinct[most]) if frequent else np.ones(len(values), dtype=np.bool_)
