"""Designs for coordinates: the spacing of a lattice, and lower bounds for a guarantee per metre."""

from .bound import CoordinateBound, Round, coordinate_bound
from .rival import certify_noise
from .spacing import LatticeChoice, check_lattice, choose_lattice, place_lattice, place_problem

__all__ = [
    "CoordinateBound",
    "LatticeChoice",
    "Round",
    "certify_noise",
    "check_lattice",
    "choose_lattice",
    "coordinate_bound",
    "place_lattice",
    "place_problem",
]
