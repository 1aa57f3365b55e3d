"""Studies: published experiments done again, each in a folder of its own."""

from . import wild
from .results import Results, rows_of, save

__all__ = [
    "Results",
    "rows_of",
    "save",
    "wild",
]
