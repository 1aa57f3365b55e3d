"""Recorded tracks without the parts near places such as home."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
