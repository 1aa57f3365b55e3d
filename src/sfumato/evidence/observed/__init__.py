"""What samples and black boxes show: bounds that hold with a stated probability, and no more."""

from .cells import Cells, FineBits, Halvings, Intervals, Rectangles, quantile_cells
from .decide import Decision, Stop, decide
from .delta import DeltaFinding, delta_lower
from .dependence import dependence_test
from .epsilon import EpsilonFinding, epsilon_lower
from .guessing import GuessingEstimate, estimate_guessing
from .independence import zero_leakage_test
from .information import InformationEstimate, estimate_information
from .permutation import PermutationTest
from .repetition import Repetition, repetition, repetition_of
from .sample import Sample

__all__ = [
    "Cells",
    "Decision",
    "DeltaFinding",
    "EpsilonFinding",
    "FineBits",
    "GuessingEstimate",
    "Halvings",
    "InformationEstimate",
    "Intervals",
    "PermutationTest",
    "Rectangles",
    "Repetition",
    "Sample",
    "Stop",
    "decide",
    "delta_lower",
    "dependence_test",
    "epsilon_lower",
    "estimate_guessing",
    "estimate_information",
    "quantile_cells",
    "repetition",
    "repetition_of",
    "zero_leakage_test",
]
