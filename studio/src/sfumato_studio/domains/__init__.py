"""Domains of workspaces, built from their stored data and site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sfumato.core import NumberBins
from sfumato.core.naming import quote
from sfumato.errors import InputError
from sfumato.files import read_mechanism_file
from sfumato.geo import Polygon, Region, Visits, read_visits, synthetic_city
from sfumato.rounding import plural

from ..errors import RefusedError, message_of
from ..limits import MOST_LABELS
from .domain import Domain, Measures, Where
from .mechanisms import OpenedDomain
from .places import PlacesDomain
from .values import ValuesDomain, is_whole

__all__ = ["Domain", "Measures", "OpenedDomain", "PlacesDomain", "ValuesDomain", "Where", "domain_of"]

_CITY: Final = "visits = sf.synthetic_city()"


def domain_of(data: Mapping[str, Any], site: Mapping[str, Any], folder: Path) -> Domain:
    """Return the domain of a workspace."""
    if data["source"] == "mechanism":
        return OpenedDomain(read_mechanism_file(folder / data["file"]), data["title"])
    if data["kind"] != site["kind"]:
        problem = f"The data are {data['kind']}, not {site['kind']}."
        raise RefusedError(422, problem, "choose the other view.", "kind")
    if data["kind"] == "places":
        return _places(data, site, folder)
    return _values(data, site)


def _places(data: Mapping[str, Any], site: Mapping[str, Any], folder: Path) -> PlacesDomain:
    built_in = data["source"] == "city"
    visits: Visits = synthetic_city() if built_in else read_visits(folder / data["file"])
    polygon = None
    if site.get("polygon") is not None:
        if site.get("region") is not None:
            raise RefusedError(422, "Both a region and a polygon were sent.", "send one of them.", "polygon")
        polygon = _polygon(site["polygon"])
        region, visits = polygon.region, visits.inside(polygon)
    else:
        sides = site.get("region") or data["region"]
        region = Region(**{side: round(degrees, 5) for side, degrees in sides.items()})
    inside = "region" if polygon is None else "area that was drawn"
    source = _part(len(visits.inside(region)), data["rows"], "visit", f"in {_label(data)}", f"inside the {inside}")
    loading = _CITY if built_in else None
    return PlacesDomain(visits, region, site["detail"], site["radius_m"], source, loading=loading, polygon=polygon)


def _polygon(corners: list[list[float]]) -> Polygon:
    try:
        return Polygon([(lat, lon) for lon, lat in corners])
    except InputError as error:
        message, hint = message_of(error)
        raise RefusedError(422, message, hint, "polygon") from None


def _values(data: Mapping[str, Any], site: Mapping[str, Any]) -> ValuesDomain:
    tables: Mapping[str, Mapping[str, int]] = data["tables"]
    column = site.get("column") or next(iter(tables))
    if column not in tables:
        problem = f"There is no column {column!r} with 2 to {MOST_LABELS} values."
        raise RefusedError(422, problem, f"choose one of {', '.join(map(repr, tables))}.", "column")
    counts = tables[column]

    def source(used: int, part: str) -> str:
        return _part(used, data["rows"], "row", f"of {_label(data)}", f"{part} in the column {quote(column)}")

    numbers: Counter[int] = Counter()
    for label in filter(is_whole, counts):
        numbers[int(label)] += counts[label]  # 07 is 7
    first, last, period = (site.get(name) for name in ("first", "last", "circular"))
    if not all(map(is_whole, counts)) and first is None and last is None and period is None:
        origin = source(sum(counts.values()), "with a value")
        return ValuesDomain(column, counts, None, per_unit=False, source=origin, goal=site.get("goal"))
    if not numbers:
        noun, field = ("range", "first") if period is None else ("circle", "circular")
        raise RefusedError(422, f"The column {column!r} holds no whole numbers.", f"leave out the {noun}.", field)
    low = min(numbers) if first is None else first
    if period is not None:
        numbers = _count_around(numbers, low, period)
    high = max(numbers) if last is None else last
    if period is not None and high < low:
        high = low + (high - low) % period  # 22 to 3 goes through midnight
    if not 2 <= high - low + 1 <= MOST_LABELS:
        problem = f"The range {low} to {high} has {high - low + 1:,} numbers."
        raise RefusedError(422, problem, f"choose a range of 2 to {MOST_LABELS} whole numbers.", "last")
    if period is not None and high - low >= period:
        problem = f"The range {low} to {high} goes more than once around a circle of {period}."
        raise RefusedError(422, problem, f"end it at {low + period - 1}, or choose a longer circle.", "circular")
    every = {str(number): numbers.get(number, 0) for number in range(low, high + 1)}
    if not any(every.values()):
        raise RefusedError(422, f"No row is in the range {low} to {high}.", "choose another range.", "first")
    around = "" if period is None else f" on a circle of {period}"
    origin = source(sum(every.values()), f"with a whole number from {low} to {high}{around}")
    per_unit = bool(site.get("epsilon_per_unit"))
    goal = site.get("goal")
    return ValuesDomain(column, every, low, per_unit=per_unit, source=origin, period=period, goal=goal)


def _count_around(numbers: Mapping[int, int], first: int, period: int) -> Counter[int]:
    """Return how often numbers on a circle occur, counted from the first one on: of the hours from 22, 3 is 27."""
    places = NumberBins(first, 1, period, period=period).positions_of(list(numbers)).tolist()
    counts: Counter[int] = Counter()
    for place, (number, count) in zip(places, numbers.items(), strict=True):
        counts[number if place < 0 else first + place] += count
    return counts


def _label(data: Mapping[str, Any]) -> str:
    """Return the name of data: the studio's own as it is, a visitor's in quotation marks."""
    return quote(data["name"]) if data["source"] == "file" else str(data["title"])


def _part(used: int, total: int, noun: str, origin: str, part: str) -> str:
    """Return where data come from, and which part of them was used."""
    if used == total:
        return f"{plural(total, noun)} {origin}"
    return f"{used:,} of {plural(total, noun)} {origin}, those {part}"
