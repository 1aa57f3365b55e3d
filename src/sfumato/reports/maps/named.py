"""Names on a map: those of the most visited places, as far as the data has names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...escaping import plain
from ...geo import Projection, Visits

_COLUMNS: Final = ("name", "place", "place_name", "venue", "venue_name", "poi")
_LEAST: Final = 2  # visits to a place whose name is shown
_LONGEST: Final = 28  # characters
_SPREAD_M: Final = 300.0  # nine tenths of the visits to one place are that near to its middle


@dataclass(frozen=True, slots=True)
class Name:
    """A name at a place.

    Attributes:
        text: The name.
        lat: Latitude in degrees.
        lon: Longitude in degrees.
        visits: How many visits have it; 0 for names of an outline.
    """

    text: str
    lat: float
    lon: float
    visits: int


def most_visited(visits: Visits, most: int = 30) -> list[Name]:
    """Return the names of the most visited places, the most visited first.

    Names are those of a column ``name``, ``place``, ``venue`` or the like; without one there are none. A
    name stands at the median of its visits. Names of one visit only, and names of several places, such as those
    of a chain of shops, are left out.

    Args:
        visits: The visits.
        most: How many names to return at most.
    """
    held = next((visits.attributes[key] for key in _COLUMNS if key in visits.attributes), None)
    if held is None or held.dtype.kind not in "OUT":
        return []
    texts = [each.strip() if isinstance(each, str) else "" for each in held.tolist()]
    counts = Counter(filter(None, texts))
    found: list[Name] = []
    array = np.array(texts, dtype=object)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for text, number in ranked[: 2 * most]:
        if number >= _LEAST and len(found) < most:
            mine = array == text
            lat, lon = visits.lat[mine], visits.lon[mine]
            at = float(np.median(lat)), float(np.median(lon))
            away = np.linalg.norm(Projection(*at).forward(lat, lon), axis=1)
            if np.quantile(away, 0.9) > _SPREAD_M:
                continue
            found.append(Name(plain(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"), *at, number))
    return found
