"""Follow-ups: spanners, back to the drawing board, PRIVIC and AIPO, on our own cities.

Sources: Bordenabe, Chatzikokolakis and Palamidessi, CCS 2014; Oya, Troncoso and Pérez-González, CCS 2017;
Biswas and Palamidessi, 2022; AIPO, arXiv 2601.09946.
"""

from .aipo import AnchorNoise, AnchorRow, Anchors, anchor_table, anchored, broken
from .drawing_board import (
    CityRow,
    LimitedRow,
    Measure,
    TownRow,
    bits_below,
    board_table,
    means,
    of_mechanism,
    of_noise,
)
from .figures import CAPTIONS, figures
from .privic import CellNoiseRow, EstimateRow, RateRow, RoundRow, stepped
from .regions import CityCells, box_name, grid_ground, spots
from .spanners import SpannerRow, spanned, spanner_table

__all__ = [
    "CAPTIONS",
    "AnchorNoise",
    "AnchorRow",
    "Anchors",
    "CellNoiseRow",
    "CityCells",
    "CityRow",
    "EstimateRow",
    "LimitedRow",
    "Measure",
    "RateRow",
    "RoundRow",
    "SpannerRow",
    "TownRow",
    "anchor_table",
    "anchored",
    "bits_below",
    "board_table",
    "box_name",
    "broken",
    "figures",
    "grid_ground",
    "means",
    "of_mechanism",
    "of_noise",
    "spanned",
    "spanner_table",
    "spots",
    "stepped",
]
