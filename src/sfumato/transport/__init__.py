"""Couplings of two distributions, what they cost, and the relations they lift."""

from .coupling import Coupling
from .lifting import Lifting, OptimalLifting, lifting, optimal_lifting
from .north_west import north_west_corner
from .wasserstein import Wasserstein, wasserstein

__all__ = [
    "Coupling",
    "Lifting",
    "OptimalLifting",
    "Wasserstein",
    "lifting",
    "north_west_corner",
    "optimal_lifting",
    "wasserstein",
]
