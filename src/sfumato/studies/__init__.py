"""Studies: mechanisms compared on one prior, and published experiments done again, each in a folder of its own."""

from .comparison import (
    ANY,
    CELLS,
    NOT_REACHED,
    Comparison,
    ComparisonRow,
    Contestant,
    PlaceComparison,
    PlaceRow,
    Street,
    compare,
    compare_places,
    comparison_figure,
    places_figure,
    street,
    street_figure,
    tightened,
    usual,
)
from .options import StudyOptions, study_options
from .results import Results, save

__all__ = [
    "ANY",
    "CELLS",
    "NOT_REACHED",
    "Comparison",
    "ComparisonRow",
    "Contestant",
    "PlaceComparison",
    "PlaceRow",
    "Results",
    "Street",
    "StudyOptions",
    "compare",
    "compare_places",
    "comparison_figure",
    "places_figure",
    "save",
    "street",
    "street_figure",
    "study_options",
    "tightened",
    "usual",
]
