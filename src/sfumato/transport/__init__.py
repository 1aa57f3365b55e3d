"""Couplings of two distributions, their costs, and lifted relations."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
