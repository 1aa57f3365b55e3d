"""Comparison of mechanisms on one prior, at equal epsilon or at equal loss."""

from .compare import Comparison, ComparisonRow, compare
from .contestants import Contestant, tightened, usual
from .figure import comparison_figure
from .tuples import DRAWS

__all__ = [
    "DRAWS",
    "Comparison",
    "ComparisonRow",
    "Contestant",
    "compare",
    "comparison_figure",
    "tightened",
    "usual",
]
