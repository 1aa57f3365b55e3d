"""Noise for coordinates: planar geometric noise on a fine lattice, drawn exactly, and its Bayes remap."""

from ...core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
