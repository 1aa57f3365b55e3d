"""The schemes, each in a file of its own with its facts and sources."""

from typing import Final

from .android import DRIFTING, OFFSET
from .biodiversity import GENERALISED, LATITUDE, OBSCURED
from .browsers import FIXED_GRID, GRID_CELLS
from .dating import ROUNDED_DISTANCE
from .location_guard import GUARD_RADIUS_M, LOCATION_GUARD
from .masks import DONUT
from .mesh import MESH, mesh_cells
from .surveys import DISPLACED
from .trips import COMMON_TRIP, RARE_TRIP, TRACT
from .zones import CENTRED_ZONE, SHIFTED_ZONE

SCHEMES: Final = (
    FIXED_GRID,
    DRIFTING,
    LOCATION_GUARD,
    MESH,
    OBSCURED,
    *GENERALISED,
    *DISPLACED,
    DONUT,
    COMMON_TRIP,
    RARE_TRIP,
    TRACT,
    CENTRED_ZONE,
    SHIFTED_ZONE,
    ROUNDED_DISTANCE,
)
"""All schemes, in the order of the page."""

__all__ = [
    "CENTRED_ZONE",
    "DRIFTING",
    "FIXED_GRID",
    "GRID_CELLS",
    "GUARD_RADIUS_M",
    "LATITUDE",
    "OFFSET",
    "SCHEMES",
    "SHIFTED_ZONE",
    "mesh_cells",
]
