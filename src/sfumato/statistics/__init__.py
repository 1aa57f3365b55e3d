"""Bounds that samples and black boxes show: they hold with a stated probability, and prove no promise."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
