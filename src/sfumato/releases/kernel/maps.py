"""Eastings and northings in columns to keep: on the plane of any map of the region of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import MissingExtraError

_ROWS: Final = 200  # that are put on each plane
_FAR_M: Final = 5_000.0  # beyond the extent of the rows, up to which other places are near
_ALIKE: Final = 2.5  # times as wide or as narrow as the rows, up to which columns are other places of them
_STRETCH: Final = 3.0  # of web maps up to 70 degrees north
_FOLLOWS: Final = 0.25  # correlation with the row's own coordinates from which numbers are no amounts
_CHANCE: Final = 2.0  # standard deviations of a correlation, up to which it is chance
_CLOSELY: Final = 1.5  # times as wide or as narrow, where numbers do not follow the rows
_SCALES: Final = (0.5, 2.0)  # spread of few numbers, of that of the rows
_OPEN: Final = 0.25  # of the spread of few rows, up to which numbers are off
_ODD: Final = 0.05  # share of the rows that may be elsewhere
_LEAST: Final = 1_000.0  # metres, below which numbers are counts of something rather than coordinates
_MOST: Final = 1e8  # metres, above which they are something else
_SAME_M: Final = 1_000.0  # up to which the datum of a map may shift its coordinates
_LEAST_ROWS: Final = 10  # with a number, of columns without a name of coordinates
_PLANE_ROWS: Final = 10  # with a number, of columns without a name and without an origin on a map
_PLANE_SHARE: Final = 0.15  # of their variance that the positions of the rows explain
_PLANE_CHANCE: Final = 6.0  # rows whose share of few rows is chance
_PLANE_SLOPES: Final = (0.3, 1.3)  # by which they rise per unit of length
_PLANE_ALIKE: Final = 1.6  # times that two of them may differ in slope, and in what is left open
_ACROSS: Final = 0.35  # cosine of the angle between their directions, at most
_UNITS: Final = (1.0, 0.001, 1 / 0.3048)  # metre, kilometre and foot, per metre
_SURE: Final = 3  # rows from which a number is compared with maps at all


def other_places_on_maps(columns: Sequence[tuple[str, Floats]], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return the columns with eastings and northings of other places near the rows, if there are any.

    Args:
        columns: Names of columns, and numbers in them, arrays (n,).
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
    """
    wide_m = 111_200 * max(float(np.std(lat)), float(np.std(lon)) * np.cos(np.radians(np.median(lat))))
    known = [(place, name, each[np.isfinite(each)]) for place, (name, each) in enumerate(columns)]
    far = [each for each in known if each[2].size >= _LEAST_ROWS and _are_far(each[2], wide_m)]
    if len(far) < 2:
        return ()
    for east, north in _on_maps(lat, lon, *(each for _, _, each in far)):
        for one, name, each in far:
            if not _are_near(each, east):
                continue
            for two, other, values in far:
                if one != two and _are_near(values, north):
                    both = ((columns[one][1], east), (columns[two][1], north))
                    if _follow(both) or all(_fit(*pair) for pair in both):
                        return name, other
    return ()


def other_places_in_metres(columns: Sequence[tuple[str, Floats]], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return two columns that follow the rows as the two coordinates of a plane with any origin and direction.

    Both rise by about as much per metre, in directions across each other, and are off by about as much.

    Args:
        columns: Names of columns, and numbers in them, arrays (n,).
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
    """
    middle = float(np.median(lat))
    east = (np.mod(lon - np.median(lon) + 180, 360) - 180) * np.cos(np.radians(middle))
    plane = 111_200 * np.column_stack([east, lat - middle])
    followers = []
    for name, values in columns:
        known = np.isfinite(values)
        if known.sum() < _PLANE_ROWS or np.abs(values[known]).max() > _MOST**2:
            continue
        at, some = plane[known] - plane[known].mean(axis=0), values[known] - values[known].mean()
        slope = np.linalg.lstsq(at, some, rcond=None)[0]
        left, spread = float(np.std(some - at @ slope)), float(np.std(some))
        size = float(np.hypot(*slope))
        share = max(_PLANE_SHARE, _PLANE_CHANCE / len(some))
        if left**2 <= (1 - share) * spread**2:
            units = [each for each in _UNITS if each * _PLANE_SLOPES[0] <= size <= each * _PLANE_SLOPES[1]]
            followers += [(name, unit, slope / size, size, left) for unit in units]
    for number, (one, unit, way, size, left) in enumerate(followers):
        for two, other_unit, other_way, other_size, other_left in followers[number + 1 :]:
            alike = max(size, other_size) <= _PLANE_ALIKE * min(size, other_size)
            alike &= max(left, other_left) <= _PLANE_ALIKE * min(left, other_left)
            if unit == other_unit and alike and abs(float(way @ other_way)) <= _ACROSS:
                return one, two
    return ()


def are_on_maps(values: Floats, lat: Floats, lon: Floats, *, sure: bool) -> bool:
    """Return whether numbers are eastings or northings near the rows on a map of their region.

    Args:
        values: The numbers, array (n,).
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
        sure: Whether they are called so. Others, such as ``x``, also follow the rows, or have decimals.
    """
    known = values[np.isfinite(values)]
    if not known.size or not _are_metres(known):
        return False
    planes = (each for both in _on_maps(lat, lon, known) for each in both if _are_near(known, each))
    return any(sure or _follow(((values, each),)) or _are_decimal(known) for each in planes)


def error_on_maps_m(values: Floats, lat: Floats, lon: Floats) -> float:
    """Return how far numbers are from eastings or northings of the rows at most, on the best map, metres.

    Args:
        values: The numbers, array (n,).
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
    """
    if len(values) < _SURE or not _are_metres(values):
        return np.inf
    low, high = _SCALES
    off = [
        values - each
        for both in _on_maps(lat, lon, values)
        for each in both
        if low * np.std(each) <= np.std(values) <= high * np.std(each)
        and np.std(values - each) <= _OPEN * np.std(each)
    ]
    shifts = [float(np.median(each)) for each in off]
    errors = [
        float(np.abs(each - shift).max()) for each, shift in zip(off, shifts, strict=True) if abs(shift) <= _SAME_M
    ]
    return min(errors, default=np.inf)


def _on_maps(lat: Floats, lon: Floats, *columns: Floats) -> list[tuple[Floats, Floats]]:
    """Return eastings and northings of some of the rows, metres, on each map on which a column may hold one.

    Args:
        lat: Latitudes, degrees, array (n,).
        lon: Longitudes.
        columns: Numbers, arrays.
    """
    chosen = _chosen(len(lat))
    middle = round(float(np.median(lat))), round(float(np.median(lon)))
    reach_m = 3 * 111_200 * (1 + float(np.ptp(lat)) + float(np.ptp(lon)))  # maps stretch
    middles = [float(np.median(each)) for each in columns]
    found = []
    for code, *origin in _maps(*middle):
        if any(abs(one - there) <= reach_m for one in middles for there in origin):
            east, north = _plane(code)(lon[chosen], lat[chosen])
            if np.isfinite(east).all() and np.isfinite(north).all():
                found.append((np.asarray(east), np.asarray(north)))
    return found


def _chosen(rows: int) -> NDArray[np.intp]:
    return np.linspace(0, rows - 1, min(rows, _ROWS)).astype(np.intp)


@lru_cache(maxsize=64)
def _maps(lat: int, lon: int) -> tuple[tuple[str, float, float], ...]:
    """Return the maps of the world and of a region, each with easting and northing of the region's middle.

    Raises:
        MissingExtraError: If pyproj, which knows the maps, is not installed.
    """
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
    codes += [f"EPSG:{each.code}" for each in maps if "UTM" not in each.name]
    found: dict[tuple[int, int], tuple[str, float, float]] = {}
    for code in codes:
        try:
            east, north = _plane(code)(lon, lat)
        except pyproj.exceptions.ProjError:  # a plane of an engineer, without degrees
            continue
        if np.isfinite(east + north):
            found.setdefault((round(east / _SAME_M), round(north / _SAME_M)), (code, east, north))
    return tuple(found.values())


def _plane(code: str) -> Any:
    """Return the projection of a map, without the shift of its datum, which takes long to look up."""
    import pyproj

    return pyproj.Proj(code)


def _are_far(values: Floats, wide_m: float) -> bool:
    """Return whether numbers may be metres on a map, which stretches, and are about as wide as the rows."""
    return _are_metres(values) and wide_m / _ALIKE <= float(np.std(values)) <= wide_m * _ALIKE * _STRETCH


def _are_metres(values: Floats) -> bool:
    """Return whether numbers are as large as metres from the origin of a map."""
    return bool(np.median(np.abs(values)) >= _LEAST and np.abs(values).max() <= _MOST)


def _are_near(values: Floats, there: Floats) -> bool:
    """Return whether numbers are coordinates in the region of the rows."""
    spread, wide = float(np.std(values)), float(np.std(there))
    inside = np.abs(values - np.median(there)) <= np.ptp(there) + _FAR_M
    return bool(inside.mean() >= 1 - _ODD and wide / _ALIKE <= spread <= wide * _ALIKE)


def _follow(pairs: Sequence[tuple[Floats, Floats]]) -> bool:
    """Return whether numbers rise with the coordinates of their own rows, on average over the pairs.

    Args:
        pairs: Numbers of all rows, array (n,), and coordinates of some of them on a map.
    """
    total, fewest = 0.0, len(pairs[0][1])
    for values, there in pairs:
        some = values[_chosen(len(values))]
        known = np.isfinite(some)
        fewest = min(fewest, int(known.sum()))
        if fewest < _SURE or not (np.std(some[known]) > 0 and np.std(there[known]) > 0):
            return False
        total += float(np.corrcoef(some[known], there[known])[0, 1])
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
