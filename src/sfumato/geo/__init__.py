"""Places: reading visits, projecting them, and dividing the ground into cells."""

from .city import synthetic_city
from .described import places_from
from .grid import Grid
from .hexagons import Hexagons
from .lattice import Lattice
from .places import MOST_CELLS, Cells, Places
from .projection import Projection
from .read import FORMATS, read_visits
from .region import Region
from .visits import Visits

__all__ = [
    "FORMATS",
    "MOST_CELLS",
    "Cells",
    "Grid",
    "Hexagons",
    "Lattice",
    "Places",
    "Projection",
    "Region",
    "Visits",
    "places_from",
    "read_visits",
    "synthetic_city",
]
