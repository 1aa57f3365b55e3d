"""Places: reading visits, projecting them, and dividing the ground into cells."""

from .cells import Cells
from .city import synthetic_city
from .described import places_from
from .grid import Grid
from .hexagons import Hexagons
from .lattice import Lattice
from .places import Places
from .projection import Projection
from .read import FORMATS, read_visits
from .region import Region
from .sizes import MOST_CELLS
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
