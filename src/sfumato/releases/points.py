"""Releasing points: those that noise for coordinates serves, and what becomes of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.frozen import Short
from ..errors import DataError, argument
from ..geo import Visits
from ..mechanisms.planar import CoordinateNoise


@dataclass(frozen=True, slots=True, repr=False)
class RowsToBlur(Short):
    """The rows of a table for which a report is drawn.

    Attributes:
        kept: Which rows are kept, array (n,).
        moved: How many rows beyond the reach are to be moved to it first.
    """

    kept: NDArray[np.bool_]
    moved: int


def rows_to_blur(noise: CoordinateNoise, visits: Visits, outside: str | None) -> RowsToBlur:
    """Return for which visits a report is drawn.

    Args:
        noise: The noise.
        visits: Where people truly are.
        outside: What to do beyond the noise's reach: ``error``, ``nearest`` or ``drop``; None is ``nearest`` as
            long as half of the visits are within it.

    Raises:
        DataError: If a visit is beyond the reach and this is refused, or none is within it.
    """
    served = noise.serves(visits.lat, visits.lon)
    away = int((~served).sum())
    moving = outside == "nearest" or (outside is None and 2 * away <= len(visits))
    if away and not moving and outside != "drop":
        raise DataError(
            f"{away:,} of {len(visits):,} rows are not served: they are more than {noise.reach_m / 1000:,.6g} km "
            f"from the centre (the first is number {int(np.argmin(served)) + 1}).",
            "check that noise and data belong together, and that latitude and longitude are not swapped",
            f"pass {argument('outside', 'nearest')} to move them to the nearest point that is served",
            f"pass {argument('outside', 'drop')} to leave them out",
            "design the noise for a wider region.",
        )
    if not served.any() and outside == "drop":
        raise DataError("no row is where the noise serves.", "check that noise and data belong together.")
    kept = served if outside == "drop" else np.ones(len(visits), dtype=bool)
    return RowsToBlur(kept, away if moving else 0)
