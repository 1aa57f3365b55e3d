"""Designs for coordinates: the spacing of a lattice, and lower bounds for a guarantee per metre."""

from .bound import CoordinateBound, coordinate_bound

__all__ = ["CoordinateBound", "coordinate_bound"]
