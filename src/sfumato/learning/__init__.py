"""Learned mechanisms and learned estimates; torch is needed only to train and to draw."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
