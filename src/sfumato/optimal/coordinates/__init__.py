"""Designs for coordinates: the spacing of a lattice, and lower bounds for a guarantee per metre."""

from .bound import CoordinateBound, Round, coordinate_bound
from .rival import certify_noise
from .spacing import SuitedLattice, check_lattice, suited_lattice

__all__ = [
    "CoordinateBound",
    "Round",
    "SuitedLattice",
    "certify_noise",
    "check_lattice",
    "coordinate_bound",
    "suited_lattice",
]
