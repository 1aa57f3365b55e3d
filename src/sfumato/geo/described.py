"""Cells from their description, as a mechanism file keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from .grid import Grid
from .hexagons import Hexagons
from .lattice import Lattice
from .places import Places


def places_from(description: Mapping[str, Any]) -> Places:
    """Return the grid, hexagons or lattice that `Places.describe` described.

    Raises:
        InputError: If the description is of another kind, damaged, or contradicts itself.
    """
    kind = description.get("kind")
    found: Places
    if kind == "grid":
        found = Grid.from_description(description)
    elif kind == "hexagons":
        found = Hexagons.from_description(description)
    elif kind == "lattice":
        found = Lattice.from_description(description)
    else:
        raise InputError(
            f"the kind {kind!r} does not describe places.",
            "it must be of the kind 'grid', 'hexagons' or 'lattice'.",
        )
    built = found.describe()
    wrong = [key for key in {**description, **built} if description.get(key) != built.get(key)]
    if wrong:
        raise InputError(
            f"the description of places contradicts itself: its {wrong[0]} is {description.get(wrong[0])!r}, but "
            f"its cells have {built.get(wrong[0])!r}.",
            "use a description as sfumato writes it.",
        )
    return found
