"""Maps: outlines to draw on, where a place is reported most often, and what a reader needs to find their way."""

from .drawing import (
    bar_length,
    by_cell,
    draw_names,
    draw_often,
    draw_outline,
    north_arrow,
    often,
    often_cells,
    scale_bar,
)
from .outline import Name, Outline, Shape, check_there, invented_outline, most_visited, outline, outline_of

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
