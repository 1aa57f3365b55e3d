"""Studies: mechanisms compared, and published experiments done again."""

from .compare import Comparison, Row, compare
from .contestants import Contestant, tightened, usual
from .figure import comparison_figure

__all__ = ["Comparison", "Contestant", "Row", "compare", "comparison_figure", "tightened", "usual"]
