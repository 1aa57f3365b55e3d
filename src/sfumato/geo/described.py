"""Cells from their description, as a mechanism file keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from .grid import Grid
from .hexagons import Hexagons
from .places import Places


def places_from(description: Mapping[str, Any]) -> Places:
    """Return the grid or hexagons that `Places.describe` described.

    Raises:
        InputError: If the description is of another kind, or damaged.
    """
    kind = description.get("kind")
    if kind == "grid":
        return Grid.from_description(description)
    if kind == "hexagons":
        return Hexagons.from_description(description)
    raise InputError(
        f"a description of the kind {kind!r} is none of places.", "it must be of the kind 'grid' or 'hexagons'."
    )
