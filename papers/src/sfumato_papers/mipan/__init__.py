"""Learned mechanisms (MI-PAN): a generator and a classifier that learn against each other, and the true optimum.

Source: Romanelli, Palamidessi and Chatzikokolakis, "Optimal Obfuscation Mechanisms via Machine Learning",
CSF 2020.
"""

from .claims import people_table, square_table
from .contest import ContestRow, contest
from .games import GuessedLabel, SwappingRound, alternate, payoffs, play_swapping, theorem_row
from .paper import people_figure, swapping_figure
from .square import (
    EXPERIMENT_1,
    EXPERIMENT_2,
    GridRow,
    LaplaceDraws,
    TableDraws,
    generator_errors,
    learn_square,
    least_information,
    square_cells,
    square_data,
)

__all__ = [
    "EXPERIMENT_1",
    "EXPERIMENT_2",
    "ContestRow",
    "GridRow",
    "GuessedLabel",
    "LaplaceDraws",
    "SwappingRound",
    "TableDraws",
    "alternate",
    "contest",
    "generator_errors",
    "learn_square",
    "least_information",
    "payoffs",
    "people_figure",
    "people_table",
    "play_swapping",
    "square_cells",
    "square_data",
    "square_table",
    "swapping_figure",
    "theorem_row",
]
