"""Places: reading visits, projecting them, and dividing the ground into cells."""

from .city import synthetic_city
from .described import places_from
from .formats.arrow import ArrowStream
from .grid import Grid
from .hexagons import Hexagons
from .places import MOST_CELLS, Places
from .projection import Projection
from .read import FORMATS, read_visits
from .region import Region
from .spanner import Spanner, direct_pairs, greedy_spanner, neighbours
from .visits import Visits

__all__ = [
    "FORMATS",
    "MOST_CELLS",
    "ArrowStream",
    "Grid",
    "Hexagons",
    "Places",
    "Projection",
    "Region",
    "Spanner",
    "Visits",
    "direct_pairs",
    "greedy_spanner",
    "neighbours",
    "places_from",
    "read_visits",
    "synthetic_city",
]
