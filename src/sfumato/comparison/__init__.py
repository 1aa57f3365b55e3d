"""Comparison of mechanisms on one prior or for places, at equal epsilon or at equal loss."""

from .engine import ANY, NOT_REACHED
from .place_results import CELLS, PlaceComparison, PlaceRow
from .places import compare, compare_places
from .prior_results import DRAWS, PriorComparison, PriorRow
from .priors import ParametricFamily, calibrate, compare_priors, default_families
from .results import Comparison, ComparisonRow
from .street import Street, street, street_figure

__all__ = [
    "ANY",
    "CELLS",
    "DRAWS",
    "NOT_REACHED",
    "Comparison",
    "ComparisonRow",
    "ParametricFamily",
    "PlaceComparison",
    "PlaceRow",
    "PriorComparison",
    "PriorRow",
    "Street",
    "calibrate",
    "compare",
    "compare_places",
    "compare_priors",
    "default_families",
    "street",
    "street_figure",
]
