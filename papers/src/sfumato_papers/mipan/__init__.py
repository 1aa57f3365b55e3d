"""Learned mechanisms (MI-PAN): a generator and a classifier that learn against each other, and the true optimum.

Source: Romanelli, Palamidessi and Chatzikokolakis, "Optimal Obfuscation Mechanisms via Machine Learning",
CSF 2020.
"""

from .claims import people_table, square_table
from .contest import (
    ContestRow,
    busiest,
    contest,
    hidden_in,
    measure,
    measure_tupling,
)
from .figures import people_figure, swapping_figure
from .games import (
    CLASSIFIERS,
    GENERATORS,
    Swapping,
    SwappingRound,
    alternate,
    payoffs,
    play_swapping,
)
from .generators import (
    ANNEALED,
    LAPLACE,
    LEAST_INFORMATION,
    NO_NOISE,
    NOISE,
    OPTIMUM,
    TABLE,
    TUPLED,
    GridRow,
    LaplaceDraws,
    NoNoise,
    TableDraws,
    generator_errors,
)
from .guesses import GuessedLabel, theorem_row
from .square import (
    EXPERIMENT_1,
    EXPERIMENT_2,
    GAP,
    learn_square,
    least_information,
    loss_of_cells,
    square_cells,
    square_data,
    square_generator,
)

__all__ = [
    "ANNEALED",
    "CLASSIFIERS",
    "EXPERIMENT_1",
    "EXPERIMENT_2",
    "GAP",
    "GENERATORS",
    "LAPLACE",
    "LEAST_INFORMATION",
    "NOISE",
    "NO_NOISE",
    "OPTIMUM",
    "TABLE",
    "TUPLED",
    "ContestRow",
    "GridRow",
    "GuessedLabel",
    "LaplaceDraws",
    "NoNoise",
    "Swapping",
    "SwappingRound",
    "TableDraws",
    "alternate",
    "busiest",
    "contest",
    "generator_errors",
    "hidden_in",
    "learn_square",
    "least_information",
    "loss_of_cells",
    "measure",
    "measure_tupling",
    "payoffs",
    "people_figure",
    "people_table",
    "play_swapping",
    "square_cells",
    "square_data",
    "square_generator",
    "square_table",
    "swapping_figure",
    "theorem_row",
]
