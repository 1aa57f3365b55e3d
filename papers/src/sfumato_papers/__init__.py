"""Studies: reproductions of published experiments, one folder each."""

from . import wild
from .results import rows_of

__all__ = ["rows_of", "wild"]
