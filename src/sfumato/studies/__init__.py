"""Studies: mechanisms compared on one prior, and published experiments done again, each in a folder of its own."""

from .comparison import Comparison, ComparisonRow, Contestant, compare, comparison_figure, tightened, usual
from .results import Results, save

__all__ = [
    "Comparison",
    "ComparisonRow",
    "Contestant",
    "Results",
    "compare",
    "comparison_figure",
    "save",
    "tightened",
    "usual",
]
