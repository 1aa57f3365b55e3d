"""Studies: mechanisms compared on one prior, and published experiments done again, each in a folder of its own."""

from .comparison import Comparison, ComparisonRow, Contestant, compare, comparison_figure, tightened, usual
from .options import StudyOptions, study_options
from .results import Results, save

__all__ = [
    "Comparison",
    "ComparisonRow",
    "Contestant",
    "Results",
    "StudyOptions",
    "compare",
    "comparison_figure",
    "save",
    "study_options",
    "tightened",
    "usual",
]
