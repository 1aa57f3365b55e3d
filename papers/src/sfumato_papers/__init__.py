"""Studies: reproductions of published experiments, one folder each."""

from . import wild
from .results import Results, rows_of, save

__all__ = [
    "Results",
    "rows_of",
    "save",
    "wild",
]
