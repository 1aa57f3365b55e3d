"""Some of the places of a grid, hexagons or a lattice: reports that a mechanism makes, where it makes few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Space
from ..core.arguments import checked
from ..core.arrays import Floats, integer, readonly
from ..errors import InputError
from .places import Places


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChosenPlaces(Space):
    """Some places of a grid, hexagons or a lattice, as reports. They keep their labels and coordinates.

    Args:
        places: All places.
        chosen: Positions of the chosen ones, ascending, array (k,).

    Attributes:
        places: All places.
        chosen: Positions of the chosen ones, array (k,).

    Raises:
        InputError: If the positions are not those of places, or not ascending.
    """

    places: Places = field(init=False)
    chosen: NDArray[np.intp] = field(init=False)

    @checked
    def __init__(self, places: Places, chosen: ArrayLike) -> None:
        given = np.asarray(chosen)
        found = [integer(position) for position in given.tolist()] if given.ndim == 1 else []
        if not found or None in found:
            raise InputError("the chosen places are not a list of positions.", "pass whole numbers from 0.")
        positions = given.astype(np.intp)
        if (np.diff(positions) <= 0).any() or positions[0] < 0 or positions[-1] >= len(places):
            raise InputError(
                f"the chosen places are not ascending positions from 0 to {len(places) - 1:,}.",
                "sort them, and give each once.",
            )
        coordinates = None if places.coordinates is None else places.coordinates[positions]
        labels = [places.labels[position] for position in positions]
        Space.__init__(self, labels, coordinates, places.unit, places.crs)
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "chosen", readonly(positions))

    def confirms_coordinates(self, secrets: Space) -> bool:
        """Whether coordinates follow: those of reports do from the places that rows are matched with."""
        return secrets == self.places

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.places, self.chosen)

    def __repr__(self) -> str:
        return f"{len(self)} of the places of a {self.places!r}"

    @property
    def latlon(self) -> Floats:
        """The chosen places as latitude and longitude in degrees, array (k, 2)."""
        return readonly(self.places.latlon[self.chosen])


def among(space: Space, chosen: NDArray[np.intp]) -> Space | None:
    """Return some members of a space as one of their own; None where its kind has no such parts.

    Args:
        space: The space.
        chosen: Positions, ascending.
    """
    if isinstance(space, Places):
        return ChosenPlaces(space, chosen)
    if isinstance(space, ChosenPlaces):
        return ChosenPlaces(space.places, space.chosen[chosen])
    if type(space) is not Space:
        return None
    coordinates = None if space.coordinates is None else space.coordinates[chosen]
    return Space([space.labels[position] for position in chosen], coordinates, space.unit, space.crs)
