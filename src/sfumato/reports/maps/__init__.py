"""Maps: outlines to draw on, contours around places, and what a reader needs to find their way."""

from .drawing import (
    bar_length,
    draw_contours,
    draw_credit,
    draw_names,
    draw_outline,
    north_arrow,
    often_cells,
    scale_bar,
)
from .outline import Name, Outline, Shape, check_there, most_visited, outline, outline_of, world_outline

__all__ = [
    "Name",
    "Outline",
    "Shape",
    "bar_length",
    "check_there",
    "draw_contours",
    "draw_credit",
    "draw_names",
    "draw_outline",
    "most_visited",
    "north_arrow",
    "often_cells",
    "outline",
    "outline_of",
    "scale_bar",
    "world_outline",
]
