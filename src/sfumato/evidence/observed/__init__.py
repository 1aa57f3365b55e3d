"""Bounds that samples and black boxes show: they hold with a stated probability, and prove no promise."""

from .bins import Bins, FineBits, Halvings, IntervalBins, RectangleBins, quantile_bins
from .decide import Decision, Stop, decide
from .estimated import total_variation_radius
from .guessing import GuessingEstimate, estimate_guessing
from .independence import PermutationTest, dependence_test, zero_leakage_test
from .information import InformationEstimate, estimate_information
from .lower_bounds import DeltaFinding, EpsilonFinding, delta_lower, epsilon_lower
from .repetition import RepetitionEstimate, repetition, repetition_of
from .sample import Sample

__all__ = [
    "Bins",
    "Decision",
    "DeltaFinding",
    "EpsilonFinding",
    "FineBits",
    "GuessingEstimate",
    "Halvings",
    "InformationEstimate",
    "IntervalBins",
    "PermutationTest",
    "RectangleBins",
    "RepetitionEstimate",
    "Sample",
    "Stop",
    "decide",
    "delta_lower",
    "dependence_test",
    "epsilon_lower",
    "estimate_guessing",
    "estimate_information",
    "quantile_bins",
    "repetition",
    "repetition_of",
    "total_variation_radius",
    "zero_leakage_test",
]
