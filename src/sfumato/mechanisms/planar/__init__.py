"""Noise for coordinates: planar geometric noise on a fine lattice, drawn exactly, and its Bayes remap."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
