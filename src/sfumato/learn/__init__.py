"""Learned mechanisms and learned estimates; torch is needed only to train and to draw."""

from .behind import learn_behind, mixed_to_loss, promised_within
from .classifier import NeuralClassifier
from .finite import Counted, Draws, Guaranteed, counted, with_guarantee
from .generator import LearnedGenerator, repeated
from .grids import GridError, cell_counts, grid_error, plug_in_error
from .hiding import Hiding, hiding
from .information import InformationBound, information_lower
from .neural import learn_generator
from .pairs import Pairs, nearest
from .risk import RiskEstimate, estimate_risk
from .rounds import Ending, TrainingRound
from .table import LearnedTable, learn_table
from .targets import BayesVulnerability, CrossEntropy, FInformation, MutualInformation, Target
from .training import Training
from .utility import AugmentedLagrangian, Softplus, Utility

__all__ = [
    "AugmentedLagrangian",
    "BayesVulnerability",
    "Counted",
    "CrossEntropy",
    "Draws",
    "Ending",
    "FInformation",
    "GridError",
    "Guaranteed",
    "Hiding",
    "InformationBound",
    "LearnedGenerator",
    "LearnedTable",
    "MutualInformation",
    "NeuralClassifier",
    "Pairs",
    "RiskEstimate",
    "Softplus",
    "Target",
    "Training",
    "TrainingRound",
    "Utility",
    "cell_counts",
    "counted",
    "estimate_risk",
    "grid_error",
    "hiding",
    "information_lower",
    "learn_behind",
    "learn_generator",
    "learn_table",
    "mixed_to_loss",
    "nearest",
    "plug_in_error",
    "promised_within",
    "repeated",
    "with_guarantee",
]
