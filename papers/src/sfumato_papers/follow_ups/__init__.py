"""Follow-ups: spanners, back to the drawing board, PRIVIC and AIPO, on our own cities.

Sources: Bordenabe, Chatzikokolakis and Palamidessi, CCS 2014; Oya, Troncoso and Pérez-González, CCS 2017;
Biswas and Palamidessi, 2022; AIPO, arXiv 2601.09946.
"""

from .anchors import AnchorNoise, Anchors, anchored, broken
from .anchors_beside import AnchorRow
from .claims_drawing_board import Mean, means
from .drawing_board import CityRow, LimitedRow, TownRow
from .figures import CAPTIONS, figures
from .grounds import CityCells, VisitedPlaces, box_name, grid_ground, spots
from .measure import Measure, bits_below, of_mechanism, of_noise
from .rounds import CellNoiseRow, EstimateRow, RateRow, RoundRow, stepped
from .spanners import SpannerRow, spanned
from .words import anchor_table, board_table, spanner_table

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
    "Mean",
    "Measure",
    "RateRow",
    "RoundRow",
    "SpannerRow",
    "TownRow",
    "VisitedPlaces",
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
