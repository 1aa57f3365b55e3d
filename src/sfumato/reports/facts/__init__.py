"""Guarantees, costs and attacks of mechanism files as typed numbers."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
