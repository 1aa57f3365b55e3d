"""Releasing points: every true point becomes a report drawn by noise for coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..core.frozen import Short
from ..errors import DataError, argument
from ..geo import Visits
from ..mechanisms.planar import CoordinateNoise
from ..sampling import Sampler


@dataclass(frozen=True, slots=True, repr=False)
class BlurredRows(Short):
    """The reports for the rows of a table.

    Attributes:
        reports: Latitudes and longitudes, array (k, 2), of the rows that are kept.
        kept: Which rows are kept, array (n,).
        moved: How many rows beyond the reach were moved to it first.
    """

    reports: Floats
    kept: NDArray[np.bool_]
    moved: int


def blurred_rows(noise: CoordinateNoise, visits: Visits, outside: str | None) -> BlurredRows:
    """Draw a report for each visit.

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
    draw = Sampler(noise).blur
    lat, lon = visits.lat[kept], visits.lon[kept]
    reports = draw(lat, lon, outside="nearest" if moving else "error")
    return BlurredRows(reports, kept, away if moving else 0)
