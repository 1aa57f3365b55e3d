"""Places on a plane, and how much the plane may stretch what lies on the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import Floats, floats
from ...core.immutable import CompactRepr
from ...errors import InputError
from ...geo import Visits
from ...geo.projection import Projection


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ground(CompactRepr):
    """Places on a plane.

    Distances on the ground are no longer than on the plane, and at least those divided by the stretch.

    Attributes:
        places: Array (n, 2), metres.
        stretch: At least 1; for all points within twice the places' distance from the centre.
    """

    places: Floats
    stretch: float


def on_plane(places: Visits | ArrayLike) -> Ground:
    """Return the places on a plane.

    Args:
        places: Visits, projected around their middle; or an array (n, 2) of metres, on a plane of their own,
            whose distances then count.

    Raises:
        InputError: If there is none, or they reach too far for a plane.
    """
    if not isinstance(places, Visits):
        given = floats(places, "the places", shape=(None, 2))
        if len(given) == 0:
            raise InputError("there is no place.", "pass at least one.")
        return Ground(given + 0.0, 1.0)  # no negative zeros: they are the same place
    projection = Projection(*places.region().centre)
    xy = projection.forward(places.lat, places.lon)
    projection.check_reach(xy)
    reach = 2 * float(np.hypot(*xy.T).max()) * (1 + 1e-9)
    return Ground(xy, projection.stretch(reach))
