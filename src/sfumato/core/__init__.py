"""Spaces, priors, metrics, losses, mechanisms, their guarantees, and brackets of numbers."""

from .arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
