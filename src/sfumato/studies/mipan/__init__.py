"""Learned mechanisms (MI-PAN): a generator and a classifier that learn against each other, and the true optimum.

Source: Romanelli, Palamidessi and Chatzikokolakis, "Generating optimal privacy-protection mechanisms via machine
learning", CSF 2020.
"""

from .contest import DUMMIES, EXPOST, LEARNED, NOISE, REMAP, TUPLED, ContestRow, contest, measure, measure_tupling
from .draws import LaplaceDraws, NoNoise, TableDraws
from .experiments import (
    EXPERIMENT_1,
    EXPERIMENT_2,
    GAP,
    NETWORK,
    OPTIMUM,
    Experiment,
    ExperimentResult,
    learn_square,
    run_experiment,
    with_optimum_and_network,
)
from .figure import contest_figure, figures, swapping_figure
from .generators import GeneratorErrors, generator_errors
from .square import loss_of_cells, square_cells, square_data
from .study import MAX_LOSSES_M, MipanResults, study
from .swapping import CLASSIFIERS, GENERATORS, Payoffs, Swapping, payoffs, play_swapping

__all__ = [
    "CLASSIFIERS",
    "DUMMIES",
    "EXPERIMENT_1",
    "EXPERIMENT_2",
    "EXPOST",
    "GAP",
    "GENERATORS",
    "LEARNED",
    "MAX_LOSSES_M",
    "NETWORK",
    "NOISE",
    "OPTIMUM",
    "REMAP",
    "TUPLED",
    "ContestRow",
    "Experiment",
    "ExperimentResult",
    "GeneratorErrors",
    "LaplaceDraws",
    "MipanResults",
    "NoNoise",
    "Payoffs",
    "Swapping",
    "TableDraws",
    "contest",
    "contest_figure",
    "figures",
    "generator_errors",
    "learn_square",
    "loss_of_cells",
    "measure",
    "measure_tupling",
    "payoffs",
    "play_swapping",
    "run_experiment",
    "square_cells",
    "square_data",
    "study",
    "swapping_figure",
    "with_optimum_and_network",
]
