"""Accepted names of users and places: one spelling each."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Set
from typing import Any, Final

import numpy as np

from ..errors import InputError, argument, row_value
from ..escaping import unseen
from ..tables import without_fraction

LONGEST: Final = 256


def accepted(name: object, what: str) -> str:
    """Return a name in Unicode's normal form C; refuse what is empty, over 256 characters or partly invisible.

    ``Ada`` and ``ada`` are two names. ``1.0`` is the name ``1``, as in tables.
    """
    if not isinstance(name, str):
        raise InputError(
            f"the name of {what} is of type {type(name).__name__}, but a text is needed.",
            "make it one with str().",
        )
    name = str.__str__(name)  # of numpy's texts, or of an enumeration, the text alone
    if name.isascii() and name.isprintable() and 0 < len(name) <= LONGEST and name.strip() == name:
        return without_fraction(name) if name.endswith("0") else name
    if not name.strip():
        raise InputError(f"the name of {what} is empty.", "pass a text that is not empty.")
    if len(name) > LONGEST:
        raise InputError(
            f"the name of {what} has {len(name):,} characters{row_value(f' ({name[:20]!r}...)', '')}.",
            f"use at most {LONGEST}; a hash of it would do.",
        )
    if name.strip() != name:
        raise InputError(
            f"the name of {what}{row_value(f' {name!r}', '')} begins or ends with a blank.", "strip it first."
        )
    if reason := unseen(name):
        raise InputError(
            f"the name of {what}{row_value(f' {name!r}', '')} has {reason}.",
            "take it out: two names that look alike would be two.",
        )
    composed = unicodedata.normalize("NFC", name)
    if len(composed) > LONGEST:
        raise InputError(
            f"the name of {what} has {len(composed):,} characters{row_value(f' ({name[:20]!r}...)', '')}.",
            f"use at most {LONGEST}.",
        )
    return composed


def place_of(place: object) -> str:
    """Return the accepted name of a visit's place; empty for None, an empty text, NaN, NA and NaT."""
    if isinstance(place, str):
        return accepted(place, "the place") if place else ""
    missing = place is None or type(place).__name__ in ("NAType", "NaTType")
    if missing or (isinstance(place, float | np.floating) and bool(np.isnan(place))):
        return ""
    return accepted(place, "the place")


def listed(values: Any, name: str) -> list[Any]:
    """Return the values of a list, an array or a column; refuse a single text, which is also a sequence."""
    several = hasattr(values, "__len__") and hasattr(values, "__iter__") and getattr(values, "ndim", 1) == 1
    if not several or isinstance(values, str | bytes | bytearray | Mapping | Set):
        raise InputError(
            f"{argument(name)} is of type {type(values).__name__}, but a list is needed.",
            "pass a list of one value for each visit.",
        )
    return list(values)
