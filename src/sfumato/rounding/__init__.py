"""Rounding to a known side: of floats in proofs, and of numbers in sentences."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
