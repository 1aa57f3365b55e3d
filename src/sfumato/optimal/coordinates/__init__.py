"""Designs for coordinates: the spacing of a lattice, and lower bounds for a guarantee per metre."""
