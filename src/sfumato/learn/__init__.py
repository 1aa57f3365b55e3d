"""Learned mechanisms and learned estimates; torch is needed only to train and to draw."""

from .behind import learn_behind, mixed_to_bound
from .classifier import NeuralClassifier
from .experiment import (
    EXPERIMENT_1,
    EXPERIMENT_2,
    Comparison,
    Experiment,
    LaplaceDraws,
    NoNoise,
    Outcome,
    TableDraws,
    compare,
    learn_square,
    run_experiment,
)
from .finite import Counted, Guaranteed, counted, with_guarantee
from .generator import LearnedGenerator
from .grids import GridError, cell_counts, grid_error, plug_in_error
from .information import InformationBound, information_lower
from .neural import learn_generator
from .pairs import Pairs
from .payoffs import CLASSIFIERS, GENERATORS, Payoffs, payoffs
from .risk import RiskEstimate, estimate_risk
from .rounds import Ending, Round
from .square import loss_of_cells, square_cells, square_data
from .swapping import Swapping, play_swapping
from .table import LearnedTable, learn_table
from .targets import BayesVulnerability, CrossEntropy, FInformation, MutualInformation, Target
from .training import Training
from .utility import AugmentedLagrangian, Softplus, Utility

__all__ = [
    "CLASSIFIERS",
    "EXPERIMENT_1",
    "EXPERIMENT_2",
    "GENERATORS",
    "AugmentedLagrangian",
    "BayesVulnerability",
    "Comparison",
    "Counted",
    "CrossEntropy",
    "Ending",
    "Experiment",
    "FInformation",
    "GridError",
    "Guaranteed",
    "InformationBound",
    "LaplaceDraws",
    "LearnedGenerator",
    "LearnedTable",
    "MutualInformation",
    "NeuralClassifier",
    "NoNoise",
    "Outcome",
    "Pairs",
    "Payoffs",
    "RiskEstimate",
    "Round",
    "Softplus",
    "Swapping",
    "TableDraws",
    "Target",
    "Training",
    "Utility",
    "cell_counts",
    "compare",
    "counted",
    "estimate_risk",
    "grid_error",
    "information_lower",
    "learn_behind",
    "learn_generator",
    "learn_square",
    "learn_table",
    "loss_of_cells",
    "mixed_to_bound",
    "payoffs",
    "play_swapping",
    "plug_in_error",
    "run_experiment",
    "square_cells",
    "square_data",
    "with_guarantee",
]
