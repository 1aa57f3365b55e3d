"""Comparison of mechanisms on one prior or for places, at equal epsilon or at equal loss."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
