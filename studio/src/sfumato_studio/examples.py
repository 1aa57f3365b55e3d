"""Built-in examples: an invented city, ages and categories of invented people."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from sfumato.geo import synthetic_city, whereabouts
from sfumato.rounding import plural

from .domains.places import sides_of

_AGES: Final = (
    *(14, 15, 17, 18, 20, 21, 23, 24, 25, 26, 26, 27, 27, 28, 28, 27, 27, 26, 26, 25, 25, 24, 24, 24, 23, 23),
    *(23, 23, 24, 24, 24, 24, 23, 23, 22, 22, 21, 20, 20, 19, 18, 18, 17, 16, 16, 15, 14, 14, 13, 12, 12, 11),
    *(10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2, 2, 1, 1),
)
"""Invented people of each age, from 18 on."""

FIRST_AGE: Final = 18
_LAST_AGE: Final = FIRST_AGE + len(_AGES) - 1
_PEOPLE: Final = plural(sum(_AGES), "invented person", "invented people")
EXAMPLES: Final = {
    "city": (
        "places",
        "Invented people in San Francisco",
        "200 invented people for four weeks. The map is real, the people are not.",
    ),
    "ages": ("values", "Ages of invented people", f"{_PEOPLE} from {FIRST_AGE} to {_LAST_AGE}."),
    "categories": (
        "values",
        "Neighbourhoods of invented people",
        "The neighbourhoods in which 200 invented people live.",
    ),
}
"""The kind, the title and a sentence of each example."""


def empty_data(source: str, title: str, name: str | None = None) -> dict[str, Any]:
    """Return the fields of what the studio keeps of data, for places."""
    return {
        "kind": "places",
        "source": source,
        "title": title,
        "name": name or title,
        "rows": 0,
        "notes": [],
        "users": None,
        "columns": [],
        "region": None,
        "tables": {},
        "file": None,
    }


def example_data(key: str) -> dict[str, Any]:
    """Return what the studio keeps of an example."""
    kind, title, sentence = EXAMPLES[key]
    notes = ["This is synthetic: it holds no one's data."]
    data = empty_data(key, title, key) | {"kind": kind, "notes": notes, "sentence": sentence}
    if key == "ages":
        counts = {str(FIRST_AGE + at): count for at, count in enumerate(_AGES)}
        return data | {"tables": {"age": counts}, "rows": sum(_AGES), "columns": ["age"]}
    city: Any = synthetic_city()
    if key == "city":
        return data | places_data(city) | {"notes": [*notes, *city.notes]}
    homes = dict(zip(city.user.tolist(), city.attributes["area"].tolist(), strict=True))
    counts = Counter(sorted(homes.values()))
    return data | {"tables": {"quarter": counts}, "rows": len(homes), "columns": ["quarter"]}


def places_data(visits: Any) -> dict[str, Any]:
    """Return what the studio keeps of visits: how many, of whom, and where."""
    users = len(visits.users()) if visits.user is not None else None
    return {
        "rows": len(visits),
        "users": users,
        "columns": sorted(visits.attributes),
        "region": sides_of(visits.region(trim=0.01)),
        "notes": [*visits.notes, f"The visits are at {whereabouts(visits.lat, visits.lon)}."],
    }
