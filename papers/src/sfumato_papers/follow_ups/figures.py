"""All figures of the follow-ups, with what they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..reproduction import RunTables
from .anchors_beside import ANCHORS, AnchorRow
from .claims_drawing_board import means
from .drawing_board import BOARD, CITIES, TOWN, CityRow, TownRow
from .figure_anchors import anchors_figure
from .figure_drawing_board import board_figure, remap_figure, town_figure
from .figure_rounds import places_figure, rounds_figure
from .figure_spanners import spanners_figure, times_figure
from .measure import Measure
from .rounds import PLACES, ROUNDS, CellNoiseRow, RoundRow
from .spanners import SPANNER_TIMES, SPANNERS, SpannerRow, SpannerTime

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS: Final = {
    SPANNERS: "Spanners. Left: proved loss above the least one, by the realised dilation. Right: "
    "rows of the program, for the smallest dilation (lines), the largest (dots) and all pairs (dashed).",
    SPANNER_TIMES: "Seconds of one program on the grid, by the number of places: the structured method and HiGHS.",
    BOARD: "How much less entropy than ExPost mechanisms have at equal loss, after the best remap, here and as "
    "published for San Francisco. ExPost's entropy is interpolated between its points.",
    "board-remap": "Share of the loss of noise that the remap removes, by the mean length of the noise. Dots: "
    "published for San Francisco.",
    TOWN: "Entropy against loss on 5 x 5 cells, of two optima of one program, ExPost and the coin.",
    ROUNDS: "PRIVIC: the earth mover's distance of each round's estimate from all check-ins, for the first slope, "
    "means over seeds with intervals of 95 %.",
    PLACES: "PRIVIC: the mean distance of reports from the visited cell with fewest visits near it (lines) and "
    "from the most visited cell (dashed), at equal tight epsilon.",
    ANCHORS: "AIPO: loss of the true point against epsilon. Dotted: mechanisms without a guarantee between "
    "points. Dashed: proved lower bound for all mechanisms with this epsilon.",
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return all figures, by the names of their files without ending."""
    found, cities = means(tables.rows(BOARD, Measure)), tables.rows(CITIES, CityRow)
    return {
        SPANNERS: spanners_figure(tables.rows(SPANNERS, SpannerRow)),
        SPANNER_TIMES: times_figure(tables.rows(SPANNER_TIMES, SpannerTime)),
        BOARD: board_figure(found, cities),
        "board-remap": remap_figure(found, cities),
        TOWN: town_figure(tables.rows(TOWN, TownRow)),
        ROUNDS: rounds_figure(tables.rows(ROUNDS, RoundRow)),
        PLACES: places_figure(tables.rows(PLACES, CellNoiseRow)),
        ANCHORS: anchors_figure(tables.rows(ANCHORS, AnchorRow)),
    }
