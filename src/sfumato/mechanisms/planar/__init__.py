"""Noise for coordinates: planar geometric noise on a fine lattice, drawn exactly, and its Bayes remap."""

from .coarsening import Coarsening, coarsened
from .coordinate_noise import CoordinateNoise
from .lattice_noise import LatticeNoise
from .quadrature import PlaneError
from .remap import PlaneRemap, RemapWindow
from .shares import TableShares, table_shares

__all__ = [
    "Coarsening",
    "CoordinateNoise",
    "LatticeNoise",
    "PlaneError",
    "PlaneRemap",
    "RemapWindow",
    "TableShares",
    "coarsened",
    "table_shares",
]
