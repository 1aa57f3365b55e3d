"""The reach of noise for coordinates: its slack, how much its plane stretches, and places beyond it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from ...core.arrays import Floats
from ...errors import InputError
from ...geo import Projection
from ...geo.convex import pulled_in
from ...geo.projection import LIMIT_KM
from ...rounding import up

PROJECTED_M: Final = 1e-6
"""How far a projected place may be from where exact arithmetic puts it, in metres: some nanometres at most."""

_MOVED: Final = 1e-12  # of the reach: by how much rounding may leave a place beyond it


def slack(step_m: Fraction, *, projected: bool) -> float:
    """Return the slack of a lattice in metres, rounded up: twice how far a place is from its lattice point."""
    found = math.sqrt(2.0) * float(step_m) * (1 + 2.0**-50)
    return up(found + 2 * PROJECTED_M) if projected else up(found)


def stretch(reach_m: float) -> float:
    """Return by how much the azimuthal equidistant plane stretches distances within a reach, rounded up.

    Raises:
        InputError: If the reach is not positive, or beyond the limit of projections.
    """
    if not 0 < reach_m <= 1000 * LIMIT_KM:
        raise InputError(
            f"the reach {reach_m:g} m is not above 0 and up to {LIMIT_KM:,} km.",
            "use the size of the town or country.",
        )
    return Projection(0.0, 0.0).stretch(reach_m * (1 + _MOVED))


def within(points_m: Floats, reach_m: float) -> Floats:
    """Return places, those beyond a reach moved straight to it, on the far side of the Earth to the centre.

    Args:
        points_m: Array (n, 2), metres from the centre.
        reach_m: In metres; infinite where nothing is moved.
    """
    return points_m if math.isinf(reach_m) else pulled_in(points_m, reach_m)
