"""Follow-ups: spanners, back to the drawing board, PRIVIC and AIPO, on our own cities.

Sources: Bordenabe, Chatzikokolakis and Palamidessi, CCS 2014; Oya, Troncoso and Pérez-González, CCS 2017;
Biswas and Palamidessi, 2022; AIPO, arXiv 2601.09946.
"""

from .aipo import AnchorNoise, AnchorRow, Anchors, anchor_noise, anchor_table
from .drawing_board import CityRow, LimitedRow, Measure, TownRow, board_table, means
from .figures import CAPTIONS, figures
from .privic import CellNoiseRow, EstimateRow, RateRow, RoundRow
from .spanners import SpannerRow, spanner_table

__all__ = [
    "CAPTIONS",
    "AnchorNoise",
    "AnchorRow",
    "Anchors",
    "CellNoiseRow",
    "CityRow",
    "EstimateRow",
    "LimitedRow",
    "Measure",
    "RateRow",
    "RoundRow",
    "SpannerRow",
    "TownRow",
    "anchor_noise",
    "anchor_table",
    "board_table",
    "figures",
    "means",
    "spanner_table",
]
