"""Comparison of mechanisms on one prior or for places, at equal epsilon or at equal loss."""

from .compare_runs import compare
from .comparison_rows import Comparison, ComparisonRow, row_tables, row_words
from .contestants import Contestant, tightened, usual
from .figure import comparison_figure
from .page import comparison_page
from .place_contestants import CELLS
from .place_rows import ANY, PlaceComparison, PlaceRow
from .place_words import place_tables, place_words
from .places import compare_places
from .places_figure import places_figure
from .shared_time import NOT_REACHED
from .street import Street, street, street_figure
from .tuples import DRAWS

__all__ = [
    "ANY",
    "CELLS",
    "DRAWS",
    "NOT_REACHED",
    "Comparison",
    "ComparisonRow",
    "Contestant",
    "PlaceComparison",
    "PlaceRow",
    "Street",
    "compare",
    "compare_places",
    "comparison_figure",
    "comparison_page",
    "place_tables",
    "place_words",
    "places_figure",
    "row_tables",
    "row_words",
    "street",
    "street_figure",
    "tightened",
    "usual",
]
