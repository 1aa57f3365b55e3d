"""Maps: outlines to draw on, where a place is reported most often, and what a reader needs to find their way."""

from .drawn import draw_names, draw_often, draw_outline
from .furniture import bar_length, north_arrow, scale_bar
from .invented import invented_outline
from .named import Name, most_visited
from .often import by_cell, often, often_cells
from .outline import Outline, Shape, check_there, outline, outline_of

__all__ = [
    "Name",
    "Outline",
    "Shape",
    "bar_length",
    "by_cell",
    "check_there",
    "draw_names",
    "draw_often",
    "draw_outline",
    "invented_outline",
    "most_visited",
    "north_arrow",
    "often",
    "often_cells",
    "outline",
    "outline_of",
    "scale_bar",
]
