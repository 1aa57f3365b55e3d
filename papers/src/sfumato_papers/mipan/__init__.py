"""Learned mechanisms (MI-PAN): a generator and a classifier that learn against each other, and the true optimum.

Source: Romanelli, Palamidessi and Chatzikokolakis, "Optimal Obfuscation Mechanisms via Machine Learning",
CSF 2020.
"""

from .alternation import AlternationRow, alternate
from .contest import Contest, ContestRow, contest, measure, measure_tupling
from .crowd import Hidden, busiest, hidden_in
from .draws import LaplaceDraws, NoNoise, TableDraws
from .experiments import (
    EXPERIMENT_1,
    EXPERIMENT_2,
    GAP,
    Experiment,
    SquareDesign,
    learn_square,
    least_information,
    square_generator,
)
from .figure_games import swapping_figure
from .figure_people import people_figure
from .generators import GeneratorErrors, GridRow, generator_errors
from .guesses import GuessedLabel, GuessTheoremRow, theorem_row
from .parts import MAX_LOSSES_M, CloudCell, CloudPoint
from .square import loss_of_cells, square_cells, square_data
from .swapping import CLASSIFIERS, GENERATORS, PayoffRow, Payoffs, Swapping, SwappingRound, payoffs, play_swapping
from .vocabulary import (
    ANNEALED,
    LAPLACE,
    LEAST_INFORMATION,
    NETWORK,
    NO_NOISE,
    NOISE,
    OPTIMUM,
    SQUARE_GENERATORS,
    TABLE,
    TUPLED,
)
from .words import people_table, square_table

__all__ = [
    "ANNEALED",
    "CLASSIFIERS",
    "EXPERIMENT_1",
    "EXPERIMENT_2",
    "GAP",
    "GENERATORS",
    "LAPLACE",
    "LEAST_INFORMATION",
    "MAX_LOSSES_M",
    "NETWORK",
    "NOISE",
    "NO_NOISE",
    "OPTIMUM",
    "SQUARE_GENERATORS",
    "TABLE",
    "TUPLED",
    "AlternationRow",
    "CloudCell",
    "CloudPoint",
    "Contest",
    "ContestRow",
    "Experiment",
    "GeneratorErrors",
    "GridRow",
    "GuessTheoremRow",
    "GuessedLabel",
    "Hidden",
    "LaplaceDraws",
    "NoNoise",
    "PayoffRow",
    "Payoffs",
    "SquareDesign",
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
