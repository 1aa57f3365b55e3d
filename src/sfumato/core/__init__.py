"""Spaces, priors, metrics, losses, mechanisms, the guarantees asked of them, and brackets of numbers."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
