"""Places: reading visits, projecting them, and dividing the ground into cells."""

from .cells import Cells
from .chosen import ChosenPlaces, among
from .city import synthetic_city
from .described import places_from
from .even import repeat_by_weight, spread_evenly
from .formats import IN_DEGREES, PEOPLE, People, PlaceColumns, RawVisits, check_people, no_files
from .grid import Grid
from .hexagons import Hexagons
from .lattice import Lattice
from .places import Places
from .polygon import Polygon
from .projection import Projection
from .read import FORMATS, check_skip, check_table_of_text, read_visits, rows_without_columns
from .region import Region
from .sizes import MOST_CELLS
from .visits import Visits

__all__ = [
    "FORMATS",
    "IN_DEGREES",
    "MOST_CELLS",
    "PEOPLE",
    "Cells",
    "ChosenPlaces",
    "Grid",
    "Hexagons",
    "Lattice",
    "People",
    "PlaceColumns",
    "Places",
    "Polygon",
    "Projection",
    "RawVisits",
    "Region",
    "Visits",
    "among",
    "check_people",
    "check_skip",
    "check_table_of_text",
    "no_files",
    "places_from",
    "read_visits",
    "repeat_by_weight",
    "rows_without_columns",
    "spread_evenly",
    "synthetic_city",
]
